"""Stopping the turn that runs: asked once, as soon as the CLI can hear it, and by force at last."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from claudekeeper.live.client import Client
from claudekeeper.live.process import Process
from claudekeeper.live.tasks import Tasks
from claudekeeper.live.turns import CurrentTurn, Turns

log = logging.getLogger(__name__)

# seconds until an interruption that the CLI ignores ends the CLI
PATIENCE = 15.0
# seconds that a turn gets to stop before its CLI is ended
FAREWELL = 3.0


class Interrupting:
    """The interruptions of one session."""

    def __init__(
        self,
        session_id: str,
        turns: Turns,
        process: Process,
        tasks: Tasks,
        end_by_force: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        self._session_id = session_id
        self._turns = turns
        self._process = process
        self._tasks = tasks
        self._end_by_force = end_by_force
        self._patience: asyncio.TimerHandle | None = None

    def ask(self) -> bool:
        """Stop the turn that runs; False if none does. Asked again, it is the same request."""
        turn = self._turns.current
        if turn is None:
            return False
        if not turn.interrupted:
            turn.interrupted = True
            self.go_on(turn)
        return True

    def go_on(self, turn: CurrentTurn) -> None:
        """Something changed for this turn: its prompt was handed over, or the CLI works on it."""
        client = self._process.client
        if client is None or not turn.interrupted or turn is not self._turns.current:
            return
        # a CLI that has not begun it may not know what to interrupt: then it is told again
        self._tasks.start(_tell(client), name=f"session:{self._session_id}:interrupt")
        if self._patience is None:
            loop = asyncio.get_running_loop()
            self._patience = loop.call_later(PATIENCE, self._give_up, turn)

    async def stop(self) -> None:
        """The CLI would first see its turn through; told to stop, it writes down what there is."""
        turn = self._turns.current
        if turn is None or not self.ask():
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL if turn.confirmed else 0):
                await turn.over.wait()

    def over(self) -> None:
        """The turn has ended."""
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self, turn: CurrentTurn) -> None:
        self._patience = None
        if self._turns.current is turn:
            log.warning(
                "session %s did not stop when told to: its process is ended", self._session_id
            )
            self._tasks.start(self._end_by_force(), name=f"session:{self._session_id}:kill")


async def _tell(client: Client) -> None:
    try:
        await client.interrupt()
    except Exception as error:  # noqa: BLE001 - patience has an end
        log.warning("an interruption was not taken: %s", error)
