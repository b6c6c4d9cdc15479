"""Folder scans: of project folders, only files that changed since the last scan are opened."""

from __future__ import annotations

import gc
import os
import time as clock
from collections.abc import Iterable

import msgspec

from claudekeeper.catalog.cache import Cache, FolderRows, FolderTimes, RowsByFolder
from claudekeeper.catalog.discovery import (
    SessionRow,
    are_unchanged,
    continue_fold,
    quick_scan_file,
    quick_scan_folder,
    split_unchanged,
)
from claudekeeper.catalog.workdir_inference import infer_workdirs
from claudekeeper.transcripts.layout import TranscriptFile

# a file that grew by no more than this is folded at once
MAX_GROWTH = 8 * 1024 * 1024
# nanoseconds: clocks of file systems tick slowly, so the next change of a folder that changed a
# moment ago may get the same time
CLOCK_GRANULARITY_NS = 2_000_000_000


class FolderScan(msgspec.Struct):
    """One folder after a scan; without a time it is gone."""

    # when it changed; 0: too recently to rely on
    mtime: int | None
    rows: FolderRows
    # the packed folds of files; None: to be deleted
    folds: dict[str, bytes | None]


def scan_folders(
    folders: Iterable[str],
    rows_by_folder: RowsByFolder,
    cache: Cache,
    times: FolderTimes | None = None,
) -> dict[str, FolderScan]:
    """Scan these folders; one that still has its time of `times` has no new or deleted files."""
    times = times or {}
    # thousands of rows stay: the garbage collector would only walk over them again and again
    gc.disable()
    try:
        return {
            folder: _scan_folder(folder, rows_by_folder.get(folder, {}), cache, times.get(folder))
            for folder in folders
        }
    finally:
        gc.enable()


def folder_of(row: SessionRow) -> str:
    return os.path.dirname(row.file.path)


def _scan_folder(
    folder: str, current: FolderRows, cache: Cache, earlier_mtime: int | None
) -> FolderScan:
    try:
        # before the listing: a file that comes meanwhile changes the time again
        time: int | None = _reliable_time(os.stat(folder).st_mtime_ns)
    except OSError:
        time = None
    if not current:
        rows = {row.file.path: row for row in quick_scan_folder(folder)}
        rows = infer_workdirs(folder, rows)
        return FolderScan(time, rows, dict.fromkeys(rows))
    if time and time == earlier_mtime and are_unchanged(folder, current.values()):
        return FolderScan(time, current, {})
    same, others = split_unchanged(folder, current)
    scan = FolderScan(time, same, {})
    for file in others:
        read = _scan_file(file, current.get(file.path), cache)
        if read is not None:
            scan.rows[file.path], scan.folds[file.path] = read
    if len(same) < len(current):
        gone = current.keys() - scan.rows.keys()
        scan.folds.update(dict.fromkeys(gone))
    scan.rows = infer_workdirs(folder, scan.rows)
    return scan


def _reliable_time(time: int) -> int:
    return 0 if 0 <= clock.time_ns() - time < CLOCK_GRANULARITY_NS else time


def _scan_file(
    file: TranscriptFile, row: SessionRow | None, cache: Cache
) -> tuple[SessionRow, bytes | None] | None:
    """A quick scan of a new file; a file that grew a little is folded on."""
    if row is not None and row.is_fully_scanned and 0 <= file.size - row.file.size < MAX_GROWTH:
        return continue_fold(row, cache.load_fold(row.file.path))
    new_row = quick_scan_file(file)
    return (new_row, None) if new_row is not None else None
