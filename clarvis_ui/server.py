"""Clarvis put together: page, door and proxy in one application, and a way to run it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from doorway.listening import Place, served

from .assets import Assets
from .entry import Entry, admitted_by, locked, renewing
from .failures import answer_failures
from .guard import add_security_headers, guarded, only_own_pages
from .keeper import Keeper
from .login import Clock, Login, login_link
from .proxy import Proxy
from .relay import Relay
from .settings import DEFAULT_HOST, DEFAULT_PORT, Settings
from .sieve import Sieve
from .visible import Visible

LOGIN = web.AppKey("login", Login)


def create_app(settings: Settings, clock: Clock = time.time) -> web.Application:
    login = Login(settings.token, clock)
    keeper = Keeper(
        settings.keeper, settings.token, settings.keeper_certificate, accepted=login.accepted
    )
    app = web.Application(middlewares=[answer_failures, guarded(settings.gate)])
    app[LOGIN] = login
    app.on_response_prepare.append(add_security_headers)
    app.add_subapp("/api", create_api(settings, login, keeper))
    app.add_routes(Entry(login, keeper.refuses).routes())
    app.add_routes(Assets(settings.static).routes())
    return app


def create_api(settings: Settings, login: Login, keeper: Keeper) -> web.Application:
    """An application of its own, so that no route can be added to it without the lock."""
    api = web.Application(middlewares=[only_own_pages, locked(login, keeper.refuses)])
    api.on_response_prepare.append(renewing(login))
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
    settings: Settings,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    *,
    place: Place | None = None,
) -> AsyncIterator[Clarvis]:
    """Serve in this event loop until the block ends; port 0 takes a free one.

    `place` is for everything that is not a plain port. Raises OSError where the address cannot be
    had. Signals are left to the caller.
    """
    app = create_app(settings)
    async with served(app, place or Place(host, port)) as url:
        yield Clarvis(url, app[LOGIN])
