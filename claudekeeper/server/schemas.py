"""The shapes of the wire contract, and how requests are read and answers written."""

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

# who does not send a whole body within this is not waited for
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
    """For the description alone: what does not fit is refused in words by whoever reads it."""
    return msgspec.Meta(extra_json_schema={"pattern": pattern})


class SessionList(msgspec.Struct, rename="camel"):
    """A page of the list; `cursor` leads to the next one, null at the end."""

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
    """Known working directories, the one used last first."""

    workdirs: list[Workdir]


class HistoryPage(msgspec.Struct, rename="camel"):
    """A page of a session; `before` leads to the page above it, null at the beginning."""

    session: Session
    messages: list[Message]
    before: str | None
    branches: list[BranchPoint]
    queue: list[QueuedPrompt]
    partial: PartialBlock | None
    turn: CurrentTurnView | None
    position: str
    # what an earlier keeper could not see through; it goes on only if somebody says so
    interrupted: InterruptedTurn | None = None
    # turns that did not come to their end, the oldest first, with what no transcript has of them
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
    """How the keeper is."""

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
    # the conversations of which this session is, or was, the thread
    session_id: str | None = None
    limit: PageSize = 1000
    cursor: Annotated[str, schema_pattern(r"^[0-9]{1,12}(\.[0-9]{1,9})?:[^:]{0,600}:")] | None = (
        None
    )


class ConversationQuery(msgspec.Struct, forbid_unknown_fields=True):
    """Which item a key means; "" is the project of those without one."""

    project: str | None = None


class AuditQuery(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    key: str | None = None
    project: str | None = None
    session_id: str | None = None
    limit: PageSize = 100
    cursor: Annotated[str, schema_pattern(r"^[0-9]{1,18}$")] | None = None


class EmptyQuery(msgspec.Struct, forbid_unknown_fields=True):
    """For addresses that take no parameters."""


class SessionPatch(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """`name`: `null` clears it. `givenUp`: whether the person gave the session up."""

    name: SessionName | msgspec.UnsetType | None = msgspec.UNSET
    given_up: bool | msgspec.UnsetType = msgspec.UNSET


def parse_query(request: web.Request, type_: type[T]) -> T:
    """The query parameters, typed; an unknown, repeated or wrong one is an error."""
    return convert_query(request.query, type_)


def convert_query(query: MultiMapping[str], type_: type[T]) -> T:
    given: dict[str, Any] = {}
    for name, value in query.items():
        if name in given:
            raise InvalidRequest(f"The parameter '{name}' is given twice.")
        given[name] = int(value) if name == "limit" and _is_number(value) else value
    try:
        return msgspec.convert(given, type=type_)
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"The query is not valid: {error}.") from error


async def read_body(request: web.Request, type_: type[T], largest: int = LARGEST_BODY) -> T:
    """The JSON body, typed; an unknown or wrong field is an error."""
    if request.content_type != "application/json":
        raise UnsupportedMedia
    if (request.content_length or 0) > largest:
        raise BodyTooLarge
    try:
        async with asyncio.timeout(BODY_SECONDS):
            content = await request.read()
    except TimeoutError as error:
        raise RequestTooSlow from error
    except (RequestPayloadError, ConnectionResetError) as error:
        # packed in another way than it says, or cut short; maybe nobody is left to be told
        raise InvalidRequest("The body cannot be read.") from error
    if len(content) > largest:
        raise BodyTooLarge
    try:
        return msgspec.json.decode(content, type=type_)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidRequest(f"The body is not valid: {error}.") from error


async def read_optional_body(request: web.Request, type_: type[T]) -> T:
    """The same where it may be left out; what is no JSON was never looked at."""
    if not request.can_read_body or request.content_type != "application/json":
        return type_()
    return await read_body(request, type_)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
