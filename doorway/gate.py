"""Who may speak to a server at all: the right Host, no foreign Origin.

Host is checked against a list, since a rebound name would make any page same-origin with us; then
Origin against Host, since a browser sends cookies along from pages on other ports.
"""

from __future__ import annotations

from collections.abc import Iterable

from aiohttp import hdrs, web

from .addresses import LOOPBACK_NAMES, host_name, in_url, is_wildcard, plain_name
from .proxies import Caller, Proxies


class HostRefused(Exception):
    """The request is addressed to somebody else."""


class OriginRefused(Exception):
    """The request comes from a page that is not ours."""


class NameInvalid(ValueError):
    """What was configured is no name of a host."""


class Gate:
    """The names that a server answers to, and the proxies that it believes."""

    def __init__(
        self,
        host: str = "localhost",
        allowed: Iterable[str] = (),
        proxies: Proxies | None = None,
    ) -> None:
        own = () if is_wildcard(host) else (in_url(host).lower(),)
        self._own = LOOPBACK_NAMES | set(own)
        self._allowed = frozenset(_checked(name) for name in allowed)
        self._proxies = proxies or Proxies()

    @property
    def names(self) -> frozenset[str]:
        return self._own | self._allowed

    def check(self, request: web.BaseRequest) -> Caller:
        """How the request came here; raises where it may not."""
        caller = self._proxies.caller(request)
        # what a proxy passed on is checked too: it may repeat what a stranger said
        named = (*caller.authorities, *_named_by(request.raw_path))
        if not all(host_name(authority) in self.names for authority in named):
            raise HostRefused
        schemes = self._schemes(caller)
        for origin in request.headers.getall(hdrs.ORIGIN, []):
            if origin.lower() not in {f"{scheme}://{caller.authority}" for scheme in schemes}:
                raise OriginRefused
        return caller

    def _schemes(self, caller: Caller) -> tuple[str, ...]:
        if caller.scheme is not None:
            return (caller.scheme,)
        # a configured name is mostly that of a proxy with TLS, and only one that we trust may say
        # so; what came to our own address came as we serve it
        behind_a_proxy = host_name(caller.authority) in self._allowed
        return ("http", "https") if behind_a_proxy else ("http",)


def _named_by(target: str) -> tuple[str, ...]:
    """Whom the first line of a request names: `GET http://name/path`, as one asks a proxy."""
    if target.startswith("/"):
        return ()
    return (target.partition("://")[2].partition("/")[0],)


def _checked(name: str) -> str:
    plain = plain_name(name)
    if plain is None:
        raise NameInvalid(f"{name!r} is no name of a host; write it without scheme and port")
    return plain
