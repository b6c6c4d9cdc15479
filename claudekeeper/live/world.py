"""What every live session works with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

import msgspec

from claudekeeper.live.attention import Desk
from claudekeeper.live.bus import Bus
from claudekeeper.live.client import MakeClient
from claudekeeper.live.failed_turns import FailedTurns
from claudekeeper.live.ledger import Ledger
from claudekeeper.model.commands import PermissionMode
from claudekeeper.model.grants import Grants
from claudekeeper.readers.carried import Carried

if TYPE_CHECKING:  # it works with all of this
    from claudekeeper.live.session import LiveSession


class Choices(msgspec.Struct):
    """What somebody set for a session; None leaves it to Claude Code."""

    model: str | None = None
    permission_mode: PermissionMode | None = None
    # what a dispatch adds to the system prompt, each time anew
    append_prompt: str | None = None
    # what was allowed for as long as the session lasts, whichever process runs it
    grants: Grants = Grants()
    # what a person adds to it, for every process of the session
    system_prompt: str | None = None
    # while it plans: the mode that it had before
    before_plan: PermissionMode | None = None

    def in_mode(self, mode: PermissionMode, before: PermissionMode | None = None) -> Choices:
        """The same in another mode; `before`: what it was in, if nobody chose that."""
        if mode != "plan":
            kept = None
        elif self.permission_mode == "plan":
            kept = self.before_plan
        else:
            kept = self.permission_mode or before
        return msgspec.structs.replace(self, permission_mode=mode, before_plan=kept)

    @property
    def appended(self) -> str | None:
        """What is appended to Claude Code's own system prompt."""
        parts = [part for part in (self.system_prompt, self.append_prompt) if part]
        return "\n\n".join(parts) or None


class Places(Protocol):
    """Who decides how many CLIs may run."""

    async def enter(self, session: LiveSession) -> None: ...
    def left(self) -> None: ...


class World(msgspec.Struct, frozen=True):
    """What every live session works with."""

    bus: Bus
    desk: Desk
    make_client: MakeClient
    places: Places
    # whether there is a transcript of this session
    exists: Callable[[str], Awaitable[bool]]
    changed: Callable[[str], None]
    ledger_of: Callable[[str], Ledger]
    # until nobody else runs this session
    vacant: Callable[[str], Awaitable[None]]
    # what was chosen for this session changed by itself
    chose: Callable[[str, Choices], None]
    idle_seconds: float
    # what the processes of this session cost, from where the next one counts on
    carried: Callable[[str], Awaitable[Carried]]
    # what failed turns leave
    failed: FailedTurns
