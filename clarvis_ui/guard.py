"""Who may talk to Clarvis at all, and the headers that every answer carries.

Host is checked against a list, since a rebound name would make any page same-origin with us;
then Origin against Host, since a browser sends our cookie along from pages on other ports.
"""

from __future__ import annotations

import re

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware

from .failures import ForeignHost, ForeignOrigin, UnsupportedMedia

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
READING = frozenset({"GET", "HEAD"})
OWN_FETCH_SITES = frozenset({"same-origin", "none"})
AUTHORITY = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::\d{1,5})?")


def scheme(request: web.Request) -> str:
    """How the browser came here; a TLS proxy in front says so.

    No page can forge it: a header of its own makes a cross-origin request ask first.
    """
    forwarded = request.headers.get("X-Forwarded-Proto", "").lower()
    return forwarded if forwarded in {"http", "https"} else request.scheme


def own_authority(request: web.Request, hosts: frozenset[str]) -> str:
    """The Host this request was sent to, once it is known to be one of ours."""
    given = request.headers.getall(hdrs.HOST, [])
    authority = given[0].lower() if len(given) == 1 else ""
    parts = AUTHORITY.fullmatch(authority)
    if parts is None or parts["name"] not in hosts:
        raise ForeignHost
    return authority


def guarded(hosts: frozenset[str]) -> Middleware:
    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        authority = own_authority(request, hosts)
        origins = request.headers.getall(hdrs.ORIGIN, [])
        if any(origin.lower() != f"{scheme(request)}://{authority}" for origin in origins):
            raise ForeignOrigin
        if request.method not in READING and request.content_type != "application/json":
            # a form of another site can post, but not this content type
            raise UnsupportedMedia
        return await handler(request)

    return guard


@web.middleware
async def only_own_pages(request: web.Request, handler: Handler) -> web.StreamResponse:
    """A page on another port of this machine is same-site: the cookie comes, Origin may not."""
    if request.headers.get("Sec-Fetch-Site", "none") not in OWN_FETCH_SITES:
        raise ForeignOrigin
    return await handler(request)


async def add_security_headers(_request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(SECURITY_HEADERS)
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers.popall("Server", None)  # nobody needs our versions
