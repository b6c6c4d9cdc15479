"""What of the keeper's lists lies within the allowed roots.

Used only where roots are set; without them the proxy passes everything on untouched.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from .failures import AttentionNotFound, DirectoryNotFound, OutsideRoots, SessionNotFound
from .keeper import Keeper, Refusal
from .roots import Roots
from .whereabouts import Where, Whereabouts

# a page that the roots thin out is filled up again, but not by reading the whole list at once
ROUNDS = 8
REMEMBERED_QUESTIONS = 4096


class SessionsPage(msgspec.Struct):
    sessions: list[msgspec.Raw]
    cursor: str | None = None
    position: str | None = None


class WorkdirsPage(msgspec.Struct):
    workdirs: list[msgspec.Raw]


class Counted(msgspec.Struct):
    """As much of a working directory as counting needs."""

    sessions: int


class Scan(msgspec.Struct):
    done: int
    total: int


class Health(msgspec.Struct):
    """How the keeper is, without what it counts of the whole machine."""

    status: str
    version: str
    cli: str
    uptime: float
    sessions: int
    watching: msgspec.Raw
    scan: Scan


class Question(msgspec.Struct, rename="camel"):
    """As much of an Attention as the roots need."""

    id: str
    session_id: str


class AttentionPage(msgspec.Struct):
    attention: list[msgspec.Raw]


class Directory(msgspec.Struct):
    name: str
    path: str


class DirectoriesPage(msgspec.Struct):
    """Without a path it is the list of the roots themselves."""

    path: str | None
    parent: str | None
    directories: list[Directory]


class Send(msgspec.Struct, rename="camel"):
    """Where a message is to go; the rest of it is the keeper's."""

    session_id: str | None = None
    workdir: str | None = None
    route: object = None


class Route(msgspec.Struct, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """Which conversation would this belong to? `within` is ours to say, not the browser's."""

    text: str
    workdir: str | None = None
    scorer: str | None = None


class RouteWithin(Route):
    within: list[str] = []


class Fit(msgspec.Struct, rename="camel"):
    """As much of a candidate as the roots need."""

    session_id: str
    workdir: str | None = None


class Routing(msgspec.Struct, rename="camel"):
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


class Routed(msgspec.Struct, rename="camel"):
    """Why a message went where it did."""

    uuid: str
    session_id: str
    at: str
    routing: Routing
    followed: bool
    left_plan_for: str | None = None


class RoutedPage(msgspec.Struct):
    routings: list[Routed]


class Archive(msgspec.Struct):
    """Whether sessions are kept, and those that are about to be deleted; not how many there are."""

    on: bool
    days: float
    due: list[msgspec.Raw]


class Found(msgspec.Struct, rename="camel"):
    """A page of what was looked for."""

    hits: list[msgspec.Raw]
    cursor: str | None
    decisions_first: bool
    index: msgspec.Raw


class Timeline(msgspec.Struct):
    """What was done when, and the prompts of that time."""

    by: str
    zone: str
    after: str | None
    before: str | None
    total: msgspec.Raw
    buckets: msgspec.Raw
    prompts: list[msgspec.Raw]
    complete: bool


class Kin(msgspec.Struct, rename="camel"):
    """As much of a fork or copy as the roots need."""

    session_id: str
    workdir: str | None = None
    parent: str | None = None


class Family(msgspec.Struct, rename="camel"):
    """A session with those that share its beginning."""

    session_id: str
    sessions: list[msgspec.Raw]
    complete: bool


class Resolve(msgspec.Struct, rename="camel"):
    attention_id: str


class Visible:
    def __init__(self, keeper: Keeper, roots: Roots) -> None:
        self._keeper = keeper
        self._roots = roots
        self._questions: dict[str, str] = {}
        self.whereabouts = Whereabouts(keeper, roots)

    # ---- lists, without what lies outside ----

    async def health(self, query: Mapping[str, str]) -> Health | Refusal:
        """With the sessions inside alone; of how far they are read, the same share."""
        found = await self._keeper.read(("health",), query, Health)
        inside = await self.workdirs({})
        if isinstance(found, Refusal):
            return found
        if isinstance(inside, Refusal):
            return inside
        counts = [msgspec.json.decode(row, type=Counted).sessions for row in inside.workdirs]
        read = found.scan.done / found.scan.total if found.scan.total else 1.0
        found.sessions = sum(counts)
        found.scan = Scan(int(found.sessions * read), found.sessions)
        return found

    async def sessions(self, query: Mapping[str, str]) -> SessionsPage | Refusal:
        """A page of the list: as long as was asked for, where there are that many."""
        asked = dict(query)
        wanted = int(asked["limit"]) if asked.get("limit", "").isdecimal() else None
        page = SessionsPage([])
        for round_number in range(ROUNDS):
            found = await self._keeper.read(("sessions",), asked, SessionsPage)
            if isinstance(found, Refusal):
                return found
            if round_number == 0:
                page.position = found.position  # the earliest: no event is missed in between
            page.sessions += await self.whereabouts.within(found.sessions)
            page.cursor = found.cursor
            missing = (wanted or 1) - len(page.sessions)
            if page.cursor is None or missing <= 0:
                break
            asked["cursor"] = page.cursor
            if wanted is not None:
                asked["limit"] = str(missing)
        return page

    async def workdirs(self, query: Mapping[str, str]) -> WorkdirsPage | Refusal:
        found = await self._keeper.read(("workdirs",), query, WorkdirsPage)
        if isinstance(found, Refusal):
            return found
        return WorkdirsPage(await self.whereabouts.within(found.workdirs))

    async def attention(self, query: Mapping[str, str]) -> AttentionPage | Refusal:
        found = await self._keeper.read(("attention",), query, AttentionPage)
        if isinstance(found, Refusal):
            return found
        return AttentionPage([row for row in found.attention if await self._is_ours(row)])

    async def directories(self, query: Mapping[str, str]) -> DirectoriesPage | Refusal:
        """Subdirectories within the roots; the roots themselves where no path is given."""
        path = query.get("path")
        if path is None:
            roots = self._roots.paths or ()
            return DirectoriesPage(
                None, None, [Directory(root.name or str(root), str(root)) for root in roots]
            )
        allows = self.whereabouts.allows
        if not await allows(path):
            raise DirectoryNotFound
        found = await self._keeper.read(("directories",), query, DirectoriesPage)
        if isinstance(found, Refusal):
            return found
        if not await allows(found.path):
            raise DirectoryNotFound
        # a link can lead out, and the way up ends at a root
        found.directories = [entry for entry in found.directories if await allows(entry.path)]
        if not await allows(found.parent):
            found.parent = None
        return found

    async def archive(self, query: Mapping[str, str]) -> Archive | Refusal:
        found = await self._keeper.read(("archive",), query, Archive)
        if not isinstance(found, Refusal):
            found.due = await self.whereabouts.within(found.due)
        return found

    async def search(self, query: Mapping[str, str]) -> Found | Refusal:
        """What was said inside: the keeper looks only there, and its answer is looked at too."""
        found = await self._keeper.read(("search",), self.narrowed(query), Found)
        if not isinstance(found, Refusal):
            found.hits = await self.whereabouts.within(found.hits)
        return found

    async def timeline(self, query: Mapping[str, str]) -> Timeline | Refusal:
        """What was done inside, as with what was said there."""
        found = await self._keeper.read(("timeline",), self.narrowed(query), Timeline)
        if not isinstance(found, Refusal):
            found.prompts = await self.whereabouts.within(found.prompts)
        return found

    async def family(self, session_id: str, query: Mapping[str, str]) -> Family | Refusal:
        """Forks inside; one whose parent lies outside goes on from nothing."""
        found = await self._keeper.read(("sessions", session_id, "family"), query, Family)
        if isinstance(found, Refusal):
            return found
        inside = await self.whereabouts.within(found.sessions)
        named = {msgspec.json.decode(row, type=Kin).session_id for row in inside}
        found.sessions = [_without_parent(row, named) for row in inside]
        return found

    async def routing(self, asked: Route) -> Routing | Refusal:
        """Where a command belongs, among the conversations inside."""
        if asked.workdir is not None:
            await self.require_workdir(asked.workdir)
        within = [str(root) for root in self._roots.paths or ()]
        wish = RouteWithin(asked.text, asked.workdir, asked.scorer, within)
        found = await self._keeper.read(("route",), {}, Routing, wish)
        if isinstance(found, Refusal):
            return found
        # the keeper looked only there; what it says is looked at all the same
        found.candidates = await self.whereabouts.within(found.candidates)
        named = {msgspec.json.decode(row, type=Fit).session_id for row in found.candidates}
        if found.session_id is not None and found.session_id not in named:
            raise OutsideRoots
        return found

    async def routings(self, session_id: str) -> RoutedPage | Refusal:
        """Why messages of a session went there; of the candidates only those inside."""
        await self.require_session(session_id)
        found = await self._keeper.read(("sessions", session_id, "routings"), {}, RoutedPage)
        if isinstance(found, Refusal):
            return found
        for each in found.routings:
            routing = each.routing
            all_of_them = len(routing.candidates)
            routing.candidates = await self.whereabouts.within(routing.candidates)
            named = {msgspec.json.decode(row, type=Fit).session_id for row in routing.candidates}
            if routing.session_id not in (None, session_id, *named):
                routing.session_id = routing.title = None
            if routing.session_id is None and len(routing.candidates) < all_of_them:
                # it names the conversation that was nearest, wherever that is
                routing.reason = ""
        return found

    def narrowed(self, query: Mapping[str, str]) -> dict[str, str]:
        """The same question about the roots alone, whatever it said of them."""
        within = os.pathsep.join(str(root) for root in self._roots.paths or ())
        return {**query, "within": within}

    # ---- what may be asked for, or done ----

    async def require_session(self, session_id: str) -> None:
        """Refuse a session outside with the words of one that does not exist."""
        if await self.whereabouts.of(session_id) is not Where.INSIDE:
            raise SessionNotFound

    async def require_workdir(self, workdir: str | None) -> None:
        if not await self.whereabouts.allows(workdir):
            raise OutsideRoots

    async def require_target(self, send: Send) -> None:
        """A message goes to a session inside, or starts one inside."""
        if send.workdir is not None or send.session_id is None or send.route:
            # routing looks only among the sessions of the directory that is given
            await self.require_workdir(send.workdir)
        if send.session_id is None:
            return
        # the keeper knows an id in any case: as another one it could be taken for a new session
        where = await self.whereabouts.of(send.session_id.lower())
        starts_here = where is Where.UNKNOWN and send.workdir is not None
        if where is not Where.INSIDE and not starts_here:
            raise SessionNotFound

    async def require_question(self, resolve: Resolve) -> None:
        session_id = self._questions.get(resolve.attention_id)
        if session_id is None:
            await self.attention({})
            session_id = self._questions.get(resolve.attention_id)
        if session_id is None or await self.whereabouts.of(session_id) is not Where.INSIDE:
            raise AttentionNotFound

    def remember(self, question: Question) -> None:
        """Kept after it is settled too: who answers late is told so, and not that it never was."""
        while len(self._questions) >= REMEMBERED_QUESTIONS:
            del self._questions[next(iter(self._questions))]
        self._questions[question.id] = question.session_id

    async def _is_ours(self, row: msgspec.Raw) -> bool:
        question = msgspec.json.decode(row, type=Question)
        self.remember(question)
        return await self.whereabouts.of(question.session_id) is Where.INSIDE


def _without_parent(row: msgspec.Raw, named: set[str]) -> msgspec.Raw:
    """A fork as it is, unless what it is a fork of must not be named."""
    parent = msgspec.json.decode(row, type=Kin).parent
    if parent is None or parent in named:
        return row
    members = msgspec.json.decode(row, type=dict[str, msgspec.Raw])
    null = msgspec.Raw(b"null")
    return msgspec.Raw(msgspec.json.encode({**members, "parent": null, "at": null}))
