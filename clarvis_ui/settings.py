"""The settings of a Clarvis server."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from yarl import URL

from claudekeeper.net.host_guard import HostGuard

from .roots import Roots

DEFAULT_KEEPER = "http://127.0.0.1:7433"
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 7434
# begins the address of a keeper on a unix socket
UNIX_PREFIX = "unix:/"
BUILT_PAGE = Path(__file__).parent / "static"

# called for each request, so that a rotated token counts at once
TokenSource = Callable[[], str]


class SettingsInvalid(ValueError):
    """Clarvis cannot start with these settings; the message says what to change."""


@dataclass(frozen=True, slots=True)
class ClarvisSettings:
    keeper: str
    token: TokenSource
    roots: Roots = field(default_factory=Roots)
    host_guard: HostGuard = field(default_factory=HostGuard)
    static_folder: Path = BUILT_PAGE
    # the certificate of a keeper that no authority signed
    keeper_certificate: Path | None = None

    def __post_init__(self) -> None:
        if self.keeper.startswith(UNIX_PREFIX):
            return
        address = URL(self.keeper)
        if address.scheme not in {"http", "https"} or not address.host or address.user:
            raise SettingsInvalid(
                f"{self.keeper!r} is not the address of a keeper, such as {DEFAULT_KEEPER} "
                f"or {UNIX_PREFIX}path/of/its/socket"
            )


class _Config(msgspec.Struct):
    token: str


class TokenFile:
    """The token in the keeper's config.json, or in a file that holds nothing else.

    The file is read again when it changes, so a rotated token needs no restart of Clarvis.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._token = self._read()
        self._file_version = self._read_version()

    def __call__(self) -> str:
        try:
            stamp = self._read_version()
            if stamp != self._file_version:
                self._token, self._file_version = self._read(), stamp
        except SettingsInvalid:
            pass  # missing or half-written: the old token stays until there is a new one
        return self._token

    def _read_version(self) -> tuple[int, int, int]:
        try:
            status = self._path.stat()
        except OSError as error:
            raise SettingsInvalid(str(error)) from error
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _read(self) -> str:
        try:
            # reading a pipe would block the server
            if not stat.S_ISREG(self._path.stat().st_mode):
                raise OSError(errno.EINVAL, "not an ordinary file", str(self._path))
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
                    f"{self._path} is not a config.json of a keeper: {error}"
                ) from error
        if not text or not text.isascii() or not text.isprintable() or " " in text:
            raise SettingsInvalid(f"{self._path} holds no token")
        return text


def keeper_config_path(environment: Mapping[str, str] = os.environ) -> Path:
    """The config.json of the keeper on this machine, which has its token."""
    home = environment.get("CLAUDEKEEPER_HOME")
    return (Path(home) if home else Path.home() / ".claudekeeper") / "config.json"
