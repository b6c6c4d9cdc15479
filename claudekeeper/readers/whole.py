"""A whole conversation on its way to a client: every message encoded, few held in memory.

The file is read twice: to learn where each line belongs, and to tell them in order. Contents are
most of its bytes; they go to the client as they stand in the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from threading import Lock
from typing import Literal

import msgspec

from claudekeeper.model.branches import Departure, Unrolling
from claudekeeper.model.entries import EMPTY, NULL, REFUSED, Body, is_text
from claudekeeper.model.links import Link
from claudekeeper.model.messages import Message, blocks, message_of
from claudekeeper.readers.lines import Places
from claudekeeper.readers.places import Place, entry_at, messages_at

# bytes of one piece: below the size at which the allocator asks the system for each anew
PIECE = 96 * 1024
# messages of one, where they are encoded together
TOGETHER = 64

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


class Said(msgspec.Struct, rename="camel", gc=False):
    """What a link does not know of its message: the few fields that are told of nearly all."""

    type: Literal["user", "assistant"]
    uuid: str | None = None
    timestamp: str | None = None
    agent_id: str | None = None
    tool_denial_kind: str | None = None
    message: Body = EMPTY


_said = msgspec.json.Decoder(Said).decode


def whole_file(
    descriptor: int, session_id: str, unrolling: Unrolling, wanted: Wanted = ALL
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
        lambda own: _pieces(Places(own), session_id, unrolling, shown),
        uuids,
        unrolling.departures(uuids),
    )


def _pieces(
    lines: Places, session_id: str, unrolling: Unrolling, shown: list[int]
) -> Iterator[bytes]:
    links, view_of = unrolling.links, lines.view
    some: list[Message] = []
    room = PIECE
    for index, branch in zip(shown, unrolling.branches_of(shown), strict=True):
        link = links[index]
        message = _message_in(view_of(link.offset, link.length), link, session_id, branch)
        if message is None:
            assert link.kind is not None
            message = message_of(entry_at(lines, link), session_id, link.kind, branch)
        some.append(message)
        room -= link.length
        if room < 0:
            yield _encode(some)[1:-1]
            some.clear()
            room = PIECE
    if some:
        yield _encode(some)[1:-1]


def _message_in(
    line: memoryview, link: Link, session_id: str, branch: str | None
) -> Message | None:
    """The message of an ordinary line; None for those that have to be looked at closely.

    Among them is every line that is not the one that was seen here: the file has changed.
    """
    try:
        said = _said(line)
    except REFUSED:
        return None
    if said.uuid != link.uuid or said.tool_denial_kind is not None:
        return None
    body = said.message
    content, usage = bytes(body.content), bytes(body.usage)
    if not (content.isascii() or is_text(content)) or not (usage.isascii() or is_text(usage)):
        return None
    assert link.kind is not None
    return Message(
        link.uuid,
        session_id,
        said.type,
        body.content if content.startswith(b"[") else blocks(body.content),
        said.timestamp,
        link.kind,
        body.id,
        link.parent,
        body.model,
        body.usage if usage.startswith(b"{") else NULL,
        said.agent_id,
        None,
        branch,
    )
