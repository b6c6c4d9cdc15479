"""Families of sessions: forks and copies that share a beginning, in any folder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress

import msgspec

from claudekeeper.analysis.shared_messages import ForkGraph, MessageChain, MessageIdentity
from claudekeeper.branches.chain_reader import (
    ChainReader,
    first_prompt_from,
    read_beginning,
    uuid_at,
)
from claudekeeper.catalog.cache import Cache
from claudekeeper.catalog.catalog import Catalog
from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.contract.sessions import Session
from claudekeeper.core.worker_threads import WorkerThreads
from claudekeeper.sessions.session_view import SessionViews
from claudekeeper.transcripts.line_reader import FileChanged

# of a larger family not all are listed
MAX_MEMBERS = 100
# of so many files that were not scanned yet the first line is read
MAX_UNREAD = 500


class FamilyMember(msgspec.Struct, rename="camel", kw_only=True):
    """A session of a family. `at`: the message of its parent after which it parts; `here`: the uuid
    of the same message in its own file; `shared`: how many messages both have up to there. All of
    it is null without a parent. `messages`, `began` and `firstPrompt` are of its own messages."""

    session_id: str
    title: str | None
    workdir: str | None
    project: str | None
    modified: str
    archived: bool = False
    parent: str | None = None
    at: str | None = None
    here: str | None = None
    shared: int = 0
    messages: int = 0
    began: str | None = None
    first_prompt: str | None = None


class Family(msgspec.Struct, rename="camel"):
    """A session with all that share its beginning, parents before children. `complete`: every
    session has been examined."""

    session_id: str
    sessions: list[FamilyMember]
    complete: bool


class FamilyService:
    """Finds families."""

    def __init__(
        self,
        catalog: Catalog,
        views: SessionViews,
        chain_reader: ChainReader,
        cache: Cache,
        is_all_counted: Callable[[], bool],
        workers: WorkerThreads,
    ) -> None:
        self._workers = workers
        self._catalog = catalog
        self._views = views
        self._chain_reader = chain_reader
        self._cache = cache
        # whether the cache has the replies of every transcript
        self._is_all_counted = is_all_counted
        # by path: the summary of a row, and its first line; rows are replaced, never changed
        self._beginning_cache: dict[str, tuple[object, tuple[int, int]]] = {}

    async def family_of(self, row: SessionRow) -> Family:
        rows, complete = await self._find_members(row)
        members = {key: _member_of(self._views.session(key, each)) for key, each in rows.items()}
        if len(rows) == 1:
            return Family(row.file.id, list(members.values()), complete)
        linked = await self._workers.run(self._link_forks, rows, members)
        # shared replies alone are no fork: it needs a message with the same identity
        family = [each for key, each in members.items() if key in linked or key == row.file.id]
        return Family(row.file.id, _parents_first(family), complete)

    async def message_identity(self, row: SessionRow) -> MessageIdentity:
        """The identity of messages over all sessions of the family."""
        rows, _ = await self._find_members(row)
        return MessageIdentity((await self._workers.run(self._read_chains, rows)).values())

    # ---- who belongs to it ----

    async def _find_members(self, row: SessionRow) -> tuple[dict[str, SessionRow], bool]:
        rows = await self._catalog.rows()
        # from before the search: replies that are counted meanwhile may be missed
        is_all_counted = self._is_all_counted()
        members, complete = await asyncio.to_thread(self._related_rows, row, rows)
        return members, complete and is_all_counted

    def _related_rows(
        self, row: SessionRow, rows: list[SessionRow]
    ) -> tuple[dict[str, SessionRow], bool]:
        """The rows that have a first line of the family, a copy of one, or some of its replies."""
        lines = self._beginnings(row, rows)
        by_line: dict[int, list[SessionRow]] = {}
        by_path: dict[str, SessionRow] = {}
        for each in rows:
            by_path[each.file.path] = each
            for line in lines.get(each.file.path, ()):
                if line:
                    by_line.setdefault(line, []).append(each)
        members = {row.file.id: row}
        # copies without the beginning
        paths = self._cache.paths_sharing_replies(row.file.path)
        sharing_replies = [by_path[path] for path in paths if path in by_path]
        unvisited = [row]
        while unvisited and len(members) < MAX_MEMBERS:
            each = unvisited.pop()
            related = sharing_replies if each is row else []
            for line in lines.get(each.file.path, ()):
                related = [*related, *by_line.pop(line, ())]
            for other in related:
                if other.file.id not in members:
                    members[other.file.id] = other
                    unvisited.append(other)
        return members, len(lines) >= len(rows) and len(members) < MAX_MEMBERS

    def _beginnings(self, row: SessionRow, rows: list[SessionRow]) -> dict[str, tuple[int, int]]:
        """The first line of every session, as far as it was read."""
        unread = 0
        beginnings: dict[str, tuple[object, tuple[int, int]]] = {}
        for each in rows:
            path = each.file.path
            cached = self._beginning_cache.get(path)
            if cached is None or cached[0] is not each.stored_summary:
                if not each.is_fully_scanned and each.file.id != row.file.id:
                    unread += 1
                    if unread > MAX_UNREAD:
                        continue
                cached = (each.stored_summary, _beginning(each))
            beginnings[path] = cached
        self._beginning_cache = beginnings
        return {path: beginning for path, (_, beginning) in beginnings.items()}

    # ---- how they hang together ----

    def _read_chains(self, rows: dict[str, SessionRow]) -> dict[str, MessageChain]:
        chains: dict[str, MessageChain] = {}
        for key, row in rows.items():
            try:
                chains[key] = self._chain_reader.read(row.file.path, key)
            except (OSError, FileChanged):
                # gone or unreadable: it has nothing to show
                continue
        return chains

    def _link_forks(
        self, rows: dict[str, SessionRow], members: dict[str, FamilyMember]
    ) -> set[str]:
        """Set the parent of each member; the ids of those with a parent or a fork."""
        chains = self._read_chains(rows)
        paths = {key: row.file.path for key, row in rows.items()}
        graph = ForkGraph(chains)
        own_times: dict[str, str | None] = {}
        for key, index in graph.first_own_indexes().items():
            with suppress(OSError, FileChanged):
                own_times[key] = first_prompt_from(paths[key], chains[key], index)[0]
        forks = graph.find_forks(own_times)
        for key, chain in chains.items():
            members[key].messages = sum(chain.message_flags)
        for key, fork in forks.items():
            member, chain = members[key], chains[key]
            member.parent = fork.parent
            member.shared = sum(chain.message_flags[: fork.shared_lines])
            member.messages -= member.shared
            # the file may be deleted meanwhile: then these stay unknown
            with suppress(OSError, FileChanged):
                if fork.own_index is not None and fork.parent_index is not None:
                    member.here = uuid_at(paths[key], chain, fork.own_index)
                    member.at = uuid_at(paths[fork.parent], chains[fork.parent], fork.parent_index)
                member.began, member.first_prompt = first_prompt_from(
                    paths[key], chain, fork.shared_lines
                )
        return {*forks, *(fork.parent for fork in forks.values())}


def _member_of(session: Session | None) -> FamilyMember:
    assert session is not None
    return FamilyMember(
        session_id=session.id,
        title=session.display_name,
        workdir=session.workdir,
        project=session.project,
        modified=session.modified,
        archived=session.archived,
        messages=session.message_count or 0,
        began=session.created,
        first_prompt=session.first_prompt,
    )


def _beginning(row: SessionRow) -> tuple[int, int]:
    if row.is_fully_scanned:
        summary = row.summary
        return summary.first_line_identity, summary.first_line_origin
    try:
        return read_beginning(row.file.path)
    except (OSError, FileChanged):
        return 0, 0


def _parents_first(members: Iterable[FamilyMember]) -> list[FamilyMember]:
    """The members with each after its parent, the older ones first."""
    ordered: list[FamilyMember] = []
    waiting = sorted(members, key=lambda member: (member.began or "", member.session_id))
    placed: set[str | None] = {None}
    while waiting:
        ready = [member for member in waiting if member.parent in placed]
        if not ready:
            return ordered + waiting
        ordered += ready
        placed |= {member.session_id for member in ready}
        waiting = [member for member in waiting if member.session_id not in placed]
    return ordered
