"""What was done when, in a session or a project."""

from __future__ import annotations

import os
from typing import Annotated

import msgspec
from aiohttp import web

from claudekeeper.contract.errors import SessionNotFound
from claudekeeper.net.responses import json_response
from claudekeeper.server.app_keys import TIMELINE
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.routes.sessions import find_row
from claudekeeper.server.schemas import parse_query
from claudekeeper.usage.timeline import Step, Timeline, TimelineSpan

DayOrHour = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2})?$(?!\n)")]
PromptLimit = Annotated[int, msgspec.Meta(ge=0, le=1_000)]


class TimelineQuery(msgspec.Struct, forbid_unknown_fields=True):
    """`after`, `before`: days or hours, the second not included; `by`: what suits, where it is
    not said; `limit`: of the prompts."""

    by: Step | None = None
    after: DayOrHour | None = None
    before: DayOrHour | None = None
    limit: PromptLimit = 100

    @property
    def span(self) -> TimelineSpan:
        return TimelineSpan(self.after, self.before, self.by, self.limit)


class ProjectTimelineQuery(TimelineQuery, forbid_unknown_fields=True):
    """`within`: directories, joined as in PATH, whose sessions count."""

    workdir: str | None = None
    within: str | None = None


async def session_timeline(request: web.Request) -> web.Response:
    query = parse_query(request, TimelineQuery)
    return json_response(
        await request.app[TIMELINE].session_timeline(await find_row(request), query.span)
    )


async def project_timeline(request: web.Request) -> web.Response:
    query = parse_query(request, ProjectTimelineQuery)
    within = query.within.split(os.pathsep) if query.within is not None else None
    return json_response(
        await request.app[TIMELINE].project_timeline(query.workdir, within, query.span)
    )


ENDPOINTS = [
    Endpoint(
        "GET",
        "/sessions/{id}/timeline",
        session_timeline,
        "What was done in a session, by day or hour: prompts, tools, edits, compactions, cost",
        Timeline,
        query_type=TimelineQuery,
        errors=(SessionNotFound,),
    ),
    Endpoint(
        "GET",
        "/timeline",
        project_timeline,
        "What was done in a project, or in all of them; every reply and prompt counts once",
        Timeline,
        query_type=ProjectTimelineQuery,
    ),
]
