"""Host names and addresses: which are loopback, and how they are written in a URL."""

from __future__ import annotations

import ipaddress
import re

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
AUTHORITY = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::\d{1,5})?")


def is_loopback(host: str) -> bool:
    """Whether it is certainly loopback; '0', '127.1' and unknown names are not."""
    if host.lower() == "localhost":
        return True
    try:
        return _parse_address(host).is_loopback
    except ValueError:
        return False


def is_wildcard(host: str) -> bool:
    """Whether `host` means every address of the machine."""
    try:
        return _parse_address(host).is_unspecified
    except ValueError:
        # "0", "0x0" and "0.0" are more ways to spell 0.0.0.0
        return re.fullmatch(r"(0x)?0*(\.(0x)?0+)*", host.lower()) is not None


def reachable_host(host: str) -> str:
    """An address to connect to: for a wildcard that of loopback."""
    if not is_wildcard(host):
        return host.strip("[]")
    return "::1" if host.strip("[]") == "::" else "127.0.0.1"


def host_in_url(host: str) -> str:
    """An address as a URL has it: IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def host_name(text: str) -> str | None:
    """The name in a Host header, without its port; None for an invalid header."""
    parts = AUTHORITY.fullmatch(text.lower())
    return parts["name"] if parts else None


def parse_host_name(text: str) -> str | None:
    """A configured host name; None if it has a scheme or a port, or is not a name."""
    name = host_in_url(text.lower())
    return name if host_name(name) == name else None


def _parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The address; `::ffff:127.0.0.1` counts as 127.0.0.1."""
    address = ipaddress.ip_address(text.strip("[]").partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address
