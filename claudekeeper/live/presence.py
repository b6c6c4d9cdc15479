"""Who else runs which session: Claude Codes in terminals, editors and scripts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from claudekeeper.live.tasks import Tasks
from claudekeeper.model.sessions import Presence
from claudekeeper.readers.presence import Process, alive, running
from claudekeeper.readers.watch import Watcher

# seconds between two looks at whether they live: a kill leaves the file as it was
BREATH = 1.0
# of several in one session, the one that is shown
_ORDER = {"waiting": 0, "busy": 1, "idle": 2}


class Presences:
    """Every Claude Code of the machine that this keeper does not run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._watcher = Watcher(folder)
        self._tasks = Tasks()
        self._looking = asyncio.Lock()
        self._processes: list[Process] = []
        self._elsewhere: dict[str, Presence] = {}
        self._moved = asyncio.Event()
        # processes of ours stay ours while they end, when nobody speaks for them any more
        self._known_ours: set[tuple[int, str]] = set()
        # whether a process is one that this keeper started
        self.ours: Callable[[Process], bool] = lambda _: False
        # called with the id of a session that somebody else runs, ran, or runs otherwise
        self.changed: Callable[[str], None] = lambda _: None

    async def start(self) -> None:
        await self.look()
        self._tasks.start(self._follow(), name="presence:watch")
        self._tasks.start(self._breathe(), name="presence:alive")

    async def close(self) -> None:
        await self._tasks.close()

    def of(self, session_id: str) -> Presence | None:
        """Who else runs this session, as it was seen last."""
        return self._elsewhere.get(session_id)

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._elsewhere

    async def now(self, session_id: str) -> Presence | None:
        """Who else runs this session at this very moment."""
        await self.look()
        return self.of(session_id)

    async def vacant(self, session_id: str) -> None:
        """Until nobody else runs this session."""
        await self.look()
        while self.of(session_id) is not None:
            await self._moved.wait()

    async def look(self) -> None:
        async with self._looking:
            self._processes = await asyncio.to_thread(running, self._folder, self._processes)
            before, self._elsewhere = self._elsewhere, self._sorted_out()
        if before != self._elsewhere:
            moved, self._moved = self._moved, asyncio.Event()
            moved.set()
        for session_id in before.keys() | self._elsewhere.keys():
            if before.get(session_id) != self._elsewhere.get(session_id):
                self.changed(session_id)

    def _sorted_out(self) -> dict[str, Presence]:
        there = {(each.presence.pid, each.started) for each in self._processes}
        self._known_ours &= there
        elsewhere: dict[str, Presence] = {}
        for process in self._processes:
            identity = (process.presence.pid, process.started)
            if identity in self._known_ours or self.ours(process):
                self._known_ours.add(identity)
                continue
            known = elsewhere.get(process.session_id)
            if known is None or _ORDER[process.presence.status] < _ORDER[known.status]:
                elsewhere[process.session_id] = process.presence
        return elsewhere

    async def _follow(self) -> None:
        async for _ in self._watcher.changes():
            await self.look()

    async def _breathe(self) -> None:
        while True:
            await asyncio.sleep(BREATH)
            told = self._watcher.state.mode == "watching"
            known = self._processes
            if known and (not told or not await asyncio.to_thread(_all_alive, known)):
                await self.look()


def _all_alive(processes: list[Process]) -> bool:
    return all(alive(process) for process in processes)
