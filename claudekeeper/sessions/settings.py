"""Session settings: what somebody chose for a session."""

from __future__ import annotations

import msgspec

from claudekeeper.contract.grants import Grants
from claudekeeper.contract.requests import PermissionMode


class SessionSettings(msgspec.Struct):
    """What somebody chose for a session; None leaves it to Claude Code."""

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
        """The same in another mode; `before`: its mode until now, if nobody chose that."""
        if mode != "plan":
            before_plan = None
        elif self.permission_mode == "plan":
            before_plan = self.before_plan
        else:
            before_plan = self.permission_mode or before
        return msgspec.structs.replace(self, permission_mode=mode, before_plan=before_plan)

    @property
    def appended_prompt(self) -> str | None:
        """What is appended to Claude Code's own system prompt."""
        parts = [part for part in (self.system_prompt, self.append_prompt) if part]
        return "\n\n".join(parts) or None
