"""What was chosen for a session, and its CLI being told of it."""

from __future__ import annotations

from claudekeeper.live.hearing import Hearing
from claudekeeper.live.process import Process
from claudekeeper.live.world import Choices, World
from claudekeeper.model.attention import Answer
from claudekeeper.model.commands import MODES
from claudekeeper.model.errors import KeeperError
from claudekeeper.model.grants import with_answer


class Choosing:
    """Model, mode and grants of one session: changed by people, by answers, by Claude Code."""

    def __init__(
        self, session_id: str, choices: Choices, process: Process, hearing: Hearing, world: World
    ) -> None:
        self.current = choices
        self._session_id = session_id
        self._process = process
        self._hearing = hearing
        self._world = world

    async def change(self, choices: Choices) -> None:
        """Takes effect at once where the CLI can, else before the next turn."""
        before, self.current = self.current, choices
        await self.tell(before)
        self._world.changed(self._session_id)

    async def tell(self, before: Choices) -> None:
        """Tell the CLI what differs from what it was started with, or told before."""
        try:
            await self._process.tell(self.current, before)
        except KeeperError:
            self.current = before
            raise
        if self.current.model != before.model and self._process.client is not None:
            self._hearing.model = self.current.model

    def mode_is(self, mode: str, before: str | None) -> None:
        """What the CLI says of itself."""
        if before is not None and mode in MODES:
            # it changed by itself: a plan was approved, or an answer set it
            known = next((each for each in MODES if each == before), None)
            changed = self.current.in_mode(mode, known)
            self.current.permission_mode = changed.permission_mode
            self.current.before_plan = changed.before_plan
            self._world.chose(self._session_id, self.current)
        self._world.changed(self._session_id)

    def answered(self, answer: Answer) -> None:
        """What was allowed for the session holds for its next process too."""
        if answer.decision == "allow":
            self.current.grants = with_answer(self.current.grants, answer.permissions)
            self._world.chose(self._session_id, self.current)
