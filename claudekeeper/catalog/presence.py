"""Who else runs which session: Claude Codes in terminals, editors and scripts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec

from claudekeeper.catalog.own_processes import OwnProcesses
from claudekeeper.catalog.presence_files import RunningClaude, is_alive, list_running
from claudekeeper.contract.sessions import Presence
from claudekeeper.core.signals import Signal
from claudekeeper.core.tasks import Tasks
from claudekeeper.watcher.watcher import Watcher

# seconds between two checks whether the processes live: a kill leaves their files unchanged
LIVENESS_INTERVAL = 1.0
# of several in one session, the first in this order is shown
_STATUS_ORDER = {"waiting": 0, "busy": 1, "idle": 2}


class PresenceChange(msgspec.Struct, frozen=True):
    """Who else runs a session now; None: nobody does any more."""

    session_id: str
    presence: Presence | None


class PresenceMonitor:
    """Presences: every Claude Code of the machine that this keeper does not run."""

    def __init__(self, folder: Path, own_processes: OwnProcesses) -> None:
        self.changed = Signal[PresenceChange]()
        self._folder = folder
        self._own = own_processes
        self._watcher = Watcher(folder)
        self._tasks = Tasks()
        self._refresh_lock = asyncio.Lock()
        self._processes: list[RunningClaude] = []
        self._presences: dict[str, Presence] = {}
        self._next_change = asyncio.Event()
        # our own processes stay ours while they end, also after the manager removed them
        self._own_identities: set[tuple[int, str]] = set()

    async def start(self) -> None:
        await self.refresh()
        self._tasks.start(self._follow_changes(), name="presence:watch")
        self._tasks.every(LIVENESS_INTERVAL, self._check_liveness, name="presence:alive")

    async def close(self) -> None:
        await self._tasks.close()

    def get(self, session_id: str) -> Presence | None:
        """Who else runs this session, as of the last check."""
        return self._presences.get(session_id)

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._presences

    def is_only_ours(self, session_id: str) -> bool:
        """Whether a CLI of this keeper runs the session, and nobody else does."""
        return self._own.runs(session_id) and session_id not in self._presences

    def is_own_hook(self, session_id: str, pid: int) -> bool:
        """Whether a hook that was started by this process belongs to a CLI of this keeper."""
        return pid in self._own.pids or self.is_only_ours(session_id)

    async def refresh_and_get(self, session_id: str) -> Presence | None:
        """Who else runs this session at this very moment."""
        await self.refresh()
        return self.get(session_id)

    async def wait_until_free(self, session_id: str) -> None:
        """Wait until nobody else runs this session."""
        await self.refresh()
        while self.get(session_id) is not None:
            await self._next_change.wait()

    async def refresh(self) -> None:
        async with self._refresh_lock:
            self._processes = await asyncio.to_thread(list_running, self._folder, self._processes)
            before, self._presences = self._presences, self._select_presences()
        if before != self._presences:
            moved, self._next_change = self._next_change, asyncio.Event()
            moved.set()
        for session_id in before.keys() | self._presences.keys():
            if before.get(session_id) != self._presences.get(session_id):
                self.changed.emit(PresenceChange(session_id, self._presences.get(session_id)))

    def _select_presences(self) -> dict[str, Presence]:
        running = {(each.presence.pid, each.started) for each in self._processes}
        self._own_identities &= running
        presences: dict[str, Presence] = {}
        for process in self._processes:
            identity = (process.presence.pid, process.started)
            if identity in self._own_identities or self._own.includes(process):
                self._own_identities.add(identity)
                continue
            current = presences.get(process.session_id)
            if (
                current is None
                or _STATUS_ORDER[process.presence.status] < _STATUS_ORDER[current.status]
            ):
                presences[process.session_id] = process.presence
        return presences

    async def _follow_changes(self) -> None:
        async for _ in self._watcher.changes():
            await self.refresh()

    async def _check_liveness(self) -> None:
        is_watching = self._watcher.state.mode == "watching"
        processes = self._processes
        if processes and (not is_watching or not await asyncio.to_thread(_all_alive, processes)):
            await self.refresh()


def _all_alive(processes: list[RunningClaude]) -> bool:
    return all(is_alive(process) for process in processes)
