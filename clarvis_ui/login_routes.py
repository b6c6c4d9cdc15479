"""The routes for login, logout and codes, and the login check of all other routes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware
from aiohttp.web_protocol import RequestPayloadError

from claudekeeper.net.errors import BodyTooLarge, InvalidRequest, RequestTooSlow
from claudekeeper.net.responses import json_response

from .errors import KeeperRefused, NotLoggedIn
from .login import COOKIE_LIFETIME, Login, login_link
from .security import CALLER, scheme_of

MAX_BODY_BYTES = 4096
# a client that is not logged in is not waited for longer
BODY_SECONDS = 10.0

# whether the cookies of a request are still valid
StillLoggedIn = Callable[[], bool]
# whether the keeper refuses our token
TokenRefused = Callable[[], Awaitable[bool]]


class LoginBody(msgspec.Struct, forbid_unknown_fields=True):
    code: str


class LoginCode(msgspec.Struct):
    code: str
    url: str
    expires: str


async def read_small_body(request: web.Request) -> bytes:
    """A body of at most MAX_BODY_BYTES, as its sender is not logged in."""
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.content.iter_any():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    raise BodyTooLarge
    except TimeoutError as error:
        raise RequestTooSlow from error
    except RequestPayloadError as error:
        raise InvalidRequest("The body cannot be read.") from error
    return body


class LoginRoutes:
    def __init__(self, login: Login, token_refused: TokenRefused) -> None:
        self._login = login
        self._token_refused = token_refused

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/login", self.log_in),
            web.post("/login/code", self.mint_code),
            web.post("/logout", self.log_out),
        ]

    async def log_in(self, request: web.Request) -> web.Response:
        try:
            body = msgspec.json.decode(await read_small_body(request), type=LoginBody)
        except msgspec.MsgspecError as error:
            raise InvalidRequest(f"The login could not be understood: {error}") from error
        value, is_own = self._login.redeem(body.code)
        name = self._login.cookies.name
        # not for a code requested with a refused token: it may have been rotated because strangers
        # had it
        if is_own and await self._token_refused() and name == self._login.cookies.name:
            self._login.carried_cookies.add(value)
        response = json_response({"loggedIn": True})
        set_cookie(request, response, name, value)
        return response

    async def mint_code(self, request: web.Request) -> web.Response:
        """For `claudekeeper open`, which has the keeper's token."""
        code = self._login.mint_for_owner(request.headers.get(hdrs.AUTHORIZATION, ""))
        url = f"{scheme_of(request)}://{request[CALLER].authority}"
        return json_response(LoginCode(code.text, login_link(url, code), code.expires_at))

    async def log_out(self, request: web.Request) -> web.Response:
        cookies = self._login.cookies
        cookies.revoke(request.cookies.get(cookies.name, ""))
        self._login.carried_cookies.forget(request.cookies.values())
        response = json_response({"loggedIn": False})
        response.del_cookie(
            cookies.name,
            path="/",
            httponly=True,
            samesite="Strict",
            secure=scheme_of(request) == "https",
        )
        return response


def set_cookie(request: web.Request, response: web.StreamResponse, name: str, value: str) -> None:
    response.set_cookie(
        name,
        value,
        max_age=COOKIE_LIFETIME,
        path="/",
        httponly=True,
        samesite="Strict",
        secure=scheme_of(request) == "https",
    )


def login_check(login: Login) -> Callable[[web.Request], StillLoggedIn]:
    def check(request: web.Request) -> StillLoggedIn:
        cookies = dict(request.cookies)
        return lambda: login.admits(cookies)

    return check


def require_login(login: Login, token_refused: TokenRefused) -> Middleware:
    """Refuses every request without a valid cookie, also for unknown addresses."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if login.admits(request.cookies):
            return await handler(request)
        if login.had_valid_cookie(request.cookies) and await token_refused():
            raise KeeperRefused
        raise NotLoggedIn

    return check


def renew_carried_cookies(
    login: Login,
) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    """Gives carried-over logins a cookie of the new token, which survives a restart."""

    async def renew(request: web.Request, response: web.StreamResponse) -> None:
        if login.carried_cookies.carries(request.cookies.values()):
            cookies = login.cookies
            if not cookies.is_valid(request.cookies.get(cookies.name, "")):
                name = cookies.name
                set_cookie(request, response, name, cookies.issue())
                # the headers are already prepared
                response.headers.add(hdrs.SET_COOKIE, response.cookies[name].OutputString())

    return renew
