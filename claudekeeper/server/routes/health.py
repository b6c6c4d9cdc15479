"""How the keeper is."""

from __future__ import annotations

import time

from aiohttp import web

import claudekeeper
from claudekeeper.net.responses import json_response
from claudekeeper.server.app_keys import CATALOG, CLI_VERSION, MANAGER, SEARCH, STARTED_AT
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.schemas import EmptyQuery, Health, parse_query


async def health(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    catalog = request.app[CATALOG]
    progress = catalog.progress
    degraded = catalog.watcher.state.mode == "polling"
    return json_response(
        Health(
            status="degraded" if degraded else "ok",
            version=claudekeeper.__version__,
            cli=request.app[CLI_VERSION],
            uptime=round(time.monotonic() - request.app[STARTED_AT], 3),
            sessions=progress.total,
            live=request.app[MANAGER].live_count,
            watching=catalog.watcher.state,
            scan=progress,
            search=request.app[SEARCH].progress,
        )
    )


ENDPOINTS = [
    Endpoint(
        "GET", "/health", health, "The keeper's health; needs no token", Health, is_public=True
    )
]
