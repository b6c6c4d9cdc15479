"""Sessions that share a beginning: forks and copies of each other, wherever their files are."""

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
from claudekeeper.catalog.catalog import Catalog
from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.contract.sessions import Session
from claudekeeper.core.worker_threads import WorkerThreads
from claudekeeper.transcripts.line_reader import FileChanged

# of a larger family not all are told
MOST_MEMBERS = 100
# so many files that nobody has read yet are looked into for their first line
MOST_UNREAD = 500


class FamilyMember(msgspec.Struct, rename="camel", kw_only=True):
    """A session of a family. `at`: the message of its parent after which it goes its own way;
    `here`: the same message in its own words; `shared`: how many messages both have up to there.
    All of it is null where it goes on from none. `messages`, `began` and `firstPrompt` are of
    what it has of its own."""

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
    """A session with all that share its beginning, parents before children. `complete`: whether
    every session has been looked at by now."""

    session_id: str
    sessions: list[FamilyMember]
    complete: bool


class FamilyService:
    """Finds them."""

    def __init__(
        self,
        catalog: Catalog,
        shown: Callable[[str, SessionRow], Session | None],
        chains: ChainReader,
        sharing: Callable[[str], list[str]],
        counted: Callable[[], bool],
        lane: WorkerThreads,
    ) -> None:
        self._workers = lane
        self._catalog = catalog
        # the files that have replies of a file, and whether that is known of all
        self._paths_sharing_replies = sharing
        self._is_all_counted = counted
        self._view_of = shown
        self._chain_reader = chains
        # by path: what a row told, and what was learned from it; rows are replaced, never changed
        self._beginning_cache: dict[str, tuple[object, tuple[int, int]]] = {}

    async def family_of(self, row: SessionRow) -> Family:
        rows, complete = await self._find_members(row)
        kin = {key: _member_of(self._view_of(key, each)) for key, each in rows.items()}
        if len(rows) == 1:
            return Family(row.file.id, list(kin.values()), complete)
        tied = await self._workers.run(self._link_forks, rows, kin)
        # replies alone make no kin: without a message of the same name there is no fork
        told = [each for key, each in kin.items() if key in tied or key == row.file.id]
        return Family(row.file.id, _parents_first(told), complete)

    async def message_identity(self, row: SessionRow) -> MessageIdentity:
        """What messages are called in all sessions of the family."""
        rows, _ = await self._find_members(row)
        return MessageIdentity((await self._workers.run(self._read_chains, rows)).values())

    # ---- who belongs to it ----

    async def _find_members(self, row: SessionRow) -> tuple[dict[str, SessionRow], bool]:
        rows = await self._catalog.rows()
        # as of before the look: what is counted in the meantime may be missing
        counted = self._is_all_counted()
        found, complete = await asyncio.to_thread(self._related_rows, row, rows)
        return found, complete and counted

    def _related_rows(
        self, row: SessionRow, rows: list[SessionRow]
    ) -> tuple[dict[str, SessionRow], bool]:
        """Whoever has a first line of the family, or a copy of one, or some of its replies."""
        lines = self._beginnings(row, rows)
        by_line: dict[int, list[SessionRow]] = {}
        by_path: dict[str, SessionRow] = {}
        for each in rows:
            by_path[each.file.path] = each
            for line in lines.get(each.file.path, ()):
                if line:
                    by_line.setdefault(line, []).append(each)
        found = {row.file.id: row}
        # what was copied without its beginning
        near = [
            by_path[path] for path in self._paths_sharing_replies(row.file.path) if path in by_path
        ]
        left = [row]
        while left and len(found) < MOST_MEMBERS:
            each = left.pop()
            close = near if each is row else []
            for line in lines.get(each.file.path, ()):
                close = [*close, *by_line.pop(line, ())]
            for other in close:
                if other.file.id not in found:
                    found[other.file.id] = other
                    left.append(other)
        return found, len(lines) >= len(rows) and len(found) < MOST_MEMBERS

    def _beginnings(self, row: SessionRow, rows: list[SessionRow]) -> dict[str, tuple[int, int]]:
        """The first line of every session, as far as it is known."""
        unread = 0
        learned: dict[str, tuple[object, tuple[int, int]]] = {}
        for each in rows:
            path = each.file.path
            known = self._beginning_cache.get(path)
            if known is None or known[0] is not each.stored_summary:
                if not each.is_fully_scanned and each.file.id != row.file.id:
                    unread += 1
                    if unread > MOST_UNREAD:
                        continue
                known = (each.stored_summary, _beginning(each))
            learned[path] = known
        self._beginning_cache = learned
        return {path: known for path, (_, known) in learned.items()}

    # ---- how they hang together ----

    def _read_chains(self, rows: dict[str, SessionRow]) -> dict[str, MessageChain]:
        chains: dict[str, MessageChain] = {}
        for key, row in rows.items():
            try:
                chains[key] = self._chain_reader.read(row.file.path, key)
            except (OSError, FileChanged):
                # gone, or not to be read: it shares nothing that could be shown
                continue
        return chains

    def _link_forks(self, rows: dict[str, SessionRow], kin: dict[str, FamilyMember]) -> set[str]:
        """Say of each what it goes on from; those that hang together."""
        chains = self._read_chains(rows)
        paths = {key: row.file.path for key, row in rows.items()}
        kinship = ForkGraph(chains)
        spoke: dict[str, str | None] = {}
        for key, place in kinship.first_own_indexes().items():
            with suppress(OSError, FileChanged):
                spoke[key] = first_prompt_from(paths[key], chains[key], place)[0]
        forks = kinship.find_forks(spoke)
        for key, chain in chains.items():
            kin[key].messages = sum(chain.message_flags)
        for key, fork in forks.items():
            told, chain = kin[key], chains[key]
            told.parent = fork.parent
            told.shared = sum(chain.message_flags[: fork.shared_lines])
            told.messages -= told.shared
            # one that goes while it is looked at is told as far as it is known
            with suppress(OSError, FileChanged):
                if fork.own_index is not None and fork.parent_index is not None:
                    told.here = uuid_at(paths[key], chain, fork.own_index)
                    told.at = uuid_at(paths[fork.parent], chains[fork.parent], fork.parent_index)
                told.began, told.first_prompt = first_prompt_from(
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


def _parents_first(told: Iterable[FamilyMember]) -> list[FamilyMember]:
    """Each after the one it goes on from, the older ones first."""
    order: list[FamilyMember] = []
    left = sorted(told, key=lambda kin: (kin.began or "", kin.session_id))
    placed: set[str | None] = {None}
    while left:
        ready = [kin for kin in left if kin.parent in placed]
        order += ready
        placed |= {kin.session_id for kin in ready}
        left = [kin for kin in left if kin.session_id not in placed]
        if not ready:
            return order + left
    return order
