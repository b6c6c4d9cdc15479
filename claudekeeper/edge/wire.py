"""The shapes of the wire contract, and how requests are read and answers written."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from aiohttp import web
from aiohttp.web_protocol import RequestPayloadError
from multidict import MultiMapping

from claudekeeper.features.searching import Indexed
from claudekeeper.live.catalog import Progress
from claudekeeper.live.failed import FailedTurn
from claudekeeper.live.unfinished import Unfinished
from claudekeeper.model.branches import Departure
from claudekeeper.model.commands import Path
from claudekeeper.model.dispatch import WorkState
from claudekeeper.model.errors import (
    BodyTooLarge,
    InvalidRequest,
    RequestTooSlow,
    UnsupportedMedia,
)
from claudekeeper.model.events import Partial, Queued, Turn
from claudekeeper.model.messages import Message
from claudekeeper.model.sessions import Session, State
from claudekeeper.readers.subagents import Subagent
from claudekeeper.readers.watch import Watching

# who does not send a whole body within this is not waited for
BODY_SECONDS = 60.0

T = TypeVar("T")

LARGEST_BODY = 1024 * 1024
# a message may carry images
LARGEST_MESSAGE = 48 * 1024 * 1024

Name = Annotated[
    str, msgspec.Meta(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$(?!\n)")
]
PageSize = Annotated[int, msgspec.Meta(ge=1, le=10_000)]


def written_as(pattern: str) -> msgspec.Meta:
    """For the description alone: what does not fit is refused in words by whoever reads it."""
    return msgspec.Meta(extra_json_schema={"pattern": pattern})


class Sessions(msgspec.Struct, rename="camel"):
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


class Workdirs(msgspec.Struct, rename="camel"):
    """Known working directories, the one used last first."""

    workdirs: list[Workdir]


class Conversation(msgspec.Struct, rename="camel"):
    """A page of a session; `before` leads to the page above it, null at the beginning."""

    session: Session
    messages: list[Message]
    before: str | None
    branches: list[Departure]
    queue: list[Queued]
    partial: Partial | None
    turn: Turn | None
    position: str
    # what an earlier keeper could not see through; it goes on only if somebody says so
    interrupted: Unfinished | None = None
    # turns that did not come to their end, the oldest first, with what no transcript has of them
    failed: list[FailedTurn] = []


class Subagents(msgspec.Struct, rename="camel"):
    """The subagents of a session."""

    subagents: list[Subagent]


class Nested(msgspec.Struct, rename="camel"):
    """A page of a subagent's conversation."""

    subagent: Subagent
    messages: list[Message]
    before: str | None
    branches: list[Departure]


class Health(msgspec.Struct, rename="camel"):
    """How the keeper is."""

    status: Literal["ok", "degraded"]
    version: str
    cli: str
    uptime: float
    sessions: int
    live: int
    watching: Watching
    scan: Progress
    search: Indexed


class Refusal(msgspec.Struct, omit_defaults=True):
    """Why not; `choices`: what can be done instead, where that is known."""

    code: str
    message: str
    choices: tuple[str, ...] = ()


class Failure(msgspec.Struct, rename="camel"):
    """What every error looks like."""

    error: Refusal


class ListQuery(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    workdir: str | None = None
    state: State | None = None
    limit: PageSize = 100
    cursor: Annotated[str, written_as(r"^-?[0-9]{1,20}:[0-9a-f-]{36}$")] | None = None


class HistoryQuery(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    limit: PageSize | Literal["all"] = 200
    before: str | None = None
    view: Literal["full", "context"] = "full"


class NestedQuery(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    limit: PageSize = 200
    before: str | None = None


class CommandsQuery(msgspec.Struct, forbid_unknown_fields=True):
    workdir: Path


class DirectoriesQuery(msgspec.Struct, forbid_unknown_fields=True):
    path: Path | None = None


class WorkQuery(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    # "" for items without a project
    project: str | None = None
    state: WorkState | None = None
    # the conversations of which this session is, or was, the thread
    session_id: str | None = None
    limit: PageSize = 1000
    cursor: Annotated[str, written_as(r"^[0-9]{1,12}(\.[0-9]{1,9})?:[^:]{0,600}:")] | None = None


class ItemQuery(msgspec.Struct, forbid_unknown_fields=True):
    """Which item a key means; "" is the project of those without one."""

    project: str | None = None


class TrailQuery(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    key: str | None = None
    project: str | None = None
    session_id: str | None = None
    limit: PageSize = 100
    cursor: Annotated[str, written_as(r"^[0-9]{1,18}$")] | None = None


class NoQuery(msgspec.Struct, forbid_unknown_fields=True):
    """For addresses that take no parameters."""


class Rename(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """`name`: `null` clears it. `givenUp`: whether the person gave the session up."""

    name: Name | msgspec.UnsetType | None = msgspec.UNSET
    given_up: bool | msgspec.UnsetType = msgspec.UNSET


def query_of(request: web.Request, type_: type[T]) -> T:
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


async def body_of(request: web.Request, type_: type[T], largest: int = LARGEST_BODY) -> T:
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


async def optional_body_of(request: web.Request, type_: type[T]) -> T:
    """The same where it may be left out; what is no JSON was never looked at."""
    if not request.can_read_body or request.content_type != "application/json":
        return type_()
    return await body_of(request, type_)


def reply(value: object, status: int = 200) -> web.Response:
    return web.Response(
        body=msgspec.json.encode(value), status=status, content_type="application/json"
    )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
