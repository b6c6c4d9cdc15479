"""Transcripts that grow, whoever writes them: new lines become messages for those who watch."""

from __future__ import annotations

import asyncio
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from claudekeeper.live.bus import Bus
from claudekeeper.live.ledger import Ledgers
from claudekeeper.live.tasks import Tasks
from claudekeeper.live.trail import Trail
from claudekeeper.model.entries import Entry
from claudekeeper.model.errors import KeeperError
from claudekeeper.model.events import Resync
from claudekeeper.model.messages import Message, kind_of, message_of
from claudekeeper.readers.discovery import SUFFIX, Row
from claudekeeper.readers.history import History
from claudekeeper.readers.paths import is_session_id, leads_out
from claudekeeper.readers.subagents import agent_of, call_beside, call_of, files_below, files_beside
from claudekeeper.readers.tail import Growth, Tail, at_end, grow
from claudekeeper.readers.watch import Watcher

# transcripts whose place is remembered; any other begins where the catalog knew it to end
REMEMBERED = 1_024
# seconds of quiet after which what was told is compared with what a reader would get
QUIET = 1.0
COMPARED = 200
# project/session.jsonl, below the projects folder
SESSION_DEPTH = 2
# lines that can be messages by themselves; one of a queue depends on what comes of it
_LINES = frozenset({"user", "assistant", "system", "attachment"})


class Followed(msgspec.Struct, gc=False):
    """A file that is followed: a session's own, or that of one of its subagents."""

    session_id: str
    tail: Tail
    agent_id: str | None = None
    call: str | None = None
    # it was rewritten, or may have been: what is told of it now need not be all
    renewed: bool = False


class Follow:
    """Tells each message once, whichever way it was seen first."""

    def __init__(
        self,
        watcher: Watcher,
        projects: Path,
        known: Callable[[str], Row | None],
        ledgers: Ledgers,
        history: History,
        bus: Bus,
    ) -> None:
        self._watcher = watcher
        self._root = projects
        self._known = known
        self._ledgers = ledgers
        self._history = history
        self._bus = bus
        self._tasks = Tasks()
        self._began = time.time_ns()
        self._files: OrderedDict[str, Followed] = OrderedDict()
        self._trails: OrderedDict[str, Trail] = OrderedDict()
        self._below: set[str] = set()
        self._dirty: dict[str, None] = {}
        self._news = asyncio.Event()
        self._held: dict[str, list[Message]] = {}
        self._checks: dict[str, asyncio.TimerHandle] = {}
        # whether a CLI of ours tells what this session says, so that the file need not
        self.told_otherwise: Callable[[str], bool] = lambda _: False
        # who settles questions by what stands in the transcript
        self.heard: Callable[[str, list[Entry]], None] = lambda _id, _entries: None

    async def start(self) -> None:
        self._tasks.start(self._read_on(), name="follow")

    async def close(self) -> None:
        for check in self._checks.values():
            check.cancel()
        await self._tasks.close()

    # ---- what may have changed ----

    def touched(self, paths: Iterable[str]) -> None:
        """Something happened to these files."""
        for path in paths:
            if path in self._files or self._recognised(path):
                self._dirty[path] = None
        if self._dirty:
            self._news.set()

    def row_changed(self, before: Row | None, row: Row | None) -> None:
        """The catalog saw another version of a session; it may be the first to see it."""
        if row is None:
            if before is not None:
                self._forget(before.found.path, before.found.id)
            return
        path = row.found.path
        if before is not None and before.found.is_same_version(row.found):
            return  # only read more closely
        if before is not None and before.found.path != path:
            # it goes on in another folder
            self._begin(path, row.found.id, Tail(path, row.found.inode, row.found.size))
            self._again(row.found.id)
        elif path not in self._files:
            found = before.found if before is not None else None
            self._begin(
                path,
                row.found.id,
                Tail(path, found.inode, found.size) if found is not None else Tail(path),
            )
        self.touched([path])

    def attend(self, session_id: str) -> None:
        """Somebody runs this session: its subagents may write at any time."""
        row = self._known(session_id)
        if row is not None:
            self._tasks.start(self._look_below(row.found.path), name=f"follow:below:{session_id}")

    def settle(self, session_id: str) -> None:
        """Perhaps nobody else tells what this session says any more."""
        if session_id in self._held and not self.told_otherwise(session_id):
            for message in self._held.pop(session_id):
                self._tell(session_id, message)

    def _recognised(self, path: str) -> bool:
        """Whether the path is a transcript; one that was not known begins."""
        if not path.endswith(SUFFIX):
            return False
        parts = Path(path).parts[len(self._root.parts) :]
        agent_id = agent_of(parts[-1])
        if len(parts) == SESSION_DEPTH:
            if agent_id is None:
                return self._recognised_session(path, parts[1].removesuffix(SUFFIX))
            # of an older Claude Code; whose it is stands in it
            self._files[path] = Followed("", Tail(path), agent_id)
            return True
        if agent_id is None or len(parts) < SESSION_DEPTH or parts[2] != "subagents":
            return False
        self._files[path] = Followed(parts[1].lower(), Tail(path), agent_id)
        return True

    def _recognised_session(self, path: str, session_id: str) -> bool:
        if not is_session_id(session_id):
            return False
        session_id = session_id.lower()
        row = self._known(session_id)
        if row is None:
            self._begin(path, session_id, Tail(path))
        elif row.found.path == path:
            self._begin(path, session_id, Tail(path, row.found.inode, row.found.size))
        else:
            # a second file of this name; the catalog says when it is the one that counts
            return False
        return True

    def _begin(self, path: str, session_id: str, tail: Tail) -> None:
        self._files[path] = Followed(session_id, tail)
        while len(self._files) > REMEMBERED:
            old, _ = self._files.popitem(last=False)
            self._below.discard(old)

    def _forget(self, path: str, session_id: str) -> None:
        if self._files.pop(path, None) is not None:
            self._again(session_id)

    # ---- reading ----

    async def _read_on(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            dirty, self._dirty = self._dirty, {}
            files = [self._files[path] for path in dirty if path in self._files]
            growths = await asyncio.to_thread(_grow, files, self._began, self._root)
            for file, growth in zip(files, growths, strict=True):
                if self._files.get(file.tail.path) is file:
                    self._take(file, growth)
            for path in dirty:
                if path in self._files and path not in self._below:
                    self._files.move_to_end(path)
                    await self._look_below(path)

    def _take(self, file: Followed, growth: Growth) -> None:
        if growth.fate == "gone":
            self._forget(file.tail.path, file.session_id)
            return
        if file.call is None and file.agent_id is not None:
            # whose it is could not be told: it is looked at anew when it grows
            return
        file.tail = growth.tail
        file.renewed = file.renewed or growth.unsure or growth.fate == "rewritten"
        if growth.fate in ("rewritten", "flood"):
            self._trails.pop(file.session_id, None)
            self._again(file.session_id)
            return
        if file.agent_id is not None:
            self._tell_nested(file, growth.entries)
        elif growth.entries:
            self._tell_main(file, growth)
            if file.renewed:
                self._check_later(file)

    def _tell_main(self, file: Followed, growth: Growth) -> None:
        session_id = file.session_id
        trail = self._trails.get(session_id)
        if trail is None:
            trail = self._trails[session_id] = Trail(growth.earlier)
            while len(self._trails) > REMEMBERED:
                self._trails.popitem(last=False)
        self._trails.move_to_end(session_id)
        elsewhere = not self.told_otherwise(session_id)
        trail.begin()
        odds = [trail.add(entry) for entry in growth.entries]
        if trail.queue_moved and elsewhere:
            # whoever shows what waited reads again, before it is told where it was taken up
            self._again(session_id)
        for entry in growth.entries:
            kind = kind_of(entry) if entry.type in _LINES else None
            if kind is None:
                continue
            message = message_of(entry, session_id, kind)
            if elsewhere:
                trail.told.append(message.uuid)
                self._tell(session_id, message)
            elif not self._ledgers.of(session_id).knows(message.uuid):
                self._held.setdefault(session_id, []).append(message)
        self.heard(session_id, growth.entries)
        if not elsewhere:
            self._drop_known(session_id)
            trail.told.clear()
            return
        self._ledgers.of(session_id).turn_over()
        if any(odds):
            # a rewind: what was said before now belongs to an abandoned branch
            trail.told.clear()
            # what is read now may be labelled otherwise by the lines that follow
            trail.unsettled = True
            self._again(session_id)
        self._check_later(file)

    def _tell(self, session_id: str, message: Message) -> None:
        self._ledgers.of(session_id).tell_written(message)

    def _tell_nested(self, file: Followed, entries: list[Entry]) -> None:
        if self.told_otherwise(file.session_id) or file.call is None:
            return
        ledger = self._ledgers.of(file.session_id)
        for entry in entries:
            kind = kind_of(entry, nested=True) if entry.type in _LINES else None
            if kind is not None:
                message = message_of(entry, file.session_id, kind)
                message.agent_id = file.agent_id
                message.parent_tool_use_id = file.call
                ledger.tell_nested(message)
        ledger.turn_over()
        self.heard(file.session_id, entries)

    def _drop_known(self, session_id: str) -> None:
        """What the CLI of ours has said itself by now."""
        ledger = self._ledgers.of(session_id)
        held = [each for each in self._held.get(session_id, []) if not ledger.knows(each.uuid)]
        if held:
            self._held[session_id] = held
        else:
            self._held.pop(session_id, None)

    async def _look_below(self, path: str) -> None:
        """Follow the subagents of a session that has come to life."""
        if path in self._below:
            return
        self._below.add(path)
        folder = path.removesuffix(SUFFIX)
        self.touched(await asyncio.to_thread(files_beside, path, self._began))
        # first how long they are, then the watch, then a look: so nothing falls in between
        for tail in await asyncio.to_thread(_nested_tails, folder, self._began):
            if tail.path not in self._files and self._recognised(tail.path):
                self._files[tail.path].tail = tail
        if await asyncio.to_thread(os.path.isdir, folder):
            self._watcher.look_below(folder)
            self.touched(await asyncio.to_thread(files_below, folder))

    # ---- being right ----

    def _again(self, session_id: str) -> None:
        """What was told of this session does not hold any more."""
        self._bus.publish(Resync(session_id=session_id))

    def _check_later(self, file: Followed) -> None:
        known = self._checks.pop(file.session_id, None)
        if known is not None:
            known.cancel()
        loop = asyncio.get_running_loop()
        self._checks[file.session_id] = loop.call_later(QUIET, self._begin_check, file)

    def _begin_check(self, file: Followed) -> None:
        self._checks.pop(file.session_id, None)
        self._tasks.start(self._check(file), name=f"follow:check:{file.session_id}")

    async def _check(self, file: Followed) -> None:
        """Prompts that wait, lines written twice or too early: a reader may see another order."""
        if file.renewed:
            # lines that stand there again were not told again
            file.renewed = False
            self._again(file.session_id)
            return
        trail = self._trails.get(file.session_id)
        if trail is None or not trail.told:
            return
        told = list(trail.told)
        size = file.tail.offset
        try:
            page = await asyncio.to_thread(
                self._history.page, Path(file.tail.path), file.session_id, limit=COMPARED
            )
        except (OSError, KeeperError):
            return
        if file.tail.offset != size or list(trail.told) != told:
            return  # it went on meanwhile: the next quiet will do
        last = page.messages[-len(told) :]
        read = [message.uuid for message in last]
        branches = {departure.id for departure in page.branches}
        unsettled = trail.settle()
        if read != told or branches != trail.branches or unsettled:
            trail.told.clear()
            trail.told.extend(read)
            trail.branches = branches
            self._again(file.session_id)


def _grow(files: list[Followed], began: int, root: Path) -> list[Growth]:
    for file in files:
        if file.agent_id is not None and file.call is None:
            _find_call(file, Path(file.tail.path), began)
    return [
        Growth("same", file.tail) if _says_nothing(file, root) else grow(file.tail)
        for file in files
    ]


def _says_nothing(file: Followed, root: Path) -> bool:
    if file.agent_id and file.call is None:
        return True
    # whoever can put a link there need not be able to read what it leads to
    return Path(file.tail.path).is_symlink() and leads_out(file.tail.path, root)


def _find_call(file: Followed, path: Path, began: int) -> None:
    if file.session_id:
        file.call = call_of(path)
    elif (found := call_beside(path)) is not None:
        file.session_id, file.call = found
        # what was written before we began is known
        file.tail = at_end(str(path), began)


def _nested_tails(folder: str, began: int) -> list[Tail]:
    """What was written before we began is known; the rest is told."""
    return [at_end(path, began) for path in files_below(folder)]
