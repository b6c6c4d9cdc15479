"""The branches of a session: rewinds inside of its transcript, forks in others."""

from __future__ import annotations

from typing import Literal

import msgspec
from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import BRANCHING, CATALOG, FAMILIES
from claudekeeper.edge.sessions import readable, row_of
from claudekeeper.edge.wire import NoQuery, PageSize, query_of, reply
from claudekeeper.features.branching import Branches, BranchPage, BranchWork, Tip
from claudekeeper.features.family import Family
from claudekeeper.model.errors import (
    BranchNotFound,
    InvalidRequest,
    MessageNotFound,
    SessionNotFound,
    TranscriptUnreadable,
)
from claudekeeper.readers.discovery import Row
from claudekeeper.readers.paths import is_session_id


class BranchesQuery(msgspec.Struct, forbid_unknown_fields=True):
    """`of`: messages, joined by commas, of which one wants to know which branch has them."""

    of: str = ""


class ComparedQuery(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """A branch (`tip`; none: the conversation as it stands) since it parted from the branch
    `withTip` of the session `with`."""

    tip: str | None = None
    other: str = msgspec.field(name="with")
    with_tip: str | None = None


class BranchQuery(ComparedQuery, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """`part`: what it has of its own, from where they part on, or the past that both have, from
    there upwards."""

    part: Literal["own", "past"] = "own"
    after: str | None = None
    before: str | None = None
    limit: PageSize = 200


async def family(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    row = await row_of(request)
    return reply(await request.app[FAMILIES].of(row))


async def branches(request: web.Request) -> web.Response:
    asked = [uuid for uuid in query_of(request, BranchesQuery).of.split(",") if uuid]
    row = _legible(await row_of(request))
    with readable():
        return reply(await request.app[BRANCHING].branches(row, asked))


async def branch(request: web.Request) -> web.Response:
    query = query_of(request, BranchQuery)
    if (query.after and query.part == "past") or (query.before and query.part == "own"):
        raise InvalidRequest("'after' goes on with what is its own, 'before' with the past.")
    one, other = await _both(request, query)
    asked = request.app[BRANCHING]
    with readable():
        if query.part == "past":
            return reply(await asked.past(one, other, limit=query.limit, before=query.before))
        return reply(await asked.since(one, other, limit=query.limit, after=query.after))


async def work(request: web.Request) -> web.Response:
    one, other = await _both(request, query_of(request, ComparedQuery))
    with readable():
        return reply(await request.app[BRANCHING].work(one, other))


async def _both(request: web.Request, query: ComparedQuery) -> tuple[Tip, Tip]:
    row = _legible(await row_of(request))
    known = is_session_id(query.other)
    other = await request.app[CATALOG].row(query.other) if known else None
    if other is None:
        raise SessionNotFound
    return Tip(row, query.tip), Tip(_legible(other), query.with_tip)


def _legible(row: Row) -> Row:
    if row.fault is not None:
        raise TranscriptUnreadable(row.fault.message)
    return row


ENDPOINTS = [
    Endpoint(
        "GET",
        "/sessions/{id}/family",
        family,
        "Sessions that share its beginning: what it is a fork of, and its forks",
        Family,
        failures=(SessionNotFound,),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/branches",
        branches,
        "The branches inside of its transcript, and where each leaves another",
        Branches,
        query=BranchesQuery,
        failures=(SessionNotFound, TranscriptUnreadable),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/branch",
        branch,
        "The messages of a branch since it parted from another, in pages from there on",
        BranchPage,
        query=BranchQuery,
        failures=(SessionNotFound, BranchNotFound, MessageNotFound, TranscriptUnreadable),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/branch/work",
        work,
        "What was asked, decided and changed on a branch since it parted from another",
        BranchWork,
        query=ComparedQuery,
        failures=(SessionNotFound, BranchNotFound, TranscriptUnreadable),
    ),
]
