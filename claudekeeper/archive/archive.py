"""The archive: transcripts that Claude Code deletes, kept by hard links in the keeper's home.

A hard link costs no space and has whatever is appended. The folder `kept` has a link to each
existing transcript. When one is deleted, its link moves to `gone`, where it can be read and
restored.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import orjson

from claudekeeper.catalog.catalog import RowChange
from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.contract.errors import StateUnwritable
from claudekeeper.core.atomic_files import make_private_folder, read_file, replace_file
from claudekeeper.core.config import config_path, load_config
from claudekeeper.core.json_edit import decode, parse
from claudekeeper.core.signals import Signal
from claudekeeper.core.tasks import Tasks
from claudekeeper.core.timestamps import iso_from_ns
from claudekeeper.net.errors import ApiError
from claudekeeper.transcripts.layout import TRANSCRIPT_NAME, TRANSCRIPT_SUFFIX

log = logging.getLogger(__name__)

# seconds between two rounds
ROUND_SECONDS = 60.0
DAY_SECONDS = 86_400.0
# the default of Claude Code
DEFAULT_CLEANUP_DAYS = 30
WARNING_DAYS = 7
# more days count as for ever
MAX_DAYS = 1_000_000.0
REWRITTEN_MARKER = ".rewritten-"


class TranscriptNotArchived(ApiError):
    code, status = "not_archived", 404
    sentence = "The archive holds no deleted session with this id."


class TranscriptExists(ApiError):
    code, status = "session_there_again", 409
    sentence = "A session with this id is there again; what is archived would replace it."


class ArchiveSize(msgspec.Struct):
    """The number and size of archived transcripts."""

    kept: int = 0
    gone: int = 0
    rewritten: int = 0
    # bytes that the archive alone occupies; links to existing files cost nothing
    cost: int = 0


class DueDeletion(msgspec.Struct, rename="camel", frozen=True):
    """A session that Claude Code deletes soon, and when."""

    session_id: str
    workdir: str | None
    at: str


class Archive:
    """The archive of a home. Its methods block unless they are async."""

    def __init__(self, projects: Path, home: Path) -> None:
        # with the folders in which deleted sessions came to lie
        self.folders_changed = Signal[set[str]]()
        self._projects = projects
        self._config = config_path(home)
        self.live_folder = home / "archive" / "kept"
        self.deleted_folder = home / "archive" / "gone"
        self._tasks = Tasks()
        self._wake_event = asyncio.Event()
        self._deletion_times: dict[str, str] = {}

    @property
    def is_enabled(self) -> bool:
        """The setting in config.json, which may change while a keeper runs."""
        try:
            return orjson.loads(read_file(self._config)).get("archive") is True
        except (OSError, orjson.JSONDecodeError, AttributeError):
            return False

    async def start(self) -> None:
        self._tasks.start(self._run_rounds(), name="archive")

    async def close(self) -> None:
        await self._tasks.close()

    async def _run_rounds(self) -> None:
        while True:
            self._wake_event.clear()
            if await asyncio.to_thread(lambda: self.is_enabled):
                try:
                    folders = await asyncio.to_thread(self.link_all)
                except OSError as error:
                    # a full disk may have room in the next round
                    log.warning("the archive cannot link transcripts: %s", error)
                    folders = set()
                if folders:
                    self.folders_changed.emit(folders)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(ROUND_SECONDS):
                    await self._wake_event.wait()

    def handle_row_change(self, change: RowChange) -> None:
        if change.after is None:
            self.wake()

    def wake(self) -> None:
        """A session was deleted: begin the next round now."""
        self._wake_event.set()

    def set_enabled(self, on: bool) -> None:
        """Stores the setting in config.json, which is otherwise unchanged, and applies it."""
        try:
            load_config(self._config.parent)
            settings = msgspec.json.decode(self._config.read_bytes(), type=dict[str, msgspec.Raw])
            settings["archive"] = msgspec.Raw(b"true" if on else b"false")
            replace_file(self._config, msgspec.json.format(msgspec.json.encode(settings)) + b"\n")
            if on:
                self.link_all()
            else:
                self.unlink_live()
        except OSError as error:
            raise StateUnwritable(f"The archive cannot be switched: {error.strerror}.") from error

    # ---- links ----

    def link_all(self) -> set[str]:
        """Links existing transcripts, and moves links of deleted ones; returns their folders."""
        folders: set[str] = set()
        make_private_folder(self.live_folder)
        for source in _files_below(self._projects):
            with contextlib.suppress(OSError):
                _link_file(source, self.live_folder / source.relative_to(self._projects))
        for link in list(_files_below(self.live_folder)):
            inside = link.relative_to(self.live_folder)
            if REWRITTEN_MARKER not in link.name and not (self._projects / inside).exists():
                with contextlib.suppress(OSError):
                    _rename_rewritten(self.deleted_folder / inside)
                    _move(link, self.deleted_folder / inside)
                    folders.add(str(self.deleted_folder / inside.parts[0]))
        return folders

    def unlink_live(self) -> None:
        """Deletes the links to existing transcripts; deleted sessions stay in the archive."""
        shutil.rmtree(self.live_folder, ignore_errors=True)

    # ---- deleted sessions ----

    def is_archived(self, row: SessionRow) -> bool:
        """Whether the row is the archived copy of a deleted session."""
        return row.file.path.startswith(f"{self.deleted_folder}{os.sep}")

    def archived_since(self, row: SessionRow) -> str | None:
        """When a deleted session was archived; None for an existing one."""
        if not self.is_archived(row):
            return None
        path = row.file.path
        if path not in self._deletion_times:
            try:
                # moving a file sets its ctime and keeps its mtime
                self._deletion_times[path] = iso_from_ns(Path(path).stat().st_ctime_ns)
            except OSError:
                return None
        return self._deletion_times[path]

    def find_deleted(self, session_id: str) -> Path | None:
        """The transcript of a deleted session."""
        return next(
            iter(self.deleted_folder.glob(f"*/{session_id.lower()}{TRANSCRIPT_SUFFIX}")), None
        )

    def restore(self, session_id: str) -> Path:
        """Moves a deleted session back to Claude Code's folder, with the present as its time."""
        transcript = self.find_deleted(session_id)
        if transcript is None:
            raise TranscriptNotArchived
        target = self._projects / transcript.relative_to(self.deleted_folder)
        if target.exists():
            raise TranscriptExists
        folder = transcript.with_suffix("")
        files = list(_files_below(folder)) if folder.is_dir() else []
        for path in (*files, transcript):
            restored = self._projects / path.relative_to(self.deleted_folder)
            _move(path, restored)
            # with its old time the next cleanup would delete it again
            os.utime(restored)
        self._deletion_times.pop(str(transcript), None)
        return target

    # ---- status ----

    def size(self) -> ArchiveSize:
        size = ArchiveSize()
        for path in (*_files_below(self.live_folder), *_files_below(self.deleted_folder)):
            # a round may move files meanwhile
            with contextlib.suppress(FileNotFoundError):
                status = path.stat()
                is_live = path.is_relative_to(self.live_folder)
                if TRANSCRIPT_NAME.fullmatch(path.name):
                    size.kept += is_live
                    size.gone += not is_live
                size.rewritten += REWRITTEN_MARKER in path.name
                size.cost += 0 if is_live and status.st_nlink > 1 else status.st_size
        return size

    def due_deletions(
        self, settings: Path, now: Callable[[], float] = time.time
    ) -> dict[Path, float]:
        """Transcripts that Claude Code deletes soon and that have no link, with the time."""
        days = cleanup_days(settings)
        limit = now() - (days - WARNING_DAYS) * DAY_SECONDS
        due: dict[Path, float] = {}
        for path in _files_below(self._projects):
            if not TRANSCRIPT_NAME.fullmatch(path.name):
                continue
            with contextlib.suppress(FileNotFoundError):
                modified = path.stat().st_mtime
                link = self.live_folder / path.relative_to(self._projects)
                if modified < limit and not link.exists():
                    due[path] = modified + days * DAY_SECONDS
        return due


def cleanup_days(settings: Path) -> float:
    """After how many days Claude Code deletes a transcript."""
    try:
        # reading a pipe would block
        text = settings.read_text(encoding="utf-8") if settings.is_file() else "{}"
        value = parse(text)["cleanupPeriodDays"]
        days = decode(text, value) if value is not None else None
    except (OSError, ValueError):
        return DEFAULT_CLEANUP_DAYS
    if isinstance(days, bool) or not isinstance(days, int | float) or days < 0:
        return DEFAULT_CLEANUP_DAYS
    return min(float(days), MAX_DAYS)


def _files_below(root: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            # a link could lead anywhere, and a half-written copy is not ours
            if not path.is_symlink() and ".tmp." not in name:
                yield path


def _link_file(source: Path, link: Path) -> None:
    status = source.stat()
    try:
        linked = link.stat()
    except FileNotFoundError:
        linked = None
    if linked is not None and linked.st_ino == status.st_ino:
        return
    if linked is not None and linked.st_nlink == 1 and _is_copy(linked, status):
        return
    if linked is not None and _is_beginning_of(link, source, linked.st_size):
        # a copy, and the source has grown since
        shutil.copy2(source, link)
        return
    # the file was replaced: its earlier version is kept too
    _rename_rewritten(link)
    make_private_folder(link.parent)
    try:
        os.link(source, link, follow_symlinks=False)
    except OSError:
        # another file system, or one without links
        shutil.copy2(source, link)


def _is_copy(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)


def _is_beginning_of(link: Path, source: Path, size: int) -> bool:
    """Whether the copy is the beginning of the source."""
    if source.stat().st_size < size or link.stat().st_nlink > 1:
        return False
    with link.open("rb") as old, source.open("rb") as new:
        while block := old.read(1 << 20):
            if new.read(len(block)) != block:
                return False
    return True


def _rename_rewritten(path: Path) -> None:
    """Gives a rewritten file another name, so that it is kept."""
    with contextlib.suppress(FileNotFoundError):
        path.rename(path.with_name(f"{path.name}{REWRITTEN_MARKER}{path.stat().st_mtime_ns}"))


def _move(source: Path, target: Path) -> None:
    make_private_folder(target.parent)
    shutil.move(source, target)
