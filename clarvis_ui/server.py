"""The application of Clarvis: page, login and proxy; and the function that runs it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from claudekeeper.net.listen import ListenAddress, serve_app
from claudekeeper.net.responses import error_middleware

from .api_proxy import Proxy, pass_refusals
from .event_filter import EventFilter
from .keeper_client import KeeperClient
from .login import Clock, Login, login_link
from .login_routes import LoginRoutes, login_check, renew_carried_cookies, require_login
from .root_filter import RootFilter
from .security import add_security_headers, host_guard_middleware, require_same_origin
from .settings import DEFAULT_HOST, DEFAULT_PORT, ClarvisSettings
from .static_files import StaticFiles
from .ws_relay import Relay

LOGIN = web.AppKey("login", Login)


def create_app(settings: ClarvisSettings, clock: Clock = time.time) -> web.Application:
    login = Login(settings.token, clock)
    keeper = KeeperClient(
        settings.keeper,
        settings.token,
        settings.keeper_certificate,
        on_token_accepted=login.handle_accepted_token,
    )
    app = web.Application(
        middlewares=[error_middleware("Clarvis"), host_guard_middleware(settings.host_guard)]
    )
    app[LOGIN] = login
    app.on_response_prepare.append(add_security_headers)
    app.add_subapp("/api", create_api(settings, login, keeper))
    app.add_routes(LoginRoutes(login, keeper.refuses_token).routes())
    app.add_routes(StaticFiles(settings.static_folder).routes())
    return app


def create_api(settings: ClarvisSettings, login: Login, keeper: KeeperClient) -> web.Application:
    """An application of its own, so that none of its routes is without the login check."""
    api = web.Application(
        middlewares=[require_same_origin, require_login(login, keeper.refuses_token), pass_refusals]
    )
    api.on_response_prepare.append(renew_carried_cookies(login))
    api.cleanup_ctx.append(keeper.lifespan)
    root_filter = None if settings.roots.allows_all else RootFilter(keeper, settings.roots)
    relay = Relay(keeper, EventFilter(root_filter) if root_filter else None, login_check(login))
    api.on_shutdown.append(relay.close_all)
    api.add_routes(relay.routes())
    api.add_routes(Proxy(keeper, root_filter).routes())
    return api


@dataclass(frozen=True, slots=True)
class Clarvis:
    """A running server."""

    url: str
    login: Login

    def login_link(self, session: str | None = None) -> str:
        """A login link, which works once; with `session` it opens that session."""
        return login_link(self.url, self.login.codes.mint(), session)


@asynccontextmanager
async def run_clarvis(
    settings: ClarvisSettings,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    *,
    address: ListenAddress | None = None,
) -> AsyncIterator[Clarvis]:
    """Serves in this event loop until the block ends; port 0 is any free one.

    `address` is for everything but a plain port. Raises OSError if the address cannot be bound.
    The caller handles signals.
    """
    app = create_app(settings)
    async with serve_app(app, address or ListenAddress(host, port)) as url:
        yield Clarvis(url, app[LOGIN])
