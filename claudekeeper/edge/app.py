"""The application: what it is made of, and what starts and ends with it."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from claudekeeper.config import Config
from claudekeeper.credentials import Credentials, CredentialsSource
from claudekeeper.edge import conversations, health, openapi, sessions
from claudekeeper.edge.auth import Door
from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.failures import answer_failures
from claudekeeper.edge.keys import (
    CATALOG,
    CLI_VERSION,
    CONFIG,
    DOOR,
    EPOCH,
    HISTORY,
    PREFERENCES,
    STARTED,
)
from claudekeeper.features.preferences import Preferences
from claudekeeper.live.catalog import Catalog
from claudekeeper.readers.cache import Cache
from claudekeeper.readers.history import History
from doorway.gate import Gate

LARGEST_BODY = 1024 * 1024


@dataclass(frozen=True)
class Places:
    """The files that a keeper works with."""

    projects: Path
    state: Path
    cache: Path


def endpoints() -> list[Endpoint]:
    """Every address of the keeper."""
    table = [*health.ENDPOINTS, *sessions.ENDPOINTS, *conversations.ENDPOINTS]
    return [*table, openapi.endpoint_for(table)]


def create_app(
    config: Config,
    places: Places,
    cli_version: str,
    *,
    gate: Gate | None = None,
    credentials: CredentialsSource | None = None,
) -> web.Application:
    """`credentials` where they can change while it runs."""
    table = endpoints()
    door = Door(
        gate or Gate(config.host, config.allowed_hosts),
        credentials or (lambda: Credentials.of(config)),
        table,
    )
    app = web.Application(
        middlewares=[answer_failures, door.middleware],
        client_max_size=LARGEST_BODY,
    )
    app[DOOR] = door
    app[CONFIG] = config
    app[CLI_VERSION] = cli_version
    app[STARTED] = time.monotonic()
    app[EPOCH] = secrets.token_hex(4)
    app[HISTORY] = History()
    app[PREFERENCES] = Preferences(places.state)
    app[CATALOG] = Catalog(places.projects, Cache(places.cache))
    app.cleanup_ctx.append(door.watch)
    app.cleanup_ctx.append(_preferences)
    app.cleanup_ctx.append(_catalog)
    for endpoint in table:
        app.router.add_route(endpoint.method, endpoint.path, endpoint.handler)
    return app


async def _preferences(app: web.Application) -> AsyncIterator[None]:
    await asyncio.to_thread(app[PREFERENCES].load)
    yield


async def _catalog(app: web.Application) -> AsyncIterator[None]:
    await app[CATALOG].start()
    yield
    await app[CATALOG].close()
