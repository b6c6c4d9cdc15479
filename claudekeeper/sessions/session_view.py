"""Sessions as clients see them: the transcript's row, what runs, and what people called it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from claudekeeper.analysis.summary import Summary
from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.catalog.catalog import Catalog
from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.catalog.presence import PresenceMonitor
from claudekeeper.contract.events import SessionRemoved, SessionUpdated
from claudekeeper.contract.sessions import (
    LiveState,
    Presence,
    PresenceStatus,
    Session,
    SessionProgress,
    SessionState,
    WorkItem,
    project_of,
)
from claudekeeper.core.timestamps import iso_from_ns
from claudekeeper.coverage.readiness import percent
from claudekeeper.events.bus import EventBus, Refresh
from claudekeeper.sessions.manager import SessionManager
from claudekeeper.sessions.recovery import InterruptedTurn
from claudekeeper.transcripts.prompts import shorten_prompt

_STATE_OF_STATUS: dict[PresenceStatus, SessionState] = {
    "busy": "running",
    "waiting": "waiting",
    "idle": "idle",
}


class SessionViews:
    """Says what a session is, and tells everybody when it is no longer that."""

    def __init__(
        self,
        catalog: Catalog,
        registry: SessionManager,
        name_of: Callable[[str], str | None],
        presences: PresenceMonitor,
        desk: PendingAttention,
        bus: EventBus,
        left: Callable[[str], InterruptedTurn | None] = lambda _: None,
    ) -> None:
        # whether only the archive still has it; and since when
        self.is_archived: Callable[[SessionRow], bool] = lambda _: False
        self.archived_since: Callable[[SessionRow], str | None] = lambda _: None
        # how far it is by its project's checklist; and when a person gave it up
        self.progress_of: Callable[[str], SessionProgress | None] = lambda _: None
        self.given_up_at: Callable[[str], str | None] = lambda _: None
        # the item of work whose conversation it is, or was
        self.item_of: Callable[[str], WorkItem | None] = lambda _: None
        # what was left unfinished there
        self._interrupted_turn = left
        self._catalog = catalog
        self._manager = registry
        self._name_of = name_of
        self._presences = presences
        self._attention = desk
        self._bus = bus
        self._published: dict[str, int] = {}

    def session(self, session_id: str, row: SessionRow | None = None) -> Session | None:
        """The session as it is known now; no disk is asked."""
        session = self._build(session_id, row or self._catalog.peek_row(session_id))
        if session is not None:
            session.item = self.item_of(session_id)
            self._count_attention(session)
        return session

    def _build(self, session_id: str, row: SessionRow | None) -> Session | None:
        live = self._manager.live_state(session_id)
        name = self._name_of(session_id)
        left = self._interrupted_turn(session_id)
        prompt = self._manager.system_prompt(session_id)
        if row is None:
            live = live or _live_state_of_interrupted(left)
            if live is None:
                return None
            return msgspec.structs.replace(
                _session_of_live_state(session_id, live, name), system_prompt=prompt
            )
        session = _session_of_row(row, name)
        session.system_prompt = prompt
        if self.is_archived(row):
            session.archived = True
            session.archived_since = self.archived_since(row)
        session.progress = self.progress_of(session_id) or session.progress
        if session.error is None and left is not None:
            session.error = left.fault
        chosen = self._manager.settings(session_id)
        session.permission_mode = chosen.permission_mode
        session.model = _next_model(chosen.model, session.model)
        if live is not None:
            session = _merge_live_state(session, live)
        presence = self._presences.get(session_id)
        if presence is not None:
            session = self._with_presence(session, presence)
        if session.state not in ("starting", "running"):
            session.given_up = self.given_up_at(session_id)
        return session

    def _count_attention(self, session: Session) -> None:
        """A question of the keeper's own waits also where no process runs."""
        if session.origin is None and session.presence is None:
            session.attention = self._attention.count(session.id)

    def state(self, row: SessionRow) -> SessionState:
        """The state alone, for whoever looks through thousands."""
        if row.file.id in self._presences or self._manager.get(row.file.id) is not None:
            session = self.session(row.file.id, row)
            return session.state if session is not None else "idle"
        return "error" if row.fault else "idle"

    def _with_presence(self, session: Session, presence: Presence) -> Session:
        session.presence = presence
        if session.origin is None:
            session.origin = "terminal"
            session.attention = self._attention.count(session.id)
            if session.state != "error":
                session.state = _STATE_OF_STATUS[presence.status]
        return session

    def publish_row_change(self, session_id: str) -> None:
        """The catalog sees another row of this session, or none any more."""
        if self.session(session_id) is None:
            # whoever listed it may know it, told or not
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
        # thousands of sessions: what they looked like is too much to keep, a number is not
        looks = hash(msgspec.json.encode(session))
        if looks != self._published.get(session_id):
            self._published[session_id] = looks
            self._bus.publish(SessionUpdated(session_id=session_id, session=session), again)


def _session_of_row(row: SessionRow, name: str | None) -> Session:
    summary, found = row.summary, row.file
    counted = summary.is_fully_scanned
    return Session(
        id=found.id,
        workdir=summary.workdir,
        project=project_of(summary.workdir),
        name=name,
        title=summary.title,
        first_prompt=summary.first_prompt or summary.first_command,
        last_prompt=summary.last_prompt or summary.first_prompt or summary.first_command,
        message_count=summary.messages if counted else None,
        created=summary.created,
        modified=iso_from_ns(found.mtime),
        git_branch=summary.git_branch,
        size=found.size,
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


def _session_of_live_state(session_id: str, live: LiveState, name: str | None) -> Session:
    """A session that has no transcript yet."""
    return _merge_live_state(
        Session(
            id=session_id,
            workdir=live.workdir,
            project=project_of(live.workdir),
            name=name,
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
    """The one that the next turn has; by its whole name, if the transcript says that."""
    if chosen is None or (written is not None and chosen in written):
        return written
    return chosen


def _live_state_of_interrupted(left: InterruptedTurn | None) -> LiveState | None:
    """A session of which nothing is left but what was said."""
    if left is None or left.workdir is None:
        return None
    return LiveState(
        state="idle",
        origin=None,
        workdir=left.workdir,
        started=left.started,
        prompt=shorten_prompt(left.first_text) if left.first_text is not None else None,
        error=left.fault,
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
