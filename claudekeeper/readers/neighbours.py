"""Where a session worked whose own transcript cannot be read: by what lies beside it.

A project's folder is named after its directory, but the name cannot be turned back: others of the
folder know the directory, and an index that older versions of Claude Code wrote.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

import msgspec

from claudekeeper.model.entries import REFUSED
from claudekeeper.readers.discovery import Row
from claudekeeper.readers.paths import leads_out

INDEX = "sessions-index.json"
MOST_BYTES = 16 * 1024 * 1024
# longer names are cut, and end in a number made of the whole
LONGEST = 200
_NO_NAME = re.compile(r"[^a-zA-Z0-9]")
# Claude Code counts a character beyond these as two
_LAST_SHORT = "\uffff"


class _Listed(msgspec.Struct, rename="camel", gc=False):
    session_id: str | None = None
    project_path: str | None = None


class _Index(msgspec.Struct, rename="camel", gc=False):
    entries: list[_Listed] = []
    original_path: str | None = None


_index = msgspec.json.Decoder(_Index)


def told_by_neighbours(folder: str, rows: dict[str, Row]) -> dict[str, Row]:
    """The same rows; those that cannot be read with their directory, where it is in no doubt."""
    lost = [row for row in rows.values() if row.is_lost and not row.summary.workdir]
    if not lost:
        return rows
    index = _read_index(folder)
    own = {each.session_id.lower(): each.project_path for each in index.entries if each.session_id}
    readable = (row.summary.workdir for row in rows.values() if row.fault is None)
    listed = [index.original_path, *(each.project_path for each in index.entries)]
    shared = _only(folder, readable) or _only(folder, listed)
    found = dict(rows)
    for row in lost:
        workdir = _only(folder, [own.get(row.found.id)]) or shared
        if workdir is not None:
            summary = msgspec.structs.replace(row.summary, workdir=workdir)
            found[row.found.path] = msgspec.structs.replace(row, told=summary)
    return found


def _only(folder: str, workdirs: Iterable[str | None]) -> str | None:
    """The one directory after which the folder is named. Of two nobody knows which it is."""
    name = os.path.basename(folder)
    fitting = {workdir for workdir in workdirs if workdir and _is_named(name, workdir)}
    return fitting.pop() if len(fitting) == 1 else None


def _is_named(name: str, workdir: str) -> bool:
    made = _NO_NAME.sub(lambda sign: "--" if sign[0] > _LAST_SHORT else "-", workdir)
    return made == name if len(made) <= LONGEST else name.startswith(f"{made[:LONGEST]}-")


def _read_index(folder: str) -> _Index:
    path = os.path.join(folder, INDEX)
    try:
        if os.path.islink(path) and leads_out(path, os.path.dirname(folder)):
            return _Index()
        with open(path, "rb") as file:
            return _index.decode(file.read(MOST_BYTES))
    except (OSError, *REFUSED):
        return _Index()
