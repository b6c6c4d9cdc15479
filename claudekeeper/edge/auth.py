"""Who may come in: the right Host, no foreign Origin, and the token."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from claudekeeper.model.errors import ForeignHost, ForeignOrigin, Unauthorized

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
OPEN = frozenset({"/health"})


def guard(token: str, allowed_hosts: Iterable[str] = ()) -> Middleware:
    """Checks every request before anything is done for it."""
    hosts = LOOPBACK | {host.lower() for host in allowed_hosts}
    expected = token.encode()

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        host = request.headers.get("Host", "")
        # comparing Origin with Host alone does not stop rebinding: the Host must be one of ours
        if hostname(host) not in hosts or len(request.headers.getall("Host", [])) != 1:
            raise ForeignHost
        for origin in request.headers.getall("Origin", []):
            if origin not in (f"http://{host}", f"https://{host}"):
                raise ForeignOrigin
        if request.path not in OPEN and not _is_bearer(request, expected):
            raise Unauthorized
        return await handler(request)

    return check


def hostname(host: str) -> str | None:
    """The name in a Host header, without its port; None where it is no such header."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    bare = not (parts.path or parts.query or parts.fragment or "@" in host)
    return parts.hostname if bare else None


def _is_bearer(request: web.Request, expected: bytes) -> bool:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return False
    return hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), expected)
