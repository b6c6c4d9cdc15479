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

from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.contract.attention import Attention
from claudekeeper.contract.errors import Fault
from claudekeeper.core.atomic_files import quarantine, read_file, remove_temporary_files
from claudekeeper.core.disk_reserve import DiskReserve
from claudekeeper.core.tasks import Tasks
from claudekeeper.sessions.failed_turn import INTERRUPTED_FAULT
from claudekeeper.sessions.message_queue import QueuedMessage
from claudekeeper.sessions.session import LiveSession

log = logging.getLogger(__name__)

# what is said to a session whose turn was cut off
CONTINUE_PROMPT = "Continue from where you left off."


class InterruptedTurn(msgspec.Struct, rename="camel"):
    """What was under way in a session."""

    # of the prompt; None where a background task had something to say
    uuid: str | None
    started: str
    questions: list[Attention] = []
    queue: list[QueuedMessage] = []
    # the prompt itself, while no transcript is known to have it
    prompt: QueuedMessage | None = None
    workdir: str | None = None
    # False: it had not come to its turn yet
    begun: bool = True
    # why it failed; None where the keeper ended before it did
    error: Fault | None = None
    # a person had told it to stop
    stopped: bool = False

    @property
    def can_continue(self) -> bool:
        """Whether there is something to go on with; what is held waits for a person anyhow."""
        waits = any(not item.held for item in self.queue)
        return self.begun or self.prompt is not None or waits

    @property
    def fault(self) -> Fault | None:
        """What is wrong with the session, in a word."""
        return self.error or (INTERRUPTED_FAULT if self.can_continue else None)

    @property
    def held_messages(self) -> list[QueuedMessage]:
        return [item for item in self.queue if item.held]

    @property
    def messages_to_hold(self) -> list[QueuedMessage]:
        """What the next keeper holds: of all that was not said, nothing is said by itself.

        What failed says so by itself, and can be sent again.
        """
        unsaid = [self.prompt] if self.prompt is not None and self.error is None else []
        return [msgspec.structs.replace(item, held=True) for item in (*unsaid, *self.queue)]

    @property
    def first_text(self) -> str | None:
        """What was said first of what no transcript may have."""
        items = [*([self.prompt] if self.prompt is not None else []), *self.queue]
        return items[0].text if items else None


def messages_to_send(left: InterruptedTurn, written: Container[str]) -> list[QueuedMessage]:
    """What has to be said for it to go on; `written`: the uuids that the transcript has."""
    queue = [item for item in left.queue if not (item.held or item.uuid in written)]
    if left.stopped and queue:
        # a person wanted these instead
        return queue
    items: list[QueuedMessage] = []
    if left.prompt is not None and left.prompt.uuid not in written:
        items.append(left.prompt)
    elif left.begun:
        items.append(QueuedMessage(str(uuid4()), CONTINUE_PROMPT))
    return [*items, *queue] or [QueuedMessage(str(uuid4()), CONTINUE_PROMPT)]


def snapshot_turn(session: LiveSession | None, desk: PendingAttention) -> InterruptedTurn | None:
    """What would be lost if the keeper ended now, or was lost already."""
    if session is None:
        return None
    turn = session.turns.current
    if turn is None and not len(session.message_queue):
        return _snapshot_idle(session)
    uuid, started = (turn.uuid, turn.started) if turn is not None else (None, session.started)
    return InterruptedTurn(
        uuid,
        started,
        desk.blocking(session.id),
        session.message_queue.messages,
        session.unwritten_prompt,
        session.workdir,
        begun=turn is not None,
        stopped=turn is not None and turn.interrupted,
    )


def _snapshot_idle(session: LiveSession) -> InterruptedTurn | None:
    """Nothing runs and nothing is about to: what failed, and what is held."""
    held, failed = session.message_queue.messages, session.last_failed_turn
    if failed is None and not held:
        return None
    left = InterruptedTurn(None, session.started, queue=held, workdir=session.workdir, begun=False)
    if failed is None:
        return left
    return msgspec.structs.replace(
        left,
        uuid=failed.uuid,
        prompt=failed.prompt,
        error=session.failure or failed.error,
        begun=True,
    )


def _decoded(content: bytes) -> tuple[dict[str, InterruptedTurn], list[str]]:
    """What can be understood, by session, and what is wrong with the rest."""
    left: dict[str, InterruptedTurn] = {}
    unclear = []
    try:
        sessions = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return {}, [str(error)]
    for session_id, turn in sessions.items():
        try:
            left[session_id] = msgspec.json.decode(turn, type=InterruptedTurn)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            unclear.append(str(error))
    return left, unclear


class TurnJournal:
    """The file, and what an earlier keeper left in it."""

    def __init__(
        self,
        path: Path,
        look: Callable[[str], InterruptedTurn | None],
        reserve: DiskReserve,
        runs: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._path = path
        # what is under way in a session now; whether anybody speaks for it
        self._snapshot = look
        self._reserve = reserve
        self._is_running = runs
        self._interrupted: dict[str, InterruptedTurn] = {}
        self._current: dict[str, InterruptedTurn] = {}
        self._dirty = asyncio.Event()
        # how often something was noted, and how much of that is on disk
        self._changes = 0
        self._saved_changes = 0
        self._write_done = asyncio.Event()
        self._is_closed = False
        self._tasks = Tasks()

    def load(self) -> None:
        """Blocks. A file that cannot be understood is no reason not to start."""
        remove_temporary_files(self._path)
        try:
            self._interrupted, unclear = _decoded(read_file(self._path))
        except FileNotFoundError:
            return
        except OSError as error:
            unclear = [str(error)]
        for what in unclear[:1]:
            log.warning("%s is not all usable (%s): of that, it is not known", self._path, what)
            with contextlib.suppress(OSError):
                log.warning("it is kept as %s", quarantine(self._path))
                self._count_change()

    def start(self) -> None:
        self._tasks.start(self._write_loop(), name="unfinished:write")

    async def close(self) -> None:
        await self._tasks.close()
        await self.close_for_shutdown()

    def interrupted_turn(self, session_id: str) -> InterruptedTurn | None:
        """What was left unfinished there, by an earlier keeper or by a CLI that is gone."""
        now = self._current.get(session_id)
        return (
            now if now is not None and now.error is not None else self._interrupted.get(session_id)
        )

    def find_by_prompt(self, uuid: str) -> str | None:
        """The session to which this was said, if no transcript is known to have it."""
        for session_id, each in (self._interrupted | self._current).items():
            said = [each.prompt] if each.prompt is not None else []
            if any(item.uuid == uuid for item in (*said, *each.queue)):
                return session_id
        return None

    def all_interrupted(self) -> dict[str, InterruptedTurn]:
        """What nobody runs, by session."""
        return dict(self._interrupted)

    def interrupted_sessions(self) -> list[str]:
        """The sessions with something unfinished that nobody runs, in the order of their ends."""
        return list(self._interrupted)

    def update(self, session_id: str) -> None:
        """Something about this session changed."""
        now, was = self._snapshot(session_id), self._current.get(session_id)
        begun = now is not None and self._interrupted.pop(session_id, None) is not None
        if now == was and not begun:
            return
        if now is not None:
            self._current[session_id] = now
        else:
            self._current.pop(session_id, None)
            if was is not None and was.error is not None and not self._is_running(session_id):
                # it idled away; what was said in it is still lost
                self._interrupted[session_id] = was
        self._count_change()

    def withdraw(self, session_id: str, uuid: str) -> QueuedMessage | None:
        """Out of what waited there, so that it is not said when the rest goes on."""
        left = self._interrupted.get(session_id)
        items = left.queue if left is not None else []
        item = next((each for each in items if each.uuid == uuid), None)
        if left is None or item is None:
            return None
        queue = [each for each in items if each is not item]
        if queue or left.prompt is not None or left.begun:
            self._interrupted[session_id] = msgspec.structs.replace(left, queue=queue)
        elif item.held:
            # a person stopped it, and now discards it
            del self._interrupted[session_id]
        else:
            # the session may consist of it alone: it is there to be sent again, or left
            return None
        self._count_change()
        return item

    def forget(self, session_id: str) -> None:
        """Somebody has seen what was left, and does not want it."""
        if self._interrupted.pop(session_id, None) is not None:
            self._count_change()

    def forget_prompt(self, session_id: str, uuid: str) -> None:
        """It was taken back: going on does not say it."""
        left = self._interrupted.get(session_id)
        if left is None or left.prompt is None or left.prompt.uuid != uuid:
            return
        if left.queue:
            self._interrupted[session_id] = msgspec.structs.replace(left, prompt=None, begun=False)
        else:
            del self._interrupted[session_id]
        self._count_change()

    def _count_change(self) -> None:
        self._changes += 1
        self._dirty.set()

    async def wait_until_saved(self) -> None:
        """Until everything that was noted is written down, or cannot be."""
        wanted = self._changes
        while self._saved_changes < wanted and not self._is_closed:
            await self._write_done.wait()

    async def close_for_shutdown(self) -> None:
        """What is under way now is what stays unfinished: all of it is about to be ended."""
        await self._write()
        self._is_closed = True
        self._write_done.set()

    async def _write_loop(self) -> None:
        while True:
            await self._dirty.wait()
            self._dirty.clear()
            await self._write()

    async def _write(self) -> None:
        if self._is_closed:
            return
        noted = self._changes
        # as bytes before the thread: what they are made of goes on changing
        content = msgspec.json.encode(self._interrupted | self._current)
        try:
            # whoever sends a message waits for this: a kill must not lose it
            await asyncio.to_thread(self._reserve.write, self._path, content)
        except OSError as error:
            log.warning("%s could not be written: %s", self._path, error)
        self._saved_changes = noted
        wrote, self._write_done = self._write_done, asyncio.Event()
        wrote.set()
