"""The watcher: which transcripts changed, by inotify, by watchfiles, or by polling."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import aclosing
from pathlib import Path

import msgspec

from claudekeeper.core.signals import Signal
from claudekeeper.watcher import inotify
from claudekeeper.watcher.filesystems import network_filesystem
from claudekeeper.watcher.inotify import Inotify
from claudekeeper.watcher.watchfiles_watch import RESCAN_INTERVAL, changed_paths

log = logging.getLogger(__name__)

BURST_SECONDS = 0.02  # seconds that a burst of writes is collected
POLL_INTERVAL = 2.0  # seconds between two polls
# how deep below a project's folder subagents of workflows lie
MAX_DEPTH = 5
# how many sessions' own folders are polled: those that changed last
MAX_DEEP_FOLDERS = 256
RETRY_INTERVAL = 10.0  # seconds until watching is tried again


class WatchState(msgspec.Struct, rename="camel", gc=False):
    """How changes are noticed, for /health: `watching`, `polling`, or `waiting` for a folder."""

    mode: str = "starting"
    reason: str | None = None


class WatchUnreliable(Exception):
    """The system does not report all changes here."""


class Watcher:
    """Reports the folders below `root` in which something changed; `root` for all of them.

    Inotify watches the root and the folders in it. Deeper folders are watched only after
    `watch_below`: a machine has thousands of folders in which nothing happens.
    """

    def __init__(
        self,
        root: Path,
        *,
        poll_interval: float = POLL_INTERVAL,
        retry_interval: float = RETRY_INTERVAL,
        make_inotify: Callable[[], Inotify] = Inotify,
        use_watchfiles: bool | None = None,
        rescan_interval: float = RESCAN_INTERVAL,
    ) -> None:
        self._root = root
        self._poll_interval = poll_interval
        self._retry_interval = retry_interval
        self._make_inotify = make_inotify
        self._use_watchfiles = (
            not inotify.is_available() if use_watchfiles is None else use_watchfiles
        )
        self._rescan_interval = rescan_interval
        self._inotify_watch: _InotifyWatch | None = None
        # folders that are watched at any depth, as soon as watching works
        self._deep_folders: dict[str, None] = {}
        # the changed files, at once; their folder follows with the next batch
        self.files_changed = Signal[Collection[str]]()
        self.state = WatchState()

    async def changes(self) -> AsyncGenerator[set[str]]:
        """Project folders with changes, batch by batch; ends only when its task is cancelled."""
        everything = {str(self._root)}
        while True:
            if not await asyncio.to_thread(self._root.is_dir):
                # Claude Code has not run on this machine yet: nothing is wrong
                self.state = WatchState("waiting", f"{self._root} does not exist yet")
                await asyncio.sleep(self._poll_interval)
                continue
            try:
                async with aclosing(self._batches()) as batches:
                    async for batch in batches:
                        yield batch
            except (OSError, RuntimeError, WatchUnreliable) as error:
                self._degrade(_error_reason(error))
            else:
                # the folder itself went away: what took its place is scanned anew
                continue
            until = asyncio.get_running_loop().time() + self._retry_interval
            while asyncio.get_running_loop().time() < until:
                self.files_changed.emit(
                    await asyncio.to_thread(
                        _files_below, list(self._deep_folders)[-MAX_DEEP_FOLDERS:]
                    )
                )
                yield everything
                await asyncio.sleep(self._poll_interval)

    async def _batches(self) -> AsyncGenerator[set[str]]:
        if kind := await asyncio.to_thread(network_filesystem, str(self._root)):
            raise WatchUnreliable(f"{self._root} lies on {kind}, which others can write to unheard")
        batches = self._watchfiles_batches() if self._use_watchfiles else self._inotify_batches()
        async with aclosing(batches):
            async for batch in batches:
                yield batch

    async def _inotify_batches(self) -> AsyncGenerator[set[str]]:
        """Ends when the root itself is gone."""
        with self._make_inotify() as inotify_events:
            inotify_watch = _InotifyWatch(inotify_events, str(self._root), self.files_changed.emit)
            await asyncio.to_thread(inotify_watch.watch_all)
            self._recover()
            # one scan of everything finds what happened before the watches were set
            yield {str(self._root)}
            loop = asyncio.get_running_loop()
            loop.add_reader(inotify_events.fileno(), inotify_watch.read_events)
            self._inotify_watch = inotify_watch
            try:
                self._rewatch_below(inotify_watch)
                while True:
                    await inotify_watch.has_events.wait()
                    await asyncio.sleep(BURST_SECONDS)
                    changed = inotify_watch.pop_changed()
                    if changed is None:
                        return
                    if changed:
                        yield changed
            finally:
                self._inotify_watch = None
                loop.remove_reader(inotify_events.fileno())

    def watch_below(self, folder: str) -> None:
        """Report changes at any depth of this folder too, as soon as watching works."""
        self._deep_folders[folder] = None
        if self._inotify_watch is not None:
            self._inotify_watch.watch_below(folder)

    def _rewatch_below(self, inotify_watch: _InotifyWatch) -> None:
        """Watch the deep folders of earlier calls; their files are reported as changed."""
        paths: list[str] = []
        for folder in list(self._deep_folders):
            if os.path.isdir(folder):
                paths += inotify_watch.watch_below(folder)
            else:
                del self._deep_folders[folder]
        self.files_changed.emit(paths)

    async def _watchfiles_batches(self) -> AsyncGenerator[set[str]]:
        """On systems without inotify; ends when the root is another folder."""
        root = str(self._root)
        async with aclosing(changed_paths(root, self._rescan_interval)) as batches:
            async for paths in batches:
                if self.state.mode != "watching":
                    # the first batch: now the library watches
                    self._recover(
                        f"by watchfiles, and a look at everything every {self._rescan_interval:g} s"
                    )
                if root in paths:
                    below = list(self._deep_folders)[-MAX_DEEP_FOLDERS:]
                    self.files_changed.emit(await asyncio.to_thread(_files_below, below))
                else:
                    self.files_changed.emit(paths)
                if changed := {
                    _project_of(path, root) for path in paths if not _is_deep(path, root)
                }:
                    yield changed

    def _recover(self, reason: str | None = None) -> None:
        if self.state.mode == "polling":
            log.info("the system reports changes again")
        self.state = WatchState("watching", reason)

    def _degrade(self, reason: str) -> None:
        if self.state.reason != reason:
            log.warning("changes are found by polling every %g s: %s", self._poll_interval, reason)
        self.state = WatchState("polling", reason)


class _InotifyWatch:
    """Reads inotify's events as soon as they come."""

    def __init__(
        self, inotify_events: Inotify, root: str, publish_changes: Callable[[Collection[str]], None]
    ) -> None:
        self._inotify = inotify_events
        self._root = root
        self._publish_changes = publish_changes
        self._folder_by_watch: dict[int, str] = {}
        self._deep_folders: set[str] = set()
        self._changed_folders: set[str] = set()
        self._root_is_gone = False
        self._error: Exception | None = None
        self.has_events = asyncio.Event()

    def watch_all(self) -> None:
        self._folder_by_watch[self._inotify.watch(self._root, follow=True)] = self._root
        for folder in _folders_in(self._root):
            self._watch(folder)

    def read_events(self) -> None:
        paths: list[str] = []
        try:
            for event in self._inotify.read():
                self._handle_event(event, paths)
        except (OSError, WatchUnreliable) as error:
            self._error = error
        self._publish_changes(paths)
        self.has_events.set()

    def pop_changed(self) -> set[str] | None:
        """The folders with changes since the last time; None when the root itself is gone."""
        self.has_events.clear()
        if self._error is not None:
            raise self._error
        changed, self._changed_folders = self._changed_folders, set()
        return None if self._root_is_gone else changed

    def watch_below(self, folder: str) -> list[str]:
        """Watch a folder and those in it; returns what lies there already."""
        paths: list[str] = []
        level = [folder]
        for _ in range(MAX_DEPTH):
            for each in level:
                self._watch_deep(each)
                paths += _files_in(each)
            level = [path for outer in level for path in _folders_in(outer)]
        return paths

    def _handle_event(self, event: inotify.InotifyEvent, paths: list[str]) -> None:
        if event.mask & inotify.OVERFLOW:
            raise WatchUnreliable("so much changed at once that not all of it was told")
        folder = self._folder_by_watch.get(event.watch)
        if folder is None:
            return
        if folder == self._root and event.mask & (inotify.GONE | inotify.MOVE_SELF):
            self._root_is_gone = True
            return
        path = os.path.join(folder, event.name) if event.name else folder
        if event.mask & inotify.GONE:
            del self._folder_by_watch[event.watch]
            self._deep_folders.discard(folder)
        elif event.mask & inotify.ISDIR:
            appeared = event.mask & (inotify.CREATE | inotify.MOVED_TO)
            if folder == self._root:
                folder = path
                if appeared:
                    self._watch(path)
                    paths += _files_in(path)
            elif appeared:
                # a session's own folder: files that came before it was watched count too
                paths += self.watch_below(path)
        elif event.name:
            paths.append(path)
        if folder not in self._deep_folders:
            self._changed_folders.add(folder)

    def _watch(self, folder: str) -> None:
        try:
            self._folder_by_watch[self._inotify.watch(folder)] = folder
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            # gone again, or a watch that was removed
            return

    def _watch_deep(self, folder: str) -> None:
        try:
            self._watch(folder)
            self._deep_folders.add(folder)
        except OSError as error:
            # its subagents are read when their session changes: no reason to poll
            log.warning("%s is not watched: %s", folder, _error_reason(error))


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


def _error_reason(error: Exception) -> str:
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
    """Whether it lies in a session's own folder, which only `watch_below` reports."""
    return os.path.relpath(path, root).count(os.sep) > 1
