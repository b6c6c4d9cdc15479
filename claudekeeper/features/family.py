"""Sessions that share a beginning: forks and copies of each other, wherever their files are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress

import msgspec

from claudekeeper.live.catalog import Catalog
from claudekeeper.live.promptness import SlowLane
from claudekeeper.model.copies import Chain, Kinship, Same
from claudekeeper.model.sessions import Session
from claudekeeper.readers.chains import Chains, first_words, read_beginning, uuid_at
from claudekeeper.readers.discovery import Row
from claudekeeper.readers.lines import Changed

# of a larger family not all are told
MOST = 100
# so many files that nobody has read yet are looked into for their first line
MOST_UNREAD = 500


class Kin(msgspec.Struct, rename="camel", kw_only=True):
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
    sessions: list[Kin]
    complete: bool


class Families:
    """Finds them."""

    def __init__(
        self,
        catalog: Catalog,
        shown: Callable[[str, Row], Session | None],
        chains: Chains,
        sharing: Callable[[str], list[str]],
        counted: Callable[[], bool],
        lane: SlowLane,
    ) -> None:
        self._lane = lane
        self._catalog = catalog
        # the files that have replies of a file, and whether that is known of all
        self._sharing = sharing
        self._counted = counted
        self._shown = shown
        self._chains = chains
        # by path: what a row told, and what was learned from it; rows are replaced, never changed
        self._learned: dict[str, tuple[object, tuple[int, int]]] = {}

    async def of(self, row: Row) -> Family:
        rows, complete = await self._kin(row)
        kin = {key: _kin_of(self._shown(key, each)) for key, each in rows.items()}
        if len(rows) == 1:
            return Family(row.found.id, list(kin.values()), complete)
        tied = await self._lane.run(self._tie, rows, kin)
        # replies alone make no kin: without a message of the same name there is no fork
        told = [each for key, each in kin.items() if key in tied or key == row.found.id]
        return Family(row.found.id, _parents_first(told), complete)

    async def same(self, row: Row) -> Same:
        """What messages are called in all sessions of the family."""
        rows, _ = await self._kin(row)
        return Same((await self._lane.run(self._read, rows)).values())

    # ---- who belongs to it ----

    async def _kin(self, row: Row) -> tuple[dict[str, Row], bool]:
        rows = await self._catalog.rows()
        # as of before the look: what is counted in the meantime may be missing
        counted = self._counted()
        found, complete = await asyncio.to_thread(self._related, row, rows)
        return found, complete and counted

    def _related(self, row: Row, rows: list[Row]) -> tuple[dict[str, Row], bool]:
        """Whoever has a first line of the family, or a copy of one, or some of its replies."""
        lines = self._beginnings(row, rows)
        by_line: dict[int, list[Row]] = {}
        by_path: dict[str, Row] = {}
        for each in rows:
            by_path[each.found.path] = each
            for line in lines.get(each.found.path, ()):
                if line:
                    by_line.setdefault(line, []).append(each)
        found = {row.found.id: row}
        # what was copied without its beginning
        near = [by_path[path] for path in self._sharing(row.found.path) if path in by_path]
        left = [row]
        while left and len(found) < MOST:
            each = left.pop()
            close = near if each is row else []
            for line in lines.get(each.found.path, ()):
                close = [*close, *by_line.pop(line, ())]
            for other in close:
                if other.found.id not in found:
                    found[other.found.id] = other
                    left.append(other)
        return found, len(lines) >= len(rows) and len(found) < MOST

    def _beginnings(self, row: Row, rows: list[Row]) -> dict[str, tuple[int, int]]:
        """The first line of every session, as far as it is known."""
        unread = 0
        learned: dict[str, tuple[object, tuple[int, int]]] = {}
        for each in rows:
            path = each.found.path
            known = self._learned.get(path)
            if known is None or known[0] is not each.told:
                if not each.counted and each.found.id != row.found.id:
                    unread += 1
                    if unread > MOST_UNREAD:
                        continue
                known = (each.told, _beginning(each))
            learned[path] = known
        self._learned = learned
        return {path: known for path, (_, known) in learned.items()}

    # ---- how they hang together ----

    def _read(self, rows: dict[str, Row]) -> dict[str, Chain]:
        chains: dict[str, Chain] = {}
        for key, row in rows.items():
            try:
                chains[key] = self._chains.of(row.found.path, key)
            except (OSError, Changed):
                # gone, or not to be read: it shares nothing that could be shown
                continue
        return chains

    def _tie(self, rows: dict[str, Row], kin: dict[str, Kin]) -> set[str]:
        """Say of each what it goes on from; those that hang together."""
        chains = self._read(rows)
        paths = {key: row.found.path for key, row in rows.items()}
        kinship = Kinship(chains)
        spoke: dict[str, str | None] = {}
        for key, place in kinship.first_own().items():
            with suppress(OSError, Changed):
                spoke[key] = first_words(paths[key], chains[key], place)[0]
        forks = kinship.forks(spoke)
        for key, chain in chains.items():
            kin[key].messages = sum(chain.counts)
        for key, fork in forks.items():
            told, chain = kin[key], chains[key]
            told.parent = fork.parent
            told.shared = sum(chain.counts[: fork.lines])
            told.messages -= told.shared
            # one that goes while it is looked at is told as far as it is known
            with suppress(OSError, Changed):
                if fork.here is not None and fork.there is not None:
                    told.here = uuid_at(paths[key], chain, fork.here)
                    told.at = uuid_at(paths[fork.parent], chains[fork.parent], fork.there)
                told.began, told.first_prompt = first_words(paths[key], chain, fork.lines)
        return {*forks, *(fork.parent for fork in forks.values())}


def _kin_of(session: Session | None) -> Kin:
    assert session is not None
    return Kin(
        session_id=session.id,
        title=session.called,
        workdir=session.workdir,
        project=session.project,
        modified=session.modified,
        archived=session.archived,
        messages=session.message_count or 0,
        began=session.created,
        first_prompt=session.first_prompt,
    )


def _beginning(row: Row) -> tuple[int, int]:
    if row.counted:
        summary = row.summary
        return summary.beginning, summary.copied
    try:
        return read_beginning(row.found.path)
    except (OSError, Changed):
        return 0, 0


def _parents_first(told: Iterable[Kin]) -> list[Kin]:
    """Each after the one it goes on from, the older ones first."""
    order: list[Kin] = []
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
