"""Which files there are to be counted: every transcript, subagents' and copies included."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from claudekeeper.catalog.discovery import TRANSCRIPT_SUFFIX, TranscriptFile
from claudekeeper.core.paths import SESSION_ID, is_outside
from claudekeeper.transcripts.subagents import session_of


def transcripts_below(projects: Path | str) -> set[str]:
    """Every transcript below the projects; links are no files of their own."""
    return {
        os.path.join(folder, name)
        for folder, _, names in os.walk(projects)
        for name in names
        if name.endswith(TRANSCRIPT_SUFFIX) and not os.path.islink(os.path.join(folder, name))
    }


def with_subagent_files(transcripts: Iterable[str]) -> set[str]:
    """These transcripts, and those of their subagents."""
    files = set(transcripts)
    for path in tuple(files):
        below = path.removesuffix(TRANSCRIPT_SUFFIX)
        if not is_outside(below, os.path.dirname(path)):
            files |= transcripts_below(below)
    return files


def transcript_file_at(path: str) -> TranscriptFile | None:
    """The version of a file that is on disk now; None when it is gone."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return TranscriptFile(
        session_of_file(path), path, facts.st_ino, facts.st_size, facts.st_mtime_ns
    )


def version_text(found: TranscriptFile) -> str:
    return f"{found.inode}:{found.size}:{found.mtime}"


def is_main_transcript(path: str, session: str) -> bool:
    """Whether it is the transcript of the session itself, and none of a subagent."""
    return path.lower().endswith(f"{os.sep}{session}{TRANSCRIPT_SUFFIX}")


def session_of_file(path: str) -> str:
    """Whose file it is: of the session in whose folder it lies, or that its first line names."""
    # no Path: it remembers the parts of every one for good
    *folders, name = path.split(os.sep)
    stem = name.removesuffix(TRANSCRIPT_SUFFIX)
    for part in (stem, *reversed(folders)):
        if SESSION_ID.fullmatch(part):
            return part.lower()
    return session_of(path) or stem
