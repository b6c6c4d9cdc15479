"""Who may speak to a server at all: the right Host, no foreign Origin.

Host is checked against a list, since a rebound name would make any page same-origin with us; then
Origin against Host, since a browser sends cookies along from pages on other ports.
"""

from __future__ import annotations

from collections.abc import Iterable

from aiohttp import hdrs, web

from .addresses import LOOPBACK_NAMES, host_in_url, host_name, is_wildcard, parse_host_name
from .trusted_proxies import Caller, TrustedProxies


class HostRefused(Exception):
    """The request is addressed to somebody else."""


class OriginRefused(Exception):
    """The request comes from a page that is not ours."""


class NameInvalid(ValueError):
    """What was configured is no name of a host."""


class HostGuard:
    """The names that a server answers to, and the proxies that it believes."""

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
        """How the request came here; raises where it may not."""
        caller = self._proxies.caller_of(request)
        # what a proxy passed on is checked too: it may repeat what a stranger said
        named = (*caller.authorities, *_authorities_in_target(request.raw_path))
        if not all(host_name(authority) in self.names for authority in named):
            raise HostRefused
        schemes = self._allowed_schemes(caller)
        for origin in request.headers.getall(hdrs.ORIGIN, []):
            if origin.lower() not in {f"{scheme}://{caller.authority}" for scheme in schemes}:
                raise OriginRefused
        return caller

    def _allowed_schemes(self, caller: Caller) -> tuple[str, ...]:
        if caller.scheme is not None:
            return (caller.scheme,)
        # a configured name is mostly that of a proxy with TLS, and only one that we trust may say
        # so; what came to our own address came as we serve it
        behind_a_proxy = host_name(caller.authority) in self._allowed_names
        return ("http", "https") if behind_a_proxy else ("http",)


def _authorities_in_target(target: str) -> tuple[str, ...]:
    """Whom the first line of a request names: `GET http://name/path`, as one asks a proxy."""
    if target.startswith("/"):
        return ()
    return (target.partition("://")[2].partition("/")[0],)


def _parse_allowed_name(name: str) -> str:
    plain = parse_host_name(name)
    if plain is None:
        raise NameInvalid(f"{name!r} is no name of a host; write it without scheme and port")
    return plain
