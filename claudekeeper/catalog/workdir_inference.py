"""The working directory of a session whose own transcript cannot be read, by its neighbours.

A project's folder is named after its directory, but the name cannot be turned back into it. Other
sessions of the folder name the directory, and so does the index of older versions of Claude Code.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

import msgspec

from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.core.paths import is_outside
from claudekeeper.transcripts.entries import DECODE_ERRORS

INDEX_NAME = "sessions-index.json"
MAX_INDEX_BYTES = 16 * 1024 * 1024
# longer names are cut, and end in a hash of the whole
MAX_NAME_LENGTH = 200
_NOT_ALPHANUMERIC = re.compile(r"[^a-zA-Z0-9]")
# Claude Code counts a character beyond these as two
_LAST_SHORT = "\uffff"


class _Listed(msgspec.Struct, rename="camel", gc=False):
    session_id: str | None = None
    project_path: str | None = None


class _Index(msgspec.Struct, rename="camel", gc=False):
    entries: list[_Listed] = []
    original_path: str | None = None


_index_decoder = msgspec.json.Decoder(_Index)


def infer_workdirs(folder: str, rows: dict[str, SessionRow]) -> dict[str, SessionRow]:
    """The same rows; unreadable ones get their directory, where only one is possible."""
    lost = [row for row in rows.values() if row.is_lost and not row.workdir]
    if not lost:
        return rows
    index = _read_index(folder)
    own = {each.session_id.lower(): each.project_path for each in index.entries if each.session_id}
    readable = (row.workdir for row in rows.values() if row.fault is None)
    listed = [index.original_path, *(each.project_path for each in index.entries)]
    shared = _sole_match(folder, readable) or _sole_match(folder, listed)
    inferred = dict(rows)
    for row in lost:
        workdir = _sole_match(folder, [own.get(row.file.id)]) or shared
        if workdir is not None:
            summary = msgspec.structs.replace(row.summary, workdir=workdir)
            inferred[row.file.path] = msgspec.structs.replace(
                row, stored_summary=summary, workdir=workdir
            )
    return inferred


def _sole_match(folder: str, workdirs: Iterable[str | None]) -> str | None:
    """The directory after which the folder is named; None where several fit."""
    name = os.path.basename(folder)
    fitting = {workdir for workdir in workdirs if workdir and _is_folder_name(name, workdir)}
    return fitting.pop() if len(fitting) == 1 else None


def _is_folder_name(name: str, workdir: str) -> bool:
    made = _NOT_ALPHANUMERIC.sub(lambda sign: "--" if sign[0] > _LAST_SHORT else "-", workdir)
    return (
        made == name
        if len(made) <= MAX_NAME_LENGTH
        else name.startswith(f"{made[:MAX_NAME_LENGTH]}-")
    )


def _read_index(folder: str) -> _Index:
    path = os.path.join(folder, INDEX_NAME)
    try:
        if os.path.islink(path) and is_outside(path, os.path.dirname(folder)):
            return _Index()
        with open(path, "rb") as file:
            return _index_decoder.decode(file.read(MAX_INDEX_BYTES))
    except (OSError, *DECODE_ERRORS):
        return _Index()
