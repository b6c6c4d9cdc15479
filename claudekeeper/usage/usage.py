"""Usage: tokens and cost of every transcript of the machine, by day, project or model."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

import msgspec

from claudekeeper.analysis.reply_usage import NANODOLLARS
from claudekeeper.analysis.session_facts import SubagentShare, share_of
from claudekeeper.analysis.summary import Summary, UsageFold, unpack_state, unpack_usage
from claudekeeper.catalog.cache import Cache
from claudekeeper.catalog.catalog import Catalog, RowChange
from claudekeeper.catalog.discovery import SessionRow, continue_fold
from claudekeeper.catalog.usage_tables import FileUsage, UsageSums, time_zone
from claudekeeper.contract.sessions import project_of
from claudekeeper.core.paths import workdirs_in_roots
from claudekeeper.core.runtime_options import release_memory
from claudekeeper.core.tasks import Tasks
from claudekeeper.transcripts.layout import (
    TranscriptFile,
    is_main_transcript,
    owner_of,
    stat_transcript,
    usage_files,
    with_subagent_usage_files,
)

Grouping = Literal["day", "project", "model", "session"]

# files that are counted in one transaction
FILES_PER_BATCH = 64
# seconds between two updates
REFRESH_SECONDS = 2.0


class UsageAmount(msgspec.Struct, rename="camel"):
    """What was used. `costUsd` is computed from list prices."""

    replies: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost_usd: float = 0.0


class UsageRow(UsageAmount, rename="camel", kw_only=True):
    """What was used by one day, project, model or session."""

    key: str
    label: str


class UsageReport(msgspec.Struct, rename="camel"):
    """What was used, each reply once; `rows` has those that cost most, `total` all of them.

    Days are those of the keeper's zone, `before` is not included; `complete`: whether every
    transcript has been read by now.
    """

    by: Grouping
    zone: str
    after: str | None
    before: str | None
    total: UsageAmount
    rows: list[UsageRow]
    complete: bool


class UsageService:
    """Keeps the cache's usage tables current, and reads them."""

    def __init__(
        self,
        catalog: Catalog,
        cache: Cache,
        folders: Sequence[Path],
        label_of: Callable[[str], str | None],
    ) -> None:
        self._catalog = catalog
        self._cache = cache
        # the projects folder, and that of the archive
        self._folders = folders
        self._label_of = label_of
        self._tasks = Tasks()
        self._count_lock = asyncio.Lock()
        # transcripts of sessions whose files may have changed; None: check all files
        self._changed_paths: set[str] | None = None
        self._has_changes = asyncio.Event()
        self._first_refresh_done = asyncio.Event()
        # whether every transcript that existed at the start is counted by now
        self.all_counted = False

    async def start(self) -> None:
        self._tasks.start(self._update_loop(), name="usage:keep-current")

    async def close(self) -> None:
        await self._tasks.close()

    async def wait_for_first_refresh(self) -> None:
        """Wait until every file was checked once."""
        await self._first_refresh_done.wait()

    def handle_row_change(self, change: RowChange) -> None:
        """A session's file changed, and perhaps those of its subagents."""
        if change.after is None:
            self._changed_paths = None
        elif self._changed_paths is not None and change.after.is_fully_scanned:
            self._changed_paths.add(change.after.file.path)
        self._has_changes.set()

    async def refresh(self) -> bool:
        """Count what was read by now; whether that is every transcript."""
        await self._catalog.rows()
        return await self._update()

    async def report(
        self,
        by: Grouping,
        after: str | None,
        before: str | None,
        within: list[str] | None,
        limit: int,
    ) -> UsageReport:
        complete = await self.refresh()
        sums_of_rows = await asyncio.to_thread(self._sums, by, after, before, within)
        if by != "day":
            # what cost most first; where nothing has a price, the most output
            sums_of_rows.sort(key=lambda sums: (-sums[6], -sums[3], sums[0] or ""))
        rows = [
            self._row(by, each) for each in (sums_of_rows if by == "day" else sums_of_rows[:limit])
        ]
        if by == "project":
            disambiguate_labels(rows)
        return UsageReport(by, time_zone(), after, before, _total(sums_of_rows), rows, complete)

    def _row(self, by: Grouping, sums: UsageSums) -> UsageRow:
        key, replies, input_tokens, output, cache_read, cache_write, cost = sums
        return UsageRow(
            replies,
            input_tokens,
            output,
            cache_read,
            cache_write,
            round(cost / NANODOLLARS, 6),
            key=key or "",
            label=self._label(by, key or ""),
        )

    def _sums(
        self, by: Grouping, after: str | None, before: str | None, within: list[str] | None
    ) -> list[UsageSums]:
        allowed = (
            workdirs_in_roots(self._cache.usage_workdirs(), within) if within is not None else None
        )
        return self._cache.usage_sums(by, after, before, allowed)

    def _label(self, by: Grouping, key: str) -> str:
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

    async def _update_loop(self) -> None:
        await self._catalog.rows()
        while True:
            self._has_changes.clear()
            await self._update()
            self._first_refresh_done.set()
            await self._has_changes.wait()
            await asyncio.sleep(REFRESH_SECONDS)
            # during a full scan only requests update the tables
            await self._catalog.wait_full_scan()

    async def _update(self) -> bool:
        """Whether every transcript had been read when the update began."""
        # what is read meanwhile comes with the next update
        progress = self._catalog.progress
        await self._count_changed()
        all_read = progress.done >= progress.total
        self.all_counted = self.all_counted or all_read
        return all_read

    async def _count_changed(self) -> None:
        async with self._count_lock:
            changed_paths, self._changed_paths = self._changed_paths, set()
            if changed_paths is not None and not changed_paths:
                return
            await self._catalog.save()
            rows = {row.file.path: row for row in await self._catalog.rows()}
            try:
                is_much = await asyncio.to_thread(self._count_files, changed_paths, rows)
            except BaseException:
                # check all files again, since some were not counted
                self._changed_paths = None
                raise
            if is_much:
                await asyncio.to_thread(self._release_memory)

    def _count_files(self, changed_paths: set[str] | None, rows: dict[str, SessionRow]) -> bool:
        """Count every file whose version is not counted yet, but for what the catalog will read.

        Returns whether there were many.
        """
        files = (
            with_subagent_usage_files(changed_paths)
            if changed_paths is not None
            else self._all_files()
        )
        remaining = iter(files)
        done = 0
        while paths := list(islice(remaining, FILES_PER_BATCH)):
            counted_versions = self._cache.usage_versions(paths)
            batch: list[FileUsage] = []
            folds: dict[str, bytes] = {}
            for path in paths:
                file = stat_transcript(path)
                if file is None or counted_versions.get(path) == file.version:
                    continue
                row = rows.get(path)
                if row is not None and not row.is_fully_scanned and row.fault is None:
                    continue
                claim = self._usage_from_cache(file, row) or self._usage_from_file(file, row, folds)
                if claim is not None:
                    batch.append(claim)
            done += len(batch)
            # folds first: a file that gets replies of another one is computed anew from its fold
            self._cache.save_folds(folds)
            self._cache.add_usage(batch)
        if changed_paths is None:
            self._cache.remove_usage(
                [path for path in self._cache.usage_paths() if path not in files]
            )
        return done >= FILES_PER_BATCH

    def _release_memory(self) -> None:
        self._cache.disconnect()
        release_memory()

    def _all_files(self) -> set[str]:
        return {path for folder in self._folders for path in usage_files(folder)}

    def _usage_from_cache(self, file: TranscriptFile, row: SessionRow | None) -> FileUsage | None:
        """The usage of a file by the catalog's fold, if it read this file to its end."""
        fold = (
            self._cache.load_fold(file.path) if row is not None and row.is_fully_scanned else None
        )
        if row is None or fold is None:
            return None
        account = unpack_usage(fold)
        if account.lines != row.summary.lines:
            return None
        return _file_usage(row.file, file.id, row, account)

    def _usage_from_file(
        self, file: TranscriptFile, row: SessionRow | None, folds: dict[str, bytes]
    ) -> FileUsage | None:
        """The usage of a file without a fold: a small one, or a subagent's."""
        read = continue_fold(row or SessionRow.from_summary(file, Summary()), None)
        if read is None or read[1] is None:
            return None
        folds[file.path] = read[1]
        owner = owner_of(file.path)
        folded = unpack_state(read[1])
        share = None if is_main_transcript(file.path, owner) else share_of(folded.subagent_facts)
        summary = read[0].summary
        return _file_usage(
            read[0].file, owner, row, folded, share, summary.workdir or summary.subagent_workdir
        )


def disambiguate_labels(rows: list[UsageRow]) -> None:
    """Directories of the same name get their parent folder into their label."""
    named = Counter(row.label for row in rows)
    for row in rows:
        if named[row.label] > 1:
            row.label = "/".join(re.split(r"[/\\]", row.key.rstrip("/\\"))[-2:])
    still = Counter(row.label for row in rows)
    for row in rows:
        if still[row.label] > 1:
            row.label = row.key or row.label


def _file_usage(
    file: TranscriptFile,
    session: str,
    row: SessionRow | None,
    account: UsageFold,
    share: SubagentShare | None = None,
    subagent_workdir: str | None = None,
) -> FileUsage:
    return FileUsage(
        path=file.path,
        session=session,
        workdir=row.summary.workdir if row is not None else None,
        version=file.version,
        replies=account.replies,
        activity=account.activity,
        copy_counts=account.copy_counts,
        share=share,
        subagent_workdir=subagent_workdir,
    )


def _total(sums_of_rows: list[UsageSums]) -> UsageAmount:
    replies, input_tokens, output, cache_read, cache_write, cost = (
        (sum(numbers) for numbers in zip(*(sums[1:] for sums in sums_of_rows), strict=True))
        if sums_of_rows
        else (0, 0, 0, 0, 0, 0)
    )
    return UsageAmount(
        replies, input_tokens, output, cache_read, cache_write, round(cost / NANODOLLARS, 6)
    )
