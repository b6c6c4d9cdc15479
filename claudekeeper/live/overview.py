"""Sessions as clients see them: the transcript's row, what runs, and what people called it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from claudekeeper.live.attention import Desk
from claudekeeper.live.bus import Again, Bus
from claudekeeper.live.catalog import Catalog
from claudekeeper.live.presence import Presences
from claudekeeper.live.registry import Registry
from claudekeeper.live.unfinished import Unfinished
from claudekeeper.model.events import SessionRemoved, SessionUpdated
from claudekeeper.model.prompts import shortened
from claudekeeper.model.readiness import SessionProgress, percent
from claudekeeper.model.sessions import (
    Liveness,
    Presence,
    Session,
    State,
    Status,
    WorkItem,
    iso,
    project_of,
)
from claudekeeper.model.summary import Summary
from claudekeeper.readers.discovery import Row

_STATES: dict[Status, State] = {"busy": "running", "waiting": "waiting", "idle": "idle"}


class Overview:
    """Says what a session is, and tells everybody when it is no longer that."""

    def __init__(
        self,
        catalog: Catalog,
        registry: Registry,
        name_of: Callable[[str], str | None],
        presences: Presences,
        desk: Desk,
        bus: Bus,
        left: Callable[[str], Unfinished | None] = lambda _: None,
    ) -> None:
        # whether only the archive still has it; and since when
        self.is_archived: Callable[[Row], bool] = lambda _: False
        self.archived_since: Callable[[Row], str | None] = lambda _: None
        # how far it is by its project's checklist; and when a person gave it up
        self.covered: Callable[[str], SessionProgress | None] = lambda _: None
        self.given_up: Callable[[str], str | None] = lambda _: None
        # the item of work whose conversation it is, or was
        self.item_of: Callable[[str], WorkItem | None] = lambda _: None
        # what was left unfinished there
        self._left = left
        self._catalog = catalog
        self._registry = registry
        self._name_of = name_of
        self._presences = presences
        self._desk = desk
        self._bus = bus
        self._told: dict[str, int] = {}

    def session(self, session_id: str, row: Row | None = None) -> Session | None:
        """The session as it is known now; no disk is asked."""
        session = self._found(session_id, row or self._catalog.known(session_id))
        if session is not None:
            session.item = self.item_of(session_id)
            self._count_questions(session)
        return session

    def _found(self, session_id: str, row: Row | None) -> Session | None:
        live = self._registry.liveness(session_id)
        name = self._name_of(session_id)
        left = self._left(session_id)
        prompt = self._registry.system_prompt(session_id)
        if row is None:
            live = live or _lost(left)
            if live is None:
                return None
            return msgspec.structs.replace(_begun(session_id, live, name), system_prompt=prompt)
        session = _written(row, name)
        session.system_prompt = prompt
        if self.is_archived(row):
            session.archived = True
            session.archived_since = self.archived_since(row)
        session.progress = self.covered(session_id) or session.progress
        if session.error is None and left is not None:
            session.error = left.fault
        chosen = self._registry.choices(session_id)
        session.permission_mode = chosen.permission_mode
        session.model = _model(chosen.model, session.model)
        if live is not None:
            session = _overlaid(session, live)
        presence = self._presences.of(session_id)
        if presence is not None:
            session = self._elsewhere(session, presence)
        if session.state not in ("starting", "running"):
            session.given_up = self.given_up(session_id)
        return session

    def _count_questions(self, session: Session) -> None:
        """A question of the keeper's own waits also where no process runs."""
        if session.origin is None and session.presence is None:
            session.attention = self._desk.count(session.id)

    def state(self, row: Row) -> State:
        """The state alone, for whoever looks through thousands."""
        if row.found.id in self._presences or self._registry.get(row.found.id) is not None:
            session = self.session(row.found.id, row)
            return session.state if session is not None else "idle"
        return "error" if row.fault else "idle"

    def _elsewhere(self, session: Session, presence: Presence) -> Session:
        session.presence = presence
        if session.origin is None:
            session.origin = "terminal"
            session.attention = self._desk.count(session.id)
            if session.state != "error":
                session.state = _STATES[presence.status]
        return session

    def tell_row(self, session_id: str) -> None:
        """The catalog sees another row of this session, or none any more."""
        if self.session(session_id) is None:
            # whoever listed it may know it, told or not
            self._told.setdefault(session_id, 0)
        self.tell(session_id)

    def tell_counted(self, session_id: str) -> None:
        """Its transcript was read to its end, one of thousands perhaps."""
        self.tell(session_id, again=self._again)

    def _again(self, session_id: str) -> SessionUpdated | None:
        session = self.session(session_id)
        return SessionUpdated(session_id=session_id, session=session) if session else None

    def tell(self, session_id: str, again: Again | None = None) -> None:
        """Something about this session changed."""
        session = self.session(session_id)
        if session is None:
            # a terminal in which nothing was said yet is no session, and none that is gone
            if self._told.pop(session_id, None) is not None:
                self._bus.publish(SessionRemoved(session_id=session_id))
            return
        # thousands of sessions: what they looked like is too much to keep, a number is not
        looks = hash(msgspec.json.encode(session))
        if looks != self._told.get(session_id):
            self._told[session_id] = looks
            self._bus.publish(SessionUpdated(session_id=session_id, session=session), again)


def _written(row: Row, name: str | None) -> Session:
    summary, found = row.summary, row.found
    counted = summary.counted
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
        modified=iso(found.mtime),
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
        progress=_by_tasks(summary),
    )


def _by_tasks(summary: Summary) -> SessionProgress | None:
    items, done = summary.tasks, summary.tasks_done
    if not items:
        return None
    return SessionProgress("tasks", items, done, percent(done, items), done == items)


def _begun(session_id: str, live: Liveness, name: str | None) -> Session:
    """A session that has no transcript yet."""
    return _overlaid(
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


def _model(chosen: str | None, written: str | None) -> str | None:
    """The one that the next turn has; by its whole name, if the transcript says that."""
    if chosen is None or (written is not None and chosen in written):
        return written
    return chosen


def _lost(left: Unfinished | None) -> Liveness | None:
    """A session of which nothing is left but what was said."""
    if left is None or left.workdir is None:
        return None
    return Liveness(
        state="idle",
        origin=None,
        workdir=left.workdir,
        started=left.started,
        prompt=shortened(left.words) if left.words is not None else None,
        error=left.fault,
    )


def _overlaid(session: Session, live: Liveness) -> Session:
    return msgspec.structs.replace(
        session,
        state=live.state if session.state != "error" or live.state != "idle" else "error",
        origin=live.origin,
        attention=live.attention,
        model=live.model or session.model,
        permission_mode=live.permission_mode or session.permission_mode,
        error=session.error or live.error,
    )
