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

from claudekeeper.model.branches import EARLY, Departure, Unrolling
from claudekeeper.model.conversation import Node, context_chain, node_of
from claudekeeper.model.entries import (
    TYPE_FIRST,
    Piece,
    glimpse,
    parse_whole,
    pieces,
    told_nothing,
)
from claudekeeper.model.errors import MessageNotFound, TranscriptUnreadable
from claudekeeper.model.links import Link, link_of
from claudekeeper.model.messages import Message
from claudekeeper.readers.lines import Changed, backwards, forwards, opened
from claudekeeper.readers.places import Fresh, messages_at
from claudekeeper.readers.whole import ALL, Wanted, Whole, whole_context, whole_file

View = Literal["full", "context"]
T = TypeVar("T")

# Unrollings kept for the next page; each holds the links read so far and no text.
KEPT = 4
MOST_KEPT_LINKS = 200_000
ATTEMPTS = 3


@dataclass(frozen=True)
class Page:
    """Messages, oldest first; `before` leads to the page above, None at the beginning."""

    messages: list[Message]
    before: str | None
    branches: list[Departure] = field(default_factory=list)
    # what somebody said after the last of them, that nobody was there any more to take
    left_waiting: list[Message] = field(default_factory=list)


@dataclass
class _Reading:
    """How far one version of a file has been unrolled."""

    version: tuple[int, int, int]
    size: int
    unrolling: Unrolling = field(default_factory=Unrolling)
    context: list[Node] | None = None
    position: int = 0
    lock: Lock = field(default_factory=Lock)


class History:
    """Reads transcripts. Its methods block: call them in a thread."""

    def __init__(self) -> None:
        self._readings: OrderedDict[tuple[str, bool], _Reading] = OrderedDict()
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
    ) -> Page:
        """The last `limit` messages, or the last ones before the message `before`."""

        def read(descriptor: int, reading: _Reading) -> Page:
            if view == "context":
                return _context_page(descriptor, reading, session_id, limit, before, nested)
            return _full_page(descriptor, reading, session_id, limit, before, nested)

        return self._with_reading(path, nested, read)

    def whole(
        self,
        path: Path,
        session_id: str,
        *,
        view: View = "full",
        nested: bool = False,
        wanted: Callable[[], Wanted] = lambda: ALL,
    ) -> Whole:
        """Every message, encoded; memory holds places, not messages.

        `wanted` is asked for once a reading, and its answer for each message in order.
        """

        def read(descriptor: int, reading: _Reading) -> Whole:
            if view == "context":
                chain = _context(descriptor, reading)
                return whole_context(descriptor, session_id, chain, nested, wanted())
            # all of it, whatever is known already, and nothing of it is kept
            unrolled = _Reading(reading.version, reading.size, position=reading.size)
            _unroll_all(descriptor, unrolled, nested)
            return whole_file(descriptor, session_id, unrolled.unrolling, wanted())

        return self._with_reading(path, nested, read)

    def shows(self, path: Path, uuid: str, offset: int, *, nested: bool = False) -> bool:
        """Whether the message of a line that begins at `offset` is told, as the file is now.

        A prompt that waited in line is not, once something became of it.
        """

        def read(descriptor: int, reading: _Reading) -> bool:
            unrolling = reading.unrolling

            def enough() -> bool:
                index = unrolling.index_of(uuid)
                if index is None or reading.position > offset:
                    return reading.position <= offset
                # what waits before everything else is looked at again at the start of the file,
                # and the lines just before it may still turn out to stand behind it
                links = unrolling.links
                return len(links) > index + EARLY and links[-1].queue != "waits"

            if not enough():
                _unroll(descriptor, reading, nested, enough, Fresh())
            index = unrolling.index_of(uuid)
            return index is not None and unrolling.links[index].kind is not None

        return self._with_reading(path, nested, read)

    def unrolled(self, path: Path, read: Callable[[int, Unrolling], T]) -> T:
        """What `read` finds in a transcript of which every line has its place."""

        def whole(descriptor: int, reading: _Reading) -> T:
            _unroll_all(descriptor, reading, False)
            return read(descriptor, reading.unrolling)

        return self._with_reading(path, False, whole)

    def _with_reading(self, path: Path, nested: bool, read: Callable[[int, _Reading], T]) -> T:
        for _ in range(ATTEMPTS):
            try:
                with opened(path) as descriptor:
                    reading = self._reading(path, nested, descriptor)
                    with reading.lock:
                        result = read(descriptor, reading)
                self._trim()
                return result
            except Changed:
                self._forget(path, nested)
        raise TranscriptUnreadable("The transcript kept changing while it was read; try again.")

    def _reading(self, path: Path, nested: bool, descriptor: int) -> _Reading:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        version = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
        key = (str(path), nested)
        with self._lock:
            reading = self._readings.get(key)
            if reading is None or reading.version != version:
                reading = _Reading(version, facts.st_size, position=facts.st_size)
                self._readings[key] = reading
            self._readings.move_to_end(key)
            return reading

    def _forget(self, path: Path, nested: bool) -> None:
        with self._lock:
            self._readings.pop((str(path), nested), None)

    def _trim(self) -> None:
        with self._lock:
            while self._readings and (
                len(self._readings) > KEPT
                or sum(len(reading.unrolling) for reading in self._readings.values())
                > MOST_KEPT_LINKS
            ):
                self._readings.popitem(last=False)


def _unroll(
    descriptor: int,
    reading: _Reading,
    nested: bool,
    enough: Callable[[], bool],
    fresh: Fresh,
) -> None:
    """Read on towards the start of the file until it is enough, or done."""
    unrolling = reading.unrolling
    if unrolling.complete:
        return
    for offset, line in backwards(descriptor, reading.position):
        if line.startswith(TYPE_FIRST) and told_nothing(line):
            continue
        # what is kept goes to a client, so its text is looked at
        entry = parse_whole(line)
        if entry is not None:
            link = link_of(entry, offset, len(line), nested)
            if link is not None:
                unrolling.add(link)
                if link.kind is not None:
                    fresh.keep(link, entry)
        else:
            for link in reversed(_links_of(line, offset, nested)):
                unrolling.add(link)
        reading.position = offset
        if enough():
            return
    unrolling.finish()


def _unroll_all(descriptor: int, reading: _Reading, nested: bool) -> None:
    """The same to the very start of the file; nothing but the places of its lines is kept.

    All of them are learned before any is unrolled: that is quicker than one by one.
    """
    unrolling = reading.unrolling
    if unrolling.complete:
        return
    links: list[Link] = []
    for offset, line, _ in forwards(descriptor, 0, reading.position):
        if not line or (line.startswith(TYPE_FIRST) and told_nothing(line)):
            continue
        entry = glimpse(line)
        if entry is None:
            links += _links_of(line, offset, nested)
        elif (link := link_of(entry, offset, len(line), nested)) is not None:
            links.append(link)
    links.reverse()
    for link in links:
        unrolling.add(link)
    unrolling.finish()


def _links_of(line: bytes, offset: int, nested: bool) -> list[Link]:
    """The links of a line that may hold several entries, each with its own place."""
    found = (
        link_of(entry, offset + start, end - start, nested) for start, end, entry in pieces(line)[0]
    )
    return [link for link in found if link is not None]


def _full_page(
    descriptor: int,
    reading: _Reading,
    session_id: str,
    limit: int,
    before: str | None,
    nested: bool,
) -> Page:
    unrolling = reading.unrolling
    fresh = Fresh()
    if before is not None:
        _unroll(descriptor, reading, nested, lambda: _is_placed(unrolling, before), fresh)
        if unrolling.index_of(before) is None:
            raise MessageNotFound
    page = _Window(unrolling, before, limit)
    if not page.filled():
        _unroll(descriptor, reading, nested, page.filled, fresh)
        page.filled()
    shown = page.shown[:limit]
    shown.reverse()
    links = [unrolling.links[index] for index in shown]
    branches = unrolling.branches_of(shown)
    messages = list(messages_at(descriptor, session_id, links, branches, nested, fresh))
    more = len(page.shown) > limit
    left = unrolling.left_waiting[::-1]
    return Page(
        messages,
        before=links[0].uuid if more and links else None,
        branches=unrolling.departures({link.uuid for link in links}),
        left_waiting=list(messages_at(descriptor, session_id, left, [None] * len(left), nested)),
    )


def _is_placed(unrolling: Unrolling, uuid: str) -> bool:
    index = unrolling.index_of(uuid)
    return index is not None and unrolling.settled(index, index + 1)


class _Window:
    """The shown links of a page and one more, found as the unrolling grows."""

    def __init__(self, unrolling: Unrolling, before: str | None, limit: int) -> None:
        self._unrolling = unrolling
        self._limit = limit
        index = unrolling.index_of(before) if before is not None else None
        self._start = 0 if index is None else index + 1
        self._checked = 0
        self.shown: list[int] = []

    def filled(self) -> bool:
        """Whether the page is full and nothing can change it any more."""
        links = self._unrolling.links
        if not self._unrolling.complete and len(links) < self._start + self._limit:
            return False
        # looking again at every line would be quadratic: look when the page can have grown by half
        if not self._unrolling.complete and len(links) < self._checked + (self._checked >> 4) + 8:
            return False
        self._checked = len(links)
        self.shown = []
        for index in range(self._start, len(links)):
            if links[index].kind is not None:
                self.shown.append(index)
                if len(self.shown) > self._limit:
                    break
        if self._unrolling.complete:
            return True
        full = len(self.shown) > self._limit
        return full and self._unrolling.settled(self._start, self.shown[-1] + 1)


def _context(descriptor: int, reading: _Reading) -> list[Node]:
    if reading.context is None:
        nodes: list[Node] = []
        for offset, line, _ in forwards(descriptor, 0, reading.size):
            if not line or told_nothing(line):
                continue
            whole = parse_whole(line)
            found = [Piece(0, len(line), whole)] if whole is not None else pieces(line)[0]
            for start, end, entry in found:
                node = node_of(entry, offset + start, end - start)
                if node is not None:
                    nodes.append(node)
        reading.context = context_chain(nodes)
    return reading.context


def _context_page(
    descriptor: int,
    reading: _Reading,
    session_id: str,
    limit: int,
    before: str | None,
    nested: bool,
) -> Page:
    chain = _context(descriptor, reading)
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
    return Page(messages, before=nodes[0].uuid if start > 0 and nodes else None)
