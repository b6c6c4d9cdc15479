"""/api: the keeper's contract, passed on for whoever is logged in, within the allowed roots.

Only the routes listed here exist. Each one says how ALLOWED_ROOTS bears on it, so that a new route
of the keeper stays closed until somebody has thought about that.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import aiohttp
import msgspec
from aiohttp import hdrs, web

from .failures import BodyTooLarge, KeeperUnreachable, json_response
from .keeper import Keeper, Refusal
from .roots import Roots
from .visible import Visible

ID = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}"
LARGEST_BODY = 1024 * 1024
PASSED_ON = (hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, hdrs.CONTENT_TYPE, hdrs.IF_NONE_MATCH)
PASSED_BACK = (
    hdrs.CONTENT_TYPE,
    hdrs.CONTENT_LENGTH,
    hdrs.CONTENT_ENCODING,
    hdrs.ETAG,
    hdrs.RETRY_AFTER,
)


class BoundedBody:
    """A request's body on its way to the keeper, cut off where it grows too large."""

    def __init__(self, request: web.Request) -> None:
        if (request.content_length or 0) > LARGEST_BODY:
            raise BodyTooLarge
        self._content = request.content
        self.overflowed = False

    async def chunks(self) -> AsyncIterator[bytes]:
        seen = 0
        async for chunk in self._content.iter_any():
            seen += len(chunk)
            if seen > LARGEST_BODY:
                self.overflowed = True
                raise BodyTooLarge
            yield chunk


class Proxy:
    def __init__(self, keeper: Keeper, roots: Roots) -> None:
        self._keeper = keeper
        self._visible = None if roots.everywhere else Visible(keeper, roots)

    def routes(self) -> list[web.RouteDef]:
        session = f"/sessions/{{id:{ID}}}"
        return [
            web.get("/health", self.pass_on),
            web.get("/sessions", self.list_sessions),
            web.get("/workdirs", self.list_workdirs),
            web.get(session, self.within_session),
            web.patch(session, self.within_session),
            web.get(f"{session}/subagents", self.within_session),
            web.get(f"{session}/subagents/{{agent:{ID}}}", self.within_session),
        ]

    async def list_sessions(self, request: web.Request) -> web.StreamResponse:
        if self._visible is None:
            return await self.pass_on(request)
        return answered(await self._visible.sessions(request.query))

    async def list_workdirs(self, request: web.Request) -> web.StreamResponse:
        if self._visible is None:
            return await self.pass_on(request)
        return answered(await self._visible.workdirs(request.query))

    async def within_session(self, request: web.Request) -> web.StreamResponse:
        if self._visible is not None:
            await self._visible.require(request.match_info["id"])
        return await self.pass_on(request)

    async def pass_on(self, request: web.Request) -> web.StreamResponse:
        """The request to the keeper, the answer to the browser, neither held in memory."""
        body = BoundedBody(request) if request.can_read_body else None
        try:
            answer = await self._keeper.ask(
                request.method,
                tuple(request.path.split("/")[2:]),  # without /api
                request.query,
                chosen(request.headers, PASSED_ON),
                body.chunks() if body else None,
            )
        except KeeperUnreachable:
            if body and body.overflowed:
                raise BodyTooLarge from None
            raise
        async with answer:
            return await stream_back(request, answer)


async def stream_back(request: web.Request, answer: aiohttp.ClientResponse) -> web.StreamResponse:
    response = web.StreamResponse(status=answer.status, headers=chosen(answer.headers, PASSED_BACK))
    await response.prepare(request)
    try:
        async for chunk in answer.content.iter_any():
            await response.write(chunk)
    except (aiohttp.ClientError, TimeoutError):
        # the keeper went away in mid-sentence: a clean end would pass half an answer off as whole
        if request.transport is not None:
            request.transport.abort()
        return response
    await response.write_eof()
    return response


def chosen(headers: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    return {name: headers[name] for name in names if name in headers}


def answered(found: msgspec.Struct | Refusal) -> web.Response:
    if isinstance(found, Refusal):
        return web.Response(
            body=found.content, status=found.status, content_type="application/json"
        )
    return json_response(found)
