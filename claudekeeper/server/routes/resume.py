"""Where a session stands, for somebody who comes back to it."""

from __future__ import annotations

from aiohttp import web

from claudekeeper.contract.errors import (
    AsideFailed,
    SessionNotFound,
    SpecificationNotFound,
    TranscriptUnreadable,
)
from claudekeeper.coverage.specification_file import Specification
from claudekeeper.net.responses import json_response
from claudekeeper.resume.ai_recap import AiRecapBody
from claudekeeper.resume.types import ResumeReport
from claudekeeper.server.app_keys import AI_RECAP, RESUME_REPORTER
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.routes.sessions import find_row
from claudekeeper.server.schemas import EmptyQuery, parse_query


async def resume(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    return json_response(await request.app[RESUME_REPORTER].report(await find_row(request)))


async def specification(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    return json_response(await request.app[RESUME_REPORTER].specification(await find_row(request)))


async def write_recap(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    where = await request.app[RESUME_REPORTER].report(await find_row(request))
    return json_response(await request.app[AI_RECAP].write(where))


ENDPOINTS = [
    Endpoint(
        "POST",
        "/sessions/{id}/recap",
        write_recap,
        "A recap in Claude's own words; the session does not change",
        AiRecapBody,
        errors=(SessionNotFound, TranscriptUnreadable, AsideFailed),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/specification",
        specification,
        "The specification in the session's directory",
        Specification,
        errors=(SessionNotFound, SpecificationNotFound),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/resume",
        resume,
        "Where a session stands: last turns, open question, next action, progress, decisions",
        ResumeReport,
        errors=(SessionNotFound, TranscriptUnreadable),
    ),
]
