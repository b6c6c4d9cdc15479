"""Interrupting the turn that runs: once, as soon as the CLI can take it, and by force at last."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from claudekeeper.core.tasks import Tasks
from claudekeeper.sessions.cli.client import CliClient
from claudekeeper.sessions.cli.process import CliProcess
from claudekeeper.sessions.turns import CurrentTurn, Turns

log = logging.getLogger(__name__)

# seconds until an interruption that the CLI ignores ends the CLI
KILL_SECONDS = 15.0
# seconds that a turn gets to stop before its CLI is ended
STOP_SECONDS = 3.0


class Interrupter:
    """The interruptions of one session."""

    def __init__(
        self,
        session_id: str,
        turns: Turns,
        process: CliProcess,
        tasks: Tasks,
        end_by_force: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        self._session_id = session_id
        self._turns = turns
        self._process = process
        self._tasks = tasks
        self._kill = end_by_force
        self._kill_timer: asyncio.TimerHandle | None = None

    def request(self) -> bool:
        """Stop the turn that runs; False if none does. Asked again, it is the same request."""
        turn = self._turns.current
        if turn is None:
            return False
        if not turn.interrupted:
            turn.interrupted = True
            self.send_if_requested(turn)
        return True

    def send_if_requested(self, turn: CurrentTurn) -> None:
        """Something changed for this turn: its prompt was handed over, or the CLI works on it."""
        client = self._process.client
        if client is None or not turn.interrupted or turn is not self._turns.current:
            return
        # a CLI that has not begun the turn may ignore this: then it is sent again
        self._tasks.start(_send_interrupt(client), name=f"session:{self._session_id}:interrupt")
        if self._kill_timer is None:
            loop = asyncio.get_running_loop()
            self._kill_timer = loop.call_later(KILL_SECONDS, self._kill_unresponsive, turn)

    async def stop(self) -> None:
        """Interrupts before the CLI is closed: so it writes down what it has of the turn."""
        turn = self._turns.current
        if turn is None or not self.request():
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS if turn.confirmed else 0):
                await turn.ended.wait()

    def end_turn(self) -> None:
        """The turn has ended."""
        if self._kill_timer is not None:
            self._kill_timer.cancel()
            self._kill_timer = None

    def _kill_unresponsive(self, turn: CurrentTurn) -> None:
        self._kill_timer = None
        if self._turns.current is turn:
            log.warning(
                "session %s did not stop when told to: its process is ended", self._session_id
            )
            self._tasks.start(self._kill(), name=f"session:{self._session_id}:kill")


async def _send_interrupt(client: CliClient) -> None:
    try:
        await client.interrupt()
    except Exception as error:  # noqa: BLE001 - patience has an end
        log.warning("an interruption was not taken: %s", error)
