"""What was used: tokens and cost of every transcript of the machine, by day, project or model."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

import msgspec

from claudekeeper.features.router import inside
from claudekeeper.live.catalog import Catalog
from claudekeeper.live.memory import give_back
from claudekeeper.live.tasks import Tasks
from claudekeeper.model.facts import Share, share_of
from claudekeeper.model.replies import NANO
from claudekeeper.model.sessions import project_of
from claudekeeper.model.summary import Account, Summary, unpack, unpack_account
from claudekeeper.readers.accounting import (
    all_files,
    files_of,
    found_at,
    is_own,
    owner_of,
    version_of,
)
from claudekeeper.readers.accounts import Claim, Sums, zone
from claudekeeper.readers.cache import Cache
from claudekeeper.readers.discovery import Found, Row, fold_on

By = Literal["day", "project", "model", "session"]

# files whose replies are seen to in one trip to a thread
BATCH = 64
# seconds from one look to the next
PAUSE = 2.0


class Amount(msgspec.Struct, rename="camel"):
    """What was used. `costUsd` is reckoned from list prices."""

    replies: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost_usd: float = 0.0


class Used(Amount, rename="camel", kw_only=True):
    """What was used by one day, project, model or session."""

    key: str
    label: str


class Usage(msgspec.Struct, rename="camel"):
    """What was used, each reply once; `rows` has those that cost most, `total` all of them.

    Days are those of the keeper's zone, `before` is not included; `complete`: whether every
    transcript has been read by now.
    """

    by: By
    zone: str
    after: str | None
    before: str | None
    total: Amount
    rows: list[Used]
    complete: bool


class UsageBook:
    """Keeps the cache's accounts current, and asks them."""

    def __init__(
        self,
        catalog: Catalog,
        cache: Cache,
        folders: Sequence[Path],
        label_of: Callable[[str], str | None],
    ) -> None:
        self._catalog = catalog
        self._cache = cache
        # of the projects, and of those sessions that Claude Code deleted
        self._folders = folders
        self._label_of = label_of
        self._tasks = Tasks()
        self._looking = asyncio.Lock()
        # transcripts of sessions whose files may have changed; None: look at all
        self._touched: set[str] | None = None
        self._news = asyncio.Event()
        self._looked = asyncio.Event()
        # whether every transcript that was there at the start is counted by now
        self.all_seen = False

    async def start(self) -> None:
        self._tasks.start(self._keep_current(), name="usage:keep-current")

    async def close(self) -> None:
        await self._tasks.close()

    async def looked(self) -> None:
        """Until it was seen once what there is to count."""
        await self._looked.wait()

    def note(self, row: Row | None) -> None:
        """A session's file, and so perhaps those of its subagents, are not what they were."""
        if row is None:
            self._touched = None
        elif self._touched is not None and row.counted:
            self._touched.add(row.found.path)
        self._news.set()

    async def current(self) -> bool:
        """Until what was read is counted; whether that is every transcript."""
        await self._catalog.rows()
        return await self._refresh()

    async def used(
        self,
        by: By,
        after: str | None,
        before: str | None,
        within: list[str] | None,
        limit: int,
    ) -> Usage:
        complete = await self.current()
        found = await asyncio.to_thread(self._sums, by, after, before, within)
        if by != "day":
            # what cost most first; where nothing has a price, what was most
            found.sort(key=lambda sums: (-sums[6], -sums[3], sums[0] or ""))
        rows = [self._row(by, each) for each in (found if by == "day" else found[:limit])]
        if by == "project":
            tell_apart(rows)
        return Usage(by, zone(), after, before, _total(found), rows, complete)

    def _row(self, by: By, sums: Sums) -> Used:
        key, replies, given, output, cache_read, cache_write, cost = sums
        return Used(
            replies,
            given,
            output,
            cache_read,
            cache_write,
            round(cost / NANO, 6),
            key=key or "",
            label=self._label(by, key or ""),
        )

    def _sums(
        self, by: By, after: str | None, before: str | None, within: list[str] | None
    ) -> list[Sums]:
        allowed = inside(self._cache.workdirs(), within) if within is not None else None
        return self._cache.sums(by, after, before, allowed)

    def _label(self, by: By, key: str) -> str:
        match by:
            case "project":
                return project_of(key) or "(no directory)"
            case "session":
                return self._label_of(key) or key
            case "model":
                return key or "(no model)"
            case _:
                return key or "(no date)"

    # ---- staying current ----

    async def _keep_current(self) -> None:
        await self._catalog.rows()
        while True:
            self._news.clear()
            await self._refresh()
            self._looked.set()
            await self._news.wait()
            await asyncio.sleep(PAUSE)
            # thousands come at once: whoever asks meanwhile is answered all the same
            await self._catalog.all_counted()

    async def _refresh(self) -> bool:
        """Whether every transcript had been read when the look began."""
        # what is read in the meantime comes with the next
        progress = self._catalog.progress
        await self._look()
        all_read = progress.done >= progress.total
        self.all_seen = self.all_seen or all_read
        return all_read

    async def _look(self) -> None:
        async with self._looking:
            touched, self._touched = self._touched, set()
            if touched is not None and not touched:
                return
            await self._catalog.saved()
            rows = {row.found.path: row for row in await self._catalog.rows()}
            try:
                much = await asyncio.to_thread(self._catch_up, touched, rows)
            except BaseException:
                # whatever was not seen to is looked for again
                self._touched = None
                raise
            if much:
                await asyncio.to_thread(self._rest)

    def _catch_up(self, touched: set[str] | None, rows: dict[str, Row]) -> bool:
        """Count every file that is not counted as it is; what the catalog is to read comes later.

        Returns whether there was much to do.
        """
        files = files_of(touched) if touched is not None else self._all_files()
        remaining = iter(files)
        done = 0
        while some := list(islice(remaining, BATCH)):
            known = self._cache.versions(some)
            batch: list[Claim] = []
            folds: dict[str, bytes] = {}
            for path in some:
                found = found_at(path)
                if found is None or known.get(path) == version_of(found):
                    continue
                row = rows.get(path)
                if row is not None and not row.counted and row.fault is None:
                    continue
                claim = self._known_claim(found, row) or self._read_claim(found, row, folds)
                if claim is not None:
                    batch.append(claim)
            done += len(batch)
            # kept with them: whoever inherits something is reckoned anew from that
            self._cache.keep(folds)
            self._cache.claim(batch)
        if touched is None:
            self._cache.release([path for path in self._cache.counted() if path not in files])
        return done >= BATCH

    def _rest(self) -> None:
        self._cache.rest()
        give_back()

    def _all_files(self) -> set[str]:
        return {path for folder in self._folders for path in all_files(folder)}

    def _known_claim(self, found: Found, row: Row | None) -> Claim | None:
        """What the catalog's fold tells, if it has read this file to its end."""
        fold = self._cache.fold(found.path) if row is not None and row.counted else None
        if row is None or fold is None:
            return None
        account = unpack_account(fold)
        if account.lines != row.summary.lines:
            return None
        return _claim(row.found, found.id, row, account)

    def _read_claim(self, found: Found, row: Row | None, folds: dict[str, bytes]) -> Claim | None:
        """What the file tells: too small for the catalog to keep a fold, or none of its own."""
        read = fold_on(row or Row.of(found, Summary()), None)
        if read is None or read[1] is None:
            return None
        folds[found.path] = read[1]
        owner = owner_of(found.path)
        folded = unpack(read[1])
        share = None if is_own(found.path, owner) else share_of(folded.beside)
        summary = read[0].summary
        return _claim(read[0].found, owner, row, folded, share, summary.workdir or summary.beside)


def tell_apart(rows: list[Used]) -> None:
    """Directories of one name are called by where they lie, too."""
    named = Counter(row.label for row in rows)
    for row in rows:
        if named[row.label] > 1:
            row.label = "/".join(re.split(r"[/\\]", row.key.rstrip("/\\"))[-2:])
    still = Counter(row.label for row in rows)
    for row in rows:
        if still[row.label] > 1:
            row.label = row.key or row.label


def _claim(
    found: Found,
    session: str,
    row: Row | None,
    account: Account,
    share: Share | None = None,
    beside: str | None = None,
) -> Claim:
    return Claim(
        path=found.path,
        session=session,
        workdir=row.summary.workdir if row is not None else None,
        version=version_of(found),
        replies=account.replies,
        activity=account.activity,
        copied=account.copied,
        share=share,
        beside=beside,
    )


def _total(found: list[Sums]) -> Amount:
    replies, given, output, cache_read, cache_write, cost = (
        (sum(numbers) for numbers in zip(*(sums[1:] for sums in found), strict=True))
        if found
        else (0, 0, 0, 0, 0, 0)
    )
    return Amount(replies, given, output, cache_read, cache_write, round(cost / NANO, 6))
