"""From the place of a message to the message itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from claudekeeper.model.entries import Entry, parse, parse_whole
from claudekeeper.model.links import Link
from claudekeeper.model.messages import Kind, Message, identity_of, kind_of, message_of
from claudekeeper.readers.lines import Changed, Places

# bytes of decoded lines held while a page is being put together
MOST_FRESH = 4 * 1024 * 1024


class Place(Protocol):
    """Where to find the line of a message again."""

    uuid: str
    offset: int
    length: int
    kind: Kind | None


class Fresh:
    """Entries that were just decoded, so that a page need not read its lines again."""

    def __init__(self) -> None:
        # by offset: of a line that was written twice, the uuid does not tell which copy it is
        self._entries: dict[int, Entry] = {}
        self._room = MOST_FRESH

    def keep(self, link: Link, entry: Entry) -> None:
        self._room -= link.length
        if self._room > 0:
            self._entries[link.offset] = entry

    def at(self, offset: int) -> Entry | None:
        return self._entries.get(offset)


def messages_at(
    descriptor: int,
    session_id: str,
    places: Sequence[Place],
    branches: Sequence[str | None],
    nested: bool,
    fresh: Fresh | None = None,
) -> Iterator[Message]:
    """The messages of these places, one after another."""
    lines = Places(descriptor)
    for place, branch in zip(places, branches, strict=True):
        entry = fresh.at(place.offset) if fresh is not None else None
        if entry is None:
            entry = entry_at(lines, place)
        kind = place.kind or kind_of(entry, nested=nested) or "notice"
        message = message_of(entry, session_id, kind, branch)
        # an empty uuid is one to the SDK's reader, and to nobody else
        message.uuid = place.uuid
        yield message


def entry_at(lines: Places, place: Place) -> Entry:
    """The entry that was seen at this place; if another one is there now, the file has changed."""
    line = lines.line(place.offset, place.length)
    entry = parse_whole(line)
    if entry is None:
        # it may have been seen without a close look at it
        entries, _ = parse(line)
        entry = entries[0] if len(entries) == 1 else None
    if entry is None or place.uuid not in (entry.uuid, entry.uuid or identity_of(entry)):
        raise Changed
    return entry
