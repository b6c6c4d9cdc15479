"""Which files there are to be counted: every transcript, subagents' and copies included."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from claudekeeper.readers.discovery import SUFFIX, Found
from claudekeeper.readers.paths import SESSION_ID, leads_out
from claudekeeper.readers.subagents import session_of


def all_files(projects: Path | str) -> set[str]:
    """Every transcript below the projects; links are no files of their own."""
    return {
        os.path.join(folder, name)
        for folder, _, names in os.walk(projects)
        for name in names
        if name.endswith(SUFFIX) and not os.path.islink(os.path.join(folder, name))
    }


def files_of(transcripts: Iterable[str]) -> set[str]:
    """These transcripts, and those of their subagents."""
    files = set(transcripts)
    for path in tuple(files):
        below = path.removesuffix(SUFFIX)
        if not leads_out(below, os.path.dirname(path)):
            files |= all_files(below)
    return files


def found_at(path: str) -> Found | None:
    """The version of a file that is on disk now; None when it is gone."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return Found(owner_of(path), path, facts.st_ino, facts.st_size, facts.st_mtime_ns)


def version_of(found: Found) -> str:
    return f"{found.inode}:{found.size}:{found.mtime}"


def is_own(path: str, session: str) -> bool:
    """Whether it is the transcript of the session itself, and none of a subagent."""
    return path.lower().endswith(f"{os.sep}{session}{SUFFIX}")


def owner_of(path: str) -> str:
    """Whose file it is: of the session in whose folder it lies, or that its first line names."""
    # no Path: it remembers the parts of every one for good
    *folders, name = path.split(os.sep)
    stem = name.removesuffix(SUFFIX)
    for part in (stem, *reversed(folders)):
        if SESSION_ID.fullmatch(part):
            return part.lower()
    return session_of(path) or stem
