"""Where a session stands, for somebody who comes back to it."""

from __future__ import annotations

from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import RESUMING, RETELLING
from claudekeeper.edge.sessions import row_of
from claudekeeper.edge.wire import NoQuery, query_of, reply
from claudekeeper.features.retelling import Retold
from claudekeeper.model.errors import (
    AsideFailed,
    SessionNotFound,
    SpecificationNotFound,
    TranscriptUnreadable,
)
from claudekeeper.model.resume import Resume
from claudekeeper.readers.specification import Specification


async def resume(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    return reply(await request.app[RESUMING].of(await row_of(request)))


async def specification(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    return reply(await request.app[RESUMING].specification(await row_of(request)))


async def retell(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    where = await request.app[RESUMING].of(await row_of(request))
    return reply(await request.app[RETELLING].of(where))


ENDPOINTS = [
    Endpoint(
        "POST",
        "/sessions/{id}/recap",
        retell,
        "A recap in Claude's own words: asked beside the session, which stays as it is",
        Retold,
        failures=(SessionNotFound, TranscriptUnreadable, AsideFailed),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/specification",
        specification,
        "The specification that is written in the session's directory",
        Specification,
        failures=(SessionNotFound, SpecificationNotFound),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/resume",
        resume,
        "Where a session stands: last turns, open question, next action, progress, decisions",
        Resume,
        failures=(SessionNotFound, TranscriptUnreadable),
    ),
]
