"""The lines of transcripts that forks and copies repeat: read to see what two files share."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice
from threading import Lock

import msgspec
from msgspec import Raw

from claudekeeper.model.copies import COPIED, Chain, beginning_of, origin_of
from claudekeeper.model.entries import NOTHING, REFUSED, Entry, parse
from claudekeeper.model.replies import identity
from claudekeeper.model.said import Listener
from claudekeeper.readers.lines import Changed, forwards, opened

# how many lines of all chains together are kept for the next question
MOST_KEPT = 400_000
# how far into a file its first line is looked for
FAR = 4 * 1024 * 1024
# how many lines after a fork are looked at for what was said first
NEAR = 64


class _Line(msgspec.Struct, rename="camel", gc=False):
    """As much of a line as is needed to know it again."""

    type: str = ""
    uuid: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    is_sidechain: bool = False
    is_meta: bool = False
    forked_from: Raw = NOTHING


_line = msgspec.json.Decoder(_Line)


def read_chain(path: str, session_id: str) -> Chain:
    """Every line of a file that can be copied; what is torn or strange is none."""
    chain = Chain()
    with opened(path) as descriptor:
        for offset, written, _ in forwards(descriptor, 0, os.fstat(descriptor).st_size):
            for line in _lines(written):
                if line.type not in COPIED or not line.uuid or line.is_sidechain:
                    if chain.noted is None and not line.is_sidechain:
                        chain.noted = line.timestamp
                    continue
                origin = origin_of(line.forked_from)
                if not len(chain):
                    chain.said = line.timestamp
                    told = origin[0] if origin is not None else (line.session_id or "").lower()
                    chain.copied_from = told if told != session_id else None
                chain.own.append(identity(line.uuid))
                chain.origins.append(identity(origin[1]) if origin is not None else 0)
                chain.offsets.append(offset)
                chain.counts.append(line.type in ("user", "assistant") and not line.is_meta)
    return chain


def read_beginning(path: str) -> tuple[int, int]:
    """The first line of a file that can be copied, as a summary keeps it."""
    with opened(path) as descriptor:
        end = min(os.fstat(descriptor).st_size, FAR)
        for _, written, _ in forwards(descriptor, 0, end):
            for entry in parse(written)[0] if written else []:
                found = beginning_of(entry)
                if found[0]:
                    return found
    return 0, 0


def uuid_at(path: str, chain: Chain, place: int) -> str | None:
    """The uuid of a line of the chain."""
    for entry in _from(path, chain, place, 1):
        if entry.uuid and identity(entry.uuid) == chain.own[place]:
            return entry.uuid
    return None


def first_words(path: str, chain: Chain, place: int) -> tuple[str | None, str | None]:
    """When something was first said from this place on, and the first prompt among it."""
    time: str | None = None
    listener = Listener()
    for entry in _from(path, chain, place, NEAR):
        if entry.is_sidechain or entry.type not in COPIED:
            continue
        time = time or entry.timestamp
        said = listener.said(entry)
        if said is not None and said[1]:
            return time, said[0]
    return time, None


def _from(path: str, chain: Chain, place: int, most: int) -> Iterator[Entry]:
    """The lines of the file from one of its chain on."""
    if place >= len(chain):
        return
    with opened(path) as descriptor:
        lines = forwards(descriptor, chain.offsets[place], os.fstat(descriptor).st_size)
        for _, written, _ in islice(lines, most):
            yield from parse(written)[0] if written else ()


class Chains:
    """Chains, kept as long as their files are what they were. It blocks: call it in a thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[tuple[int, int, int], Chain]] = OrderedDict()
        self._lock = Lock()

    def of(self, path: str, session_id: str) -> Chain:
        facts = os.stat(path)
        version = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
        with self._lock:
            known = self._kept.get(path)
            if known is not None and known[0] == version:
                self._kept.move_to_end(path)
                return known[1]
        try:
            chain = read_chain(path, session_id)
        except Changed:
            # cut short while it was read: what is left is read once more
            chain = read_chain(path, session_id)
        with self._lock:
            self._kept[path] = (version, chain)
            self._kept.move_to_end(path)
            while (
                len(self._kept) > 1
                and sum(len(each) for _, each in self._kept.values()) > MOST_KEPT
            ):
                self._kept.popitem(last=False)
        return chain


def _lines(written: bytes) -> list[_Line]:
    if not written:
        return []
    try:
        return [_line.decode(written)]
    except REFUSED:
        return [
            _Line(
                each.type,
                each.uuid,
                each.session_id,
                each.timestamp,
                each.is_sidechain,
                each.is_meta,
                each.forked_from,
            )
            for each in parse(written)[0]
        ]
