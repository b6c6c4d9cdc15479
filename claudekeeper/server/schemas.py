"""Answers and query parameters of the contract, and how requests are parsed."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from aiohttp import web
from aiohttp.web_protocol import RequestPayloadError
from multidict import MultiMapping

from claudekeeper.catalog.catalog import ScanProgress
from claudekeeper.contract.conversations import WorkState
from claudekeeper.contract.events import CurrentTurnView, PartialBlock, QueuedPrompt
from claudekeeper.contract.message import Message
from claudekeeper.contract.requests import AbsolutePath
from claudekeeper.contract.sessions import Session, SessionState
from claudekeeper.net.errors import BodyTooLarge, InvalidRequest, RequestTooSlow, UnsupportedMedia
from claudekeeper.search.index_service import IndexProgress
from claudekeeper.sessions.recovery.failed_turn import FailedTurn
from claudekeeper.sessions.recovery.interrupted_turn import InterruptedTurn
from claudekeeper.transcripts.full_view import BranchPoint
from claudekeeper.transcripts.subagents import Subagent
from claudekeeper.watcher.watcher import WatchState

# a client that sends its body more slowly is refused
BODY_SECONDS = 60.0

T = TypeVar("T")

LARGEST_BODY = 1024 * 1024
# a message may carry images
LARGEST_MESSAGE = 48 * 1024 * 1024

SessionName = Annotated[
    str, msgspec.Meta(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$(?!\n)")
]
PageSize = Annotated[int, msgspec.Meta(ge=1, le=10_000)]


def schema_pattern(pattern: str) -> msgspec.Meta:
    """A pattern for /openapi.json alone; the handler refuses other values with a sentence."""
    return msgspec.Meta(extra_json_schema={"pattern": pattern})


class SessionList(msgspec.Struct, rename="camel"):
    """A page of the sessions; `cursor` leads to the next page, null at the end."""

    sessions: list[Session]
    cursor: str | None
    position: str


class Workdir(msgspec.Struct, rename="camel"):
    """A working directory and its sessions."""

    workdir: str
    project: str | None
    sessions: int
    modified: str


class WorkdirList(msgspec.Struct, rename="camel"):
    """The working directories of all sessions, last used first."""

    workdirs: list[Workdir]


class HistoryPage(msgspec.Struct, rename="camel"):
    """A page of a session's history; `before` leads to the page above, null at the beginning."""

    session: Session
    messages: list[Message]
    before: str | None
    branches: list[BranchPoint]
    queue: list[QueuedPrompt]
    partial: PartialBlock | None
    turn: CurrentTurnView | None
    position: str
    # the turn that an earlier keeper left; it continues only on request
    interrupted: InterruptedTurn | None = None
    # failed turns, oldest first, with what no transcript has of them
    failed: list[FailedTurn] = []


class SubagentList(msgspec.Struct, rename="camel"):
    """The subagents of a session."""

    subagents: list[Subagent]


class SubagentPage(msgspec.Struct, rename="camel"):
    """A page of a subagent's conversation."""

    subagent: Subagent
    messages: list[Message]
    before: str | None
    branches: list[BranchPoint]


class Health(msgspec.Struct, rename="camel"):
    """The health of the keeper."""

    status: Literal["ok", "degraded"]
    version: str
    cli: str
    uptime: float
    sessions: int
    live: int
    watching: WatchState
    scan: ScanProgress
    search: IndexProgress


class ListQuery(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    workdir: str | None = None
    state: SessionState | None = None
    limit: PageSize = 100
    cursor: Annotated[str, schema_pattern(r"^-?[0-9]{1,20}:[0-9a-f-]{36}$")] | None = None


class HistoryQuery(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    limit: PageSize | Literal["all"] = 200
    before: str | None = None
    view: Literal["full", "context"] = "full"


class SubagentQuery(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    limit: PageSize = 200
    before: str | None = None


class CommandsQuery(msgspec.Struct, forbid_unknown_fields=True):
    workdir: AbsolutePath


class DirectoriesQuery(msgspec.Struct, forbid_unknown_fields=True):
    path: AbsolutePath | None = None


class ConversationsQuery(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    # "" for items without a project
    project: str | None = None
    state: WorkState | None = None
    # the conversations to which this session belongs or belonged
    session_id: str | None = None
    limit: PageSize = 1000
    cursor: Annotated[str, schema_pattern(r"^[0-9]{1,12}(\.[0-9]{1,9})?:[^:]{0,600}:")] | None = (
        None
    )


class ConversationQuery(msgspec.Struct, forbid_unknown_fields=True):
    """The project of a key; "" for items without one."""

    project: str | None = None


class AuditQuery(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    key: str | None = None
    project: str | None = None
    session_id: str | None = None
    limit: PageSize = 100
    cursor: Annotated[str, schema_pattern(r"^[0-9]{1,18}$")] | None = None


class EmptyQuery(msgspec.Struct, forbid_unknown_fields=True):
    """No query parameters."""


class SessionPatch(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A change of a session. `name`: null clears it. `givenUp`: whether a person gave it up."""

    name: SessionName | msgspec.UnsetType | None = msgspec.UNSET
    given_up: bool | msgspec.UnsetType = msgspec.UNSET


def parse_query(request: web.Request, type_: type[T]) -> T:
    """The query parameters; an unknown, repeated or invalid one is an error."""
    return convert_query(request.query, type_)


def convert_query(query: MultiMapping[str], type_: type[T]) -> T:
    parameters: dict[str, Any] = {}
    for name, value in query.items():
        if name in parameters:
            raise InvalidRequest(f"The parameter '{name}' is given twice.")
        parameters[name] = int(value) if name == "limit" and _is_number(value) else value
    try:
        return msgspec.convert(parameters, type=type_)
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"The query is not valid: {error}.") from error


async def read_body(request: web.Request, type_: type[T], max_bytes: int = LARGEST_BODY) -> T:
    """The JSON body; an unknown or invalid field is an error."""
    if request.content_type != "application/json":
        raise UnsupportedMedia
    if (request.content_length or 0) > max_bytes:
        raise BodyTooLarge
    try:
        async with asyncio.timeout(BODY_SECONDS):
            content = await request.read()
    except TimeoutError as error:
        raise RequestTooSlow from error
    except (RequestPayloadError, ConnectionResetError) as error:
        # compressed in another way than its header says, or cut short
        raise InvalidRequest("The body cannot be read.") from error
    if len(content) > max_bytes:
        raise BodyTooLarge
    try:
        return msgspec.json.decode(content, type=type_)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidRequest(f"The body is not valid: {error}.") from error


async def read_optional_body(request: web.Request, type_: type[T]) -> T:
    """The JSON body, or the defaults without one; another content type is ignored."""
    if not request.can_read_body or request.content_type != "application/json":
        return type_()
    return await read_body(request, type_)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
