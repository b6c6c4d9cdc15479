"""Where transcripts lie: path ↔ project, session, subagent.

A session is `PROJECT/SESSION.jsonl`. A subagent is `agent-ID.jsonl`: beside the session's own file
(before Claude Code 2.1.14), or below `PROJECT/SESSION/subagents/`, sometimes in a folder of a
workflow's run. The archive has the same layout.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from claudekeeper.core.paths import AGENT_ID, SESSION_ID, is_outside, is_session_id
from claudekeeper.transcripts.entries import Entry, parse_line
from claudekeeper.transcripts.line_reader import open_readonly

TRANSCRIPT_SUFFIX = ".jsonl"
TRANSCRIPT_NAME = re.compile(SESSION_ID.pattern + re.escape(TRANSCRIPT_SUFFIX))
SUBAGENTS_FOLDER = "subagents"
AGENT_PREFIX = "agent-"
# subagents that Claude Code runs for its own purposes
INTERNAL_PREFIXES = ("acompact-", "aprompt_suggestion-", "aside_question-")
MAX_FIRST_LINE_BYTES = 64 * 1024


class TranscriptFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A transcript on disk, and which version of it."""

    id: str
    path: str
    inode: int
    size: int
    mtime: int

    @classmethod
    def from_stat(cls, path: str, session_id: str, facts: os.stat_result) -> TranscriptFile:
        return cls(session_id, path, facts.st_ino, facts.st_size, facts.st_mtime_ns)

    def is_same_version(self, other: TranscriptFile) -> bool:
        return (self.inode, self.size, self.mtime) == (other.inode, other.size, other.mtime)

    @property
    def version(self) -> str:
        """The version as text, for the cache."""
        return f"{self.inode}:{self.size}:{self.mtime}"


class TranscriptPath(msgspec.Struct, frozen=True, gc=False):
    """A path, and whose transcript it is."""

    path: str
    # empty: of a subagent beside the sessions, whose first line names the session
    session: str
    agent: str | None = None


def stat_again(file: TranscriptFile) -> TranscriptFile | None:
    """The version of a transcript that is on disk now; None when it is gone."""
    try:
        return TranscriptFile.from_stat(file.path, file.id, os.stat(file.path))
    except OSError:
        return None


def stat_transcript(path: str) -> TranscriptFile | None:
    """The same, of any transcript: a session's own or a subagent's."""
    try:
        return TranscriptFile.from_stat(path, owner_of(path), os.stat(path))
    except OSError:
        return None


# ---- what a path says ----


def parse_transcript_path(path: str, projects: Path) -> TranscriptPath | None:
    """The transcript that a path below the projects folder names; the file is not read."""
    if not path.startswith(f"{projects}{os.sep}") or not path.endswith(TRANSCRIPT_SUFFIX):
        return None
    # no Path: it remembers the parts of every one for good
    _, *names = path[len(str(projects)) + 1 :].split(os.sep)
    if not names:
        return None
    session, agent = names[0].removesuffix(TRANSCRIPT_SUFFIX), agent_id_of(names[-1])
    if len(names) == 1 and agent is not None:
        return TranscriptPath(path, "", agent)
    is_nested = len(names) > 2 and names[1] == SUBAGENTS_FOLDER and agent is not None
    if is_session_id(session) and (is_nested or len(names) == 1):
        return TranscriptPath(path, session.lower(), agent)
    return None


def agent_id_of(name: str) -> str | None:
    """The subagent whose transcript has this file name; None for any other file."""
    if not (name.startswith(AGENT_PREFIX) and name.endswith(TRANSCRIPT_SUFFIX)):
        return None
    agent = name[len(AGENT_PREFIX) : -len(TRANSCRIPT_SUFFIX)]
    return None if agent.startswith(INTERNAL_PREFIXES) or not AGENT_ID.fullmatch(agent) else agent


def session_folder(transcript: str) -> str:
    """The folder that belongs to a session's own transcript."""
    return transcript.removesuffix(TRANSCRIPT_SUFFIX)


def main_transcript_of(subagent: TranscriptPath) -> str:
    """The transcript of the session that a subagent belongs to."""
    folder = os.path.dirname(subagent.path)
    while os.path.basename(folder).lower() != subagent.session and "/" in folder.strip("/"):
        folder = os.path.dirname(folder)
    transcript = folder + TRANSCRIPT_SUFFIX
    if os.path.exists(transcript):
        return transcript
    return os.path.join(os.path.dirname(subagent.path), f"{subagent.session}{TRANSCRIPT_SUFFIX}")


def is_main_transcript(path: str, session: str) -> bool:
    """Whether it is the transcript of the session itself, and none of a subagent."""
    return path.lower().endswith(f"{os.sep}{session}{TRANSCRIPT_SUFFIX}")


# ---- what the first line says ----


def first_entry(path: Path | str) -> Entry | None:
    try:
        with open_readonly(path) as descriptor:
            line = os.pread(descriptor, MAX_FIRST_LINE_BYTES, 0).split(b"\n", 1)[0]
    except OSError:
        return None
    entries, _ = parse_line(line)
    return entries[0] if entries else None


def session_of(path: Path | str) -> str | None:
    """The session that a subagent's lines name."""
    first = first_entry(path)
    return first.session_id if first is not None else None


def owner_of(path: str) -> str:
    """Whose file it is: of the session in whose folder it lies, or that its first line names."""
    *folders, name = path.split(os.sep)
    stem = name.removesuffix(TRANSCRIPT_SUFFIX)
    for part in (stem, *reversed(folders)):
        if SESSION_ID.fullmatch(part):
            return part.lower()
    return session_of(path) or stem


# ---- which files there are; all of these block ----


def project_folders(projects: Path) -> dict[str, int]:
    """The folders of the projects with their modification times."""
    folders: dict[str, int] = {}
    root = str(projects)
    try:
        with os.scandir(root) as entries:
            for entry in entries:
                try:
                    if entry.is_dir() and not (entry.is_symlink() and is_outside(entry.path, root)):
                        folders[entry.path] = entry.stat().st_mtime_ns
                except OSError:
                    continue
    except OSError:
        return {}
    return folders


def list_transcripts(folder: str) -> Iterator[TranscriptFile]:
    """The transcripts of the sessions of one project."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if TRANSCRIPT_NAME.fullmatch(entry.name) is None:
                    continue
                try:
                    facts = entry.stat()
                    if entry.is_symlink() and is_outside(entry.path, os.path.dirname(folder)):
                        continue
                except OSError:
                    # it went meanwhile
                    continue
                yield TranscriptFile.from_stat(entry.path, session_of_name(entry.name), facts)
    except OSError:
        return


def session_of_name(name: str) -> str:
    """The session whose own transcript has this file name."""
    return name[: -len(TRANSCRIPT_SUFFIX)].lower()


def all_transcripts(roots: Iterable[Path]) -> Iterator[TranscriptPath]:
    """Every transcript below these folders, of sessions and subagents."""
    for root in roots:
        for folder in project_folders(root):
            for file in list_transcripts(folder):
                yield TranscriptPath(file.path, file.id)
                yield from subagents_of(file.path, file.id)
            yield from _subagents_beside(folder)


def subagents_of(transcript: str, session: str) -> Iterator[TranscriptPath]:
    """The transcripts in a session's own folder."""
    folder = session_folder(transcript)
    if os.path.isdir(folder):
        for path in subagent_files_below(folder):
            yield TranscriptPath(path, session, agent_id_of(os.path.basename(path)))


def _subagents_beside(folder: str) -> Iterator[TranscriptPath]:
    """Subagents of versions that put them beside the sessions."""
    try:
        names = [name for name in os.listdir(folder) if agent_id_of(name)]
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        if not os.path.islink(path):
            yield from with_session(TranscriptPath(path, "", agent_id_of(name)))


def with_session(transcript: TranscriptPath) -> Iterator[TranscriptPath]:
    """The same with its session, by its first line if need be; nothing where that names none."""
    session = transcript.session or session_of(transcript.path)
    if session and is_session_id(session):
        yield msgspec.structs.replace(transcript, session=session.lower())


def subagent_files_below(folder: str) -> list[str]:
    """The subagents' transcripts in a session's own folder."""
    own = os.path.join(folder, SUBAGENTS_FOLDER)
    if is_outside(own, os.path.dirname(folder)):
        return []
    paths = [
        os.path.join(path, name)
        for path, _, names in os.walk(own)
        for name in names
        if agent_id_of(name)
    ]
    return [path for path in paths if not os.path.islink(path)]


def subagent_files_beside(transcript: str, since: int) -> list[str]:
    """Transcripts of any session's subagents in its folder, written since that moment."""
    try:
        with os.scandir(os.path.dirname(transcript)) as entries:
            return [
                entry.path
                for entry in entries
                if agent_id_of(entry.name)
                and not entry.is_symlink()
                and entry.stat().st_mtime_ns >= since
            ]
    except OSError:
        return []


# ---- which files count for usage: also copies, and those that Claude Code runs for itself ----


def usage_files(projects: Path | str) -> set[str]:
    """Every transcript below a folder; links are no files of their own."""
    return {
        os.path.join(folder, name)
        for folder, _, names in os.walk(projects)
        for name in names
        if name.endswith(TRANSCRIPT_SUFFIX) and not os.path.islink(os.path.join(folder, name))
    }


def with_subagent_usage_files(transcripts: Iterable[str]) -> set[str]:
    """These transcripts, and those of their subagents."""
    files = set(transcripts)
    for path in tuple(files):
        below = session_folder(path)
        if not is_outside(below, os.path.dirname(path)):
            files |= usage_files(below)
    return files
