"""Locations of messages in their file, and the messages at these locations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from claudekeeper.contract.message import Message, MessageKind
from claudekeeper.transcripts.entries import Entry, parse_line, parse_ordinary
from claudekeeper.transcripts.line_reader import FileChanged, LineReader
from claudekeeper.transcripts.message_link import MessageLink
from claudekeeper.transcripts.messages import kind_of, message_of, uuid_of

# bytes of decoded lines that are held while a page is made
MAX_CACHED_BYTES = 4 * 1024 * 1024


class Location(Protocol):
    """Where to find the line of a message again."""

    uuid: str
    offset: int
    length: int
    kind: MessageKind | None


class DecodedCache:
    """Entries that were just decoded, so that a page need not read its lines again."""

    def __init__(self) -> None:
        # by offset: of a line that was written twice, the uuid does not tell which copy it is
        self._entries: dict[int, Entry] = {}
        self._free_bytes = MAX_CACHED_BYTES

    def add(self, link: MessageLink, entry: Entry) -> None:
        self._free_bytes -= link.length
        if self._free_bytes > 0:
            self._entries[link.offset] = entry

    def get(self, offset: int) -> Entry | None:
        return self._entries.get(offset)


def messages_at(
    descriptor: int,
    session_id: str,
    locations: Sequence[Location],
    branches: Sequence[str | None],
    nested: bool,
    fresh: DecodedCache | None = None,
) -> Iterator[Message]:
    """The messages at these locations, one after another."""
    lines = LineReader(descriptor)
    for location, branch in zip(locations, branches, strict=True):
        entry = fresh.get(location.offset) if fresh is not None else None
        if entry is None:
            entry = entry_at(lines, location)
        kind = location.kind or kind_of(entry, nested=nested) or "notice"
        message = message_of(entry, session_id, kind, branch)
        # only the SDK's reader accepts an empty uuid
        message.uuid = location.uuid
        yield message


def entry_at(lines: LineReader, location: Location) -> Entry:
    """The entry at a location; if another one is there now, the file has changed."""
    line = lines.line(location.offset, location.length)
    entry = parse_ordinary(line)
    if entry is None:
        # it may have been read without the check for UTF-8
        entries, _ = parse_line(line)
        entry = entries[0] if len(entries) == 1 else None
    if entry is None or location.uuid not in (entry.uuid, entry.uuid or uuid_of(entry)):
        raise FileChanged
    return entry
