"""What was used: tokens and cost."""

from __future__ import annotations

import os
from typing import Annotated

import msgspec
from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import USAGE
from claudekeeper.edge.wire import PageSize, query_of, reply
from claudekeeper.features.usage import By, Usage

Day = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$(?!\n)")]


class UsageQuery(msgspec.Struct, forbid_unknown_fields=True):
    """`after`: the first day; `before`: the day after the last; `within`: directories, joined as
    in PATH, whose sessions count."""

    by: By = "day"
    after: Day | None = None
    before: Day | None = None
    within: str | None = None
    # of projects, models or sessions; days are told all
    limit: PageSize = 200


async def used(request: web.Request) -> web.Response:
    query = query_of(request, UsageQuery)
    within = query.within.split(os.pathsep) if query.within is not None else None
    return reply(
        await request.app[USAGE].used(query.by, query.after, query.before, within, query.limit)
    )


ENDPOINTS = [
    Endpoint(
        "GET",
        "/usage",
        used,
        "Tokens and cost by day, project, model or session",
        Usage,
        query=UsageQuery,
    ),
]
