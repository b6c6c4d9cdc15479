"""Reads message chains: the lines of a transcript that forks and copies repeat."""

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

# of all cached chains together
MAX_CACHED_LINES = 400_000
# how far into a file its first line may be
FIRST_LINE_BYTES = 4 * 1024 * 1024
# how many lines after a fork are searched for its first prompt
LINES_AFTER_FORK = 64


class _Line(msgspec.Struct, rename="camel", gc=False):
    """The fields of a line that identify it."""

    type: str = ""
    uuid: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    is_sidechain: bool = False
    is_meta: bool = False
    forked_from: Raw = EMPTY_RAW


_line_decoder = msgspec.json.Decoder(_Line)


def read_chain(path: str, session_id: str) -> MessageChain:
    """The lines of a file that forks copy; lines that cannot be parsed are skipped."""
    chain = MessageChain()
    with open_readonly(path) as descriptor:
        for offset, raw, _ in lines_forwards(descriptor, 0, os.fstat(descriptor).st_size):
            for line in _parse_lines(raw):
                if line.type not in COPIED_TYPES or not line.uuid or line.is_sidechain:
                    if chain.first_uncopied_at is None and not line.is_sidechain:
                        chain.first_uncopied_at = line.timestamp
                    continue
                origin = origin_of(line.forked_from)
                if not len(chain):
                    chain.first_message_at = line.timestamp
                    source = origin[0] if origin is not None else (line.session_id or "").lower()
                    chain.copied_from = source if source != session_id else None
                chain.identities.append(identity(line.uuid))
                chain.origins.append(identity(origin[1]) if origin is not None else 0)
                chain.offsets.append(offset)
                chain.message_flags.append(line.type in ("user", "assistant") and not line.is_meta)
    return chain


def read_beginning(path: str) -> tuple[int, int]:
    """The identities of the first line of a file that can be copied, as in a summary."""
    with open_readonly(path) as descriptor:
        end = min(os.fstat(descriptor).st_size, FIRST_LINE_BYTES)
        for _, line, _ in lines_forwards(descriptor, 0, end):
            for entry in parse_line(line)[0] if line else []:
                identities = line_identities(entry)
                if identities[0]:
                    return identities
    return 0, 0


def uuid_at(path: str, chain: MessageChain, index: int) -> str | None:
    """The uuid of a line of the chain."""
    for entry in _entries_from(path, chain, index, 1):
        if entry.uuid and identity(entry.uuid) == chain.identities[index]:
            return entry.uuid
    return None


def first_prompt_from(path: str, chain: MessageChain, index: int) -> tuple[str | None, str | None]:
    """The time of the first message from this line on, and the first prompt."""
    time: str | None = None
    prompt_filter = PromptFilter()
    for entry in _entries_from(path, chain, index, LINES_AFTER_FORK):
        if entry.is_sidechain or entry.type not in COPIED_TYPES:
            continue
        time = time or entry.timestamp
        text, is_for_claude = prompt_filter.short_prompt_in(entry) or (None, False)
        if is_for_claude:
            return time, text
    return time, None


def _entries_from(path: str, chain: MessageChain, index: int, most: int) -> Iterator[Entry]:
    """The entries of a file from a line of its chain on."""
    if index >= len(chain):
        return
    with open_readonly(path) as descriptor:
        lines = lines_forwards(descriptor, chain.offsets[index], os.fstat(descriptor).st_size)
        for _, line, _ in islice(lines, most):
            yield from parse_line(line)[0] if line else ()


class ChainReader:
    """Reads chains, and caches them until their files change."""

    def __init__(self) -> None:
        self._cache: OrderedDict[str, tuple[tuple[int, int, int], MessageChain]] = OrderedDict()
        self._lock = Lock()

    def read(self, path: str, session_id: str) -> MessageChain:
        """The chain of a file. Blocks."""
        status = os.stat(path)
        version = (status.st_ino, status.st_size, status.st_mtime_ns)
        with self._lock:
            cached_version, cached = self._cache.get(path, (None, None))
            if cached is not None and cached_version == version:
                self._cache.move_to_end(path)
                return cached
        try:
            chain = read_chain(path, session_id)
        except FileChanged:
            # truncated while it was read
            chain = read_chain(path, session_id)
        with self._lock:
            self._cache[path] = (version, chain)
            self._cache.move_to_end(path)
            while (
                len(self._cache) > 1
                and sum(len(each) for _, each in self._cache.values()) > MAX_CACHED_LINES
            ):
                self._cache.popitem(last=False)
        return chain


def _parse_lines(raw: bytes) -> list[_Line]:
    if not raw:
        return []
    try:
        return [_line_decoder.decode(raw)]
    except DECODE_ERRORS:
        return [
            _Line(**{name: getattr(entry, name) for name in _Line.__struct_fields__})
            for entry in parse_line(raw)[0]
        ]
