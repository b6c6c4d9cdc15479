"""The routes of the door: log in, log out, ask for a code; and the lock on everything else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware
from aiohttp.web_protocol import RequestPayloadError

from .failures import (
    BodyTooLarge,
    InvalidRequest,
    KeeperRefused,
    NotLoggedIn,
    RequestTooSlow,
    json_response,
)
from .guard import CALLER, scheme
from .login import COOKIE_LIFETIME, Login, login_link

LARGEST_BODY = 4096
# who has not been let in yet is not waited for
BODY_SECONDS = 10.0


# whether whoever came in once would still be let in now
Admitted = Callable[[], bool]
# whether the keeper says no to our token
Refused = Callable[[], Awaitable[bool]]


class CodeGiven(msgspec.Struct, forbid_unknown_fields=True):
    code: str


class CodeMinted(msgspec.Struct):
    code: str
    url: str
    expires: str


async def small_body(request: web.Request) -> bytes:
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


class Entry:
    def __init__(self, login: Login, refused: Refused) -> None:
        self._login = login
        self._refused = refused

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/login", self.log_in),
            web.post("/login/code", self.mint_code),
            web.post("/logout", self.log_out),
        ]

    async def log_in(self, request: web.Request) -> web.Response:
        try:
            given = msgspec.json.decode(await small_body(request), type=CodeGiven)
        except msgspec.MsgspecError as error:
            raise InvalidRequest(f"The login could not be understood: {error}") from error
        value, own = self._login.redeem(given.code)
        name = self._login.cookies.name
        # a code that was asked for with a token that the keeper refuses may be a stranger's: that
        # token may have been rotated away because it was known
        if own and await self._refused() and name == self._login.cookies.name:
            self._login.early.remember(value)
        response = json_response({"loggedIn": True})
        give(request, response, name, value)
        return response

    async def mint_code(self, request: web.Request) -> web.Response:
        """For `claudekeeper open`, which holds the keeper's token and has no browser."""
        code = self._login.mint_for(request.headers.get(hdrs.AUTHORIZATION, ""))
        url = f"{scheme(request)}://{request[CALLER].authority}"
        return json_response(CodeMinted(code.text, login_link(url, code), code.expires_at))

    async def log_out(self, request: web.Request) -> web.Response:
        cookies = self._login.cookies
        cookies.end(request.cookies.get(cookies.name, ""))
        self._login.early.forget(request.cookies.values())
        response = json_response({"loggedIn": False})
        response.del_cookie(
            cookies.name,
            path="/",
            httponly=True,
            samesite="Strict",
            secure=scheme(request) == "https",
        )
        return response


def give(request: web.Request, response: web.StreamResponse, name: str, value: str) -> None:
    response.set_cookie(
        name,
        value,
        max_age=COOKIE_LIFETIME,
        path="/",
        httponly=True,
        samesite="Strict",
        secure=scheme(request) == "https",
    )


def admitted_by(login: Login) -> Callable[[web.Request], Admitted]:
    def admission(request: web.Request) -> Admitted:
        given = dict(request.cookies)
        return lambda: login.admits(given)

    return admission


def locked(login: Login, refused: Refused) -> Middleware:
    """Nothing behind this is done, or even looked for, without a valid cookie."""

    @web.middleware
    async def lock(request: web.Request, handler: Handler) -> web.StreamResponse:
        if login.admits(request.cookies):
            return await handler(request)
        if login.admitted_before(request.cookies) and await refused():
            raise KeeperRefused
        raise NotLoggedIn

    return lock


def renewing(login: Login) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    """Who was carried over to the right token gets a cookie of it, which outlives this server."""

    async def renew(request: web.Request, response: web.StreamResponse) -> None:
        if login.early.carries(request.cookies.values()):
            cookies = login.cookies
            if not cookies.valid(request.cookies.get(cookies.name, "")):
                name = cookies.name
                give(request, response, name, cookies.issue())
                # the headers have been put together by now
                response.headers.add(hdrs.SET_COOKIE, response.cookies[name].OutputString())

    return renew
