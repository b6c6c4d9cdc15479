"""The lines of transcripts that forks and copies repeat: read to see what two files share."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice
from threading import Lock

import msgspec
from msgspec import Raw

from claudekeeper.analysis.reply_usage import identity
from claudekeeper.analysis.shared_messages import (
    COPIED_TYPES,
    MessageChain,
    line_identities,
    origin_of,
)
from claudekeeper.transcripts.entries import DECODE_ERRORS, EMPTY_RAW, Entry, parse_line
from claudekeeper.transcripts.line_reader import FileChanged, lines_forwards, open_readonly
from claudekeeper.transcripts.spoken_prompts import PromptFilter

# how many lines of all chains together are kept for the next question
MOST_CACHED_LINES = 400_000
# how far into a file its first line is looked for
FIRST_LINE_BYTES = 4 * 1024 * 1024
# how many lines after a fork are looked at for what was said first
LINES_AFTER_FORK = 64


class _Line(msgspec.Struct, rename="camel", gc=False):
    """As much of a line as is needed to know it again."""

    type: str = ""
    uuid: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    is_sidechain: bool = False
    is_meta: bool = False
    forked_from: Raw = EMPTY_RAW


_line_decoder = msgspec.json.Decoder(_Line)


def read_chain(path: str, session_id: str) -> MessageChain:
    """Every line of a file that can be copied; what is torn or strange is none."""
    chain = MessageChain()
    with open_readonly(path) as descriptor:
        for offset, written, _ in lines_forwards(descriptor, 0, os.fstat(descriptor).st_size):
            for line in _parse_lines(written):
                if line.type not in COPIED_TYPES or not line.uuid or line.is_sidechain:
                    if chain.first_uncopied_at is None and not line.is_sidechain:
                        chain.first_uncopied_at = line.timestamp
                    continue
                origin = origin_of(line.forked_from)
                if not len(chain):
                    chain.first_message_at = line.timestamp
                    told = origin[0] if origin is not None else (line.session_id or "").lower()
                    chain.copied_from = told if told != session_id else None
                chain.identities.append(identity(line.uuid))
                chain.origins.append(identity(origin[1]) if origin is not None else 0)
                chain.offsets.append(offset)
                chain.message_flags.append(line.type in ("user", "assistant") and not line.is_meta)
    return chain


def read_beginning(path: str) -> tuple[int, int]:
    """The first line of a file that can be copied, as a summary keeps it."""
    with open_readonly(path) as descriptor:
        end = min(os.fstat(descriptor).st_size, FIRST_LINE_BYTES)
        for _, written, _ in lines_forwards(descriptor, 0, end):
            for entry in parse_line(written)[0] if written else []:
                found = line_identities(entry)
                if found[0]:
                    return found
    return 0, 0


def uuid_at(path: str, chain: MessageChain, place: int) -> str | None:
    """The uuid of a line of the chain."""
    for entry in _entries_from(path, chain, place, 1):
        if entry.uuid and identity(entry.uuid) == chain.identities[place]:
            return entry.uuid
    return None


def first_prompt_from(path: str, chain: MessageChain, place: int) -> tuple[str | None, str | None]:
    """When something was first said from this place on, and the first prompt among it."""
    time: str | None = None
    listener = PromptFilter()
    for entry in _entries_from(path, chain, place, LINES_AFTER_FORK):
        if entry.is_sidechain or entry.type not in COPIED_TYPES:
            continue
        time = time or entry.timestamp
        said = listener.short_prompt_in(entry)
        if said is not None and said[1]:
            return time, said[0]
    return time, None


def _entries_from(path: str, chain: MessageChain, place: int, most: int) -> Iterator[Entry]:
    """The lines of the file from one of its chain on."""
    if place >= len(chain):
        return
    with open_readonly(path) as descriptor:
        lines = lines_forwards(descriptor, chain.offsets[place], os.fstat(descriptor).st_size)
        for _, written, _ in islice(lines, most):
            yield from parse_line(written)[0] if written else ()


class ChainReader:
    """Chains, kept as long as their files are what they were. It blocks: call it in a thread."""

    def __init__(self) -> None:
        self._cache: OrderedDict[str, tuple[tuple[int, int, int], MessageChain]] = OrderedDict()
        self._lock = Lock()

    def read(self, path: str, session_id: str) -> MessageChain:
        facts = os.stat(path)
        version = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
        with self._lock:
            known = self._cache.get(path)
            if known is not None and known[0] == version:
                self._cache.move_to_end(path)
                return known[1]
        try:
            chain = read_chain(path, session_id)
        except FileChanged:
            # cut short while it was read: what is left is read once more
            chain = read_chain(path, session_id)
        with self._lock:
            self._cache[path] = (version, chain)
            self._cache.move_to_end(path)
            while (
                len(self._cache) > 1
                and sum(len(each) for _, each in self._cache.values()) > MOST_CACHED_LINES
            ):
                self._cache.popitem(last=False)
        return chain


def _parse_lines(written: bytes) -> list[_Line]:
    if not written:
        return []
    try:
        return [_line_decoder.decode(written)]
    except DECODE_ERRORS:
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
            for each in parse_line(written)[0]
        ]
