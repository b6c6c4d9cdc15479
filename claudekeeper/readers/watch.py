"""Which transcripts changed: told by the system where it can, found by looking where it cannot."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

import msgspec
import watchfiles

from claudekeeper.readers import inotify
from claudekeeper.readers.inotify import Inotify
from claudekeeper.readers.mounts import shared_with_others

log = logging.getLogger(__name__)

STEP = 0.02  # seconds that a burst of writes may last before it is told
POLL = 2.0  # seconds between two looks at everything, where nothing is told
RETRY = 10.0  # seconds until it is tried again whether the system tells


class Watching(msgspec.Struct, rename="camel", gc=False):
    """How changes are noticed, for /health: `watching`, `polling`, or `waiting` for a folder."""

    mode: str = "starting"
    reason: str | None = None


class Unreliable(Exception):
    """The system does not tell everything here."""


class Watcher:
    """Tells the folders below `root` in which something changed; `root` for all of them."""

    def __init__(
        self,
        root: Path,
        *,
        poll: float = POLL,
        retry: float = RETRY,
        make_inotify: Callable[[], Inotify] = Inotify,
    ) -> None:
        self._root = root
        self._poll = poll
        self._retry = retry
        self._make_inotify = make_inotify
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
                yield everything
                await asyncio.sleep(self._poll)

    async def _told(self) -> AsyncGenerator[set[str]]:
        if kind := await asyncio.to_thread(shared_with_others, str(self._root)):
            raise Unreliable(f"{self._root} lies on {kind}, which others can write to unheard")
        batches = self._by_inotify() if inotify.is_available() else self._by_library()
        async with aclosing(batches):
            async for batch in batches:
                yield batch

    async def _by_inotify(self) -> AsyncGenerator[set[str]]:
        """Ends when the root itself is gone."""
        with self._make_inotify() as notices:
            watched: dict[int, str] = {}
            await asyncio.to_thread(_watch_all, notices, str(self._root), watched)
            self._recover()
            # what happened before the watches stood is found by one look at everything
            yield {str(self._root)}
            something = asyncio.Event()
            loop = asyncio.get_running_loop()
            loop.add_reader(notices.fileno(), something.set)
            try:
                while True:
                    await something.wait()
                    await asyncio.sleep(STEP)
                    something.clear()
                    changed = await asyncio.to_thread(_take, notices, str(self._root), watched)
                    if changed is None:
                        return
                    yield changed
            finally:
                loop.remove_reader(notices.fileno())

    async def _by_library(self) -> AsyncGenerator[set[str]]:
        """On systems without inotify."""
        root = str(self._root)
        events = watchfiles.awatch(
            self._root, watch_filter=None, step=int(STEP * 1000), ignore_permission_denied=True
        )
        self._recover()
        yield {root}
        async for batch in events:
            yield {_project_of(path, root) for _, path in batch}

    def _recover(self) -> None:
        if self.state.mode == "polling":
            log.info("the system tells of changes again")
        self.state = Watching("watching")

    def _degrade(self, reason: str) -> None:
        if self.state.reason != reason:
            log.warning("changes are found by looking every %g s: %s", self._poll, reason)
        self.state = Watching("polling", reason)


def _watch_all(notices: Inotify, root: str, watched: dict[int, str]) -> None:
    watched[notices.watch(root, follow=True)] = root
    with os.scandir(root) as entries:
        folders = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    for folder in folders:
        _watch(notices, folder, watched)


def _watch(notices: Inotify, folder: str, watched: dict[int, str]) -> None:
    try:
        watched[notices.watch(folder)] = folder
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        # gone again, or none of ours
        return


def _take(notices: Inotify, root: str, watched: dict[int, str]) -> set[str] | None:
    """The folders with changes; None when the root itself is gone."""
    changed: set[str] = set()
    for event in notices.read():
        if event.mask & inotify.OVERFLOW:
            raise Unreliable("so much changed at once that not all of it was told")
        folder = watched.get(event.watch)
        if folder is None:
            continue
        if folder == root and event.mask & (inotify.GONE | inotify.MOVE_SELF):
            return None
        if event.mask & inotify.GONE:
            del watched[event.watch]
        elif folder == root and event.mask & inotify.ISDIR:
            folder = os.path.join(root, event.name)
            if event.mask & (inotify.CREATE | inotify.MOVED_TO):
                _watch(notices, folder, watched)
        changed.add(folder)
    return changed


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
