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

from claudekeeper.files import discard_leftovers, read_file, set_aside
from claudekeeper.live.failed import UNWRITTEN, Cut, FailedTurn, is_told, remaining, taken_over
from claudekeeper.live.line import Item
from claudekeeper.live.tasks import Tasks
from claudekeeper.model.messages import Message
from claudekeeper.reserve import DiskReserve

log = logging.getLogger(__name__)

# seconds that what runs may be behind on disk
BEHIND = 0.25
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


class FailedTurns:
    """The failed turns of all sessions, the oldest first."""

    def __init__(
        self, path: Path, look: Callable[[str], FailedTurn | None], reserve: DiskReserve
    ) -> None:
        self._path = path
        self._reserve = reserve
        # one file for each session that runs: a long reply is not written again for all of them
        self._running = path.with_suffix("")
        # what a turn that runs would leave now
        self._look = look
        # by session; the one that changed last is the last
        self._failed: dict[str, list[FailedTurn]] = {}
        self._dirty = asyncio.Event()
        self._heard: set[str] = set()
        # what an earlier keeper wrote while its turns ran
        self._ran: dict[str, FailedTurn] = {}
        # how often something failed or was settled, and how much of that was tried to be written
        self._noted = 0
        self._kept = 0
        # whether the file has all that it should
        self._saved = True
        self._wrote = asyncio.Event()
        self._tasks = Tasks()

    def load(self) -> None:
        """Blocks. A file that cannot be understood is no reason not to start."""
        discard_leftovers(self._path)
        self._reserve.hold()
        self._load_running()
        try:
            self._failed, unclear = _decoded(read_file(self._path))
        except FileNotFoundError:
            return
        except OSError as error:
            unclear = [str(error)]
        for what in unclear[:1]:
            log.warning("%s is not all usable (%s): of that, it is not known", self._path, what)
            with contextlib.suppress(OSError):
                log.warning("it is kept as %s", set_aside(self._path))
                self._noted += 1

    def _load_running(self) -> None:
        """What the turns that ran when an earlier keeper ended have left, by session."""
        with contextlib.suppress(OSError):
            for file in sorted(self._running.iterdir()):
                with contextlib.suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
                    self._ran[file.stem] = msgspec.json.decode(read_file(file), type=FailedTurn)
                self._heard.add(file.stem)

    def start(self, left: Mapping[str, Cut]) -> None:
        """`left`: the turns that an earlier keeper could not see through, by session."""
        for session_id, cut in left.items():
            if cut.begun and not any(is_told(cut, turn) for turn in self.of(session_id)):
                self.add(session_id, taken_over(cut, self._ran.get(session_id)))
        self._ran = {}
        self._dirty.set()
        self._tasks.start(self._keep_writing(), name="failed-turns:write")

    async def close(self) -> None:
        await self._tasks.close()
        await self._write()

    def of(self, session_id: str) -> list[FailedTurn]:
        return list(self._failed.get(session_id, []))

    def add(self, session_id: str, turn: FailedTurn) -> None:
        turns = [each for each in self.of(session_id) if not each.is_of(turn.uuid, turn.started)]
        self._put(session_id, [*turns, turn][-MOST_OF_A_SESSION:])

    def settle(self, session_id: str, messages: Sequence[Message]) -> list[FailedTurn]:
        """Those of a session, without what its transcript turned out to have."""
        turns = self.of(session_id)
        left = [remaining(turn, messages) for turn in turns]
        if any(now is not was for now, was in zip(left, turns, strict=True)):
            # where the transcript has it all after all, nothing failed
            self._put(session_id, [each for each in left if each.words or each.error != UNWRITTEN])
        return self.of(session_id)

    def prompts(self, session_id: str) -> list[Item]:
        """What was said and stands in no transcript."""
        return [turn.prompt for turn in self.of(session_id) if turn.prompt is not None]

    def take_prompt(self, session_id: str, uuid: str) -> Item | None:
        """It is said again, or nobody wants it any more; None if it is not here."""
        found = next((each for each in self.prompts(session_id) if each.uuid == uuid), None)
        if found is not None:
            left = [
                msgspec.structs.replace(turn, prompt=None) if turn.prompt is found else turn
                for turn in self.of(session_id)
            ]
            # what Claude said to it stays
            self._put(session_id, [turn for turn in left if turn.words or turn.uuid != uuid])
        return found

    def take_all_prompts(self, session_id: str) -> None:
        """A person has seen what was not said, and does not want it."""
        for item in self.prompts(session_id):
            self.take_prompt(session_id, item.uuid)

    def hear(self, session_id: str) -> None:
        """Its CLI said something, or its turn is over."""
        self._heard.add(session_id)
        self._dirty.set()

    async def settled(self) -> None:
        """Until everything that was noted is written down, or cannot be."""
        wanted = self._noted
        while self._kept < wanted:
            await self._wrote.wait()

    def _put(self, session_id: str, turns: list[FailedTurn]) -> None:
        self._failed.pop(session_id, None)
        if turns:
            self._failed[session_id] = turns
        self._change()

    def _change(self) -> None:
        self._noted += 1
        self._dirty.set()

    async def _keep_writing(self) -> None:
        while True:
            await self._dirty.wait()
            self._dirty.clear()
            await self._write()
            await asyncio.sleep(BEHIND)

    async def _write(self) -> None:
        noted, heard = self._noted, self._heard
        self._heard = set()
        whole = self._encoded() if noted > self._kept or not self._saved else None
        running = {each: self._look(each) for each in heard}
        encoded = {
            each: msgspec.json.encode(turn) if turn is not None and turn.words else None
            for each, turn in running.items()
        }
        await asyncio.to_thread(self._store, whole, encoded)
        self._kept = noted
        wrote, self._wrote = self._wrote, asyncio.Event()
        wrote.set()

    def _encoded(self) -> bytes:
        while len(content := msgspec.json.encode(self._failed)) > MOST_BYTES:
            oldest = next(iter(self._failed))
            if len(self._failed) == 1 and len(self._failed[oldest]) == 1:
                break
            self._failed[oldest] = self._failed[oldest][1:]
            if not self._failed[oldest]:
                del self._failed[oldest]
        return content

    def _store(self, whole: bytes | None, running: dict[str, bytes | None]) -> None:
        """First what failed: what ran is taken away only after it."""
        try:
            if whole is not None:
                self._saved = False
                self._reserve.write(self._path, whole)
                self._saved = True
            for session_id, content in running.items():
                path = self._running / f"{session_id}.json"
                if content is not None:
                    self._reserve.write(path, content)
                else:
                    path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("what failed could not be written down: %s", error)
