"""Where a session stands, for somebody who comes back to it."""

from __future__ import annotations

from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import RESUMING
from claudekeeper.edge.sessions import row_of
from claudekeeper.edge.wire import NoQuery, query_of, reply
from claudekeeper.model.errors import SessionNotFound, TranscriptUnreadable
from claudekeeper.model.resume import Resume


async def resume(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    return reply(await request.app[RESUMING].of(await row_of(request)))


ENDPOINTS = [
    Endpoint(
        "GET",
        "/sessions/{id}/resume",
        resume,
        "Where a session stands: last turns, open question, next action, progress, decisions",
        Resume,
        failures=(SessionNotFound, TranscriptUnreadable),
    ),
]
