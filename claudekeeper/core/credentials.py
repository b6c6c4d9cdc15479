"""The tokens in config.json; a rotated one is accepted at once."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from claudekeeper.contract.errors import ConfigInvalid
from claudekeeper.core.atomic_files import read_file
from claudekeeper.core.config import Config, config_path, load_config, parse_config

Scope = Literal["owner", "hook"]


class Credentials(msgspec.Struct, frozen=True):
    """Two tokens, compared in constant time and never printed."""

    token: bytes
    hook_token: bytes | None

    @classmethod
    def from_config(cls, config: Config) -> Credentials:
        hook_token = config.hook_token.encode() if config.hook_token else None
        return cls(config.token.encode(), hook_token)

    def scope_of(self, secret: str) -> Scope | None:
        """The scope of a token; None for a wrong one."""
        offered = secret.encode("utf-8", "surrogateescape")
        # both are always compared, so that the time tells nothing
        owner = hmac.compare_digest(offered, self.token)
        hook = hmac.compare_digest(offered, self.hook_token or b"") and bool(self.hook_token)
        return "owner" if owner else "hook" if hook else None

    @property
    def secrets(self) -> tuple[str, ...]:
        """The tokens, for whoever has to leave them out of a text."""
        return tuple(each.decode() for each in (self.token, self.hook_token) if each)

    def __repr__(self) -> str:
        return "Credentials(…)"


# called for each request
CredentialsSource = Callable[[], Credentials]


class CredentialsFile:
    """config.json, read again when it changes; an unusable file leaves the old tokens valid."""

    def __init__(self, home: Path) -> None:
        self._path = config_path(home)
        self._current = Credentials.from_config(load_config(home))
        self._last_stamp = self._stamp()

    def __call__(self) -> Credentials:
        stamp = self._stamp()
        if stamp is not None and stamp != self._last_stamp:
            self._last_stamp = stamp
            try:
                config = parse_config(self._path, read_file(self._path))
            except (OSError, ConfigInvalid):
                return self._current
            fresh = Credentials.from_config(config)
            if fresh != self._current:
                self._current = fresh
        return self._current

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns
