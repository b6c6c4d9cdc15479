"""Looking for words in all sessions."""

from __future__ import annotations

import os
from typing import Annotated, Literal

import msgspec
from aiohttp import web
from msgspec import Meta

from claudekeeper.contract.message import MessageKind, Role
from claudekeeper.net.errors import InvalidRequest
from claudekeeper.net.responses import json_response
from claudekeeper.search.index_service import IndexProgress, Order, SearchIndexUnavailable
from claudekeeper.search.indexer import milliseconds_of
from claudekeeper.search.query import parse
from claudekeeper.search.searcher import SearchFilters, SearchRow
from claudekeeper.server.app_keys import CATALOG, SEARCH, VIEWS
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.schemas import parse_query, schema_pattern

DAY_PATTERN = r"(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])"
HOUR_PATTERN = r"T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?"
# one way to write it, of many that are understood
Time = Annotated[str, schema_pattern(f"^{DAY_PATTERN}({HOUR_PATTERN}(Z|[+-]0[0-9]:00)?)?$")]


class SearchQuery(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """`kind` may be `decision`; `within` is directories, joined by the path separator."""

    q: Annotated[str, Meta(max_length=1000, extra_json_schema={"minLength": 1})]
    workdir: str | None = None
    within: str | None = None
    role: Role | None = None
    kind: MessageKind | Literal["decision"] | None = None
    after: Time | None = None
    before: Time | None = None
    order: Order = "newest"
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    cursor: Annotated[str, schema_pattern(r"^[0-9]:-?[0-9]{1,15}:[0-9]{1,5}$")] | None = None


class SearchHit(SearchRow, frozen=True):
    """A hit, and the session that it stands in."""

    title: str | None
    workdir: str | None
    project: str | None


class SearchResults(msgspec.Struct, rename="camel"):
    """What was found; `cursor` leads on, null at the end. `index`: how much was looked through."""

    hits: list[SearchHit]
    cursor: str | None
    # whether it was taken as a question about decisions, which then come first
    decisions_first: bool
    index: IndexProgress


async def search(request: web.Request) -> web.Response:
    query = parse_query(request, SearchQuery)
    terms, service = parse(query.q), request.app[SEARCH]
    page = await service.find(terms, _filters(query), query.order, query.limit, query.cursor)
    await request.app[CATALOG].wait_ready()
    with_sessions = (_hit_with_session(request, hit) for hit in page.hits)
    hits = [hit for hit in with_sessions if hit is not None]
    return json_response(SearchResults(hits, page.cursor, terms.decisions_first, service.progress))


def _filters(query: SearchQuery) -> SearchFilters:
    return SearchFilters(
        workdirs=frozenset({query.workdir}) if query.workdir is not None else None,
        within=tuple(query.within.split(os.pathsep)) if query.within is not None else None,
        role=query.role,
        kind=None if query.kind == "decision" else query.kind,
        decisions=query.kind == "decision",
        after=_parse_time("after", query.after),
        before=_parse_time("before", query.before),
    )


def _parse_time(name: str, text: str | None) -> int | None:
    moment = milliseconds_of(text)
    if text is not None and moment is None:
        raise InvalidRequest(f"'{name}' is not a time such as 2026-11-18 or 2026-11-18T12:00:00Z.")
    return moment


def _hit_with_session(request: web.Request, hit: SearchRow) -> SearchHit | None:
    """The hit with its session; None where that is not there any more."""
    session = request.app[VIEWS].session(hit.session_id)
    if session is None:
        return None
    return SearchHit(
        **msgspec.structs.asdict(hit),
        title=session.display_name,
        workdir=session.workdir,
        project=session.project,
    )


ENDPOINTS = [
    Endpoint(
        "GET",
        "/search",
        search,
        "Find words, phrases, file names and symbols in the messages of all sessions",
        SearchResults,
        query_type=SearchQuery,
        errors=(SearchIndexUnavailable,),
    )
]
