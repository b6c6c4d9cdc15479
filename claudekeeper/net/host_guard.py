"""The check of Host and Origin, before anything else of a request.

Host is checked against a list, since DNS rebinding would make any page same-origin with us; then
Origin against Host, since a browser sends cookies from pages on other ports too.
"""

from __future__ import annotations

from collections.abc import Iterable

from aiohttp import hdrs, web

from .addresses import LOOPBACK_NAMES, host_in_url, host_name, is_wildcard, parse_host_name
from .trusted_proxies import Caller, TrustedProxies


class HostRefused(Exception):
    """The Host of the request is not one of ours."""


class OriginRefused(Exception):
    """The request comes from a page of another origin."""


class NameInvalid(ValueError):
    """A configured name is not a host name."""


class HostGuard:
    """The host names that a server answers to, and the proxies that it trusts."""

    def __init__(
        self,
        host: str = "localhost",
        allowed_hosts: Iterable[str] = (),
        proxies: TrustedProxies | None = None,
    ) -> None:
        own = () if is_wildcard(host) else (host_in_url(host).lower(),)
        self._own_names = LOOPBACK_NAMES | set(own)
        self._allowed_names = frozenset(_parse_allowed_name(name) for name in allowed_hosts)
        self._proxies = proxies or TrustedProxies()

    @property
    def names(self) -> frozenset[str]:
        return self._own_names | self._allowed_names

    def check(self, request: web.BaseRequest) -> Caller:
        """The caller of a request; raises HostRefused or OriginRefused."""
        caller = self._proxies.caller_of(request)
        # forwarded names are checked too: a proxy may repeat what a stranger sent
        authorities = (*caller.authorities, *_authorities_in_target(request.raw_path))
        if not all(host_name(authority) in self.names for authority in authorities):
            raise HostRefused
        schemes = self._allowed_schemes(caller)
        for origin in request.headers.getall(hdrs.ORIGIN, []):
            if origin.lower() not in {f"{scheme}://{caller.authority}" for scheme in schemes}:
                raise OriginRefused
        return caller

    def _allowed_schemes(self, caller: Caller) -> tuple[str, ...]:
        if caller.scheme is not None:
            return (caller.scheme,)
        # a configured name is mostly that of a proxy with TLS, which says so only if we trust it;
        # our own address is served without TLS
        behind_a_proxy = host_name(caller.authority) in self._allowed_names
        return ("http", "https") if behind_a_proxy else ("http",)


def _authorities_in_target(target: str) -> tuple[str, ...]:
    """The host in the first line of a request: `GET http://name/path`, as proxies get it."""
    if target.startswith("/"):
        return ()
    return (target.partition("://")[2].partition("/")[0],)


def _parse_allowed_name(name: str) -> str:
    plain = parse_host_name(name)
    if plain is None:
        raise NameInvalid(f"{name!r} is not a host name; write it without scheme and port")
    return plain
