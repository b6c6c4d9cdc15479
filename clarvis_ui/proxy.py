"""/api: the keeper's contract, passed on for whoever is logged in, within the allowed roots.

Only the routes listed here exist. Each one says how ALLOWED_ROOTS bears on it, so that a new route
of the keeper stays closed until somebody has thought about that.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping

import aiohttp
import msgspec
from aiohttp import hdrs, web

from .bodies import LARGE, SMALL, BoundedBody, WholeBody
from .failures import (
    BodyTooLarge,
    InvalidRequest,
    KeeperUnreachable,
    OutsideRoots,
    SessionNotFound,
    json_response,
)
from .guard import comes_from_afar
from .keeper import Keeper, Refusal
from .visible import Resolve, Route, Send, Visible

ID = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}"
PASSED_ON = (hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, hdrs.CONTENT_TYPE, hdrs.IF_NONE_MATCH)
PASSED_BACK = (
    hdrs.CONTENT_TYPE,
    hdrs.CONTENT_LENGTH,
    hdrs.CONTENT_ENCODING,
    hdrs.ETAG,
    hdrs.RETRY_AFTER,
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Listing = Callable[[Visible, Mapping[str, str]], Awaitable[msgspec.Struct]]


class Proxy:
    """`visible` is None where every directory may be seen."""

    def __init__(self, keeper: Keeper, visible: Visible | None) -> None:
        self._keeper = keeper
        self._visible = visible

    def routes(self) -> list[web.RouteDef]:
        session = f"/sessions/{{id:{ID}}}"
        return [
            web.get("/health", self.thinned(Visible.health)),
            web.get("/sessions", self.thinned(Visible.sessions)),
            web.get("/workdirs", self.thinned(Visible.workdirs)),
            web.get("/attention", self.thinned(Visible.attention)),
            web.get("/directories", self.thinned(Visible.directories)),
            web.get("/archive", self.thinned(Visible.archive)),
            web.get("/search", self.thinned(Visible.search)),
            web.post("/archive", self.without_roots),
            web.get("/timeline", self.thinned(Visible.timeline)),
            web.get("/usage", self.usage),
            # of the person, not of any session
            web.get("/preferences", self.pass_on),
            web.patch("/preferences", self.pass_on),
            web.get("/commands", self.within_workdir),
            web.get(session, self.within_session),
            web.patch(session, self.within_session),
            web.get(f"{session}/subagents", self.within_session),
            web.get(f"{session}/subagents/{{agent:{ID}}}", self.within_session),
            web.get(f"{session}/commands", self.within_session),
            web.get(f"{session}/resume", self.within_session),
            web.get(f"{session}/specification", self.within_session),
            web.get(f"{session}/timeline", self.within_session),
            web.get(f"{session}/family", self.family),
            web.get(f"{session}/branches", self.within_session),
            web.get(f"{session}/branch", self.compared),
            web.get(f"{session}/branch/work", self.compared),
            web.post(f"{session}/recap", self.within_session),
            web.post(f"{session}/interrupt", self.within_session),
            web.post(f"{session}/continue", self.within_session),
            web.post(f"{session}/mode", self.within_session),
            web.post(f"{session}/restore", self.within_session),
            web.post(f"{session}/fork", self.within_session),
            web.post(f"{session}/close", self.within_session),
            web.get(f"{session}/settings", self.within_session),
            web.get(f"{session}/queue", self.within_session),
            web.get(f"{session}/routings", self.routings),
            web.delete(f"{session}/queue", self.within_session),
            web.delete(f"{session}/queue/{{uuid:{ID}}}", self.within_session),
            web.post(f"{session}/queue/send", self.within_session),
            web.post("/send", self.send),
            web.post("/route", self.route),
            web.post("/resolve", self.resolve),
        ]

    def thinned(self, listing: Listing) -> Handler:
        """A list without what lies outside."""

        async def handler(request: web.Request) -> web.StreamResponse:
            if self._visible is None:
                return await self.pass_on(request)
            response = answered(await listing(self._visible, query_of(request)))
            pack(request, response)
            return response

        return handler

    async def within_session(self, request: web.Request) -> web.StreamResponse:
        if self._visible is not None:
            await self._visible.require_session(request.match_info["id"])
        return await self.pass_on(request)

    async def within_workdir(self, request: web.Request) -> web.StreamResponse:
        if self._visible is not None:
            await self._visible.require_workdir(query_of(request).get("workdir"))
        return await self.pass_on(request)

    async def family(self, request: web.Request) -> web.StreamResponse:
        """Forks and copies of a session, without those outside."""
        if self._visible is None:
            return await self.pass_on(request)
        session_id = request.match_info["id"]
        await self._visible.require_session(session_id)
        return answered(await self._visible.family(session_id, query_of(request)))

    async def routings(self, request: web.Request) -> web.StreamResponse:
        """Why messages went where they did, without candidates outside."""
        if self._visible is None:
            return await self.pass_on(request)
        return answered(await self._visible.routings(request.match_info["id"]))

    async def compared(self, request: web.Request) -> web.StreamResponse:
        """A branch beside one of another session: both have to lie inside."""
        other = query_of(request).get("with")
        if self._visible is not None and other is not None:
            if re.fullmatch(ID, other) is None:
                raise SessionNotFound
            await self._visible.require_session(other.lower())
        return await self.within_session(request)

    async def without_roots(self, request: web.Request) -> web.StreamResponse:
        """For what concerns every session of the machine."""
        if self._visible is not None:
            raise OutsideRoots
        return await self.pass_on(request)

    async def usage(self, request: web.Request) -> web.StreamResponse:
        """What sessions inside used: the keeper adds up those of the roots alone."""
        if self._visible is None:
            return await self.pass_on(request)
        return await self._forward(request, None, self._visible.narrowed(query_of(request)))

    async def send(self, request: web.Request) -> web.StreamResponse:
        if self._visible is None:
            return await self._forward(request, BoundedBody(request, LARGE))
        body = await WholeBody.of(request, LARGE)
        await self._visible.require_target(body.read_as(Send))
        return await self._forward(request, body)

    async def route(self, request: web.Request) -> web.StreamResponse:
        if self._visible is None:
            return await self.pass_on(request)
        asked = (await WholeBody.of(request, SMALL)).read_as(Route)
        return answered(await self._visible.routing(asked))

    async def resolve(self, request: web.Request) -> web.StreamResponse:
        if self._visible is None:
            return await self._forward(request, BoundedBody(request, LARGE))
        body = await WholeBody.of(request, LARGE)
        await self._visible.require_question(body.read_as(Resolve))
        return await self._forward(request, body)

    async def pass_on(self, request: web.Request) -> web.StreamResponse:
        body = BoundedBody(request, SMALL) if request.can_read_body else None
        return await self._forward(request, body)

    async def _forward(
        self,
        request: web.Request,
        body: BoundedBody | WholeBody | None,
        query: Mapping[str, str] | None = None,
    ) -> web.StreamResponse:
        """The request to the keeper, the answer to the browser, neither held in memory."""
        try:
            answer = await self._keeper.ask(
                request.method,
                tuple(request.path.split("/")[2:]),  # without /api
                query_of(request) if query is None else query,
                chosen(request.headers, PASSED_ON),
                body.chunks() if body else None,
            )
        except KeeperUnreachable:
            if body and body.overflowed:
                raise BodyTooLarge from None
            if body and body.unreadable:
                raise InvalidRequest("The body cannot be read.") from None
            raise
        async with answer:
            return await stream_back(request, answer)


async def stream_back(request: web.Request, answer: aiohttp.ClientResponse) -> web.StreamResponse:
    response = web.StreamResponse(status=answer.status, headers=chosen(answer.headers, PASSED_BACK))
    pack(request, response)
    try:
        await response.prepare(request)
        async for chunk in answer.content.iter_any():
            await response.write(chunk)
        await response.write_eof()
    except (aiohttp.ClientError, TimeoutError, OSError):
        # one of the two went away in mid-sentence: there is nobody to tell it to, or a clean end
        # would pass half an answer off as whole
        if request.transport is not None:
            request.transport.abort()
    return response


def pack(request: web.Request, response: web.StreamResponse) -> None:
    """JSON shrinks to a tenth; to a phone that is the difference between now and soon."""
    takes = "gzip" in request.headers.get(hdrs.ACCEPT_ENCODING, "")
    plain = hdrs.CONTENT_ENCODING not in response.headers
    if takes and plain and response.content_type == "application/json" and comes_from_afar(request):
        response.enable_compression(web.ContentCoding.gzip)


def query_of(request: web.Request) -> dict[str, str]:
    """Each parameter once: of two, the keeper might take the one that was not looked at."""
    query = dict(request.query)
    if len(query) != len(request.query):
        raise InvalidRequest("A parameter may be given only once.")
    return query


def chosen(headers: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    return {name: headers[name] for name in names if name in headers}


def answered(found: msgspec.Struct) -> web.Response:
    if isinstance(found, Refusal):
        return web.Response(
            body=found.content, status=found.status, content_type="application/json"
        )
    return json_response(found)
