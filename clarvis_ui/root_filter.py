"""The keeper's answers without what lies outside the allowed roots.

It is used only where roots are set; without them the proxy passes everything on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from .errors import AttentionOutsideRoots, DirectoryNotFound, OutsideRoots, SessionOutsideRoots
from .keeper_client import KeeperClient
from .root_membership import RootMembership, SessionRoots
from .roots import Roots

# pages of the keeper that are read to fill one page of ours
MAX_PAGES = 8
MAX_QUESTIONS = 4096


class SessionsPage(msgspec.Struct):
    sessions: list[msgspec.Raw]
    cursor: str | None = None
    position: str | None = None


class WorkdirsPage(msgspec.Struct):
    workdirs: list[msgspec.Raw]


class WorkdirCount(msgspec.Struct):
    """The field of a working directory that the count needs."""

    sessions: int


class ScanFields(msgspec.Struct):
    done: int
    total: int


class HealthFields(msgspec.Struct):
    """The health of the keeper, without its counts of the whole machine."""

    status: str
    version: str
    cli: str
    uptime: float
    sessions: int
    watching: msgspec.Raw
    scan: ScanFields


class AttentionFields(msgspec.Struct, rename="camel"):
    """The fields of an Attention that the roots need."""

    id: str
    session_id: str


class AttentionPage(msgspec.Struct):
    attention: list[msgspec.Raw]


class DirectoryFields(msgspec.Struct):
    name: str
    path: str


class DirectoriesPage(msgspec.Struct):
    """Subdirectories, or without a path the roots themselves."""

    path: str | None
    parent: str | None
    directories: list[DirectoryFields]


class SendFields(msgspec.Struct, rename="camel"):
    """The target of a prompt; the keeper checks the other fields."""

    session_id: str | None = None
    workdir: str | None = None
    route: object = None


class RouteFields(msgspec.Struct, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """A prompt to be routed. The browser may not set `within`."""

    text: str
    workdir: str | None = None
    scorer: str | None = None


class RouteWithinFields(RouteFields):
    within: list[str] = []


class CandidateFields(msgspec.Struct, rename="camel"):
    """The fields of a candidate that the roots need."""

    session_id: str
    workdir: str | None = None


class RoutingFields(msgspec.Struct, rename="camel"):
    """The decision where a prompt goes."""

    action: str
    session_id: str | None
    title: str | None
    confidence: float
    reason: str
    candidates: list[msgspec.Raw]
    scorer: str | None = None
    threshold: float | None = None
    cause: str | None = None
    id: str | None = None


class RoutedMessageFields(msgspec.Struct, rename="camel"):
    """A routed prompt, and why it went where it did."""

    uuid: str
    session_id: str
    at: str
    routing: RoutingFields
    followed: bool
    left_plan_for: str | None = None


class RoutedPage(msgspec.Struct):
    routings: list[RoutedMessageFields]


class ArchiveFields(msgspec.Struct):
    """Whether the archive is on, and the sessions due for deletion, without its counts."""

    on: bool
    days: float
    due: list[msgspec.Raw]


class SearchResultsPage(msgspec.Struct, rename="camel"):
    """A page of hits."""

    hits: list[msgspec.Raw]
    cursor: str | None
    decisions_first: bool
    index: msgspec.Raw


class TimelineFields(msgspec.Struct):
    """The activity over time, and the prompts of that time."""

    by: str
    zone: str
    after: str | None
    before: str | None
    total: msgspec.Raw
    buckets: msgspec.Raw
    prompts: list[msgspec.Raw]
    complete: bool


class FamilyMemberFields(msgspec.Struct, rename="camel"):
    """The fields of a fork that the roots need."""

    session_id: str
    workdir: str | None = None
    parent: str | None = None


class FamilyFields(msgspec.Struct, rename="camel"):
    """A session, and the forks that share its beginning."""

    session_id: str
    sessions: list[msgspec.Raw]
    complete: bool


class ResolveFields(msgspec.Struct, rename="camel"):
    attention_id: str


class RootFilter:
    """Asks the keeper, and leaves out of its answers what lies outside the roots.

    A refusal of the keeper is raised as KeeperRefusal.
    """

    def __init__(self, keeper: KeeperClient, roots: Roots) -> None:
        self._keeper = keeper
        self._roots = roots
        self._question_sessions: dict[str, str] = {}
        self.membership = RootMembership(keeper, roots)

    # ---- lists ----

    async def health(self, query: Mapping[str, str]) -> HealthFields:
        """Counts only the sessions inside; the scan of them is as far as that of all."""
        health = await self._keeper.read(("health",), query, HealthFields)
        rows = (await self.workdirs({})).workdirs
        counts = [msgspec.json.decode(row, type=WorkdirCount).sessions for row in rows]
        share = health.scan.done / health.scan.total if health.scan.total else 1.0
        health.sessions = sum(counts)
        health.scan = ScanFields(int(health.sessions * share), health.sessions)
        return health

    async def sessions(self, query: Mapping[str, str]) -> SessionsPage:
        """A page of the list, filled up to the limit if there are that many sessions."""
        parameters = dict(query)
        limit = int(query["limit"]) if query.get("limit", "").isdecimal() else None
        whole = SessionsPage([])
        for round_number in range(MAX_PAGES):
            page = await self._keeper.read(("sessions",), parameters, SessionsPage)
            if round_number == 0:
                whole.position = page.position  # the earliest, so that no event is missed
            whole.sessions += await self.membership.filter_rows(page.sessions)
            whole.cursor = page.cursor
            missing = (limit or 1) - len(whole.sessions)
            if page.cursor is None or missing <= 0:
                break
            parameters["cursor"] = page.cursor
            if limit is not None:
                parameters["limit"] = str(missing)
        return whole

    async def workdirs(self, query: Mapping[str, str]) -> WorkdirsPage:
        page = await self._keeper.read(("workdirs",), query, WorkdirsPage)
        return WorkdirsPage(await self.membership.filter_rows(page.workdirs))

    async def attention(self, query: Mapping[str, str]) -> AttentionPage:
        page = await self._keeper.read(("attention",), query, AttentionPage)
        return AttentionPage([row for row in page.attention if await self._is_inside(row)])

    async def directories(self, query: Mapping[str, str]) -> DirectoriesPage:
        """Subdirectories inside the roots; without a path the roots themselves."""
        path = query.get("path")
        if path is None:
            roots = self._roots.paths or ()
            return DirectoriesPage(
                None, None, [DirectoryFields(root.name or str(root), str(root)) for root in roots]
            )
        allows = self.membership.allows
        if not await allows(path):
            raise DirectoryNotFound
        page = await self._keeper.read(("directories",), query, DirectoriesPage)
        if not await allows(page.path):
            raise DirectoryNotFound
        # a link can lead outside, and the parent of a root is outside
        page.directories = [entry for entry in page.directories if await allows(entry.path)]
        if not await allows(page.parent):
            page.parent = None
        return page

    async def archive(self, query: Mapping[str, str]) -> ArchiveFields:
        archive = await self._keeper.read(("archive",), query, ArchiveFields)
        archive.due = await self.membership.filter_rows(archive.due)
        return archive

    async def search(self, query: Mapping[str, str]) -> SearchResultsPage:
        """Hits inside: the keeper searches only there, and its answer is checked too."""
        page = await self._keeper.read(("search",), self.limit_to_roots(query), SearchResultsPage)
        page.hits = await self.membership.filter_rows(page.hits)
        return page

    async def timeline(self, query: Mapping[str, str]) -> TimelineFields:
        timeline = await self._keeper.read(
            ("timeline",), self.limit_to_roots(query), TimelineFields
        )
        timeline.prompts = await self.membership.filter_rows(timeline.prompts)
        return timeline

    async def family(self, session_id: str, query: Mapping[str, str]) -> FamilyFields:
        """Forks inside; one whose parent lies outside has none."""
        family = await self._keeper.read(("sessions", session_id, "family"), query, FamilyFields)
        rows = await self.membership.filter_rows(family.sessions)
        inside = {msgspec.json.decode(row, type=FamilyMemberFields).session_id for row in rows}
        family.sessions = [_hide_parent(row, inside) for row in rows]
        return family

    async def routing(self, request: RouteFields) -> RoutingFields:
        """The session where a prompt belongs, among those inside."""
        if request.workdir is not None:
            await self.require_workdir(request.workdir)
        within = [str(root) for root in self._roots.paths or ()]
        body = RouteWithinFields(request.text, request.workdir, request.scorer, within)
        routing = await self._keeper.read(("route",), {}, RoutingFields, body)
        # the keeper looks only inside, and its answer is checked too
        inside = await self._filter_candidates(routing)
        if routing.session_id is not None and routing.session_id not in inside:
            raise OutsideRoots
        return routing

    async def routings(self, session_id: str) -> RoutedPage:
        """Why the prompts of a session came there, with the candidates inside."""
        await self.require_session(session_id)
        page = await self._keeper.read(("sessions", session_id, "routings"), {}, RoutedPage)
        for each in page.routings:
            routing = each.routing
            count = len(routing.candidates)
            inside = await self._filter_candidates(routing)
            if routing.session_id not in (None, session_id, *inside):
                routing.session_id = routing.title = None
            if routing.session_id is None and len(routing.candidates) < count:
                # the reason may name a session outside
                routing.reason = ""
        return page

    async def _filter_candidates(self, routing: RoutingFields) -> set[str]:
        """Leaves out candidates outside; returns the ids of those inside."""
        routing.candidates = await self.membership.filter_rows(routing.candidates)
        return {
            msgspec.json.decode(row, type=CandidateFields).session_id for row in routing.candidates
        }

    def limit_to_roots(self, query: Mapping[str, str]) -> dict[str, str]:
        """The query limited to the roots, whatever `within` the browser sent."""
        within = os.pathsep.join(str(root) for root in self._roots.paths or ())
        return {**query, "within": within}

    # ---- single requests ----

    async def require_session(self, session_id: str) -> None:
        """Refuses a session outside like one that does not exist."""
        if await self.membership.find(session_id) is not SessionRoots.INSIDE:
            raise SessionOutsideRoots

    async def require_workdir(self, workdir: str | None) -> None:
        if not await self.membership.allows(workdir):
            raise OutsideRoots

    async def require_target(self, send: SendFields) -> None:
        """Allows a prompt for a session inside, or for a new one inside."""
        if send.workdir is not None or send.session_id is None or send.route:
            # routing considers only sessions of this directory
            await self.require_workdir(send.workdir)
        if send.session_id is None:
            return
        # ids are lower case for the keeper; in upper case one would look like a new session
        membership = await self.membership.find(send.session_id.lower())
        starts_inside = membership is SessionRoots.UNKNOWN and send.workdir is not None
        if membership is not SessionRoots.INSIDE and not starts_inside:
            raise SessionOutsideRoots

    async def require_question(self, resolve: ResolveFields) -> None:
        session_id = self._question_sessions.get(resolve.attention_id)
        if session_id is None:
            await self.attention({})
            session_id = self._question_sessions.get(resolve.attention_id)
        if session_id is None or await self.membership.find(session_id) is not SessionRoots.INSIDE:
            raise AttentionOutsideRoots

    def remember_question(self, question: AttentionFields) -> None:
        """Remembers the session, also for late answers to a settled question."""
        while len(self._question_sessions) >= MAX_QUESTIONS:
            del self._question_sessions[next(iter(self._question_sessions))]
        self._question_sessions[question.id] = question.session_id

    async def _is_inside(self, row: msgspec.Raw) -> bool:
        question = msgspec.json.decode(row, type=AttentionFields)
        self.remember_question(question)
        return await self.membership.find(question.session_id) is SessionRoots.INSIDE


def _hide_parent(row: msgspec.Raw, inside: set[str]) -> msgspec.Raw:
    """A fork, without its parent if that lies outside."""
    parent = msgspec.json.decode(row, type=FamilyMemberFields).parent
    if parent is None or parent in inside:
        return row
    members = msgspec.json.decode(row, type=dict[str, msgspec.Raw])
    null = msgspec.Raw(b"null")
    return msgspec.Raw(msgspec.json.encode({**members, "parent": null, "at": null}))
