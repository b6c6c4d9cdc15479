"""Follows transcripts that grow, whoever writes them: new entries become messages."""

from __future__ import annotations

import asyncio
import os
import time
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path

import msgspec

from claudekeeper.catalog.catalog import Catalog, RowChange
from claudekeeper.catalog.presence import PresenceChange, PresenceMonitor
from claudekeeper.contract.events import Resync
from claudekeeper.contract.message import Message
from claudekeeper.core.bounded import BoundedDict
from claudekeeper.core.paths import is_outside
from claudekeeper.core.signals import Signal
from claudekeeper.core.tasks import Tasks
from claudekeeper.events.bus import EventBus
from claudekeeper.events.delivery_log import DeliveryLogs
from claudekeeper.events.rewind_detector import RewindDetector
from claudekeeper.net.errors import ApiError
from claudekeeper.transcripts.entries import Entry
from claudekeeper.transcripts.history import History
from claudekeeper.transcripts.layout import (
    parse_transcript_path,
    session_folder,
    subagent_files_below,
    subagent_files_beside,
)
from claudekeeper.transcripts.messages import kind_of, message_of
from claudekeeper.transcripts.subagents import find_call_by_prompt, spawn_call_of
from claudekeeper.transcripts.tail import Growth, Tail, read_growth, tail_at_end

# transcripts whose place is remembered; any other begins where the catalog knew it to end
MAX_FILES = 1_024
# seconds without new entries after which what was delivered is compared with the history
QUIET_SECONDS = 1.0
MAX_COMPARED = 200
# lines that can be messages by themselves; one of a queue depends on what comes of it
_MESSAGE_TYPES = frozenset({"user", "assistant", "system", "attachment"})


class FollowedFile(msgspec.Struct, gc=False):
    """A file that is followed: a session's own, or that of one of its subagents."""

    session_id: str
    tail: Tail
    agent_id: str | None = None
    tool_use_id: str | None = None
    # it was rewritten, or may have been: what is delivered now need not be all
    maybe_rewritten: bool = False


class NewEntries(msgspec.Struct, frozen=True):
    """Entries that were appended to a session's transcript, or to one of its subagents'."""

    session_id: str
    entries: list[Entry]


class TranscriptFollower:
    """Delivers each message once, whichever way it was seen first."""

    def __init__(
        self,
        catalog: Catalog,
        delivery_logs: DeliveryLogs,
        presence: PresenceMonitor,
        history: History,
        bus: EventBus,
    ) -> None:
        self.entries_read = Signal[NewEntries]()
        self._catalog = catalog
        self._root = catalog.projects
        self._delivery_logs = delivery_logs
        self._presence = presence
        self._history = history
        self._bus = bus
        self._tasks = Tasks()
        self._started_ns = time.time_ns()
        self._files: OrderedDict[str, FollowedFile] = OrderedDict()
        self._rewind_detectors: BoundedDict[str, RewindDetector] = BoundedDict(MAX_FILES)
        self._with_subagents: set[str] = set()
        self._dirty: dict[str, None] = {}
        self._has_changes = asyncio.Event()
        self._withheld: dict[str, list[Message]] = {}
        self._check_timers: dict[str, asyncio.TimerHandle] = {}

    async def start(self) -> None:
        self._tasks.start(self._read_changes(), name="follow")

    async def close(self) -> None:
        for check in self._check_timers.values():
            check.cancel()
        await self._tasks.close()

    # ---- what may have changed ----

    def handle_file_changes(self, paths: Iterable[str]) -> None:
        """Something happened to these files."""
        for path in paths:
            if path in self._files or self._try_follow(path):
                self._dirty[path] = None
        if self._dirty:
            self._has_changes.set()

    def handle_row_change(self, change: RowChange) -> None:
        """The catalog saw another version of a session; it may be the first to see it."""
        before, row = change.before, change.after
        if row is None:
            if before is not None:
                self._remove_file(before.file.path, before.file.id)
            return
        path = row.file.path
        if change.is_same_version:
            return
        if before is not None and before.file.path != path:
            # it goes on in another folder
            self._add_file(path, row.file.id, Tail(path, row.file.inode, row.file.size))
            self._publish_resync(row.file.id)
        elif path not in self._files:
            earlier = before.file if before is not None else None
            self._add_file(
                path,
                row.file.id,
                Tail(path, earlier.inode, earlier.size) if earlier is not None else Tail(path),
            )
        self.handle_file_changes([path])

    def handle_presence_change(self, change: PresenceChange) -> None:
        """Somebody else runs this session, or not any more: its subagents may write at any time."""
        row = self._catalog.peek_row(change.session_id)
        if row is not None:
            self._tasks.start(
                self._follow_subagent_files(row.file.path),
                name=f"follow:subagents:{change.session_id}",
            )

    def deliver_withheld(self, session_id: str) -> None:
        """Perhaps no CLI of ours delivers what this session says any more."""
        if session_id in self._withheld and not self._presence.is_only_ours(session_id):
            for message in self._withheld.pop(session_id):
                self._deliver(session_id, message)

    def _try_follow(self, path: str) -> bool:
        """Whether the path is a transcript; one that was not known begins."""
        transcript = parse_transcript_path(path, self._root)
        if transcript is None:
            return False
        if transcript.agent is None:
            return self._try_follow_session(path, transcript.session)
        # beside the sessions, as of an older Claude Code: whose it is stands in it
        self._files[path] = FollowedFile(transcript.session, Tail(path), transcript.agent)
        return True

    def _try_follow_session(self, path: str, session_id: str) -> bool:
        row = self._catalog.peek_row(session_id)
        if row is None:
            self._add_file(path, session_id, Tail(path))
        elif row.file.path == path:
            self._add_file(path, session_id, Tail(path, row.file.inode, row.file.size))
        else:
            # a second file of this name; the catalog says when it is the one that counts
            return False
        return True

    def _add_file(self, path: str, session_id: str, tail: Tail) -> None:
        self._files[path] = FollowedFile(session_id, tail)
        while len(self._files) > MAX_FILES:
            old, _ = self._files.popitem(last=False)
            self._with_subagents.discard(old)

    def _remove_file(self, path: str, session_id: str) -> None:
        if self._files.pop(path, None) is not None:
            self._publish_resync(session_id)

    # ---- reading ----

    async def _read_changes(self) -> None:
        while True:
            await self._has_changes.wait()
            self._has_changes.clear()
            dirty, self._dirty = self._dirty, {}
            files = [self._files[path] for path in dirty if path in self._files]
            growths = await asyncio.to_thread(_read_growths, files, self._started_ns, self._root)
            for file, growth in zip(files, growths, strict=True):
                if self._files.get(file.tail.path) is file:
                    self._handle_growth(file, growth)
            for path in dirty:
                if path in self._files and path not in self._with_subagents:
                    self._files.move_to_end(path)
                    await self._follow_subagent_files(path)

    def _handle_growth(self, file: FollowedFile, growth: Growth) -> None:
        if growth.change == "gone":
            self._remove_file(file.tail.path, file.session_id)
            return
        if file.tool_use_id is None and file.agent_id is not None:
            # its session is unknown yet: it is read again when it grows
            return
        file.tail = growth.tail
        file.maybe_rewritten = (
            file.maybe_rewritten or growth.is_uncertain or growth.change == "rewritten"
        )
        if growth.change in ("rewritten", "flood"):
            self._rewind_detectors.pop(file.session_id, None)
            self._publish_resync(file.session_id)
            return
        if file.agent_id is not None:
            self._deliver_subagent_entries(file, growth.entries)
        elif growth.entries:
            self._deliver_session_entries(file, growth)
            if file.maybe_rewritten:
                self._schedule_check(file)

    def _deliver_session_entries(self, file: FollowedFile, growth: Growth) -> None:
        session_id = file.session_id
        rewinds = self._rewind_detectors.get(session_id)
        if rewinds is None:
            rewinds = RewindDetector(growth.earlier_entries)
        self._rewind_detectors[session_id] = rewinds
        elsewhere = not self._presence.is_only_ours(session_id)
        rewinds.begin_batch()
        are_rewinds = [rewinds.add(entry) for entry in growth.entries]
        if rewinds.queue_changed and elsewhere:
            # clients that show the queue read again, before the messages that left it come
            self._publish_resync(session_id)
        for entry in growth.entries:
            kind = kind_of(entry) if entry.type in _MESSAGE_TYPES else None
            if kind is None:
                continue
            message = message_of(entry, session_id, kind)
            if elsewhere:
                rewinds.delivered.append(message.uuid)
                self._deliver(session_id, message)
            elif not self._delivery_logs.of(session_id).has_delivered(message.uuid):
                self._withheld.setdefault(session_id, []).append(message)
        self.entries_read.emit(NewEntries(session_id, growth.entries))
        if not elsewhere:
            self._drop_delivered(session_id)
            rewinds.delivered.clear()
            return
        self._delivery_logs.of(session_id).trim()
        if any(are_rewinds):
            # a rewind: the messages before now belong to an abandoned branch
            rewinds.delivered.clear()
            # what is read now may be labelled otherwise by the lines that follow
            rewinds.pages_differ = True
            self._publish_resync(session_id)
        self._schedule_check(file)

    def _deliver(self, session_id: str, message: Message) -> None:
        self._delivery_logs.of(session_id).deliver_from_file(message)

    def _deliver_subagent_entries(self, file: FollowedFile, entries: list[Entry]) -> None:
        if self._presence.is_only_ours(file.session_id) or file.tool_use_id is None:
            return
        log = self._delivery_logs.of(file.session_id)
        for entry in entries:
            kind = kind_of(entry, nested=True) if entry.type in _MESSAGE_TYPES else None
            if kind is not None:
                message = message_of(entry, file.session_id, kind)
                message.agent_id = file.agent_id
                message.parent_tool_use_id = file.tool_use_id
                log.deliver_from_subagent(message)
        log.trim()
        self.entries_read.emit(NewEntries(file.session_id, entries))

    def _drop_delivered(self, session_id: str) -> None:
        """Forgets the withheld messages that our CLI has delivered itself by now."""
        log = self._delivery_logs.of(session_id)
        undelivered = [
            message
            for message in self._withheld.get(session_id, [])
            if not log.has_delivered(message.uuid)
        ]
        if undelivered:
            self._withheld[session_id] = undelivered
        else:
            self._withheld.pop(session_id, None)

    async def _follow_subagent_files(self, path: str) -> None:
        """Follow the subagents of a session that has come to life."""
        if path in self._with_subagents:
            return
        self._with_subagents.add(path)
        folder = session_folder(path)
        self.handle_file_changes(
            await asyncio.to_thread(subagent_files_beside, path, self._started_ns)
        )
        # first how long they are, then the watch, then a look: so nothing falls in between
        for tail in await asyncio.to_thread(_subagent_tails, folder, self._started_ns):
            if tail.path not in self._files and self._try_follow(tail.path):
                self._files[tail.path].tail = tail
        if await asyncio.to_thread(os.path.isdir, folder):
            self._catalog.watcher.watch_below(folder)
            self.handle_file_changes(await asyncio.to_thread(subagent_files_below, folder))

    # ---- being right ----

    def _publish_resync(self, session_id: str) -> None:
        """What was delivered of this session does not hold any more."""
        self._bus.publish(Resync(session_id=session_id))

    def _schedule_check(self, file: FollowedFile) -> None:
        earlier = self._check_timers.pop(file.session_id, None)
        if earlier is not None:
            earlier.cancel()
        loop = asyncio.get_running_loop()
        self._check_timers[file.session_id] = loop.call_later(
            QUIET_SECONDS, self._start_check, file
        )

    def _start_check(self, file: FollowedFile) -> None:
        self._check_timers.pop(file.session_id, None)
        self._tasks.start(self._compare_with_history(file), name=f"follow:check:{file.session_id}")

    async def _compare_with_history(self, file: FollowedFile) -> None:
        """Prompts that wait, lines written twice or too early: a reader may see another order."""
        if file.maybe_rewritten:
            # entries that were there before were not delivered again
            file.maybe_rewritten = False
            self._publish_resync(file.session_id)
            return
        rewinds = self._rewind_detectors.get(file.session_id)
        if rewinds is None or not rewinds.delivered:
            return
        delivered = list(rewinds.delivered)
        size = file.tail.offset
        try:
            page = await asyncio.to_thread(
                self._history.page, Path(file.tail.path), file.session_id, limit=MAX_COMPARED
            )
        except (OSError, ApiError):
            return
        if file.tail.offset != size or list(rewinds.delivered) != delivered:
            return  # it went on meanwhile: the next quiet will do
        last_messages = page.messages[-len(delivered) :]
        read = [message.uuid for message in last_messages]
        branches = {branch.id for branch in page.branches}
        unsettled = rewinds.pop_pages_differ()
        if read != delivered or branches != rewinds.branches or unsettled:
            rewinds.delivered.clear()
            rewinds.delivered.extend(read)
            rewinds.branches = branches
            self._publish_resync(file.session_id)


def _read_growths(files: list[FollowedFile], started_ns: int, root: Path) -> list[Growth]:
    for file in files:
        if file.agent_id is not None and file.tool_use_id is None:
            _find_parent_call(file, Path(file.tail.path), started_ns)
    return [
        Growth("same", file.tail) if _is_ignored(file, root) else read_growth(file.tail)
        for file in files
    ]


def _is_ignored(file: FollowedFile, root: Path) -> bool:
    if file.agent_id and file.tool_use_id is None:
        return True
    # whoever can put a link there need not be able to read what it leads to
    return Path(file.tail.path).is_symlink() and is_outside(file.tail.path, root)


def _find_parent_call(file: FollowedFile, path: Path, started_ns: int) -> None:
    if file.session_id:
        file.tool_use_id = spawn_call_of(path)
    elif (call := find_call_by_prompt(path)) is not None:
        file.session_id, file.tool_use_id = call
        # what was written before the keeper started is not delivered
        file.tail = tail_at_end(str(path), started_ns)


def _subagent_tails(folder: str, started_ns: int) -> list[Tail]:
    """From the end of what was written before the keeper started."""
    return [tail_at_end(path, started_ns) for path in subagent_files_below(folder)]
