"""Turns that are under way, written down: what a keeper that ends too early leaves to the next.

Nothing of it runs by itself again. The next keeper shows what was interrupted and which questions
were open; a person decides whether the turn goes on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import msgspec

from claudekeeper.files import discard_leftovers, write_whole
from claudekeeper.live.attention import Desk
from claudekeeper.live.line import Item
from claudekeeper.live.session import LiveSession
from claudekeeper.live.tasks import Tasks
from claudekeeper.model.attention import Attention
from claudekeeper.model.errors import Fault

log = logging.getLogger(__name__)

INTERRUPTED = Fault(
    "turn_interrupted", "The keeper ended in the middle of this turn; it can be continued."
)


class Unfinished(msgspec.Struct, rename="camel"):
    """What was under way in a session."""

    # of the prompt; None where a background task had something to say
    uuid: str | None
    started: str
    questions: list[Attention] = []
    queue: list[Item] = []


def under_way(session: LiveSession | None, desk: Desk) -> Unfinished | None:
    """What would be lost if the keeper ended now."""
    if session is None:
        return None
    turn = session.turns.current
    if turn is None and not len(session.line):
        return None
    uuid, started = (turn.uuid, turn.started) if turn is not None else (None, session.started)
    return Unfinished(uuid, started, desk.all(session.id), session.line.waiting)


class Records:
    """The file, and what an earlier keeper left in it."""

    def __init__(self, path: Path, look: Callable[[str], Unfinished | None]) -> None:
        self._path = path
        # what is under way in a session now
        self._look = look
        self._left: dict[str, Unfinished] = {}
        self._now: dict[str, Unfinished] = {}
        self._dirty = asyncio.Event()
        self._frozen = False
        self._tasks = Tasks()

    def load(self) -> None:
        """Blocks. A file that cannot be understood is no reason not to start."""
        discard_leftovers(self._path)
        try:
            content = self._path.read_bytes()
            self._left = msgspec.json.decode(content, type=dict[str, Unfinished])
        except FileNotFoundError:
            return
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            log.warning(
                "%s is not usable (%s): what was interrupted is not known", self._path, error
            )

    def start(self) -> None:
        self._tasks.start(self._keep_writing(), name="unfinished:write")

    async def close(self) -> None:
        await self._tasks.close()
        if not self._frozen:
            await self._write()

    def left(self, session_id: str) -> Unfinished | None:
        """What an earlier keeper left unfinished there."""
        return self._left.get(session_id)

    def note(self, session_id: str) -> None:
        """Something about this session changed."""
        now = self._look(session_id)
        begun = now is not None and self._left.pop(session_id, None) is not None
        if now == self._now.get(session_id) and not begun:
            return
        if now is None:
            self._now.pop(session_id, None)
        else:
            self._now[session_id] = now
        self._dirty.set()

    async def freeze(self) -> None:
        """What is under way now is what stays unfinished: all of it is about to be ended."""
        await self._write()
        self._frozen = True

    async def _keep_writing(self) -> None:
        while True:
            await self._dirty.wait()
            self._dirty.clear()
            await self._write()

    async def _write(self) -> None:
        if self._frozen:
            return
        # as bytes before the thread: what they are made of goes on changing
        content = msgspec.json.encode(self._left | self._now)
        try:
            await asyncio.to_thread(write_whole, self._path, content)
        except OSError as error:
            log.warning("%s could not be written: %s", self._path, error)
