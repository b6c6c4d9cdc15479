"""Which transcripts changed: told by the system where it can, found by looking where it cannot."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from pathlib import Path

import msgspec

from claudekeeper.readers import inotify
from claudekeeper.readers.inotify import Inotify
from claudekeeper.readers.library_watch import LOOK, changed_paths
from claudekeeper.readers.mounts import shared_with_others

log = logging.getLogger(__name__)

STEP = 0.02  # seconds that a burst of writes may last before it is told
POLL = 2.0  # seconds between two looks at everything, where nothing is told
# how deep below a project's folder subagents of workflows lie
DEEPEST = 5
# in how many sessions' own folders it is looked then: those that came to life last
MOST_BELOW = 256
RETRY = 10.0  # seconds until it is tried again whether the system tells


class Watching(msgspec.Struct, rename="camel", gc=False):
    """How changes are noticed, for /health: `watching`, `polling`, or `waiting` for a folder."""

    mode: str = "starting"
    reason: str | None = None


class Unreliable(Exception):
    """The system does not tell everything here."""


class Watcher:
    """Tells the folders below `root` in which something changed; `root` for all of them.

    With inotify that is the root and the folders in it. What lies deeper is told of where somebody
    asked to `look_below`: a machine has thousands of folders that nothing happens in.
    """

    def __init__(
        self,
        root: Path,
        *,
        poll: float = POLL,
        retry: float = RETRY,
        make_inotify: Callable[[], Inotify] = Inotify,
        by_library: bool | None = None,
        look: float = LOOK,
    ) -> None:
        self._root = root
        self._poll = poll
        self._retry = retry
        self._make_inotify = make_inotify
        self._by_library = not inotify.is_available() if by_library is None else by_library
        self._look = look
        self._ear: _Ear | None = None
        # folders that somebody wants to know about in depth, whether anything can tell now or not
        self._below: dict[str, None] = {}
        # who wants to know at once, and which file: called before the folder is told
        self.touched: Callable[[Iterable[str]], None] = lambda _: None
        self.state = Watching()

    async def changes(self) -> AsyncGenerator[set[str]]:
        """Project folders with changes, batch by batch; ends only when its task is cancelled."""
        everything = {str(self._root)}
        while True:
            if not await asyncio.to_thread(self._root.is_dir):
                # a machine on which Claude Code has not run yet: nothing is wrong
                self.state = Watching("waiting", f"{self._root} does not exist yet")
                await asyncio.sleep(self._poll)
                continue
            try:
                async with aclosing(self._told()) as batches:
                    async for batch in batches:
                        yield batch
            except (OSError, RuntimeError, Unreliable) as error:
                self._degrade(_reason(error))
            else:
                # the folder itself went away: what came in its place is looked at anew
                continue
            until = asyncio.get_running_loop().time() + self._retry
            while asyncio.get_running_loop().time() < until:
                self.touched(await asyncio.to_thread(_files_below, list(self._below)[-MOST_BELOW:]))
                yield everything
                await asyncio.sleep(self._poll)

    async def _told(self) -> AsyncGenerator[set[str]]:
        if kind := await asyncio.to_thread(shared_with_others, str(self._root)):
            raise Unreliable(f"{self._root} lies on {kind}, which others can write to unheard")
        batches = self._library_batches() if self._by_library else self._inotify_batches()
        async with aclosing(batches):
            async for batch in batches:
                yield batch

    async def _inotify_batches(self) -> AsyncGenerator[set[str]]:
        """Ends when the root itself is gone."""
        with self._make_inotify() as notices:
            ear = _Ear(notices, str(self._root), lambda paths: self.touched(paths))
            await asyncio.to_thread(ear.watch_all)
            self._recover()
            # what happened before the watches stood is found by one look at everything
            yield {str(self._root)}
            loop = asyncio.get_running_loop()
            loop.add_reader(notices.fileno(), ear.hear)
            self._ear = ear
            try:
                self._look_below_again(ear)
                while True:
                    await ear.something.wait()
                    await asyncio.sleep(STEP)
                    changed = ear.take()
                    if changed is None:
                        return
                    if changed:
                        yield changed
            finally:
                self._ear = None
                loop.remove_reader(notices.fileno())

    def look_below(self, folder: str) -> None:
        """Tell of changes deep in this folder too, from now on or from when it can be told."""
        self._below[folder] = None
        if self._ear is not None:
            self._ear.look_below(folder)

    def _look_below_again(self, ear: _Ear) -> None:
        """What was asked for before this one could hear; what happened there is told as well."""
        found: list[str] = []
        for folder in list(self._below):
            if os.path.isdir(folder):
                found += ear.look_below(folder)
            else:
                del self._below[folder]
        self.touched(found)

    async def _library_batches(self) -> AsyncGenerator[set[str]]:
        """On systems without inotify; ends when the root is another folder."""
        root = str(self._root)
        async with aclosing(changed_paths(root, self._look)) as batches:
            async for paths in batches:
                if self.state.mode != "watching":
                    # the first batch: now the library listens
                    self._recover(f"by watchfiles, and a look at everything every {self._look:g} s")
                if root in paths:
                    below = list(self._below)[-MOST_BELOW:]
                    self.touched(await asyncio.to_thread(_files_below, below))
                else:
                    self.touched(paths)
                if changed := {
                    _project_of(path, root) for path in paths if not _is_deep(path, root)
                }:
                    yield changed

    def _recover(self, reason: str | None = None) -> None:
        if self.state.mode == "polling":
            log.info("the system tells of changes again")
        self.state = Watching("watching", reason)

    def _degrade(self, reason: str) -> None:
        if self.state.reason != reason:
            log.warning("changes are found by looking every %g s: %s", self._poll, reason)
        self.state = Watching("polling", reason)


class _Ear:
    """What inotify says, heard as soon as it is said."""

    def __init__(
        self, notices: Inotify, root: str, touched: Callable[[Iterable[str]], None]
    ) -> None:
        self._notices = notices
        self._root = root
        self._touched = touched
        self._watched: dict[int, str] = {}
        self._deep: set[str] = set()
        self._changed: set[str] = set()
        self._gone = False
        self._trouble: Exception | None = None
        self.something = asyncio.Event()

    def watch_all(self) -> None:
        self._watched[self._notices.watch(self._root, follow=True)] = self._root
        for folder in _folders_in(self._root):
            self._watch(folder)

    def hear(self) -> None:
        paths: list[str] = []
        try:
            for event in self._notices.read():
                self._note(event, paths)
        except (OSError, Unreliable) as error:
            self._trouble = error
        self._touched(paths)
        self.something.set()

    def take(self) -> set[str] | None:
        """The folders with changes since the last time; None when the root itself is gone."""
        self.something.clear()
        if self._trouble is not None:
            raise self._trouble
        changed, self._changed = self._changed, set()
        return None if self._gone else changed

    def look_below(self, folder: str) -> list[str]:
        """Watch a folder and those in it; returns what lies there already."""
        found: list[str] = []
        level = [folder]
        for _ in range(DEEPEST):
            for each in level:
                self._watch_deep(each)
                found += _files_in(each)
            level = [path for outer in level for path in _folders_in(outer)]
        return found

    def _note(self, event: inotify.Event, paths: list[str]) -> None:
        if event.mask & inotify.OVERFLOW:
            raise Unreliable("so much changed at once that not all of it was told")
        folder = self._watched.get(event.watch)
        if folder is None:
            return
        if folder == self._root and event.mask & (inotify.GONE | inotify.MOVE_SELF):
            self._gone = True
            return
        path = os.path.join(folder, event.name) if event.name else folder
        if event.mask & inotify.GONE:
            del self._watched[event.watch]
            self._deep.discard(folder)
        elif event.mask & inotify.ISDIR:
            appeared = event.mask & (inotify.CREATE | inotify.MOVED_TO)
            if folder == self._root:
                folder = path
                if appeared:
                    self._watch(path)
                    paths += _files_in(path)
            elif appeared:
                # a session's own folder: what was put there before anybody listened counts too
                paths += self.look_below(path)
        elif event.name:
            paths.append(path)
        if folder not in self._deep:
            self._changed.add(folder)

    def _watch(self, folder: str) -> None:
        try:
            self._watched[self._notices.watch(folder)] = folder
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            # gone again, or none of ours
            return

    def _watch_deep(self, folder: str) -> None:
        try:
            self._watch(folder)
            self._deep.add(folder)
        except OSError as error:
            # subagents then show when their session says something: not worth looking at all
            log.warning("%s is not watched: %s", folder, _reason(error))


def _folders_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _files_below(folders: list[str]) -> list[str]:
    return [
        os.path.join(path, name)
        for folder in folders
        for path, _, names in os.walk(folder)
        for name in names
    ]


def _files_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.is_file(follow_symlinks=False)]
    except OSError:
        return []


def _reason(error: Exception) -> str:
    match getattr(error, "errno", None):
        case errno.ENOSPC:
            return "no watches are left (fs.inotify.max_user_watches)"
        case errno.EMFILE | errno.ENFILE:
            return "no more watchers can be made (fs.inotify.max_user_instances)"
        case _:
            return str(error)


def _project_of(path: str, root: str) -> str:
    """The project folder that a changed path lies in; the root itself for the root."""
    inside = os.path.relpath(path, root)
    return root if inside in ("", ".") else os.path.join(root, inside.split(os.sep)[0])


def _is_deep(path: str, root: str) -> bool:
    """Below a session's own folder, where only whoever asked to `look_below` wants to know."""
    return os.path.relpath(path, root).count(os.sep) > 1
