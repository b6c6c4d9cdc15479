"""The messages of one transcript, in pages from its end or all at once."""

from __future__ import annotations

import errno
import os
import stat
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Literal, TypeVar

from claudekeeper.contract.errors import MessageNotFound, TranscriptUnreadable
from claudekeeper.contract.message import Message
from claudekeeper.transcripts.context_view import ContextNode, context_chain, node_of
from claudekeeper.transcripts.entries import (
    TYPE_PREFIX,
    ObjectSpan,
    decode_unchecked,
    is_irrelevant,
    parse_objects,
    parse_ordinary,
)
from claudekeeper.transcripts.full_view import MAX_EARLY_LINES, BranchPoint, FullView
from claudekeeper.transcripts.history_stream import (
    HistoryStream,
    UuidFilter,
    accept_all,
    stream_context,
    stream_full,
)
from claudekeeper.transcripts.line_reader import (
    FileChanged,
    lines_backwards,
    lines_forwards,
    open_readonly,
)
from claudekeeper.transcripts.locations import DecodedCache, messages_at
from claudekeeper.transcripts.message_link import MessageLink, link_of

View = Literal["full", "context"]
T = TypeVar("T")

# full views that stay for the next page; each holds the links read so far and no text
MAX_CACHED_FILES = 4
MAX_CACHED_LINKS = 200_000
MAX_ATTEMPTS = 3


@dataclass(frozen=True)
class HistorySlice:
    """Messages, oldest first; `before` leads to the page above, None at the beginning."""

    messages: list[Message]
    before: str | None
    branches: list[BranchPoint] = field(default_factory=list)
    # prompts after the last message that no CLI took
    unanswered_prompts: list[Message] = field(default_factory=list)


@dataclass
class _ReadState:
    """How far one version of a file has been read."""

    version: tuple[int, int, int]
    size: int
    full_view: FullView = field(default_factory=FullView)
    context_nodes: list[ContextNode] | None = None
    offset: int = 0
    lock: Lock = field(default_factory=Lock)


class History:
    """Reads transcripts. Its methods block: call them in a thread."""

    def __init__(self) -> None:
        self._states: OrderedDict[tuple[str, bool], _ReadState] = OrderedDict()
        self._lock = Lock()

    def page(
        self,
        path: Path,
        session_id: str,
        *,
        limit: int,
        before: str | None = None,
        view: View = "full",
        nested: bool = False,
    ) -> HistorySlice:
        """The last `limit` messages, or the last ones before the message `before`."""

        def read(descriptor: int, state: _ReadState) -> HistorySlice:
            if view == "context":
                return _context_page(descriptor, state, session_id, limit, before, nested)
            return _full_page(descriptor, state, session_id, limit, before, nested)

        return self._with_state(path, nested, read)

    def stream(
        self,
        path: Path,
        session_id: str,
        *,
        view: View = "full",
        nested: bool = False,
        uuid_filter: Callable[[], UuidFilter] = lambda: accept_all,
    ) -> HistoryStream:
        """Every message, encoded; memory holds locations, not messages.

        `uuid_filter` is called once, and the filter that it returns for each message in order.
        """

        def read(descriptor: int, state: _ReadState) -> HistoryStream:
            if view == "context":
                chain = _read_context(descriptor, state)
                return stream_context(descriptor, session_id, chain, nested, uuid_filter())
            # read all of it anew, and keep nothing of it
            whole = _ReadState(state.version, state.size, offset=state.size)
            _read_all(descriptor, whole, nested)
            return stream_full(descriptor, session_id, whole.full_view, uuid_filter())

        return self._with_state(path, nested, read)

    def is_visible(self, path: Path, uuid: str, offset: int, *, nested: bool = False) -> bool:
        """Whether the line at `offset` is shown as a message, as the file is now.

        A prompt that waited in the queue is not, once it was taken or removed.
        """

        def read(descriptor: int, state: _ReadState) -> bool:
            full_view = state.full_view

            def enough() -> bool:
                index = full_view.index_of(uuid)
                if index is None or state.offset > offset:
                    return state.offset <= offset
                # queued prompts before everything else are decided at the start of the file,
                # and the lines just before it may still turn out to stand behind it
                links = full_view.links
                return len(links) > index + MAX_EARLY_LINES and links[-1].queue_action != "waits"

            if not enough():
                _read_backwards(descriptor, state, nested, enough, DecodedCache())
            index = full_view.index_of(uuid)
            return index is not None and full_view.links[index].kind is not None

        return self._with_state(path, nested, read)

    def read_full_view(self, path: Path, read: Callable[[int, FullView], T]) -> T:
        """A view of a transcript for which every line is read."""

        def whole(descriptor: int, state: _ReadState) -> T:
            _read_all(descriptor, state, False)
            return read(descriptor, state.full_view)

        return self._with_state(path, False, whole)

    def _with_state(self, path: Path, nested: bool, read: Callable[[int, _ReadState], T]) -> T:
        for _ in range(MAX_ATTEMPTS):
            try:
                with open_readonly(path) as descriptor:
                    state = self._state_of(path, nested, descriptor)
                    with state.lock:
                        result = read(descriptor, state)
                self._evict()
                return result
            except FileChanged:
                self._drop_state(path, nested)
        raise TranscriptUnreadable("The transcript kept changing while it was read; try again.")

    def _state_of(self, path: Path, nested: bool, descriptor: int) -> _ReadState:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        version = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
        key = (str(path), nested)
        with self._lock:
            state = self._states.get(key)
            if state is None or state.version != version:
                state = _ReadState(version, facts.st_size, offset=facts.st_size)
                self._states[key] = state
            self._states.move_to_end(key)
            return state

    def _drop_state(self, path: Path, nested: bool) -> None:
        with self._lock:
            self._states.pop((str(path), nested), None)

    def _evict(self) -> None:
        with self._lock:
            while self._states and (
                len(self._states) > MAX_CACHED_FILES
                or sum(len(state.full_view) for state in self._states.values()) > MAX_CACHED_LINKS
            ):
                self._states.popitem(last=False)


def _read_backwards(
    descriptor: int,
    state: _ReadState,
    nested: bool,
    enough: Callable[[], bool],
    fresh: DecodedCache,
) -> None:
    """Read on towards the start of the file, until it is enough or the file ends."""
    full_view = state.full_view
    if full_view.is_complete:
        return
    for offset, line in lines_backwards(descriptor, state.offset):
        if line.startswith(TYPE_PREFIX) and is_irrelevant(line):
            continue
        # these go to a client, so their text is checked
        entry = parse_ordinary(line)
        if entry is not None:
            link = link_of(entry, offset, len(line), nested)
            if link is not None:
                full_view.add(link)
                if link.kind is not None:
                    fresh.add(link, entry)
        else:
            for link in reversed(_links_of(line, offset, nested)):
                full_view.add(link)
        state.offset = offset
        if enough():
            return
    full_view.finish()


def _read_all(descriptor: int, state: _ReadState, nested: bool) -> None:
    """The same to the start of the file; only the locations of its lines are kept.

    All links are read before any is added to the view: that is quicker than one by one.
    """
    full_view = state.full_view
    if full_view.is_complete:
        return
    links: list[MessageLink] = []
    for offset, line, _ in lines_forwards(descriptor, 0, state.offset):
        if not line or (line.startswith(TYPE_PREFIX) and is_irrelevant(line)):
            continue
        entry = decode_unchecked(line)
        if entry is None:
            links += _links_of(line, offset, nested)
        elif (link := link_of(entry, offset, len(line), nested)) is not None:
            links.append(link)
    links.reverse()
    for link in links:
        full_view.add(link)
    full_view.finish()


def _links_of(line: bytes, offset: int, nested: bool) -> list[MessageLink]:
    """The links of a line that may hold several entries, each with its own location."""
    links = (
        link_of(entry, offset + start, end - start, nested)
        for start, end, entry in parse_objects(line)[0]
    )
    return [link for link in links if link is not None]


def _full_page(
    descriptor: int,
    state: _ReadState,
    session_id: str,
    limit: int,
    before: str | None,
    nested: bool,
) -> HistorySlice:
    full_view = state.full_view
    fresh = DecodedCache()
    if before is not None:
        _read_backwards(descriptor, state, nested, lambda: _is_final(full_view, before), fresh)
        if full_view.index_of(before) is None:
            raise MessageNotFound
    page = _Window(full_view, before, limit)
    if not page.is_full():
        _read_backwards(descriptor, state, nested, page.is_full, fresh)
        page.is_full()
    indexes = page.visible_indexes[:limit]
    indexes.reverse()
    links = [full_view.links[index] for index in indexes]
    branches = full_view.branches_of(indexes)
    messages = list(messages_at(descriptor, session_id, links, branches, nested, fresh))
    more = len(page.visible_indexes) > limit
    unanswered = full_view.unanswered_prompts[::-1]
    return HistorySlice(
        messages,
        before=links[0].uuid if more and links else None,
        branches=full_view.branch_points({link.uuid for link in links}),
        unanswered_prompts=list(
            messages_at(descriptor, session_id, unanswered, [None] * len(unanswered), nested)
        ),
    )


def _is_final(full_view: FullView, uuid: str) -> bool:
    index = full_view.index_of(uuid)
    return index is not None and full_view.is_final(index, index + 1)


class _Window:
    """The shown links of a page and one more, collected as the view grows."""

    def __init__(self, full_view: FullView, before: str | None, limit: int) -> None:
        self._full_view = full_view
        self._limit = limit
        index = full_view.index_of(before) if before is not None else None
        self._start = 0 if index is None else index + 1
        self._checked_links = 0
        self.visible_indexes: list[int] = []

    def is_full(self) -> bool:
        """Whether the page is full and nothing can change it any more."""
        links = self._full_view.links
        if not self._full_view.is_complete and len(links) < self._start + self._limit:
            return False
        # a check after every line would be quadratic: check when the page can have grown by half
        if (
            not self._full_view.is_complete
            and len(links) < self._checked_links + (self._checked_links >> 4) + 8
        ):
            return False
        self._checked_links = len(links)
        self.visible_indexes = []
        for index in range(self._start, len(links)):
            if links[index].kind is not None:
                self.visible_indexes.append(index)
                if len(self.visible_indexes) > self._limit:
                    break
        if self._full_view.is_complete:
            return True
        full = len(self.visible_indexes) > self._limit
        return full and self._full_view.is_final(self._start, self.visible_indexes[-1] + 1)


def _read_context(descriptor: int, state: _ReadState) -> list[ContextNode]:
    if state.context_nodes is None:
        nodes: list[ContextNode] = []
        for offset, line, _ in lines_forwards(descriptor, 0, state.size):
            if not line or is_irrelevant(line):
                continue
            whole = parse_ordinary(line)
            spans = (
                [ObjectSpan(0, len(line), whole)] if whole is not None else parse_objects(line)[0]
            )
            for start, end, entry in spans:
                node = node_of(entry, offset + start, end - start)
                if node is not None:
                    nodes.append(node)
        state.context_nodes = context_chain(nodes)
    return state.context_nodes


def _context_page(
    descriptor: int,
    state: _ReadState,
    session_id: str,
    limit: int,
    before: str | None,
    nested: bool,
) -> HistorySlice:
    chain = _read_context(descriptor, state)
    end = len(chain)
    if before is not None:
        end = next((i for i, node in enumerate(chain) if node.uuid == before), -1)
        if end < 0:
            raise MessageNotFound
    start = max(0, end - limit)
    if start > 0 and not chain[start].uuid:
        # an empty uuid leads to no page above it
        start += 1 if end - start > 1 else -1
    nodes = chain[start:end]
    messages = list(messages_at(descriptor, session_id, nodes, [None] * len(nodes), nested))
    return HistorySlice(messages, before=nodes[0].uuid if start > 0 and nodes else None)
