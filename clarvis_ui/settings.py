"""What a Clarvis server is told when it starts."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from yarl import URL

from .roots import Roots

DEFAULT_KEEPER = "http://127.0.0.1:7433"
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 7434
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
BUILT_PAGE = Path(__file__).parent / "static"

# asked anew for each request, so that a rotated token counts at once
TokenSource = Callable[[], str]


class SettingsInvalid(ValueError):
    """Clarvis cannot start like this; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Settings:
    keeper: str
    token: TokenSource
    roots: Roots = field(default_factory=Roots)
    hosts: frozenset[str] = LOOPBACK_NAMES
    static: Path = BUILT_PAGE

    def __post_init__(self) -> None:
        address = URL(self.keeper)
        if address.scheme not in {"http", "https"} or not address.host or address.user:
            raise SettingsInvalid(
                f"{self.keeper!r} is not the address of a keeper, such as {DEFAULT_KEEPER}"
            )


class _Config(msgspec.Struct):
    token: str


class TokenFile:
    """The keeper's config.json, or a file that holds nothing but the token.

    It is read again when it changes: a keeper with a rotated token needs no restart of Clarvis.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._token = self._read()
        self._seen = self._stamp()

    def __call__(self) -> str:
        try:
            stamp = self._stamp()
            if stamp != self._seen:
                self._token, self._seen = self._read(), stamp
        except SettingsInvalid:
            pass  # gone or half-written: the old token stands until there is a whole new one
        return self._token

    def _stamp(self) -> tuple[int, int, int]:
        try:
            found = self._path.stat()
        except OSError as error:
            raise SettingsInvalid(str(error)) from error
        return found.st_ino, found.st_size, found.st_mtime_ns

    def _read(self) -> str:
        try:
            text = self._path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsInvalid(
                f"the token file {self._path} cannot be read: {error}; "
                "'claudekeeper serve' writes one as ~/.claudekeeper/config.json"
            ) from error
        if text.startswith("{"):
            try:
                text = msgspec.json.decode(text, type=_Config).token
            except msgspec.MsgspecError as error:
                raise SettingsInvalid(
                    f"{self._path} is no config.json of a keeper: {error}"
                ) from error
        if not text or not text.isascii() or not text.isprintable() or " " in text:
            raise SettingsInvalid(f"{self._path} holds no token")
        return text


def keeper_config(environment: Mapping[str, str] = os.environ) -> Path:
    """Where a keeper on this machine keeps its token."""
    home = environment.get("CLAUDEKEEPER_HOME")
    return (Path(home) if home else Path.home() / ".claudekeeper") / "config.json"


def is_loopback(host: str) -> bool:
    """Whether listening on `host`, however it is spelled, stays on this machine."""
    try:
        found = socket.getaddrinfo(host.strip("[]") or None, None, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        return False
    return all(_is_loopback_address(str(address[4][0])) for address in found)


def _is_loopback_address(text: str) -> bool:
    return _address(text.partition("%")[0]).is_loopback


def is_wildcard(host: str) -> bool:
    """Whether `host` means every address of the machine, and so is nobody's name."""
    try:
        return _address(host.strip("[]")).is_unspecified
    except ValueError:
        return not host or host.isdigit()  # "0" is one more way to spell 0.0.0.0


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The address that is meant: `::ffff:127.0.0.1` is 127.0.0.1 in another dress."""
    address = ipaddress.ip_address(text)
    return getattr(address, "ipv4_mapped", None) or address


def host_names(host: str, more: Iterable[str] = ()) -> frozenset[str]:
    """The names that a server on `host` answers to."""
    own = () if is_wildcard(host) else (in_url(host),)
    return LOOPBACK_NAMES | {name.lower() for name in (*own, *more)}


def in_url(host: str) -> str:
    """An address as it stands in a URL: IPv6 goes into brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
