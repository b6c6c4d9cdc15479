"""Addresses as people write them: which stay on this machine, and how they stand in a URL."""

from __future__ import annotations

import ipaddress
import re

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
AUTHORITY = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::\d{1,5})?")


def is_loopback(host: str) -> bool:
    """Only what is certainly loopback counts; '0', '127.1' and unknown names do not."""
    if host.lower() == "localhost":
        return True
    try:
        return _parse_address(host).is_loopback
    except ValueError:
        return False


def is_wildcard(host: str) -> bool:
    """Whether `host` means every address of the machine, and so is nobody's name."""
    try:
        return _parse_address(host).is_unspecified
    except ValueError:
        # "0", "0x0" and "0.0" are more ways to spell 0.0.0.0
        return re.fullmatch(r"(0x)?0*(\.(0x)?0+)*", host.lower()) is not None


def reachable_host(host: str) -> str:
    """An address to go to on this machine: a wildcard is none."""
    if not is_wildcard(host):
        return host.strip("[]")
    return "::1" if host.strip("[]") == "::" else "127.0.0.1"


def host_in_url(host: str) -> str:
    """An address as it stands in a URL: IPv6 goes into brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def host_name(text: str) -> str | None:
    """The name in a Host header, without its port; None where it is no such header."""
    parts = AUTHORITY.fullmatch(text.lower())
    return parts["name"] if parts else None


def parse_host_name(text: str) -> str | None:
    """A name as it is configured: no scheme, no port; None where it is something else."""
    name = host_in_url(text.lower())
    return name if host_name(name) == name else None


def _parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The address that is meant: `::ffff:127.0.0.1` is 127.0.0.1 in another dress."""
    address = ipaddress.ip_address(text.strip("[]").partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address
