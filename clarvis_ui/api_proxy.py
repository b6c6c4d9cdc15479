"""/api: the keeper's API for logged-in browsers, inside the allowed roots.

Only the routes listed here exist. Each states how CLARVIS_ALLOWED_ROOTS limits it, so that a new
route of the keeper stays closed until somebody has decided that.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping

import aiohttp
import msgspec
from aiohttp import hdrs, web

from claudekeeper.net.errors import BodyTooLarge, InvalidRequest
from claudekeeper.net.responses import json_response

from .errors import KeeperUnreachable, OutsideRoots, SessionOutsideRoots
from .keeper_client import KeeperClient, KeeperRefusal
from .request_bodies import LARGE_BODY, SMALL_BODY, BoundedBody, WholeBody
from .root_filter import ResolveFields, RootFilter, RouteFields, SendFields
from .security import is_remote

ID_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}"
REQUEST_HEADERS = (hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, hdrs.CONTENT_TYPE, hdrs.IF_NONE_MATCH)
RESPONSE_HEADERS = (
    hdrs.CONTENT_TYPE,
    hdrs.CONTENT_LENGTH,
    hdrs.CONTENT_ENCODING,
    hdrs.ETAG,
    hdrs.RETRY_AFTER,
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
FilteredList = Callable[[RootFilter, Mapping[str, str]], Awaitable[msgspec.Struct]]


@web.middleware
async def pass_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answers with the keeper's own error."""
    try:
        return await handler(request)
    except KeeperRefusal as refusal:
        return web.Response(
            body=refusal.content, status=refusal.status, content_type="application/json"
        )


class Proxy:
    """`root_filter` is None where every directory may be seen."""

    def __init__(self, keeper: KeeperClient, root_filter: RootFilter | None) -> None:
        self._keeper = keeper
        self._root_filter = root_filter

    def routes(self) -> list[web.RouteDef]:
        session = f"/sessions/{{id:{ID_PATTERN}}}"
        return [
            web.get("/health", self.filtered(RootFilter.health)),
            web.get("/sessions", self.filtered(RootFilter.sessions)),
            web.get("/workdirs", self.filtered(RootFilter.workdirs)),
            web.get("/attention", self.filtered(RootFilter.attention)),
            web.get("/directories", self.filtered(RootFilter.directories)),
            web.get("/archive", self.filtered(RootFilter.archive)),
            web.get("/search", self.filtered(RootFilter.search)),
            web.post("/archive", self.only_without_roots),
            web.get("/timeline", self.filtered(RootFilter.timeline)),
            web.get("/usage", self.usage),
            # they belong to the person, not to a session
            web.get("/preferences", self.pass_through),
            web.patch("/preferences", self.pass_through),
            web.get("/commands", self.within_workdir),
            web.get(session, self.within_session),
            web.patch(session, self.within_session),
            web.get(f"{session}/subagents", self.within_session),
            web.get(f"{session}/subagents/{{agent:{ID_PATTERN}}}", self.within_session),
            web.get(f"{session}/commands", self.within_session),
            web.get(f"{session}/resume", self.within_session),
            web.get(f"{session}/specification", self.within_session),
            web.get(f"{session}/timeline", self.within_session),
            web.get(f"{session}/family", self.family),
            web.get(f"{session}/branches", self.within_session),
            web.get(f"{session}/branch", self.within_both_sessions),
            web.get(f"{session}/branch/work", self.within_both_sessions),
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
            web.delete(f"{session}/queue/{{uuid:{ID_PATTERN}}}", self.within_session),
            web.post(f"{session}/queue/send", self.within_session),
            web.post("/send", self.send),
            web.post("/route", self.route),
            web.post("/resolve", self.resolve),
        ]

    def filtered(self, listing: FilteredList) -> Handler:
        """A handler for a list without what lies outside."""

        async def handler(request: web.Request) -> web.StreamResponse:
            if self._root_filter is None:
                return await self.pass_through(request)
            response = json_response(await listing(self._root_filter, parse_query(request)))
            compress(request, response)
            return response

        return handler

    async def within_session(self, request: web.Request) -> web.StreamResponse:
        if self._root_filter is not None:
            await self._root_filter.require_session(request.match_info["id"])
        return await self.pass_through(request)

    async def within_workdir(self, request: web.Request) -> web.StreamResponse:
        if self._root_filter is not None:
            await self._root_filter.require_workdir(parse_query(request).get("workdir"))
        return await self.pass_through(request)

    async def family(self, request: web.Request) -> web.StreamResponse:
        """The forks of a session, without those outside."""
        if self._root_filter is None:
            return await self.pass_through(request)
        session_id = request.match_info["id"]
        await self._root_filter.require_session(session_id)
        return json_response(await self._root_filter.family(session_id, parse_query(request)))

    async def routings(self, request: web.Request) -> web.StreamResponse:
        """Why prompts went where they did, without candidates outside."""
        if self._root_filter is None:
            return await self.pass_through(request)
        return json_response(await self._root_filter.routings(request.match_info["id"]))

    async def within_both_sessions(self, request: web.Request) -> web.StreamResponse:
        """Compares branches of two sessions, which both have to lie inside."""
        other = parse_query(request).get("with")
        if self._root_filter is not None and other is not None:
            if re.fullmatch(ID_PATTERN, other) is None:
                raise SessionOutsideRoots
            await self._root_filter.require_session(other.lower())
        return await self.within_session(request)

    async def only_without_roots(self, request: web.Request) -> web.StreamResponse:
        """For what concerns every session of the machine."""
        if self._root_filter is not None:
            raise OutsideRoots
        return await self.pass_through(request)

    async def usage(self, request: web.Request) -> web.StreamResponse:
        """The usage of the sessions inside, which the keeper adds up."""
        if self._root_filter is None:
            return await self.pass_through(request)
        return await self._forward(
            request, None, self._root_filter.limit_to_roots(parse_query(request))
        )

    async def send(self, request: web.Request) -> web.StreamResponse:
        if self._root_filter is None:
            return await self._forward(request, BoundedBody(request, LARGE_BODY))
        body = await WholeBody.read(request, LARGE_BODY)
        await self._root_filter.require_target(body.decode_as(SendFields))
        return await self._forward(request, body)

    async def route(self, request: web.Request) -> web.StreamResponse:
        if self._root_filter is None:
            return await self.pass_through(request)
        body = await WholeBody.read(request, SMALL_BODY)
        return json_response(await self._root_filter.routing(body.decode_as(RouteFields)))

    async def resolve(self, request: web.Request) -> web.StreamResponse:
        if self._root_filter is None:
            return await self._forward(request, BoundedBody(request, LARGE_BODY))
        body = await WholeBody.read(request, LARGE_BODY)
        await self._root_filter.require_question(body.decode_as(ResolveFields))
        return await self._forward(request, body)

    async def pass_through(self, request: web.Request) -> web.StreamResponse:
        body = BoundedBody(request, SMALL_BODY) if request.can_read_body else None
        return await self._forward(request, body)

    async def _forward(
        self,
        request: web.Request,
        body: BoundedBody | WholeBody | None,
        query: Mapping[str, str] | None = None,
    ) -> web.StreamResponse:
        """Passes the request to the keeper and its answer to the browser, both in chunks."""
        try:
            answer = await self._keeper.request(
                request.method,
                tuple(request.path.split("/")[2:]),  # without /api
                parse_query(request) if query is None else query,
                select_headers(request.headers, REQUEST_HEADERS),
                body.chunks() if body else None,
            )
        except KeeperUnreachable:
            if body and body.overflowed:
                raise BodyTooLarge from None
            if body and body.unreadable:
                raise InvalidRequest("The body cannot be read.") from None
            raise
        async with answer:
            return await stream_response(request, answer)


async def stream_response(
    request: web.Request, answer: aiohttp.ClientResponse
) -> web.StreamResponse:
    response = web.StreamResponse(
        status=answer.status, headers=select_headers(answer.headers, RESPONSE_HEADERS)
    )
    compress(request, response)
    try:
        await response.prepare(request)
        async for chunk in answer.content.iter_any():
            await response.write(chunk)
        await response.write_eof()
    except (aiohttp.ClientError, TimeoutError, OSError):
        # one of the two went away; a clean end would make half an answer look whole
        if request.transport is not None:
            request.transport.abort()
    return response


def compress(request: web.Request, response: web.StreamResponse) -> None:
    """Compresses JSON for other machines, to about a tenth."""
    accepts = "gzip" in request.headers.get(hdrs.ACCEPT_ENCODING, "")
    is_plain = hdrs.CONTENT_ENCODING not in response.headers
    if accepts and is_plain and response.content_type == "application/json" and is_remote(request):
        response.enable_compression(web.ContentCoding.gzip)


def parse_query(request: web.Request) -> dict[str, str]:
    """The query; a repeated parameter is refused, as the keeper might use the unchecked one."""
    query = dict(request.query)
    if len(query) != len(request.query):
        raise InvalidRequest("A parameter may be given only once.")
    return query


def select_headers(headers: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    return {name: headers[name] for name in names if name in headers}
