"""The routes of the door: log in, log out, ask for a code; and the lock on everything else."""

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

LARGEST_BODY = 4096
# who has not been let in yet is not waited for
BODY_SECONDS = 10.0


# whether whoever came in once would still be let in now
StillLoggedIn = Callable[[], bool]
# whether the keeper says no to our token
TokenRefused = Callable[[], Awaitable[bool]]


class LoginBody(msgspec.Struct, forbid_unknown_fields=True):
    code: str


class LoginCode(msgspec.Struct):
    code: str
    url: str
    expires: str


async def read_small_body(request: web.Request) -> bytes:
    """At most LARGEST_BODY: whoever sends it has not been let in yet."""
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.content.iter_any():
                body += chunk
                if len(body) > LARGEST_BODY:
                    raise BodyTooLarge
    except TimeoutError as error:
        raise RequestTooSlow from error
    except RequestPayloadError as error:
        raise InvalidRequest("The body cannot be read.") from error
    return body


class LoginRoutes:
    def __init__(self, login: Login, refused: TokenRefused) -> None:
        self._login = login
        self._token_refused = refused

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/login", self.log_in),
            web.post("/login/code", self.mint_code),
            web.post("/logout", self.log_out),
        ]

    async def log_in(self, request: web.Request) -> web.Response:
        try:
            given = msgspec.json.decode(await read_small_body(request), type=LoginBody)
        except msgspec.MsgspecError as error:
            raise InvalidRequest(f"The login could not be understood: {error}") from error
        value, own = self._login.redeem(given.code)
        name = self._login.cookies.name
        # a code that was asked for with a token that the keeper refuses may be a stranger's: that
        # token may have been rotated away because it was known
        if own and await self._token_refused() and name == self._login.cookies.name:
            self._login.carried_cookies.add(value)
        response = json_response({"loggedIn": True})
        set_cookie(request, response, name, value)
        return response

    async def mint_code(self, request: web.Request) -> web.Response:
        """For `claudekeeper open`, which holds the keeper's token and has no browser."""
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
    def admission(request: web.Request) -> StillLoggedIn:
        given = dict(request.cookies)
        return lambda: login.admits(given)

    return admission


def require_login(login: Login, refused: TokenRefused) -> Middleware:
    """Nothing behind this is done, or even looked for, without a valid cookie."""

    @web.middleware
    async def lock(request: web.Request, handler: Handler) -> web.StreamResponse:
        if login.admits(request.cookies):
            return await handler(request)
        if login.had_valid_cookie(request.cookies) and await refused():
            raise KeeperRefused
        raise NotLoggedIn

    return lock


def renew_carried_cookies(
    login: Login,
) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    """Who was carried over to the right token gets a cookie of it, which outlives this server."""

    async def renew(request: web.Request, response: web.StreamResponse) -> None:
        if login.carried_cookies.carries(request.cookies.values()):
            cookies = login.cookies
            if not cookies.is_valid(request.cookies.get(cookies.name, "")):
                name = cookies.name
                set_cookie(request, response, name, cookies.issue())
                # the headers have been put together by now
                response.headers.add(hdrs.SET_COOKIE, response.cookies[name].OutputString())

    return renew
