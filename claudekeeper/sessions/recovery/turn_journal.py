"""The turn journal: what is under way in each session, on disk for the next keeper.

Nothing of it runs by itself again. The next keeper shows which turns were interrupted and which
questions were open; a person decides whether a turn goes on. Messages that no transcript has,
because the CLI ended too early, are kept in the same way: a session can consist of nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from pathlib import Path

import msgspec

from claudekeeper.core.atomic_files import quarantine, read_file, remove_temporary_files
from claudekeeper.core.background_writer import BackgroundWriter
from claudekeeper.core.disk_reserve import DiskReserve
from claudekeeper.sessions.message_queue import QueuedMessage
from claudekeeper.sessions.recovery.interrupted_turn import InterruptedTurn
from claudekeeper.sessions.session_change import SessionChange

log = logging.getLogger(__name__)


def _decode(content: bytes) -> tuple[dict[str, InterruptedTurn], list[str]]:
    """The turns that can be read, by session, and what is wrong with the others."""
    turns: dict[str, InterruptedTurn] = {}
    faults = []
    try:
        sessions = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return {}, [str(error)]
    for session_id, turn in sessions.items():
        try:
            turns[session_id] = msgspec.json.decode(turn, type=InterruptedTurn)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            faults.append(str(error))
    return turns, faults


class TurnJournal:
    """The file, and what an earlier keeper left in it."""

    def __init__(self, path: Path, reserve: DiskReserve) -> None:
        self._path = path
        self._reserve = reserve
        self._interrupted: dict[str, InterruptedTurn] = {}
        self._current: dict[str, InterruptedTurn] = {}
        # what could not be read was set aside: the rest is to be written again
        self._is_incomplete = False
        self._writer = BackgroundWriter(self._write, name="turn-journal:write")
        self.wait_until_saved = self._writer.wait_until_saved
        # the turns that run then stay in the file: all of them are about to be ended
        self.close = self._writer.close

    def load(self) -> None:
        """Blocks. A file that cannot be understood is no reason not to start."""
        remove_temporary_files(self._path)
        try:
            self._interrupted, faults = _decode(read_file(self._path))
        except FileNotFoundError:
            return
        except OSError as error:
            faults = [str(error)]
        for fault in faults[:1]:
            log.warning("%s cannot be read in full: %s", self._path, fault)
            with contextlib.suppress(OSError):
                log.warning("it is kept as %s", quarantine(self._path))
                self._is_incomplete = True

    def start(self) -> None:
        if self._is_incomplete:
            self._writer.schedule()

    def interrupted_turn(self, session_id: str) -> InterruptedTurn | None:
        """The turn that an earlier keeper, or a CLI that is gone, left unfinished there."""
        current = self._current.get(session_id)
        if current is not None and current.error is not None:
            return current
        return self._interrupted.get(session_id)

    def find_by_prompt(self, uuid: str) -> str | None:
        """The session to which this message was sent, if no transcript is known to have it."""
        for session_id, turn in (self._interrupted | self._current).items():
            if any(message.uuid == uuid for message in turn.unsent_messages):
                return session_id
        return None

    def all_interrupted(self) -> dict[str, InterruptedTurn]:
        """The turns that nobody runs, by session."""
        return dict(self._interrupted)

    def interrupted_sessions(self) -> list[str]:
        """The sessions with something unfinished that nobody runs, in the order of their ends."""
        return list(self._interrupted)

    def handle_session_change(self, change: SessionChange) -> None:
        """Write down what is under way in the session now."""
        session_id, turn = change.session_id, change.unfinished_turn
        before = self._current.get(session_id)
        resumed = turn is not None and self._interrupted.pop(session_id, None) is not None
        if turn == before and not resumed:
            return
        if turn is not None:
            self._current[session_id] = turn
        else:
            self._current.pop(session_id, None)
            if before is not None and before.error is not None and change.live is None:
                # the session idled away; what was said in it is still lost
                self._interrupted[session_id] = before
        self._writer.schedule()

    def withdraw(self, session_id: str, uuid: str) -> QueuedMessage | None:
        """Takes a message out of a queue that nobody runs: it is not sent when the rest goes on."""
        turn = self._interrupted.get(session_id)
        messages = turn.queue if turn is not None else []
        message = next((each for each in messages if each.uuid == uuid), None)
        if turn is None or message is None:
            return None
        queue = [each for each in messages if each is not message]
        if queue or turn.prompt is not None or turn.begun:
            self._interrupted[session_id] = msgspec.structs.replace(turn, queue=queue)
        elif message.held:
            # a person stopped it, and now discards it
            del self._interrupted[session_id]
        else:
            # the session may consist of it alone: it can be sent again, or stay
            return None
        self._writer.schedule()
        return message

    def forget(self, session_id: str) -> None:
        """A person has seen the interrupted turn, and does not want it."""
        if self._interrupted.pop(session_id, None) is not None:
            self._writer.schedule()

    def forget_prompt(self, session_id: str, uuid: str) -> None:
        """A prompt was withdrawn: going on does not send it."""
        turn = self._interrupted.get(session_id)
        if turn is None or turn.prompt is None or turn.prompt.uuid != uuid:
            return
        if turn.queue:
            self._interrupted[session_id] = msgspec.structs.replace(turn, prompt=None, begun=False)
        else:
            del self._interrupted[session_id]
        self._writer.schedule()

    async def _write(self) -> None:
        # as bytes before the thread: what they are made of goes on changing
        content = msgspec.json.encode(self._interrupted | self._current)
        try:
            # whoever sends a message waits for this: a kill must not lose it
            await asyncio.to_thread(self._reserve.write, self._path, content)
        except OSError as error:
            log.warning("%s could not be written: %s", self._path, error)
