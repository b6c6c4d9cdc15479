"""Turns that are under way, written down: what a keeper that ends too early leaves to the next.

Nothing of it runs by itself again. The next keeper shows what was interrupted and which questions
were open; a person decides whether the turn goes on. What was said and stands in no transcript,
since its CLI ended too early, is kept in the same way: a session can consist of nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Container
from pathlib import Path
from uuid import uuid4

import msgspec

from claudekeeper.files import discard_leftovers, read_file, set_aside
from claudekeeper.live.attention import Desk
from claudekeeper.live.failed import INTERRUPTED
from claudekeeper.live.line import Item
from claudekeeper.live.session import LiveSession
from claudekeeper.live.tasks import Tasks
from claudekeeper.model.attention import Attention
from claudekeeper.model.errors import Fault
from claudekeeper.reserve import DiskReserve

log = logging.getLogger(__name__)

# what is said to a session whose turn was cut off
GO_ON = "Continue from where you left off."


class Unfinished(msgspec.Struct, rename="camel"):
    """What was under way in a session."""

    # of the prompt; None where a background task had something to say
    uuid: str | None
    started: str
    questions: list[Attention] = []
    queue: list[Item] = []
    # the prompt itself, while no transcript is known to have it
    prompt: Item | None = None
    workdir: str | None = None
    # False: it had not come to its turn yet
    begun: bool = True
    # why it failed; None where the keeper ended before it did
    error: Fault | None = None
    # a person had told it to stop
    stopped: bool = False

    @property
    def cut_off(self) -> bool:
        """Whether there is something to go on with; what is held waits for a person anyhow."""
        waits = any(not item.held for item in self.queue)
        return self.begun or self.prompt is not None or waits

    @property
    def fault(self) -> Fault | None:
        """What is wrong with the session, in a word."""
        return self.error or (INTERRUPTED if self.cut_off else None)

    @property
    def held(self) -> list[Item]:
        return [item for item in self.queue if item.held]

    @property
    def waiting(self) -> list[Item]:
        """What the next keeper holds: of all that was not said, nothing is said by itself.

        What failed says so by itself, and can be sent again.
        """
        unsaid = [self.prompt] if self.prompt is not None and self.error is None else []
        return [msgspec.structs.replace(item, held=True) for item in (*unsaid, *self.queue)]

    @property
    def words(self) -> str | None:
        """What was said first of what no transcript may have."""
        items = [*([self.prompt] if self.prompt is not None else []), *self.queue]
        return items[0].text if items else None


def outstanding(left: Unfinished, written: Container[str]) -> list[Item]:
    """What has to be said for it to go on; `written`: the uuids that the transcript has."""
    queue = [item for item in left.queue if not (item.held or item.uuid in written)]
    if left.stopped and queue:
        # a person wanted these instead
        return queue
    items: list[Item] = []
    if left.prompt is not None and left.prompt.uuid not in written:
        items.append(left.prompt)
    elif left.begun:
        items.append(Item(str(uuid4()), GO_ON))
    return [*items, *queue] or [Item(str(uuid4()), GO_ON)]


def under_way(session: LiveSession | None, desk: Desk) -> Unfinished | None:
    """What would be lost if the keeper ended now, or was lost already."""
    if session is None:
        return None
    turn = session.turns.current
    if turn is None and not len(session.line):
        return _at_rest(session)
    uuid, started = (turn.uuid, turn.started) if turn is not None else (None, session.started)
    return Unfinished(
        uuid,
        started,
        desk.of_turn(session.id),
        session.line.waiting,
        session.unwritten,
        session.workdir,
        begun=turn is not None,
        stopped=turn is not None and turn.interrupted,
    )


def _at_rest(session: LiveSession) -> Unfinished | None:
    """Nothing runs and nothing is about to: what failed, and what is held."""
    held, failed = session.line.waiting, session.unfinished
    if failed is None and not held:
        return None
    left = Unfinished(None, session.started, queue=held, workdir=session.workdir, begun=False)
    if failed is None:
        return left
    return msgspec.structs.replace(
        left,
        uuid=failed.uuid,
        prompt=failed.prompt,
        error=session.failure or failed.error,
        begun=True,
    )


def _decoded(content: bytes) -> tuple[dict[str, Unfinished], list[str]]:
    """What can be understood, by session, and what is wrong with the rest."""
    left: dict[str, Unfinished] = {}
    unclear = []
    try:
        sessions = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return {}, [str(error)]
    for session_id, turn in sessions.items():
        try:
            left[session_id] = msgspec.json.decode(turn, type=Unfinished)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            unclear.append(str(error))
    return left, unclear


class Records:
    """The file, and what an earlier keeper left in it."""

    def __init__(
        self,
        path: Path,
        look: Callable[[str], Unfinished | None],
        reserve: DiskReserve,
        runs: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._path = path
        # what is under way in a session now; whether anybody speaks for it
        self._look = look
        self._reserve = reserve
        self._runs = runs
        self._left: dict[str, Unfinished] = {}
        self._now: dict[str, Unfinished] = {}
        self._dirty = asyncio.Event()
        # how often something was noted, and how much of that is on disk
        self._noted = 0
        self._kept = 0
        self._wrote = asyncio.Event()
        self._frozen = False
        self._tasks = Tasks()

    def load(self) -> None:
        """Blocks. A file that cannot be understood is no reason not to start."""
        discard_leftovers(self._path)
        try:
            self._left, unclear = _decoded(read_file(self._path))
        except FileNotFoundError:
            return
        except OSError as error:
            unclear = [str(error)]
        for what in unclear[:1]:
            log.warning("%s is not all usable (%s): of that, it is not known", self._path, what)
            with contextlib.suppress(OSError):
                log.warning("it is kept as %s", set_aside(self._path))
                self._change()

    def start(self) -> None:
        self._tasks.start(self._keep_writing(), name="unfinished:write")

    async def close(self) -> None:
        await self._tasks.close()
        await self.freeze()

    def left(self, session_id: str) -> Unfinished | None:
        """What was left unfinished there, by an earlier keeper or by a CLI that is gone."""
        now = self._now.get(session_id)
        return now if now is not None and now.error is not None else self._left.get(session_id)

    def of_prompt(self, uuid: str) -> str | None:
        """The session to which this was said, if no transcript is known to have it."""
        for session_id, each in (self._left | self._now).items():
            said = [each.prompt] if each.prompt is not None else []
            if any(item.uuid == uuid for item in (*said, *each.queue)):
                return session_id
        return None

    def all_left(self) -> dict[str, Unfinished]:
        """What nobody runs, by session."""
        return dict(self._left)

    def left_alone(self) -> list[str]:
        """The sessions with something unfinished that nobody runs, in the order of their ends."""
        return list(self._left)

    def note(self, session_id: str) -> None:
        """Something about this session changed."""
        now, was = self._look(session_id), self._now.get(session_id)
        begun = now is not None and self._left.pop(session_id, None) is not None
        if now == was and not begun:
            return
        if now is not None:
            self._now[session_id] = now
        else:
            self._now.pop(session_id, None)
            if was is not None and was.error is not None and not self._runs(session_id):
                # it idled away; what was said in it is still lost
                self._left[session_id] = was
        self._change()

    def take_back(self, session_id: str, uuid: str) -> Item | None:
        """Out of what waited there, so that it is not said when the rest goes on."""
        left = self._left.get(session_id)
        items = left.queue if left is not None else []
        item = next((each for each in items if each.uuid == uuid), None)
        if left is None or item is None:
            return None
        queue = [each for each in items if each is not item]
        if queue or left.prompt is not None or left.begun:
            self._left[session_id] = msgspec.structs.replace(left, queue=queue)
        elif item.held:
            # a person stopped it, and now discards it
            del self._left[session_id]
        else:
            # the session may consist of it alone: it is there to be sent again, or left
            return None
        self._change()
        return item

    def forget(self, session_id: str) -> None:
        """Somebody has seen what was left, and does not want it."""
        if self._left.pop(session_id, None) is not None:
            self._change()

    def forget_prompt(self, session_id: str, uuid: str) -> None:
        """It was taken back: going on does not say it."""
        left = self._left.get(session_id)
        if left is None or left.prompt is None or left.prompt.uuid != uuid:
            return
        if left.queue:
            self._left[session_id] = msgspec.structs.replace(left, prompt=None, begun=False)
        else:
            del self._left[session_id]
        self._change()

    def _change(self) -> None:
        self._noted += 1
        self._dirty.set()

    async def settled(self) -> None:
        """Until everything that was noted is written down, or cannot be."""
        wanted = self._noted
        while self._kept < wanted and not self._frozen:
            await self._wrote.wait()

    async def freeze(self) -> None:
        """What is under way now is what stays unfinished: all of it is about to be ended."""
        await self._write()
        self._frozen = True
        self._wrote.set()

    async def _keep_writing(self) -> None:
        while True:
            await self._dirty.wait()
            self._dirty.clear()
            await self._write()

    async def _write(self) -> None:
        if self._frozen:
            return
        noted = self._noted
        # as bytes before the thread: what they are made of goes on changing
        content = msgspec.json.encode(self._left | self._now)
        try:
            # whoever sends a message waits for this: a kill must not lose it
            await asyncio.to_thread(self._reserve.write, self._path, content)
        except OSError as error:
            log.warning("%s could not be written: %s", self._path, error)
        self._kept = noted
        wrote, self._wrote = self._wrote, asyncio.Event()
        wrote.set()
