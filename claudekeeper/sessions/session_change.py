"""A change of a live session, with all that the services that listen need."""

from __future__ import annotations

import msgspec

from claudekeeper.contract.sessions import AppendedPrompt, LiveState
from claudekeeper.sessions.recovery.interrupted_turn import InterruptedTurn


class SessionChange(msgspec.Struct, frozen=True, kw_only=True):
    """A session as it is now. `live` is None once this keeper does not run it any more."""

    session_id: str
    live: LiveState | None = None
    system_prompt: AppendedPrompt | None = None
    # what would be lost if the keeper ended now, or was lost already
    unfinished_turn: InterruptedTurn | None = None
    # whether the session looks different to clients; the unfinished turn alone does not show
    is_visible: bool = True

    def looks_like(self, other: SessionChange | None) -> bool:
        """Whether the session looks the same to clients."""
        return other is not None and self._visible_parts == other._visible_parts

    @property
    def _visible_parts(self) -> tuple[object, ...]:
        error = self.unfinished_turn.error if self.unfinished_turn is not None else None
        return self.live, self.system_prompt, error
