"""What failed turns leave, on disk: each with its reason, for every client and every later keeper.

While a turn runs, what it would leave is written down as well, a quarter of a second behind: a
keeper that is killed loses no more than that.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from claudekeeper.contract.message import Message
from claudekeeper.core.atomic_files import quarantine, read_file, remove_temporary_files
from claudekeeper.core.disk_reserve import DiskReserve
from claudekeeper.core.tasks import Tasks
from claudekeeper.sessions.failed_turn import (
    UNWRITTEN_FAULT,
    CutOffTurn,
    FailedTurn,
    from_interrupted,
    is_same_turn,
    without_written,
)
from claudekeeper.sessions.message_queue import QueuedMessage

log = logging.getLogger(__name__)

# seconds that what runs may be behind on disk
WRITE_INTERVAL = 0.25
# of one session, and bytes of all: the oldest go first
MOST_OF_A_SESSION = 50
MOST_BYTES = 32 * 1024 * 1024


def _decoded(content: bytes) -> tuple[dict[str, list[FailedTurn]], list[str]]:
    """The turns that can be understood, by session, and what is wrong with the others."""
    failed: dict[str, list[FailedTurn]] = {}
    unclear = []
    try:
        sessions = msgspec.json.decode(content, type=dict[str, list[msgspec.Raw]])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return {}, [str(error)]
    for session_id, turns in sessions.items():
        for turn in turns:
            try:
                known = msgspec.json.decode(turn, type=FailedTurn)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                unclear.append(str(error))
            else:
                failed.setdefault(session_id, []).append(known)
    return failed, unclear


class FailedTurnStore:
    """The failed turns of all sessions, the oldest first."""

    def __init__(
        self, path: Path, look: Callable[[str], FailedTurn | None], reserve: DiskReserve
    ) -> None:
        self._path = path
        self._reserve = reserve
        # one file for each session that runs: a long reply is not written again for all of them
        self._running_folder = path.with_suffix("")
        # what a turn that runs would leave now
        self._failed_turn_now = look
        # by session; the one that changed last is the last
        self._turns: dict[str, list[FailedTurn]] = {}
        self._dirty = asyncio.Event()
        self._dirty_sessions: set[str] = set()
        # what an earlier keeper wrote while its turns ran
        self._previous_turns: dict[str, FailedTurn] = {}
        # how often something failed or was settled, and how much of that was tried to be written
        self._changes = 0
        self._saved_changes = 0
        # whether the file has all that it should
        self._saved = True
        self._write_done = asyncio.Event()
        self._tasks = Tasks()

    def load(self) -> None:
        """Blocks. A file that cannot be understood is no reason not to start."""
        remove_temporary_files(self._path)
        self._reserve.hold()
        self._load_running()
        try:
            self._turns, unclear = _decoded(read_file(self._path))
        except FileNotFoundError:
            return
        except OSError as error:
            unclear = [str(error)]
        for what in unclear[:1]:
            log.warning("%s is not all usable (%s): of that, it is not known", self._path, what)
            with contextlib.suppress(OSError):
                log.warning("it is kept as %s", quarantine(self._path))
                self._changes += 1

    def _load_running(self) -> None:
        """What the turns that ran when an earlier keeper ended have left, by session."""
        with contextlib.suppress(OSError):
            for file in sorted(self._running_folder.iterdir()):
                with contextlib.suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
                    self._previous_turns[file.stem] = msgspec.json.decode(
                        read_file(file), type=FailedTurn
                    )
                self._dirty_sessions.add(file.stem)

    def start(self, left: Mapping[str, CutOffTurn]) -> None:
        """`left`: the turns that an earlier keeper could not see through, by session."""
        for session_id, cut in left.items():
            if cut.begun and not any(is_same_turn(cut, turn) for turn in self.of(session_id)):
                self.add(session_id, from_interrupted(cut, self._previous_turns.get(session_id)))
        self._previous_turns = {}
        self._dirty.set()
        self._tasks.start(self._write_loop(), name="failed-turns:write")

    async def close(self) -> None:
        await self._tasks.close()
        await self._write()

    def of(self, session_id: str) -> list[FailedTurn]:
        return list(self._turns.get(session_id, []))

    def add(self, session_id: str, turn: FailedTurn) -> None:
        turns = [each for each in self.of(session_id) if not each.is_of(turn.uuid, turn.started)]
        self._set_turns(session_id, [*turns, turn][-MOST_OF_A_SESSION:])

    def drop_written(self, session_id: str, messages: Sequence[Message]) -> list[FailedTurn]:
        """Those of a session, without what its transcript turned out to have."""
        turns = self.of(session_id)
        left = [without_written(turn, messages) for turn in turns]
        if any(now is not was for now, was in zip(left, turns, strict=True)):
            # where the transcript has it all after all, nothing failed
            self._set_turns(
                session_id,
                [each for each in left if each.has_reply or each.error != UNWRITTEN_FAULT],
            )
        return self.of(session_id)

    def unsent_prompts(self, session_id: str) -> list[QueuedMessage]:
        """What was said and stands in no transcript."""
        return [turn.prompt for turn in self.of(session_id) if turn.prompt is not None]

    def pop_prompt(self, session_id: str, uuid: str) -> QueuedMessage | None:
        """It is said again, or nobody wants it any more; None if it is not here."""
        found = next((each for each in self.unsent_prompts(session_id) if each.uuid == uuid), None)
        if found is not None:
            left = [
                msgspec.structs.replace(turn, prompt=None) if turn.prompt is found else turn
                for turn in self.of(session_id)
            ]
            # what Claude said to it stays
            self._set_turns(
                session_id, [turn for turn in left if turn.has_reply or turn.uuid != uuid]
            )
        return found

    def clear_prompts(self, session_id: str) -> None:
        """A person has seen what was not said, and does not want it."""
        for item in self.unsent_prompts(session_id):
            self.pop_prompt(session_id, item.uuid)

    def schedule_write(self, session_id: str) -> None:
        """Its CLI said something, or its turn is over."""
        self._dirty_sessions.add(session_id)
        self._dirty.set()

    async def wait_until_saved(self) -> None:
        """Until everything that was noted is written down, or cannot be."""
        wanted = self._changes
        while self._saved_changes < wanted:
            await self._write_done.wait()

    def _set_turns(self, session_id: str, turns: list[FailedTurn]) -> None:
        self._turns.pop(session_id, None)
        if turns:
            self._turns[session_id] = turns
        self._count_change()

    def _count_change(self) -> None:
        self._changes += 1
        self._dirty.set()

    async def _write_loop(self) -> None:
        while True:
            await self._dirty.wait()
            self._dirty.clear()
            await self._write()
            await asyncio.sleep(WRITE_INTERVAL)

    async def _write(self) -> None:
        noted, heard = self._changes, self._dirty_sessions
        self._dirty_sessions = set()
        whole = self._encode_bounded() if noted > self._saved_changes or not self._saved else None
        running = {each: self._failed_turn_now(each) for each in heard}
        encoded = {
            each: msgspec.json.encode(turn) if turn is not None and turn.has_reply else None
            for each, turn in running.items()
        }
        await asyncio.to_thread(self._write_files, whole, encoded)
        self._saved_changes = noted
        wrote, self._write_done = self._write_done, asyncio.Event()
        wrote.set()

    def _encode_bounded(self) -> bytes:
        while len(content := msgspec.json.encode(self._turns)) > MOST_BYTES:
            oldest = next(iter(self._turns))
            if len(self._turns) == 1 and len(self._turns[oldest]) == 1:
                break
            self._turns[oldest] = self._turns[oldest][1:]
            if not self._turns[oldest]:
                del self._turns[oldest]
        return content

    def _write_files(self, whole: bytes | None, running: dict[str, bytes | None]) -> None:
        """First what failed: what ran is taken away only after it."""
        try:
            if whole is not None:
                self._saved = False
                self._reserve.write(self._path, whole)
                self._saved = True
            for session_id, content in running.items():
                path = self._running_folder / f"{session_id}.json"
                if content is not None:
                    self._reserve.write(path, content)
                else:
                    path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("what failed could not be written down: %s", error)
