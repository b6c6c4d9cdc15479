"""The application: middlewares, addresses, and the services behind them."""

from __future__ import annotations

import time
from collections.abc import Callable

from aiohttp import web

from claudekeeper.core.config import Config
from claudekeeper.core.credentials import Credentials, CredentialsSource
from claudekeeper.net.host_guard import HostGuard
from claudekeeper.net.responses import error_middleware
from claudekeeper.resume.ai_recap import SideQuery
from claudekeeper.server import metrics, openapi, websocket
from claudekeeper.server.access_log import access_log_middleware, add_request_id
from claudekeeper.server.app_keys import (
    AUTHENTICATOR,
    CLI_VERSION,
    REQUEST_METRICS,
    STARTED_AT,
    TERMINAL_PROMPTS,
    WS_CONNECTIONS,
)
from claudekeeper.server.auth import Authenticator
from claudekeeper.server.data_paths import DataPaths
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.request_metrics import RequestMetrics
from claudekeeper.server.routes import (
    archive,
    attention,
    branches,
    conversations,
    directories,
    health,
    history,
    hooks,
    preferences,
    queue,
    resume,
    search,
    send,
    session_actions,
    sessions,
    subagents,
    timeline,
    usage,
)
from claudekeeper.server.schemas import LARGEST_MESSAGE
from claudekeeper.server.services import add_services
from claudekeeper.server.ws_connection import WsConnections
from claudekeeper.sessions.cli.client import MakeClient, make_sdk_client
from claudekeeper.sessions.cli.side_query import side_query

GOING_AWAY = 1001


def endpoints() -> list[Endpoint]:
    """Every address of the keeper."""
    subjects = (
        health,
        metrics,
        sessions,
        history,
        subagents,
        send,
        session_actions,
        queue,
        conversations,
        attention,
        directories,
        hooks,
        archive,
        branches,
        resume,
        preferences,
        usage,
        timeline,
        search,
        websocket,
    )
    table = [endpoint for subject in subjects for endpoint in subject.ENDPOINTS]
    return [*table, openapi.openapi_endpoint(table)]


def create_app(
    config: Config,
    paths: DataPaths,
    cli_version: str,
    *,
    host_guard: HostGuard | None = None,
    credentials: CredentialsSource | None = None,
    make_client: MakeClient = make_sdk_client,
    query_claude: SideQuery = side_query,
    clock: Callable[[], float] = time.time,
) -> web.Application:
    """`credentials` where they can change while it runs."""
    table = endpoints()
    authenticator = Authenticator(
        host_guard or HostGuard(config.host, config.allowed_hosts),
        credentials or (lambda: Credentials.from_config(config)),
        table,
    )
    request_metrics = RequestMetrics()
    app = web.Application(
        middlewares=[
            access_log_middleware(request_metrics),
            error_middleware("the keeper"),
            authenticator.middleware,
        ],
        client_max_size=LARGEST_MESSAGE,
    )
    app.on_response_prepare.append(add_request_id)
    app[AUTHENTICATOR] = authenticator
    app[REQUEST_METRICS] = request_metrics
    app[CLI_VERSION] = cli_version
    app[STARTED_AT] = time.monotonic()
    app[WS_CONNECTIONS] = WsConnections()
    app.cleanup_ctx.append(authenticator.watch_rotation)
    add_services(app, config, paths, make_client, query_claude, clock)
    app.on_shutdown.append(_close_connections)
    for endpoint in table:
        app.router.add_route(endpoint.method, endpoint.path, endpoint.handler)
    return app


async def _close_connections(app: web.Application) -> None:
    await app[TERMINAL_PROMPTS].close()
    app[WS_CONNECTIONS].close_all(GOING_AWAY, b"the keeper goes away")
