"""The failed turns of all sessions, on disk: each with its reason, for clients and later keepers.

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
from claudekeeper.core.background_writer import BackgroundWriter
from claudekeeper.core.disk_reserve import DiskReserve
from claudekeeper.sessions.message_queue import QueuedMessage
from claudekeeper.sessions.recovery.failed_turn import (
    UNWRITTEN_FAULT,
    CutOffTurn,
    FailedTurn,
    from_interrupted,
    is_same_turn,
    without_written,
)

log = logging.getLogger(__name__)

# what a turn would leave if the keeper ended now; None where no turn runs
TakeSnapshot = Callable[[], FailedTurn | None]

# seconds that what runs may be behind on disk
WRITE_INTERVAL = 0.25
# of one session, and bytes of all: the oldest go first
MAX_TURNS_OF_SESSION = 50
MAX_BYTES = 32 * 1024 * 1024


def _decode(content: bytes) -> tuple[dict[str, list[FailedTurn]], list[str]]:
    """The turns that can be read, by session, and what is wrong with the others."""
    failed: dict[str, list[FailedTurn]] = {}
    faults = []
    try:
        sessions = msgspec.json.decode(content, type=dict[str, list[msgspec.Raw]])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return {}, [str(error)]
    for session_id, turns in sessions.items():
        for turn in turns:
            try:
                decoded = msgspec.json.decode(turn, type=FailedTurn)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                faults.append(str(error))
            else:
                failed.setdefault(session_id, []).append(decoded)
    return failed, faults


def _no_turn() -> None:
    """Nobody runs the session: what an earlier keeper wrote while it ran has been read."""


def _encode_snapshot(session_id: str, take_snapshot: TakeSnapshot) -> bytes | None:
    """What a turn that runs would leave; empty where that is nothing, None where it fails."""
    try:
        turn = take_snapshot()
        return msgspec.json.encode(turn) if turn is not None and turn.has_reply else b""
    except Exception:
        log.exception("what the turn of %s would leave could not be written", session_id)
        return None


class FailedTurnStore:
    """The failed turns of all sessions, the oldest first."""

    def __init__(self, path: Path, reserve: DiskReserve) -> None:
        self._path = path
        self._reserve = reserve
        # one file for each session that runs: a long reply is not written again for all of them
        self._running_folder = path.with_suffix("")
        # by session; the one that changed last is the last
        self._turns: dict[str, list[FailedTurn]] = {}
        # what the turns that run would leave: asked for when it is written
        self._running: dict[str, TakeSnapshot] = {}
        # what an earlier keeper wrote while its turns ran
        self._previous_turns: dict[str, FailedTurn] = {}
        # changes of failed turns, and how many of them the file has; what runs has its own files
        self._changes = self._saved_changes = 0
        self._writer = BackgroundWriter(
            self._write, name="failed-turns:write", pause=WRITE_INTERVAL
        )
        self.close = self._writer.close

    def load(self) -> None:
        """Blocks. A file that cannot be understood is no reason not to start."""
        remove_temporary_files(self._path)
        self._reserve.hold()
        self._load_running()
        try:
            self._turns, faults = _decode(read_file(self._path))
        except FileNotFoundError:
            return
        except OSError as error:
            faults = [str(error)]
        for fault in faults[:1]:
            log.warning("%s cannot be read in full: %s", self._path, fault)
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
                self._running[file.stem] = _no_turn

    def start(self, interrupted: Mapping[str, CutOffTurn]) -> None:
        """`interrupted`: the turns that an earlier keeper did not see through, by session."""
        for session_id, cut_off in interrupted.items():
            turns = self.of(session_id)
            if cut_off.begun and not any(is_same_turn(cut_off, turn) for turn in turns):
                earlier = self._previous_turns.get(session_id)
                self.add(session_id, from_interrupted(cut_off, earlier))
        self._previous_turns = {}
        self._writer.schedule()

    def of(self, session_id: str) -> list[FailedTurn]:
        return list(self._turns.get(session_id, []))

    def add(self, session_id: str, turn: FailedTurn) -> None:
        turns = [each for each in self.of(session_id) if not each.is_of(turn.uuid, turn.started)]
        self._set_turns(session_id, [*turns, turn][-MAX_TURNS_OF_SESSION:])

    def drop_written(self, session_id: str, messages: Sequence[Message]) -> list[FailedTurn]:
        """Those of a session, without what its transcript turned out to have."""
        turns = self.of(session_id)
        remaining = [without_written(turn, messages) for turn in turns]
        if any(now is not before for now, before in zip(remaining, turns, strict=True)):
            # where the transcript has it all after all, nothing failed
            self._set_turns(
                session_id,
                [turn for turn in remaining if turn.has_reply or turn.error != UNWRITTEN_FAULT],
            )
        return self.of(session_id)

    def unsent_prompts(self, session_id: str) -> list[QueuedMessage]:
        """The prompts that no transcript has."""
        return [turn.prompt for turn in self.of(session_id) if turn.prompt is not None]

    def pop_prompt(self, session_id: str, uuid: str) -> QueuedMessage | None:
        """Takes out a prompt that is sent again, or that nobody wants; None if it is not here."""
        prompts = self.unsent_prompts(session_id)
        prompt = next((each for each in prompts if each.uuid == uuid), None)
        if prompt is not None:
            turns = [
                msgspec.structs.replace(turn, prompt=None) if turn.prompt is prompt else turn
                for turn in self.of(session_id)
            ]
            # Claude's reply to it stays
            self._set_turns(
                session_id, [turn for turn in turns if turn.has_reply or turn.uuid != uuid]
            )
        return prompt

    def clear_prompts(self, session_id: str) -> None:
        """A person has seen the prompts that were not sent, and does not want them."""
        for prompt in self.unsent_prompts(session_id):
            self.pop_prompt(session_id, prompt.uuid)

    def schedule_write(self, session_id: str, take_snapshot: TakeSnapshot) -> None:
        """Its CLI said something, or its turn is over."""
        self._running[session_id] = take_snapshot
        self._writer.schedule()

    def _set_turns(self, session_id: str, turns: list[FailedTurn]) -> None:
        self._turns.pop(session_id, None)
        if turns:
            self._turns[session_id] = turns
        self._changes += 1
        self._writer.schedule()

    async def wait_until_saved(self) -> None:
        """Until every failed turn so far is on disk, or cannot be written."""
        if self._saved_changes < self._changes:
            await self._writer.wait_until_saved()

    async def _write(self) -> None:
        running, self._running = self._running, {}
        changes = self._changes
        whole = self._encode_bounded() if self._saved_changes < changes else None
        snapshots = {
            session_id: snapshot
            for session_id, take_snapshot in running.items()
            if (snapshot := _encode_snapshot(session_id, take_snapshot)) is not None
        }
        try:
            await asyncio.to_thread(self._write_files, whole, snapshots)
        except OSError as error:
            log.warning("the failed turns could not be written: %s", error)
        else:
            self._saved_changes = changes

    def _encode_bounded(self) -> bytes:
        while len(content := msgspec.json.encode(self._turns)) > MAX_BYTES:
            oldest = next(iter(self._turns))
            if len(self._turns) == 1 and len(self._turns[oldest]) == 1:
                break
            self._turns[oldest] = self._turns[oldest][1:]
            if not self._turns[oldest]:
                del self._turns[oldest]
        return content

    def _write_files(self, whole: bytes | None, running: dict[str, bytes]) -> None:
        """First the failed turns: the files of turns that ran are removed only after that."""
        if whole is not None:
            self._reserve.write(self._path, whole)
        for session_id, content in running.items():
            path = self._running_folder / f"{session_id}.json"
            if content:
                self._reserve.write(path, content)
            else:
                path.unlink(missing_ok=True)
