"""The settings of a Clarvis server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

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
