"""A whole history on its way to a client: every message encoded, few held in memory.

The file is read twice: to find the order of the lines, and to encode them in that order. Contents
are most of its bytes; they go to the client as they stand in the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from threading import Lock
from typing import Literal

import msgspec

from claudekeeper.contract.message import NULL, Message
from claudekeeper.transcripts.entries import (
    DECODE_ERRORS,
    EMPTY_MESSAGE,
    EntryMessage,
    is_utf8,
)
from claudekeeper.transcripts.full_view import BranchPoint, FullView
from claudekeeper.transcripts.line_reader import LineReader
from claudekeeper.transcripts.locations import Location, entry_at, messages_at
from claudekeeper.transcripts.message_link import MessageLink
from claudekeeper.transcripts.messages import as_blocks, message_of

# bytes of one piece: below the size for which the allocator calls the system each time
CHUNK_BYTES = 96 * 1024
# messages of one piece, where they are encoded together
CHUNK_MESSAGES = 64

_encode = msgspec.json.Encoder().encode


# called for each message in order: whether the client gets it
UuidFilter = Callable[[str], bool]


def accept_all(_uuid: str) -> bool:
    return True


class HistoryStream:
    """Every message in JSON, in pieces of many with commas between them."""

    def __init__(
        self,
        descriptor: int,
        pieces: Callable[[int], Iterator[bytes]],
        uuids: set[str],
        branches: list[BranchPoint],
    ) -> None:
        # the stream lives longer than the caller's descriptor
        self._descriptor = os.dup(descriptor)
        self._chunks = pieces(self._descriptor)
        self._is_open = True
        self._lock = Lock()
        self.uuids = uuids
        self.branches = branches

    def next_chunk(self) -> bytes:
        """Empty at the end."""
        with self._lock:
            return next(self._chunks, b"") if self._is_open else b""

    def close(self) -> None:
        """Always call it; waits for a thread that still reads."""
        with self._lock:
            if self._is_open:
                self._is_open = False
                os.close(self._descriptor)


def stream_context(
    descriptor: int,
    session_id: str,
    chain: Sequence[Location],
    nested: bool,
    uuid_filter: UuidFilter = accept_all,
) -> HistoryStream:
    """The context view."""
    chain = [node for node in chain if uuid_filter(node.uuid)]

    def pieces(own: int) -> Iterator[bytes]:
        messages = messages_at(own, session_id, chain, [None] * len(chain), nested)
        while batch := list(islice(messages, CHUNK_MESSAGES)):
            yield _encode(batch)[1:-1]

    return HistoryStream(descriptor, pieces, {node.uuid for node in chain}, [])


class LineFields(msgspec.Struct, rename="camel", gc=False):
    """The fields of a message that its link does not have."""

    type: Literal["user", "assistant"]
    uuid: str | None = None
    timestamp: str | None = None
    agent_id: str | None = None
    tool_denial_kind: str | None = None
    message: EntryMessage = EMPTY_MESSAGE


_decode_line = msgspec.json.Decoder(LineFields).decode


def stream_full(
    descriptor: int, session_id: str, full_view: FullView, uuid_filter: UuidFilter = accept_all
) -> HistoryStream:
    """The full view."""
    links = full_view.links
    # indexes, oldest first: tuples would take more memory and time, and there are very many
    indexes = [index for index in range(len(links) - 1, -1, -1) if links[index].kind is not None]
    if uuid_filter is not accept_all:
        indexes = [index for index in indexes if uuid_filter(links[index].uuid)]
    uuids = {links[index].uuid for index in indexes}
    return HistoryStream(
        descriptor,
        lambda own: _encode_chunks(LineReader(own), session_id, full_view, indexes),
        uuids,
        full_view.branch_points(uuids),
    )


def _encode_chunks(
    lines: LineReader, session_id: str, full_view: FullView, indexes: list[int]
) -> Iterator[bytes]:
    links, view_of = full_view.links, lines.view
    batch: list[Message] = []
    room = CHUNK_BYTES
    for index, branch in zip(indexes, full_view.branches_of(indexes), strict=True):
        link = links[index]
        message = _message_of_line(view_of(link.offset, link.length), link, session_id, branch)
        if message is None:
            assert link.kind is not None
            message = message_of(entry_at(lines, link), session_id, link.kind, branch)
        batch.append(message)
        room -= link.length
        if room < 0:
            yield _encode(batch)[1:-1]
            batch.clear()
            room = CHUNK_BYTES
    if batch:
        yield _encode(batch)[1:-1]


def _message_of_line(
    line: memoryview, link: MessageLink, session_id: str, branch: str | None
) -> Message | None:
    """The message of an ordinary line; None for a line that needs a lenient parser.

    None also where another line stands there now, because the file changed.
    """
    try:
        line_fields = _decode_line(line)
    except DECODE_ERRORS:
        return None
    if line_fields.uuid != link.uuid or line_fields.tool_denial_kind is not None:
        return None
    body = line_fields.message
    content, usage = bytes(body.content), bytes(body.usage)
    if not (content.isascii() or is_utf8(content)) or not (usage.isascii() or is_utf8(usage)):
        return None
    assert link.kind is not None
    return Message(
        link.uuid,
        session_id,
        line_fields.type,
        body.content if content.startswith(b"[") else as_blocks(body.content),
        line_fields.timestamp,
        link.kind,
        body.id,
        link.parent_uuid,
        body.model,
        body.usage if usage.startswith(b"{") else NULL,
        line_fields.agent_id,
        None,
        branch,
    )
