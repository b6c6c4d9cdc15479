"""What was chosen for a session, and its CLI being told of it."""

from __future__ import annotations

from claudekeeper.contract.attention import Answer
from claudekeeper.contract.grants import apply_permissions
from claudekeeper.contract.requests import PERMISSION_MODES
from claudekeeper.net.errors import ApiError
from claudekeeper.sessions.cli.process import CliProcess
from claudekeeper.sessions.cli_messages import CliMessageHandler
from claudekeeper.sessions.world import SessionServices, SessionSettings


class SettingsControl:
    """Model, mode and grants of one session: changed by people, by answers, by Claude Code."""

    def __init__(
        self,
        session_id: str,
        choices: SessionSettings,
        process: CliProcess,
        hearing: CliMessageHandler,
        world: SessionServices,
    ) -> None:
        self.current = choices
        self._session_id = session_id
        self._process = process
        self._message_handler = hearing
        self._services = world

    async def change(self, choices: SessionSettings) -> None:
        """Takes effect at once where the CLI can, else before the next turn."""
        before, self.current = self.current, choices
        await self.apply_to_cli(before)
        self._services.notify_change(self._session_id)

    async def apply_to_cli(self, before: SessionSettings) -> None:
        """Tell the CLI what differs from what it was started with, or told before."""
        try:
            await self._process.apply_settings(self.current, before)
        except ApiError:
            self.current = before
            raise
        if self.current.model != before.model and self._process.client is not None:
            self._message_handler.model = self.current.model

    def handle_mode(self, mode: str, before: str | None) -> None:
        """What the CLI says of itself."""
        if before is not None and mode in PERMISSION_MODES:
            # it changed by itself: a plan was approved, or an answer set it
            known = next((each for each in PERMISSION_MODES if each == before), None)
            changed = self.current.with_mode(mode, known)
            self.current.permission_mode = changed.permission_mode
            self.current.before_plan = changed.before_plan
            self._services.store_settings(self._session_id, self.current)
        self._services.notify_change(self._session_id)

    def handle_answer(self, answer: Answer) -> None:
        """What was allowed for the session holds for its next process too."""
        if answer.decision == "allow":
            self.current.grants = apply_permissions(self.current.grants, answer.permissions)
            self._services.store_settings(self._session_id, self.current)
