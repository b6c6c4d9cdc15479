"""What every live session works with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

import msgspec

from claudekeeper.analysis.recorded_cost import Carried
from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.contract.grants import Grants
from claudekeeper.contract.requests import PermissionMode
from claudekeeper.events.bus import EventBus
from claudekeeper.events.delivery_log import DeliveryLog
from claudekeeper.sessions.cli.client import MakeClient
from claudekeeper.sessions.failed_turn_store import FailedTurnStore

if TYPE_CHECKING:  # it works with all of this
    from claudekeeper.sessions.session import LiveSession


class SessionSettings(msgspec.Struct):
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

    def with_mode(
        self, mode: PermissionMode, before: PermissionMode | None = None
    ) -> SessionSettings:
        """The same in another mode; `before`: what it was in, if nobody chose that."""
        if mode != "plan":
            kept = None
        elif self.permission_mode == "plan":
            kept = self.before_plan
        else:
            kept = self.permission_mode or before
        return msgspec.structs.replace(self, permission_mode=mode, before_plan=kept)

    @property
    def appended_prompt(self) -> str | None:
        """What is appended to Claude Code's own system prompt."""
        parts = [part for part in (self.system_prompt, self.append_prompt) if part]
        return "\n\n".join(parts) or None


class CliSlots(Protocol):
    """Who decides how many CLIs may run."""

    async def wait_for_slot(self, session: LiveSession) -> None: ...
    def notify_slots_changed(self) -> None: ...


class SessionServices(msgspec.Struct, frozen=True):
    """What every live session works with."""

    bus: EventBus
    attention: PendingAttention
    make_client: MakeClient
    cli_slots: CliSlots
    # whether there is a transcript of this session
    transcript_exists: Callable[[str], Awaitable[bool]]
    notify_change: Callable[[str], None]
    delivery_log_of: Callable[[str], DeliveryLog]
    # until nobody else runs this session
    wait_until_vacant: Callable[[str], Awaitable[None]]
    # what was chosen for this session changed by itself
    store_settings: Callable[[str, SessionSettings], None]
    idle_seconds: float
    # what the processes of this session cost, from where the next one counts on
    prior_cost: Callable[[str], Awaitable[Carried]]
    # what failed turns leave
    failed_turns: FailedTurnStore
