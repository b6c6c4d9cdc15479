"""The branches of a session: rewinds inside of its transcript, forks in others."""

from __future__ import annotations

from typing import Literal

import msgspec
from aiohttp import web

from claudekeeper.branches.branches import BranchList, BranchPage, BranchRef, BranchWork
from claudekeeper.branches.family import Family
from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.contract.errors import (
    BranchNotFound,
    MessageNotFound,
    SessionNotFound,
    TranscriptUnreadable,
)
from claudekeeper.core.paths import is_session_id
from claudekeeper.net.errors import InvalidRequest
from claudekeeper.net.responses import json_response
from claudekeeper.server.app_keys import BRANCHES, CATALOG, FAMILIES
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.routes.sessions import find_row, translate_read_errors
from claudekeeper.server.schemas import EmptyQuery, PageSize, parse_query


class BranchesQuery(msgspec.Struct, forbid_unknown_fields=True):
    """`of`: messages, joined by commas, of which one wants to know which branch has them."""

    of: str = ""


class ComparisonQuery(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """A branch (`tip`; none: the conversation as it stands) since it parted from the branch
    `withTip` of the session `with`."""

    tip: str | None = None
    other: str = msgspec.field(name="with")
    with_tip: str | None = None


class BranchQuery(ComparisonQuery, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """`part`: what it has of its own, from where they part on, or the past that both have, from
    there upwards."""

    part: Literal["own", "past"] = "own"
    after: str | None = None
    before: str | None = None
    limit: PageSize = 200


async def family(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    row = await find_row(request)
    return json_response(await request.app[FAMILIES].family_of(row))


async def branches(request: web.Request) -> web.Response:
    uuids = [uuid for uuid in parse_query(request, BranchesQuery).of.split(",") if uuid]
    row = _require_readable(await find_row(request))
    with translate_read_errors():
        return json_response(await request.app[BRANCHES].list_branches(row, uuids))


async def branch(request: web.Request) -> web.Response:
    query = parse_query(request, BranchQuery)
    if (query.after and query.part == "past") or (query.before and query.part == "own"):
        raise InvalidRequest("'after' goes on with what is its own, 'before' with the past.")
    one, other = await _compared_refs(request, query)
    service = request.app[BRANCHES]
    with translate_read_errors():
        if query.part == "past":
            return json_response(
                await service.shared_messages(one, other, limit=query.limit, before=query.before)
            )
        return json_response(
            await service.own_messages(one, other, limit=query.limit, after=query.after)
        )


async def branch_work(request: web.Request) -> web.Response:
    one, other = await _compared_refs(request, parse_query(request, ComparisonQuery))
    with translate_read_errors():
        return json_response(await request.app[BRANCHES].work(one, other))


async def _compared_refs(
    request: web.Request, query: ComparisonQuery
) -> tuple[BranchRef, BranchRef]:
    row = _require_readable(await find_row(request))
    is_id = is_session_id(query.other)
    other = await request.app[CATALOG].row(query.other) if is_id else None
    if other is None:
        raise SessionNotFound
    return BranchRef(row, query.tip), BranchRef(_require_readable(other), query.with_tip)


def _require_readable(row: SessionRow) -> SessionRow:
    if row.fault is not None:
        raise TranscriptUnreadable(row.fault.message)
    return row


ENDPOINTS = [
    Endpoint(
        "GET",
        "/sessions/{id}/family",
        family,
        "The family of a session: what it is a fork of, and its forks",
        Family,
        errors=(SessionNotFound,),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/branches",
        branches,
        "The branches of a session, and where each of them starts",
        BranchList,
        query_type=BranchesQuery,
        errors=(SessionNotFound, TranscriptUnreadable),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/branch",
        branch,
        "The messages of a branch since it parted from another one, in pages from there on",
        BranchPage,
        query_type=BranchQuery,
        errors=(SessionNotFound, BranchNotFound, MessageNotFound, TranscriptUnreadable),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/branch/work",
        branch_work,
        "Prompts, decisions and changed files of a branch since it parted from another one",
        BranchWork,
        query_type=ComparisonQuery,
        errors=(SessionNotFound, BranchNotFound, TranscriptUnreadable),
    ),
]
