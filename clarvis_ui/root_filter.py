"""What of the keeper's lists lies within the allowed roots.

Used only where roots are set; without them the proxy passes everything on untouched.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from .errors import AttentionOutsideRoots, DirectoryNotFound, OutsideRoots, SessionOutsideRoots
from .keeper_client import KeeperClient, KeeperRefusal
from .root_membership import RootMembership, SessionRoots
from .roots import Roots

# a page that the roots thin out is filled up again, but not by reading the whole list at once
MOST_PAGES = 8
MOST_QUESTIONS = 4096


class SessionsPage(msgspec.Struct):
    sessions: list[msgspec.Raw]
    cursor: str | None = None
    position: str | None = None


class WorkdirsPage(msgspec.Struct):
    workdirs: list[msgspec.Raw]


class WorkdirCount(msgspec.Struct):
    """As much of a working directory as counting needs."""

    sessions: int


class ScanFields(msgspec.Struct):
    done: int
    total: int


class HealthFields(msgspec.Struct):
    """How the keeper is, without what it counts of the whole machine."""

    status: str
    version: str
    cli: str
    uptime: float
    sessions: int
    watching: msgspec.Raw
    scan: ScanFields


class AttentionFields(msgspec.Struct, rename="camel"):
    """As much of an Attention as the roots need."""

    id: str
    session_id: str


class AttentionPage(msgspec.Struct):
    attention: list[msgspec.Raw]


class DirectoryFields(msgspec.Struct):
    name: str
    path: str


class DirectoriesPage(msgspec.Struct):
    """Without a path it is the list of the roots themselves."""

    path: str | None
    parent: str | None
    directories: list[DirectoryFields]


class SendFields(msgspec.Struct, rename="camel"):
    """Where a message is to go; the rest of it is the keeper's."""

    session_id: str | None = None
    workdir: str | None = None
    route: object = None


class RouteFields(msgspec.Struct, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """Which conversation would this belong to? `within` is ours to say, not the browser's."""

    text: str
    workdir: str | None = None
    scorer: str | None = None


class RouteWithinFields(RouteFields):
    within: list[str] = []


class CandidateFields(msgspec.Struct, rename="camel"):
    """As much of a candidate as the roots need."""

    session_id: str
    workdir: str | None = None


class RoutingFields(msgspec.Struct, rename="camel"):
    """Where a command goes."""

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
    """Why a message went where it did."""

    uuid: str
    session_id: str
    at: str
    routing: RoutingFields
    followed: bool
    left_plan_for: str | None = None


class RoutedPage(msgspec.Struct):
    routings: list[RoutedMessageFields]


class ArchiveFields(msgspec.Struct):
    """Whether sessions are kept, and those that are about to be deleted; not how many there are."""

    on: bool
    days: float
    due: list[msgspec.Raw]


class SearchResultsPage(msgspec.Struct, rename="camel"):
    """A page of what was looked for."""

    hits: list[msgspec.Raw]
    cursor: str | None
    decisions_first: bool
    index: msgspec.Raw


class TimelineFields(msgspec.Struct):
    """What was done when, and the prompts of that time."""

    by: str
    zone: str
    after: str | None
    before: str | None
    total: msgspec.Raw
    buckets: msgspec.Raw
    prompts: list[msgspec.Raw]
    complete: bool


class FamilyMemberFields(msgspec.Struct, rename="camel"):
    """As much of a fork or copy as the roots need."""

    session_id: str
    workdir: str | None = None
    parent: str | None = None


class FamilyFields(msgspec.Struct, rename="camel"):
    """A session with those that share its beginning."""

    session_id: str
    sessions: list[msgspec.Raw]
    complete: bool


class ResolveFields(msgspec.Struct, rename="camel"):
    attention_id: str


class RootFilter:
    def __init__(self, keeper: KeeperClient, roots: Roots) -> None:
        self._keeper = keeper
        self._roots = roots
        self._question_sessions: dict[str, str] = {}
        self.membership = RootMembership(keeper, roots)

    # ---- lists, without what lies outside ----

    async def health(self, query: Mapping[str, str]) -> HealthFields | KeeperRefusal:
        """With the sessions inside alone; of how far they are read, the same share."""
        found = await self._keeper.read(("health",), query, HealthFields)
        inside = await self.workdirs({})
        if isinstance(found, KeeperRefusal):
            return found
        if isinstance(inside, KeeperRefusal):
            return inside
        counts = [msgspec.json.decode(row, type=WorkdirCount).sessions for row in inside.workdirs]
        read = found.scan.done / found.scan.total if found.scan.total else 1.0
        found.sessions = sum(counts)
        found.scan = ScanFields(int(found.sessions * read), found.sessions)
        return found

    async def sessions(self, query: Mapping[str, str]) -> SessionsPage | KeeperRefusal:
        """A page of the list: as long as was asked for, where there are that many."""
        asked = dict(query)
        wanted = int(asked["limit"]) if asked.get("limit", "").isdecimal() else None
        page = SessionsPage([])
        for round_number in range(MOST_PAGES):
            found = await self._keeper.read(("sessions",), asked, SessionsPage)
            if isinstance(found, KeeperRefusal):
                return found
            if round_number == 0:
                page.position = found.position  # the earliest: no event is missed in between
            page.sessions += await self.membership.filter_rows(found.sessions)
            page.cursor = found.cursor
            missing = (wanted or 1) - len(page.sessions)
            if page.cursor is None or missing <= 0:
                break
            asked["cursor"] = page.cursor
            if wanted is not None:
                asked["limit"] = str(missing)
        return page

    async def workdirs(self, query: Mapping[str, str]) -> WorkdirsPage | KeeperRefusal:
        found = await self._keeper.read(("workdirs",), query, WorkdirsPage)
        if isinstance(found, KeeperRefusal):
            return found
        return WorkdirsPage(await self.membership.filter_rows(found.workdirs))

    async def attention(self, query: Mapping[str, str]) -> AttentionPage | KeeperRefusal:
        found = await self._keeper.read(("attention",), query, AttentionPage)
        if isinstance(found, KeeperRefusal):
            return found
        return AttentionPage([row for row in found.attention if await self._is_inside(row)])

    async def directories(self, query: Mapping[str, str]) -> DirectoriesPage | KeeperRefusal:
        """Subdirectories within the roots; the roots themselves where no path is given."""
        path = query.get("path")
        if path is None:
            roots = self._roots.paths or ()
            return DirectoriesPage(
                None, None, [DirectoryFields(root.name or str(root), str(root)) for root in roots]
            )
        allows = self.membership.allows
        if not await allows(path):
            raise DirectoryNotFound
        found = await self._keeper.read(("directories",), query, DirectoriesPage)
        if isinstance(found, KeeperRefusal):
            return found
        if not await allows(found.path):
            raise DirectoryNotFound
        # a link can lead out, and the way up ends at a root
        found.directories = [entry for entry in found.directories if await allows(entry.path)]
        if not await allows(found.parent):
            found.parent = None
        return found

    async def archive(self, query: Mapping[str, str]) -> ArchiveFields | KeeperRefusal:
        found = await self._keeper.read(("archive",), query, ArchiveFields)
        if not isinstance(found, KeeperRefusal):
            found.due = await self.membership.filter_rows(found.due)
        return found

    async def search(self, query: Mapping[str, str]) -> SearchResultsPage | KeeperRefusal:
        """What was said inside: the keeper looks only there, and its answer is looked at too."""
        found = await self._keeper.read(("search",), self.limit_to_roots(query), SearchResultsPage)
        if not isinstance(found, KeeperRefusal):
            found.hits = await self.membership.filter_rows(found.hits)
        return found

    async def timeline(self, query: Mapping[str, str]) -> TimelineFields | KeeperRefusal:
        """What was done inside, as with what was said there."""
        found = await self._keeper.read(("timeline",), self.limit_to_roots(query), TimelineFields)
        if not isinstance(found, KeeperRefusal):
            found.prompts = await self.membership.filter_rows(found.prompts)
        return found

    async def family(
        self, session_id: str, query: Mapping[str, str]
    ) -> FamilyFields | KeeperRefusal:
        """Forks inside; one whose parent lies outside goes on from nothing."""
        found = await self._keeper.read(("sessions", session_id, "family"), query, FamilyFields)
        if isinstance(found, KeeperRefusal):
            return found
        inside = await self.membership.filter_rows(found.sessions)
        named = {msgspec.json.decode(row, type=FamilyMemberFields).session_id for row in inside}
        found.sessions = [_hide_parent(row, named) for row in inside]
        return found

    async def routing(self, asked: RouteFields) -> RoutingFields | KeeperRefusal:
        """Where a command belongs, among the conversations inside."""
        if asked.workdir is not None:
            await self.require_workdir(asked.workdir)
        within = [str(root) for root in self._roots.paths or ()]
        wish = RouteWithinFields(asked.text, asked.workdir, asked.scorer, within)
        found = await self._keeper.read(("route",), {}, RoutingFields, wish)
        if isinstance(found, KeeperRefusal):
            return found
        # the keeper looked only there; what it says is looked at all the same
        found.candidates = await self.membership.filter_rows(found.candidates)
        named = {
            msgspec.json.decode(row, type=CandidateFields).session_id for row in found.candidates
        }
        if found.session_id is not None and found.session_id not in named:
            raise OutsideRoots
        return found

    async def routings(self, session_id: str) -> RoutedPage | KeeperRefusal:
        """Why messages of a session went there; of the candidates only those inside."""
        await self.require_session(session_id)
        found = await self._keeper.read(("sessions", session_id, "routings"), {}, RoutedPage)
        if isinstance(found, KeeperRefusal):
            return found
        for each in found.routings:
            routing = each.routing
            all_of_them = len(routing.candidates)
            routing.candidates = await self.membership.filter_rows(routing.candidates)
            named = {
                msgspec.json.decode(row, type=CandidateFields).session_id
                for row in routing.candidates
            }
            if routing.session_id not in (None, session_id, *named):
                routing.session_id = routing.title = None
            if routing.session_id is None and len(routing.candidates) < all_of_them:
                # it names the conversation that was nearest, wherever that is
                routing.reason = ""
        return found

    def limit_to_roots(self, query: Mapping[str, str]) -> dict[str, str]:
        """The same question about the roots alone, whatever it said of them."""
        within = os.pathsep.join(str(root) for root in self._roots.paths or ())
        return {**query, "within": within}

    # ---- what may be asked for, or done ----

    async def require_session(self, session_id: str) -> None:
        """Refuse a session outside with the words of one that does not exist."""
        if await self.membership.find(session_id) is not SessionRoots.INSIDE:
            raise SessionOutsideRoots

    async def require_workdir(self, workdir: str | None) -> None:
        if not await self.membership.allows(workdir):
            raise OutsideRoots

    async def require_target(self, send: SendFields) -> None:
        """A message goes to a session inside, or starts one inside."""
        if send.workdir is not None or send.session_id is None or send.route:
            # routing looks only among the sessions of the directory that is given
            await self.require_workdir(send.workdir)
        if send.session_id is None:
            return
        # the keeper knows an id in any case: as another one it could be taken for a new session
        where = await self.membership.find(send.session_id.lower())
        starts_here = where is SessionRoots.UNKNOWN and send.workdir is not None
        if where is not SessionRoots.INSIDE and not starts_here:
            raise SessionOutsideRoots

    async def require_question(self, resolve: ResolveFields) -> None:
        session_id = self._question_sessions.get(resolve.attention_id)
        if session_id is None:
            await self.attention({})
            session_id = self._question_sessions.get(resolve.attention_id)
        if session_id is None or await self.membership.find(session_id) is not SessionRoots.INSIDE:
            raise AttentionOutsideRoots

    def remember_question(self, question: AttentionFields) -> None:
        """Kept after it is settled too: who answers late is told so, and not that it never was."""
        while len(self._question_sessions) >= MOST_QUESTIONS:
            del self._question_sessions[next(iter(self._question_sessions))]
        self._question_sessions[question.id] = question.session_id

    async def _is_inside(self, row: msgspec.Raw) -> bool:
        question = msgspec.json.decode(row, type=AttentionFields)
        self.remember_question(question)
        return await self.membership.find(question.session_id) is SessionRoots.INSIDE


def _hide_parent(row: msgspec.Raw, named: set[str]) -> msgspec.Raw:
    """A fork as it is, unless what it is a fork of must not be named."""
    parent = msgspec.json.decode(row, type=FamilyMemberFields).parent
    if parent is None or parent in named:
        return row
    members = msgspec.json.decode(row, type=dict[str, msgspec.Raw])
    null = msgspec.Raw(b"null")
    return msgspec.Raw(msgspec.json.encode({**members, "parent": null, "at": null}))
