"""Transcripts that Claude Code would delete, kept: a second name for each, in the keeper's home.

A hard link costs no space and follows what is appended. `kept` has a link to everything that
lives; what Claude Code (or anybody) deletes moves from there to `gone`, where it can be read and
from where it can be brought back.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import msgspec
import orjson

from claudekeeper.config import config_file, load_config
from claudekeeper.files import private_folder, read_file, write_whole
from claudekeeper.live.tasks import Tasks
from claudekeeper.model.errors import KeeperError, StateUnwritable
from claudekeeper.model.jsontext import decoded, read
from claudekeeper.model.sessions import iso
from claudekeeper.readers.discovery import SUFFIX, TRANSCRIPT, Row

log = logging.getLogger(__name__)

# seconds between two rounds
ROUND = 60.0
DAY = 86_400.0
# Claude Code's own default
CLEANUP_DAYS = 30
WARNING_DAYS = 7
# longer is for ever
MOST_DAYS = 1_000_000.0
REWRITTEN = ".rewritten-"


class NotArchived(KeeperError):
    code, status = "not_archived", 404
    sentence = "The archive holds no deleted session with this id."


class ThereAgain(KeeperError):
    code, status = "session_there_again", 409
    sentence = "A session with this id is there again; what is archived would replace it."


class Holding(msgspec.Struct):
    """What the archive holds."""

    kept: int = 0
    gone: int = 0
    rewritten: int = 0
    # bytes that would be free without it: links to what lives cost nothing
    cost: int = 0


class Due(msgspec.Struct, rename="camel", frozen=True):
    """A session that Claude Code is about to delete, and when."""

    session_id: str
    workdir: str | None
    at: str


class Archive:
    """The archive of one keeper's home. Its methods block, unless they are async."""

    def __init__(self, projects: Path, home: Path) -> None:
        self._projects = projects
        self._config = config_file(home)
        self.kept = home / "archive" / "kept"
        self.gone = home / "archive" / "gone"
        self._tasks = Tasks()
        self._nudged = asyncio.Event()
        self._since: dict[str, str] = {}
        # who shows sessions: told the folders in which deleted ones came to lie
        self.moved: Callable[[set[str]], Awaitable[None]] | None = None

    @property
    def is_on(self) -> bool:
        """As config.json says now: it is switched while a keeper runs."""
        try:
            return orjson.loads(read_file(self._config)).get("archive") is True
        except (OSError, orjson.JSONDecodeError, AttributeError):
            return False

    async def start(self) -> None:
        self._tasks.start(self._go_round(), name="archive")

    async def close(self) -> None:
        await self._tasks.close()

    async def _go_round(self) -> None:
        while True:
            self._nudged.clear()
            if await asyncio.to_thread(lambda: self.is_on):
                try:
                    folders = await asyncio.to_thread(self.keep_all)
                except OSError as error:
                    # a disk that takes nothing now may take it at the next round
                    log.warning("the archive cannot keep anything: %s", error)
                    folders = set()
                if folders and self.moved is not None:
                    await self.moved(folders)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(ROUND):
                    await self._nudged.wait()

    def nudge(self) -> None:
        """A session was deleted: look now."""
        self._nudged.set()

    def switch(self, on: bool) -> None:
        """In config.json, so that it stays; whatever else stands there stays too."""
        try:
            load_config(self._config.parent)
            settings = msgspec.json.decode(self._config.read_bytes(), type=dict[str, msgspec.Raw])
            settings["archive"] = msgspec.Raw(b"true" if on else b"false")
            write_whole(self._config, msgspec.json.format(msgspec.json.encode(settings)) + b"\n")
            if on:
                self.keep_all()
            else:
                self.drop_all()
        except OSError as error:
            raise StateUnwritable(f"The archive cannot be switched: {error.strerror}.") from error

    # ---- keeping ----

    def keep_all(self) -> set[str]:
        """A link to everything that lives; returns where what lives no more is set apart."""
        folders: set[str] = set()
        private_folder(self.kept)
        for source in _files(self._projects):
            with contextlib.suppress(OSError):
                _keep(source, self.kept / source.relative_to(self._projects))
        for link in list(_files(self.kept)):
            inside = link.relative_to(self.kept)
            if REWRITTEN not in link.name and not (self._projects / inside).exists():
                with contextlib.suppress(OSError):
                    _set_aside(self.gone / inside)
                    _move(link, self.gone / inside)
                    folders.add(str(self.gone / inside.parts[0]))
        return folders

    def drop_all(self) -> None:
        """Forget what still lives anyway; what is deleted stays until a person removes it."""
        shutil.rmtree(self.kept, ignore_errors=True)

    # ---- bringing back ----

    def has(self, row: Row) -> bool:
        """Whether this is the archive's copy of a session that is deleted."""
        return row.found.path.startswith(f"{self.gone}{os.sep}")

    def since(self, row: Row) -> str | None:
        """When a deleted session was set apart; None for one that lives."""
        if not self.has(row):
            return None
        path = row.found.path
        if path not in self._since:
            try:
                # a file that is moved keeps the time of its content, and gets this one
                self._since[path] = iso(Path(path).stat().st_ctime_ns)
            except OSError:
                return None
        return self._since[path]

    def holds(self, session_id: str) -> Path | None:
        """The transcript of a deleted session."""
        return next(iter(self.gone.glob(f"*/{session_id.lower()}{SUFFIX}")), None)

    def restore(self, session_id: str) -> Path:
        """Put a deleted session back where Claude Code finds it, and looks upon it as new."""
        found = self.holds(session_id)
        if found is None:
            raise NotArchived
        target = self._projects / found.relative_to(self.gone)
        if target.exists():
            raise ThereAgain
        own = found.with_suffix("")
        inside = list(_files(own)) if own.is_dir() else []
        for path in (*inside, found):
            back = self._projects / path.relative_to(self.gone)
            _move(path, back)
            # its age counts from now: the next cleanup would delete it again
            os.utime(back)
        self._since.pop(str(found), None)
        return target

    # ---- saying ----

    def holding(self) -> Holding:
        held = Holding()
        for path in (*_files(self.kept), *_files(self.gone)):
            # the round goes on meanwhile, and moves what is deleted
            with contextlib.suppress(FileNotFoundError):
                facts = path.stat()
                lives = path.is_relative_to(self.kept)
                if TRANSCRIPT.fullmatch(path.name):
                    held.kept += lives
                    held.gone += not lives
                held.rewritten += REWRITTEN in path.name
                held.cost += 0 if lives and facts.st_nlink > 1 else facts.st_size
        return held

    def due(self, settings: Path, now: Callable[[], float] = time.time) -> dict[Path, float]:
        """Transcripts that Claude Code is about to delete, and that nothing keeps; and when."""
        days = cleanup_days(settings)
        limit = now() - (days - WARNING_DAYS) * DAY
        found: dict[Path, float] = {}
        for path in _files(self._projects):
            if not TRANSCRIPT.fullmatch(path.name):
                continue
            with contextlib.suppress(FileNotFoundError):
                modified = path.stat().st_mtime
                link = self.kept / path.relative_to(self._projects)
                if modified < limit and not link.exists():
                    found[path] = modified + days * DAY
        return found


def cleanup_days(settings: Path) -> float:
    """After how many days Claude Code deletes a transcript."""
    try:
        # a pipe would keep whoever reads it waiting
        text = settings.read_text(encoding="utf-8") if settings.is_file() else "{}"
        value = read(text)["cleanupPeriodDays"]
        days = decoded(text, value) if value is not None else None
    except (OSError, ValueError):
        return CLEANUP_DAYS
    if isinstance(days, bool) or not isinstance(days, int | float) or days < 0:
        return CLEANUP_DAYS
    return min(float(days), MOST_DAYS)


def _files(root: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            # a link could lead anywhere, and a half-written copy is none of ours
            if not path.is_symlink() and ".tmp." not in name:
                yield path


def _keep(source: Path, link: Path) -> None:
    facts = source.stat()
    try:
        known = link.stat()
    except FileNotFoundError:
        known = None
    if known is not None and known.st_ino == facts.st_ino:
        return
    if known is not None and known.st_nlink == 1 and _is_copy(known, facts):
        return
    if known is not None and _grew(link, source, known.st_size):
        # a copy that fell behind
        shutil.copy2(source, link)
        return
    # another file stands there now: what it was before is kept beside it
    _set_aside(link)
    private_folder(link.parent)
    try:
        os.link(source, link, follow_symlinks=False)
    except OSError:
        # another file system, or one without links
        shutil.copy2(source, link)


def _is_copy(known: os.stat_result, facts: os.stat_result) -> bool:
    return (known.st_size, known.st_mtime_ns) == (facts.st_size, facts.st_mtime_ns)


def _grew(link: Path, source: Path, size: int) -> bool:
    """Whether the copy is the beginning of what stands there now."""
    if source.stat().st_size < size or link.stat().st_nlink > 1:
        return False
    with link.open("rb") as old, source.open("rb") as new:
        while block := old.read(1 << 20):
            if new.read(len(block)) != block:
                return False
    return True


def _set_aside(path: Path) -> None:
    """What has this name keeps a place beside it."""
    with contextlib.suppress(FileNotFoundError):
        path.rename(path.with_name(f"{path.name}{REWRITTEN}{path.stat().st_mtime_ns}"))


def _move(source: Path, target: Path) -> None:
    private_folder(target.parent)
    shutil.move(source, target)
