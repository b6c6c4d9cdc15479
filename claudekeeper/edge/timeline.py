"""What was done when, in a session or a project."""

from __future__ import annotations

import os
from typing import Annotated

import msgspec
from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import TIMELINES
from claudekeeper.edge.sessions import row_of
from claudekeeper.edge.wire import query_of, reply
from claudekeeper.features.timeline import Span, Step, Timeline
from claudekeeper.model.errors import SessionNotFound

Moment = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2})?$(?!\n)")]
Limit = Annotated[int, msgspec.Meta(ge=0, le=1_000)]


class TimelineQuery(msgspec.Struct, forbid_unknown_fields=True):
    """`after`, `before`: days or hours, the second not included; `by`: what suits, where it is
    not said; `limit`: of the prompts."""

    by: Step | None = None
    after: Moment | None = None
    before: Moment | None = None
    limit: Limit = 100

    @property
    def span(self) -> Span:
        return Span(self.after, self.before, self.by, self.limit)


class ProjectTimelineQuery(TimelineQuery, forbid_unknown_fields=True):
    """`within`: directories, joined as in PATH, whose sessions count."""

    workdir: str | None = None
    within: str | None = None


async def of_session(request: web.Request) -> web.Response:
    query = query_of(request, TimelineQuery)
    return reply(await request.app[TIMELINES].of_session(await row_of(request), query.span))


async def of_projects(request: web.Request) -> web.Response:
    query = query_of(request, ProjectTimelineQuery)
    within = query.within.split(os.pathsep) if query.within is not None else None
    return reply(await request.app[TIMELINES].of_projects(query.workdir, within, query.span))


ENDPOINTS = [
    Endpoint(
        "GET",
        "/sessions/{id}/timeline",
        of_session,
        "What was done in a session, by day or hour: prompts, tools, edits, compactions, cost",
        Timeline,
        query=TimelineQuery,
        failures=(SessionNotFound,),
    ),
    Endpoint(
        "GET",
        "/timeline",
        of_projects,
        "The same for a project, or all of them; every reply and prompt once",
        Timeline,
        query=ProjectTimelineQuery,
    ),
]
