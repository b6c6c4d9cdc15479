"""A CLI in name only, and a session manager whose other parts are real: for unit tests."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from claudekeeper.archive.archive import Archive
from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.catalog.cache import Cache
from claudekeeper.catalog.catalog import Catalog
from claudekeeper.catalog.own_processes import OwnProcesses
from claudekeeper.catalog.presence import PresenceMonitor
from claudekeeper.contract.events import Event
from claudekeeper.core.disk_reserve import DiskReserve
from claudekeeper.core.limits import Limits
from claudekeeper.coverage.coverage_service import CoverageService
from claudekeeper.events.bus import EventBus, PublishedEvent
from claudekeeper.events.delivery_log import DeliveryLogs
from claudekeeper.sessions.cli.client import CliClient, CliListener, CliOptions
from claudekeeper.sessions.manager import SessionManager
from claudekeeper.sessions.message_queue import QueuedMessage
from claudekeeper.sessions.preferences import Preferences
from claudekeeper.sessions.recovery.failed_turn_store import FailedTurnStore
from claudekeeper.sessions.recovery.turn_journal import TurnJournal
from claudekeeper.sessions.session_change import SessionChange
from claudekeeper.sessions.session_owners import SessionOwners
from claudekeeper.sessions.session_store import SessionStore
from claudekeeper.sessions.session_view import SessionViews
from claudekeeper.transcripts.history import History
from tests.support.transcript_writer import TranscriptWriter


class FakeCli:
    """Takes prompts; the test says what it answers."""

    bypass = False
    pid = 4_000_000
    stderr_tail = ""

    def __init__(self, options: CliOptions, listener: CliListener) -> None:
        self.options = options
        self.listener = listener
        self.prompts: list[QueuedMessage] = []
        self.calls: list[str] = []
        self.send_error: Exception | None = None
        self._transcript = TranscriptWriter(options.session_id, options.workdir)

    async def connect(self) -> None: ...

    async def info(self) -> dict[str, Any]:
        return {}

    async def send(self, item: QueuedMessage) -> None:
        if self.send_error is not None:
            raise self.send_error
        self.prompts.append(item)

    async def interrupt(self) -> None:
        self.calls.append("interrupt")

    async def set_model(self, model: str | None) -> None:
        self.calls.append(f"model {model}")

    async def set_permission_mode(self, mode: str) -> None:
        self.calls.append(f"mode {mode}")

    async def close(self) -> None:
        self.calls.append("close")

    # ---- what it says ----

    def say(self, **message: Any) -> None:
        self.listener.handle_message(message)

    def begin(self) -> None:
        """It begins a turn and writes the prompt."""
        self.say(type="system", subtype="init", model="claude-opus-4-8", permissionMode="default")
        self._transcript.prompt(self.prompts[-1].content, uuid=self.prompts[-1].uuid)
        self._mirror()

    def reply(self, text: str) -> None:
        """It says something whole, and writes it."""
        self._transcript.reply(text)
        self._mirror()

    def finish(self, **result: Any) -> None:
        self.say(type="result", subtype="success", is_error=False, result="", **result)

    def _mirror(self) -> None:
        import json

        path = f"/projects/{self.options.session_id}.jsonl"
        entry = json.loads(self._transcript.lines[-1])
        self.say(type="transcript_mirror", filePath=path, entries=[entry])


class ManagedSessions:
    """A session manager and its views in a temporary home."""

    def __init__(self, home: Path, projects: Path, limits: Limits) -> None:
        self.clis: list[FakeCli] = []
        self.changes: list[SessionChange] = []
        self.events: list[Event] = []
        self.bus = EventBus()
        self.bus.subscribe(self)
        cache = Cache(home / "cache.db")
        archive = Archive(projects, home)
        reserve = DiskReserve(home)
        self.catalog = Catalog(projects, cache, archive.deleted_folder)
        self.journal = TurnJournal(home / "turns.json", reserve)
        self.failed_turns = FailedTurnStore(home / "failed-turns.json", reserve)
        self.preferences = Preferences(home / "state.json")
        self.own_processes = OwnProcesses()
        self.presence = PresenceMonitor(home / "presence", self.own_processes)
        self.attention = PendingAttention(self.bus)
        self.owners = SessionOwners()
        self.manager = SessionManager(
            SessionStore(self.catalog, History(), archive, self.journal),
            self.journal,
            self.failed_turns,
            self.preferences,
            self.presence,
            self.own_processes,
            self.attention,
            DeliveryLogs(self.bus),
            self.bus,
            self._make_client,
            limits,
        )
        self.views = SessionViews(
            self.catalog,
            archive,
            CoverageService(self.catalog, cache),
            self.preferences,
            self.presence,
            self.attention,
            self.journal,
            self.manager,
            self.owners,
            self.bus,
        )
        self.catalog.row_changed.subscribe(self.views.handle_row_change)
        self.attention.changed.subscribe(self.manager.publish_change)
        self.manager.changed.subscribe(self.changes.append)
        self.manager.changed.subscribe(self.journal.handle_session_change)
        self.manager.changed.subscribe(self.views.handle_session_change)

    @property
    def cli(self) -> FakeCli:
        """The CLI that was started last."""
        return self.clis[-1]

    def events_of(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if type(event) is kind]

    def handle_event(self, published: PublishedEvent) -> None:
        assert published.event is not None
        self.events.append(published.event)

    async def _make_client(self, options: CliOptions, listener: CliListener) -> CliClient:
        self.clis.append(FakeCli(options, listener))
        return self.clis[-1]


@asynccontextmanager
async def managed_sessions(
    home: Path, projects: Path, *, live_sessions: int = 4, idle_seconds: float = 60.0
) -> AsyncIterator[ManagedSessions]:
    projects.mkdir(parents=True, exist_ok=True)
    limits = Limits(live_sessions=live_sessions, idle_seconds=idle_seconds)
    sessions = ManagedSessions(home, projects, limits)
    await sessions.catalog.start()
    try:
        yield sessions
    finally:
        await sessions.manager.close()
        await sessions.failed_turns.close()
        await sessions.journal.close()
        await sessions.preferences.wait_until_saved()
        await sessions.catalog.close()


def workdir_of(home: Path) -> str:
    """A directory in which sessions can begin."""
    path = home / "work"
    path.mkdir(exist_ok=True)
    return os.fspath(path)
