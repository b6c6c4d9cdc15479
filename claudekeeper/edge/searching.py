"""Looking for words in all sessions."""

from __future__ import annotations

import os
from typing import Annotated, Literal

import msgspec
from aiohttp import web
from msgspec import Meta

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import CATALOG, OVERVIEW, SEARCH
from claudekeeper.edge.wire import query_of, reply, written_as
from claudekeeper.features.search import Filters, Hit
from claudekeeper.features.search_query import parse
from claudekeeper.features.searching import Indexed, IndexUnavailable, Order
from claudekeeper.model.errors import InvalidRequest
from claudekeeper.model.messages import Kind, Role
from claudekeeper.readers.indexing import moment_of

DAY = r"(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])"
HOUR = r"T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?"
# one way to write it, of many that are understood
Time = Annotated[str, written_as(f"^{DAY}({HOUR}(Z|[+-]0[0-9]:00)?)?$")]


class SearchQuery(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """`kind` may be `decision`; `within` is directories, joined by the path separator."""

    q: Annotated[str, Meta(max_length=1000, extra_json_schema={"minLength": 1})]
    workdir: str | None = None
    within: str | None = None
    role: Role | None = None
    kind: Kind | Literal["decision"] | None = None
    after: Time | None = None
    before: Time | None = None
    order: Order = "newest"
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    cursor: Annotated[str, written_as(r"^[0-9]:-?[0-9]{1,15}:[0-9]{1,5}$")] | None = None


class FoundMessage(Hit, frozen=True):
    """A hit, and the session that it stands in."""

    title: str | None
    workdir: str | None
    project: str | None


class Found(msgspec.Struct, rename="camel"):
    """What was found; `cursor` leads on, null at the end. `index`: how much was looked through."""

    hits: list[FoundMessage]
    cursor: str | None
    # whether it was taken as a question about decisions, which then come first
    decisions_first: bool
    index: Indexed


async def search(request: web.Request) -> web.Response:
    query = query_of(request, SearchQuery)
    wanted, service = parse(query.q), request.app[SEARCH]
    page = await service.find(wanted, _filters(query), query.order, query.limit, query.cursor)
    await request.app[CATALOG].ready()
    hits = [found for hit in page.hits if (found := _shown(request, hit)) is not None]
    return reply(Found(hits, page.cursor, wanted.decisions_first, service.indexed))


def _filters(query: SearchQuery) -> Filters:
    return Filters(
        workdirs=frozenset({query.workdir}) if query.workdir is not None else None,
        within=tuple(query.within.split(os.pathsep)) if query.within is not None else None,
        role=query.role,
        kind=None if query.kind == "decision" else query.kind,
        decisions=query.kind == "decision",
        after=_moment("after", query.after),
        before=_moment("before", query.before),
    )


def _moment(name: str, text: str | None) -> int | None:
    moment = moment_of(text)
    if text is not None and moment is None:
        raise InvalidRequest(f"'{name}' is not a time such as 2026-11-18 or 2026-11-18T12:00:00Z.")
    return moment


def _shown(request: web.Request, hit: Hit) -> FoundMessage | None:
    """The hit with its session; None where that is not there any more."""
    session = request.app[OVERVIEW].session(hit.session_id)
    if session is None:
        return None
    return FoundMessage(
        **msgspec.structs.asdict(hit),
        title=session.called,
        workdir=session.workdir,
        project=session.project,
    )


ENDPOINTS = [
    Endpoint(
        "GET",
        "/search",
        search,
        "Find words, phrases, file names and symbols in the messages of all sessions",
        Found,
        query=SearchQuery,
        failures=(IndexUnavailable,),
    )
]
