"""Looking through project folders: only what changed since the last look is opened."""

from __future__ import annotations

import gc
import os
import time as clock
from collections.abc import Iterable

import msgspec

from claudekeeper.readers.cache import Cache, Shelf, Shelves, Times
from claudekeeper.readers.discovery import (
    Found,
    Row,
    are_same,
    first_look,
    first_looks,
    fold_on,
    sort_out,
)
from claudekeeper.readers.neighbours import told_by_neighbours

# a file that grew by no more than this is read on at once
LITTLE = 8 * 1024 * 1024
# nanoseconds: what a folder that changed a moment ago says of its time may be true of the next
# change too, since clocks of file systems tick slowly
MOMENT = 2_000_000_000


class Looked(msgspec.Struct):
    """One folder as it was found; without a time it is gone."""

    # when it changed, or 0 while that says nothing yet
    time: int | None
    rows: Shelf
    # what the folds of files remember, packed; None where it is to be forgotten
    folds: dict[str, bytes | None]


def look_through(
    folders: Iterable[str], shelves: Shelves, cache: Cache, times: Times | None = None
) -> dict[str, Looked]:
    """Every transcript of these folders; one that still has its time of `times` got no new ones."""
    times = times or {}
    # thousands of rows come to stay: the collector would only walk over them again and again
    gc.disable()
    try:
        return {
            folder: _look_into(folder, shelves.get(folder, {}), cache, times.get(folder))
            for folder in folders
        }
    finally:
        gc.enable()


def folder_of(row: Row) -> str:
    return os.path.dirname(row.found.path)


def _look_into(folder: str, known: Shelf, cache: Cache, before: int | None) -> Looked:
    try:
        # before the listing: a file that comes meanwhile changes it again
        time: int | None = _settled_time(os.stat(folder).st_mtime_ns)
    except OSError:
        time = None
    if not known:
        rows = {row.found.path: row for row in first_looks(folder)}
        rows = told_by_neighbours(folder, rows)
        return Looked(time, rows, dict.fromkeys(rows))
    if time and time == before and are_same(folder, known.values()):
        return Looked(time, known, {})
    same, others = sort_out(folder, known)
    looked = Looked(time, same, {})
    for found in others:
        read = _read(found, known.get(found.path), cache)
        if read is not None:
            looked.rows[found.path], looked.folds[found.path] = read
    if len(same) < len(known):
        gone = known.keys() - looked.rows.keys()
        looked.folds.update(dict.fromkeys(gone))
    looked.rows = told_by_neighbours(folder, looked.rows)
    return looked


def _settled_time(time: int) -> int:
    return 0 if 0 <= clock.time_ns() - time < MOMENT else time


def _read(found: Found, row: Row | None, cache: Cache) -> tuple[Row, bytes | None] | None:
    """A new file gets a first look; one that is known and grew a little is read on."""
    if row is not None and row.counted and 0 <= found.size - row.found.size < LITTLE:
        return fold_on(row, cache.fold(row.found.path))
    look = first_look(found)
    return (look, None) if look is not None else None
