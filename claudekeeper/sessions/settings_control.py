"""Changes of a session's settings: by people, by answers, by Claude Code itself."""

from __future__ import annotations

from claudekeeper.contract.attention import Answer
from claudekeeper.contract.grants import apply_permissions
from claudekeeper.contract.requests import PERMISSION_MODES
from claudekeeper.net.errors import ApiError
from claudekeeper.sessions.cli.process import CliProcess
from claudekeeper.sessions.cli_messages import CliMessageHandler
from claudekeeper.sessions.preferences import Preferences
from claudekeeper.sessions.settings import SessionSettings


class SettingsControl:
    """The settings of one live session: each change is stored and applied to its CLI."""

    def __init__(
        self,
        session_id: str,
        settings: SessionSettings,
        process: CliProcess,
        message_handler: CliMessageHandler,
        preferences: Preferences,
    ) -> None:
        self.current = settings
        self._session_id = session_id
        self._process = process
        self._message_handler = message_handler
        self._preferences = preferences

    async def change(self, settings: SessionSettings) -> None:
        """Takes effect at once where the CLI can, else before the next turn."""
        before, self.current = self.current, settings
        await self.apply_to_cli(before)

    async def apply_to_cli(self, before: SessionSettings) -> None:
        """Apply what differs from the settings that the CLI has."""
        try:
            await self._process.apply_settings(self.current, before)
        except ApiError:
            self.current = before
            raise
        if self.current.model != before.model and self._process.client is not None:
            self._message_handler.model = self.current.model

    def handle_mode(self, mode: str, before: str | None) -> None:
        """The CLI says in which mode it is."""
        if before is not None and mode in PERMISSION_MODES:
            # it changed by itself: a plan was approved, or an answer set it
            mode_before = next((each for each in PERMISSION_MODES if each == before), None)
            changed = self.current.with_mode(mode, mode_before)
            self.current.permission_mode = changed.permission_mode
            self.current.before_plan = changed.before_plan
            self._preferences.store_settings(self._session_id, self.current)

    def handle_answer(self, answer: Answer) -> None:
        """What was allowed for the session holds for its next process too."""
        if answer.decision == "allow":
            self.current.grants = apply_permissions(self.current.grants, answer.permissions)
            self._preferences.store_settings(self._session_id, self.current)
