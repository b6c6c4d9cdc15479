"""How the keeper is."""

from __future__ import annotations

import time

from aiohttp import web

import claudekeeper
from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import CATALOG, CLI_VERSION, REGISTRY, SEARCH, STARTED
from claudekeeper.edge.wire import Health, NoQuery, query_of, reply


async def health(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    catalog = request.app[CATALOG]
    progress = catalog.progress
    degraded = catalog.watcher.state.mode == "polling"
    return reply(
        Health(
            status="degraded" if degraded else "ok",
            version=claudekeeper.__version__,
            cli=request.app[CLI_VERSION],
            uptime=round(time.monotonic() - request.app[STARTED], 3),
            sessions=progress.total,
            live=request.app[REGISTRY].live,
            watching=catalog.watcher.state,
            scan=progress,
            search=request.app[SEARCH].indexed,
        )
    )


ENDPOINTS = [
    Endpoint("GET", "/health", health, "How the keeper is; needs no token", Health, open=True)
]
