"""Sessions as clients see them: the transcript's row, what runs, and what people called it."""

from __future__ import annotations

import msgspec

from claudekeeper.analysis.summary import Summary
from claudekeeper.archive.archive import Archive
from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.catalog.catalog import Catalog, RowChange
from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.catalog.presence import PresenceChange, PresenceMonitor
from claudekeeper.contract.events import SessionRemoved, SessionUpdated
from claudekeeper.contract.sessions import (
    LiveState,
    Presence,
    PresenceStatus,
    Session,
    SessionProgress,
    SessionState,
    project_of,
)
from claudekeeper.core.timestamps import iso_from_ns
from claudekeeper.coverage.coverage_service import CoverageService
from claudekeeper.coverage.readiness import percent
from claudekeeper.events.bus import EventBus, Refresh
from claudekeeper.sessions.manager import SessionManager
from claudekeeper.sessions.preferences import Preferences
from claudekeeper.sessions.recovery.interrupted_turn import InterruptedTurn
from claudekeeper.sessions.recovery.turn_journal import TurnJournal
from claudekeeper.sessions.session_change import SessionChange
from claudekeeper.sessions.session_owners import SessionOwners
from claudekeeper.transcripts.prompts import shorten_prompt

_STATE_OF_STATUS: dict[PresenceStatus, SessionState] = {
    "busy": "running",
    "waiting": "waiting",
    "idle": "idle",
}


class SessionView(msgspec.Struct):
    """A session as it is now, and the turn that was interrupted there."""

    session: Session
    interrupted: InterruptedTurn | None


class SessionViews:
    """Says what a session is, and publishes it when it looks different."""

    def __init__(
        self,
        catalog: Catalog,
        archive: Archive,
        coverage: CoverageService,
        preferences: Preferences,
        presence: PresenceMonitor,
        attention: PendingAttention,
        journal: TurnJournal,
        manager: SessionManager,
        owners: SessionOwners,
        bus: EventBus,
    ) -> None:
        self._catalog = catalog
        self._archive = archive
        self._coverage = coverage
        self._preferences = preferences
        self._presence = presence
        self._attention = attention
        self._journal = journal
        self._manager = manager
        self._owners = owners
        self._bus = bus
        # what was published last, as a number: thousands of sessions are too much to keep
        self._published: dict[str, int] = {}

    def session(self, session_id: str, row: SessionRow | None = None) -> Session | None:
        """The session as it is known now; no disk is asked."""
        view = self.view(session_id, row)
        return view.session if view is not None else None

    def view(self, session_id: str, row: SessionRow | None = None) -> SessionView | None:
        row = row or self._catalog.peek_row(session_id)
        live_session = self._manager.get(session_id)
        live = live_session.live_state if live_session is not None else None
        interrupted = self._journal.interrupted_turn(session_id)
        if row is not None:
            session = self._session_with_transcript(row, live, interrupted)
        elif (live := live or _live_state_of_interrupted(interrupted)) is not None:
            session = _session_of_live_state(session_id, live)
        else:
            return None
        session.name = self._preferences.name_of(session_id)
        session.system_prompt = self._manager.system_prompt(session_id)
        session.item = self._owners.item_of(session_id)
        if session.origin is None and session.presence is None:
            # a question of the keeper's own waits also where no process runs
            session.attention = self._attention.count(session_id)
        return SessionView(session, interrupted)

    def _session_with_transcript(
        self, row: SessionRow, live: LiveState | None, interrupted: InterruptedTurn | None
    ) -> Session:
        session_id, session = row.file.id, _session_of_row(row)
        if self._archive.is_archived(row):
            session.archived = True
            session.archived_since = self._archive.archived_since(row)
        session.progress = self._coverage.progress_of(session_id) or session.progress
        if session.error is None and interrupted is not None:
            session.error = interrupted.fault
        settings = self._manager.settings(session_id)
        session.permission_mode = settings.permission_mode
        session.model = _next_model(settings.model, session.model)
        if live is not None:
            session = _merge_live_state(session, live)
        presence = self._presence.get(session_id)
        if presence is not None:
            self._add_presence(session, presence)
        if session.state not in ("starting", "running"):
            session.given_up = self._preferences.given_up_at(session_id)
        return session

    def state(self, row: SessionRow) -> SessionState:
        """The state alone, for whoever looks through thousands."""
        if row.file.id in self._presence or self._manager.get(row.file.id) is not None:
            session = self.session(row.file.id, row)
            return session.state if session is not None else "idle"
        return "error" if row.fault else "idle"

    def label_of(self, session_id: str) -> str | None:
        """What a session is called."""
        session = self.session(session_id)
        return session.display_name if session is not None else None

    def _add_presence(self, session: Session, presence: Presence) -> None:
        session.presence = presence
        if session.origin is None:
            session.origin = "terminal"
            session.attention = self._attention.count(session.id)
            if session.state != "error":
                session.state = _STATE_OF_STATUS[presence.status]

    # ---- what is new ----

    def handle_session_change(self, change: SessionChange) -> None:
        if change.is_visible:
            self.publish_if_changed(change.session_id)

    def handle_presence_change(self, change: PresenceChange) -> None:
        self.publish_if_changed(change.session_id)

    def handle_row_change(self, change: RowChange) -> None:
        if change.only_counted:
            self.publish_counts(change.session_id)
        else:
            self.publish_row_change(change.session_id)

    def publish_row_change(self, session_id: str) -> None:
        """The catalog sees another row of this session, or none any more."""
        if self.session(session_id) is None:
            # whoever listed it may know it, published or not
            self._published.setdefault(session_id, 0)
        self.publish_if_changed(session_id)

    def publish_counts(self, session_id: str) -> None:
        """Its transcript was read to its end, one of thousands perhaps."""
        self.publish_if_changed(session_id, again=self._refresh)

    def _refresh(self, session_id: str) -> SessionUpdated | None:
        session = self.session(session_id)
        return SessionUpdated(session_id=session_id, session=session) if session else None

    def publish_if_changed(self, session_id: str, again: Refresh | None = None) -> None:
        """Something about this session changed."""
        session = self.session(session_id)
        if session is None:
            # a terminal in which nothing was said yet is no session, and none that is gone
            if self._published.pop(session_id, None) is not None:
                self._bus.publish(SessionRemoved(session_id=session_id))
            return
        fingerprint = hash(msgspec.json.encode(session))
        if fingerprint != self._published.get(session_id):
            self._published[session_id] = fingerprint
            self._bus.publish(SessionUpdated(session_id=session_id, session=session), again)


def _session_of_row(row: SessionRow) -> Session:
    summary, file = row.summary, row.file
    counted = summary.is_fully_scanned
    return Session(
        id=file.id,
        workdir=summary.workdir,
        project=project_of(summary.workdir),
        name=None,
        title=summary.title,
        first_prompt=summary.first_prompt or summary.first_command,
        last_prompt=summary.last_prompt or summary.first_prompt or summary.first_command,
        message_count=summary.messages if counted else None,
        created=summary.created,
        modified=iso_from_ns(file.mtime),
        git_branch=summary.git_branch,
        size=file.size,
        model=summary.model,
        permission_mode=None,
        state="error" if row.fault else "idle",
        origin=None,
        attention=0,
        cost_usd=round(summary.cost, 6) if counted else None,
        tokens=summary.tokens if counted else None,
        error=row.fault,
        unreadable=summary.unreadable,
        progress=_task_progress(summary),
    )


def _task_progress(summary: Summary) -> SessionProgress | None:
    items, done = summary.tasks, summary.tasks_done
    if not items:
        return None
    return SessionProgress("tasks", items, done, percent(done, items), done == items)


def _session_of_live_state(session_id: str, live: LiveState) -> Session:
    """A session that has no transcript yet."""
    return _merge_live_state(
        Session(
            id=session_id,
            workdir=live.workdir,
            project=project_of(live.workdir),
            name=None,
            title=live.prompt,
            first_prompt=live.prompt,
            last_prompt=live.prompt,
            message_count=0,
            created=live.started,
            modified=live.started,
            git_branch=None,
            size=0,
            model=live.model,
            permission_mode=live.permission_mode,
            state=live.state,
            origin=live.origin,
            attention=live.attention,
            cost_usd=None,
            tokens=None,
            error=live.error,
            unreadable=0,
        ),
        live,
    )


def _next_model(chosen: str | None, written: str | None) -> str | None:
    """The model of the next turn; by its whole name, if the transcript says that."""
    if chosen is None or (written is not None and chosen in written):
        return written
    return chosen


def _live_state_of_interrupted(turn: InterruptedTurn | None) -> LiveState | None:
    """A session of which nothing is left but the messages that were sent to it."""
    if turn is None or turn.workdir is None:
        return None
    return LiveState(
        state="idle",
        origin=None,
        workdir=turn.workdir,
        started=turn.started,
        prompt=shorten_prompt(turn.first_text) if turn.first_text is not None else None,
        error=turn.fault,
    )


def _merge_live_state(session: Session, live: LiveState) -> Session:
    return msgspec.structs.replace(
        session,
        state=live.state if session.state != "error" or live.state != "idle" else "error",
        origin=live.origin,
        attention=live.attention,
        model=live.model or session.model,
        permission_mode=live.permission_mode or session.permission_mode,
        error=session.error or live.error,
    )
