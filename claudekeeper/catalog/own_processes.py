"""The CLIs that this keeper runs, so that nobody takes them for somebody else's."""

from __future__ import annotations

import os
from typing import Protocol

from claudekeeper.catalog.presence_files import RunningClaude


class OwnCli(Protocol):
    """The CLI of one session, as far as others have to recognise it."""

    @property
    def pid(self) -> int | None:
        """None while it starts, and where there is none."""

    @property
    def holds_slot(self) -> bool:
        """Whether there is one, or one is about to start."""


class OwnProcesses:
    """The CLIs of this keeper by session. The session manager adds and removes them."""

    def __init__(self) -> None:
        self._clis: dict[str, OwnCli] = {}

    def add(self, session_id: str, cli: OwnCli) -> None:
        self._clis[session_id] = cli

    def remove(self, session_id: str) -> None:
        self._clis.pop(session_id, None)

    @property
    def pids(self) -> set[int]:
        return {cli.pid for cli in self._clis.values() if cli.pid is not None}

    def runs(self, session_id: str) -> bool:
        """Whether a CLI of this keeper runs the session, or is about to."""
        cli = self._clis.get(session_id)
        return cli is not None and cli.holds_slot

    def includes(self, process: RunningClaude) -> bool:
        """Whether this keeper started the process."""
        cli = self._clis.get(process.session_id)
        if cli is not None and cli.pid == process.presence.pid:
            return True
        if process.keeper_session is not None:
            is_orphan = cli is None and process.parent_pid != os.getpid()
            return process.keeper_session == process.session_id and not is_orphan
        # where a process's environment cannot be seen: one that comes while ours is starting
        is_starting = cli is not None and cli.holds_slot and cli.pid is None
        return is_starting and process.presence.entrypoint.startswith("sdk")
