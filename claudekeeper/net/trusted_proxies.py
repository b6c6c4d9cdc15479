"""X-Forwarded headers, believed only from the configured proxies."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

from aiohttp import hdrs, web

# the name for a proxy on our unix socket, which has no address
UNIX_PEER = "unix"


class TrustedProxyInvalid(ValueError):
    """A configured value is not the address of a proxy."""


@dataclass(frozen=True, slots=True)
class Caller:
    """What is certain about the client of a request."""

    # None where only an unknown proxy has it
    scheme: str | None
    # the Host of the request, and every forwarded one
    authorities: tuple[str, ...]
    address: str

    @property
    def authority(self) -> str:
        return self.authorities[-1]


class TrustedProxies:
    """The proxies whose headers are believed."""

    def __init__(self, trusted: Iterable[str] = ()) -> None:
        names = list(trusted)
        self._trusts_unix = UNIX_PEER in names
        try:
            self._networks = [ipaddress.ip_network(name) for name in names if name != UNIX_PEER]
        except ValueError as error:
            raise TrustedProxyInvalid(
                f"{error}; a trusted proxy is an address, a network such as 10.0.0.0/8, "
                f"or {UNIX_PEER!r} for whoever reaches the unix socket"
            ) from error

    def caller_of(self, request: web.BaseRequest) -> Caller:
        hosts = request.headers.getall(hdrs.HOST, [])
        # two Host headers are an attack: an empty name is on no list
        authority = hosts[0].lower() if len(hosts) == 1 else ""
        address = request.remote or UNIX_PEER
        if not self._is_trusted(address):
            scheme = "https" if request.secure else None
            return Caller(scheme, (authority,), address)
        forwarded = _header_values(request, "X-Forwarded-Host")
        schemes = _header_values(request, "X-Forwarded-Proto")
        return Caller(
            schemes[-1] if schemes and schemes[-1] in {"http", "https"} else None,
            (authority, *forwarded),
            self._client_address(_header_values(request, hdrs.X_FORWARDED_FOR), address),
        )

    def _client_address(self, hops: list[str], address: str) -> str:
        """The nearest hop that is not a trusted proxy; hops before it may be made up."""
        for hop in reversed(hops):
            address = hop
            if not self._is_trusted(hop):
                break
        return address

    def _is_trusted(self, address: str) -> bool:
        if address == UNIX_PEER:
            return self._trusts_unix
        try:
            ip = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return False
        ip = getattr(ip, "ipv4_mapped", None) or ip
        return any(ip in network for network in self._networks)


def _header_values(request: web.BaseRequest, name: str) -> list[str]:
    """The values of a header that may be repeated or joined by commas, the nearest hop's last."""
    joined = ",".join(request.headers.getall(name, []))
    return [value.strip().lower() for value in joined.split(",") if value.strip()]
