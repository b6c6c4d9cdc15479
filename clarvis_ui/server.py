"""Clarvis put together: page, door and proxy in one application, and a way to run it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from .assets import Assets
from .entry import Entry, admitted_by, locked
from .failures import answer_failures
from .guard import add_security_headers, guarded, only_own_pages
from .keeper import Keeper
from .login import Clock, Login, login_link
from .proxy import Proxy
from .relay import Relay
from .settings import DEFAULT_HOST, DEFAULT_PORT, Settings, in_url, is_wildcard
from .sieve import Sieve
from .visible import Visible

LOGIN = web.AppKey("login", Login)
# a browser that holds a stream open must not hold up a restart
SHUTDOWN_TIMEOUT = 2.0


def create_app(settings: Settings, clock: Clock = time.time) -> web.Application:
    login = Login(settings.token, clock)
    app = web.Application(middlewares=[answer_failures, guarded(settings.hosts)])
    app[LOGIN] = login
    app.on_response_prepare.append(add_security_headers)
    app.add_subapp("/api", create_api(settings, login))
    app.add_routes(Entry(login, settings.hosts).routes())
    app.add_routes(Assets(settings.static).routes())
    return app


def create_api(settings: Settings, login: Login) -> web.Application:
    """An application of its own, so that no route can be added to it without the lock."""
    keeper = Keeper(settings.keeper, settings.token)
    api = web.Application(middlewares=[only_own_pages, locked(login)])
    api.cleanup_ctx.append(keeper.connected)
    visible = None if settings.roots.everywhere else Visible(keeper, settings.roots)
    relay = Relay(keeper, Sieve(visible) if visible else None, admitted_by(login))
    api.on_shutdown.append(relay.hang_up_all)
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
async def running(
    settings: Settings, host: str = DEFAULT_HOST, port: int = DEFAULT_PORT
) -> AsyncIterator[Clarvis]:
    """Serve in this event loop until the block ends; port 0 takes a free one.

    Raises OSError where the address cannot be had. Signals are left to the caller.
    """
    app = create_app(settings)
    # no access log: what people open is their business
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_TIMEOUT)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        taken = runner.addresses[0][1]
        yield Clarvis(f"http://{in_url(reachable(host))}:{taken}", app[LOGIN])
    finally:
        await runner.cleanup()


def reachable(host: str) -> str:
    """A name to open in a browser on this machine: a wildcard is no address to go to."""
    return DEFAULT_HOST if is_wildcard(host) else host.strip("[]")
