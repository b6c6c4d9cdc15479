"""The keeper's token, read from its file: again whenever the file is replaced."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path

import msgspec

from .settings import SettingsInvalid


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
