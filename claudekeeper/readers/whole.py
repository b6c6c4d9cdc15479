"""A whole conversation on its way to a client: every message encoded, few held in memory.

The file is read twice: backwards, to learn where each line belongs, and forwards, to tell them in
order. Contents are most of its bytes; they go to the client as they stand in the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from threading import Lock

import msgspec
from msgspec import Raw

from claudekeeper.model.branches import Departure, Unrolling
from claudekeeper.model.entries import NOTHING, Entry
from claudekeeper.model.links import Link
from claudekeeper.model.messages import Message, Role, blocks, message_of
from claudekeeper.readers.lines import Places
from claudekeeper.readers.places import Place, entry_at, messages_at

# bytes of one piece: below the size at which the allocator asks the system for each anew
PIECE = 96 * 1024
# messages of one, where they are encoded together
TOGETHER = 64

_CONTENT = b'"content":'
_USAGE = b'"usage":'
_USAGE_OBJECT = b'"usage":{'
_encode = msgspec.json.Encoder().encode


# asked of each message in order, whether it is to be told
Wanted = Callable[[str], bool]


def ALL(_uuid: str) -> bool:  # noqa: N802 - a constant that can be called
    return True


class Whole:
    """Every message in JSON, in pieces of many with commas between them."""

    def __init__(
        self,
        descriptor: int,
        pieces: Callable[[int], Iterator[bytes]],
        uuids: set[str],
        branches: list[Departure],
    ) -> None:
        # what is read outlives the caller's descriptor
        self._descriptor = os.dup(descriptor)
        self._pieces = pieces(self._descriptor)
        self._open = True
        self._lock = Lock()
        self.uuids = uuids
        self.branches = branches

    def next_piece(self) -> bytes:
        """Empty at the end."""
        with self._lock:
            return next(self._pieces, b"") if self._open else b""

    def close(self) -> None:
        """Needed in any case; waits for a thread that still reads."""
        with self._lock:
            if self._open:
                self._open = False
                os.close(self._descriptor)


def whole_context(
    descriptor: int, session_id: str, chain: Sequence[Place], nested: bool, wanted: Wanted = ALL
) -> Whole:
    """What the model still sees."""
    chain = [place for place in chain if wanted(place.uuid)]

    def pieces(own: int) -> Iterator[bytes]:
        messages = messages_at(own, session_id, chain, [None] * len(chain), nested)
        while some := list(islice(messages, TOGETHER)):
            yield _encode(some)[1:-1]

    return Whole(descriptor, pieces, {place.uuid for place in chain}, [])


class Told(msgspec.Struct, gc=False):
    """What a link does not know of its message, and where in the line the large parts stand."""

    role: Role
    timestamp: str | None
    model: str | None
    agent_id: str | None
    is_list: bool
    start: int
    end: int
    usage: int = 0
    usage_end: int = 0


class Notes:
    """What was learned on the way back to the beginning, so that no line is decoded twice."""

    def __init__(self) -> None:
        self._told: dict[int, Told] = {}
        self._models: dict[str | None, str | None] = {}

    def keep(self, link: Link, entry: Entry, line: bytes) -> None:
        """Only of messages whose line has its parts where they are looked for; most have."""
        role: Role
        if entry.type == "assistant":
            role = "assistant"
        elif entry.type == "user" and entry.message.id is None and entry.tool_denial_kind is None:
            role = "user"
        else:
            return
        body = entry.message
        content = body.content
        start = line.find(_CONTENT) + len(_CONTENT)
        if not line.startswith(content, start):
            return
        told = Told(
            role,
            entry.timestamp,
            # few names, said thousands of times
            self._models.setdefault(body.model, body.model),
            entry.agent_id,
            line.startswith(b"[", start),
            start,
            start + len(content),
        )
        if body.usage is not NOTHING:
            told.usage = line.find(_USAGE_OBJECT, told.end) + len(_USAGE)
            if not line.startswith(body.usage, told.usage):
                return
            told.usage_end = told.usage + len(body.usage)
        self._told[link.offset] = told

    def at(self, offset: int) -> Told | None:
        return self._told.get(offset)


def whole_file(
    descriptor: int, session_id: str, unrolling: Unrolling, notes: Notes, wanted: Wanted = ALL
) -> Whole:
    """Everything that was said."""
    links = unrolling.links
    # indexes, oldest first: a pair for each of very many would take its memory and its time
    shown = [index for index in range(len(links) - 1, -1, -1) if links[index].kind is not None]
    if wanted is not ALL:
        shown = [index for index in shown if wanted(links[index].uuid)]
    uuids = {links[index].uuid for index in shown}
    return Whole(
        descriptor,
        lambda own: _pieces(Places(own), session_id, unrolling, shown, notes),
        uuids,
        unrolling.departures(uuids),
    )


def _pieces(
    lines: Places, session_id: str, unrolling: Unrolling, shown: list[int], notes: Notes
) -> Iterator[bytes]:
    encode_into = msgspec.json.Encoder().encode_into
    links, branch_of, told_at, window_of = (
        unrolling.links,
        unrolling.branch_of,
        notes.at,
        lines.window,
    )
    piece = bytearray()
    for index in shown:
        link = links[index]
        kind = link.kind
        assert kind is not None
        branch = branch_of(index)
        # of a line with several entries nothing was noted
        told = told_at(link.offset)
        window, at = window_of(link.offset, link.length)
        # a name that is not there: another line stands in this place now
        if told is None or window.find(link.uuid.encode(), at + told.end, at + link.length) < 0:
            message = message_of(entry_at(lines, link), session_id, kind, branch)
        else:
            content = Raw(window[at + told.start : at + told.end])
            usage = window[at + told.usage : at + told.usage_end]
            message = Message(
                link.uuid,
                session_id,
                told.role,
                content if told.is_list else blocks(content),
                told.timestamp,
                kind,
                link.reply,
                link.parent,
                told.model,
                Raw(usage) if usage else None,
                told.agent_id,
                None,
                branch,
            )
        encode_into(message, piece, -1)
        piece += b","
        if len(piece) > PIECE:
            del piece[-1]
            yield bytes(piece)
            piece.clear()
    if piece:
        del piece[-1]
        yield bytes(piece)
