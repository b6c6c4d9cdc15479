"""Clarvis put together: page, door and proxy in one application, and a way to run it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from claudekeeper.net.listen import ListenAddress, serve_app
from claudekeeper.net.responses import error_middleware

from .api_proxy import Proxy
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
    """An application of its own, so that no route can be added to it without the lock."""
    api = web.Application(
        middlewares=[require_same_origin, require_login(login, keeper.refuses_token)]
    )
    api.on_response_prepare.append(renew_carried_cookies(login))
    api.cleanup_ctx.append(keeper.lifespan)
    visible = None if settings.roots.allows_all else RootFilter(keeper, settings.roots)
    relay = Relay(keeper, EventFilter(visible) if visible else None, login_check(login))
    api.on_shutdown.append(relay.close_all)
    api.add_routes(relay.routes())
    api.add_routes(Proxy(keeper, visible).routes())
    return api


@dataclass(frozen=True, slots=True)
class Clarvis:
    """A running server, for whoever started it."""

    url: str
    login: Login

    def login_link(self, session: str | None = None) -> str:
        """A link that lets one browser in, once; `session` is where it leads."""
        return login_link(self.url, self.login.codes.mint(), session)


@asynccontextmanager
async def run_clarvis(
    settings: ClarvisSettings,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    *,
    address: ListenAddress | None = None,
) -> AsyncIterator[Clarvis]:
    """Serve in this event loop until the block ends; port 0 takes a free one.

    `place` is for everything that is not a plain port. Raises OSError where the address cannot be
    had. Signals are left to the caller.
    """
    app = create_app(settings)
    async with serve_app(app, address or ListenAddress(host, port)) as url:
        yield Clarvis(url, app[LOGIN])
