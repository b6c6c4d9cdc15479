"""What was used: tokens and cost."""

from __future__ import annotations

import os
from typing import Annotated

import msgspec
from aiohttp import web

from claudekeeper.net.responses import json_response
from claudekeeper.server.app_keys import USAGE
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.schemas import PageSize, parse_query
from claudekeeper.usage.usage import Grouping, UsageReport

Day = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$(?!\n)")]


class UsageQuery(msgspec.Struct, forbid_unknown_fields=True):
    """`after`: the first day; `before`: the day after the last; `within`: directories, joined as
    in PATH, whose sessions count."""

    by: Grouping = "day"
    after: Day | None = None
    before: Day | None = None
    within: str | None = None
    # of projects, models or sessions; days are told all
    limit: PageSize = 200


async def usage_report(request: web.Request) -> web.Response:
    query = parse_query(request, UsageQuery)
    within = query.within.split(os.pathsep) if query.within is not None else None
    return json_response(
        await request.app[USAGE].report(query.by, query.after, query.before, within, query.limit)
    )


ENDPOINTS = [
    Endpoint(
        "GET",
        "/usage",
        usage_report,
        "Tokens and cost by day, project, model or session",
        UsageReport,
        query_type=UsageQuery,
    ),
]
