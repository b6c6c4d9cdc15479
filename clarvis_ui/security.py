"""The checks of every request before the login, and the headers of every answer."""

from __future__ import annotations

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from claudekeeper.net.addresses import host_name, is_loopback
from claudekeeper.net.errors import ForeignHost, ForeignOrigin, UnsupportedMedia
from claudekeeper.net.host_guard import HostGuard, HostRefused, OriginRefused
from claudekeeper.net.trusted_proxies import Caller

from .errors import FOREIGN_HOST

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
READ_METHODS = frozenset({"GET", "HEAD"})
OWN_FETCH_SITES = frozenset({"same-origin", "none"})
CALLER = web.RequestKey("caller", Caller)


def scheme_of(request: web.Request) -> str:
    """The scheme that the browser used; a trusted proxy reports https."""
    return request[CALLER].scheme or "http"


def is_remote(request: web.Request) -> bool:
    """Whether the browser is on another machine; here, compression costs more than it saves."""
    return not is_loopback(host_name(request[CALLER].authority) or "")


def host_guard_middleware(host_guard: HostGuard) -> Middleware:
    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            request[CALLER] = host_guard.check(request)
        except HostRefused as refused:
            raise ForeignHost(FOREIGN_HOST) from refused
        except OriginRefused as refused:
            raise ForeignOrigin from refused
        if request.method not in READ_METHODS and request.content_type != "application/json":
            # a form of another site can post, but not with this content type
            raise UnsupportedMedia
        return await handler(request)

    return guard


@web.middleware
async def require_same_origin(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuses pages on other ports: they are same-site, so cookies come, perhaps without Origin."""
    if request.headers.get("Sec-Fetch-Site", "none") not in OWN_FETCH_SITES:
        raise ForeignOrigin
    return await handler(request)


async def add_security_headers(_request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(SECURITY_HEADERS)
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers.popall("Server", None)  # it would name versions
