"""Looking through project folders: only what changed since the last look is opened."""

from __future__ import annotations

import os
from collections.abc import Iterable

import msgspec

from claudekeeper.model.summary import Folded
from claudekeeper.readers.cache import Cache
from claudekeeper.readers.discovery import Found, Row, first_look, fold_on, transcripts

# a file that grew by no more than this is read on at once
LITTLE = 8 * 1024 * 1024

# rows by the path of their transcript, by the folder they lie in
Shelves = dict[str, dict[str, Row]]


class Looked(msgspec.Struct):
    """One folder as it was found; without a time it is gone."""

    time: int | None
    rows: dict[str, Row]
    # for the cache: what was read, and what is not there any more
    fresh: list[tuple[Row, Folded | None]]
    gone: list[str]


def shelved(rows: Iterable[Row]) -> Shelves:
    shelves: Shelves = {}
    for row in rows:
        path = row.found.path
        shelves.setdefault(path[: path.rfind(os.sep)], {})[path] = row
    return shelves


def look_through(folders: Iterable[str], shelves: Shelves, cache: Cache) -> dict[str, Looked]:
    """Every transcript of these folders."""
    return {folder: _look_into(folder, shelves.get(folder, {}), cache) for folder in folders}


def remember(looked: Iterable[Looked], cache: Cache) -> None:
    """Keep for the next start what a look found."""
    fresh = [row for found in looked for row in found.fresh]
    gone = [path for found in looked for path in found.gone]
    if fresh:
        cache.save(fresh)
    if gone:
        cache.forget(gone)


def _look_into(folder: str, known: dict[str, Row], cache: Cache) -> Looked:
    try:
        # before the listing: a file that comes meanwhile changes it again
        time: int | None = os.stat(folder).st_mtime_ns
    except OSError:
        time = None
    looked = Looked(time, {}, [], [])
    for found in transcripts(folder, known):
        row = known.get(found.path)
        if row is None or row.fault is not None or not found.is_same_version(row.found):
            read = _read(found, row, cache)
            if read is None:
                continue
            row = read[0]
            looked.fresh.append(read)
        looked.rows[found.path] = row
    if len(known) > 0:
        looked.gone += known.keys() - looked.rows.keys()
    return looked


def fold_all(batch: list[Row], cache: Cache) -> list[tuple[Row, Row | None]]:
    """Each row and what it is once every line is read; None for one whose file is gone."""
    done: list[tuple[Row, Row | None]] = []
    keep: list[tuple[Row, Folded | None]] = []
    for row in batch:
        result = fold_on(row, cache.folded(row.found.path))
        done.append((row, result[0] if result else None))
        if result is not None:
            keep.append(result)
            # nobody needs it unpacked before it is asked for
            result[0].told = result[0].packed()
    cache.save(keep)
    return done


def folder_of(row: Row) -> str:
    return os.path.dirname(row.found.path)


def _read(found: Found, row: Row | None, cache: Cache) -> tuple[Row, Folded | None] | None:
    """A new file gets a first look; one that is known and grew a little is read on."""
    if row is not None and row.counted and 0 <= found.size - row.found.size < LITTLE:
        return fold_on(row, cache.folded(row.found.path))
    look = first_look(found)
    return (look, None) if look is not None else None
