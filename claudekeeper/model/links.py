"""A line reduced to its place in the conversation, so that any number can be held in memory."""

from __future__ import annotations

from typing import Literal

import msgspec

from claudekeeper.model.entries import Entry, blocks_of
from claudekeeper.model.messages import Kind, identity_of, kind_of, queued_prompt
from claudekeeper.model.prompts import is_command, is_local, prompt_of

# how the content begins that brings a tool's result back
_RESULT = (b'[{"tool_use_id":"', b'[{"type":"tool_result"')
_BEGINNING = max(map(len, _RESULT))

Queue = Literal["waits", "taken", "withdrawn", "absorbed", "removed"]


class Link(msgspec.Struct, gc=False):
    """Where an entry stands in the file, what it hangs on, and what it is to a reader."""

    uuid: str
    parent: str | None
    offset: int
    length: int
    kind: Kind | None = None
    # the reply that the line is a block of
    reply: str | None = None
    # a compaction starts a new root, but a reader goes on above it
    boundary: bool = False
    # it says nothing of its own about which branch is the conversation: a tool's result, a
    # local command, a hidden line
    light: bool = False
    # what happened to a queued prompt; one that waits is shown only if nothing came of it later
    queue: Queue | None = None
    # what a person said; empty for what the machine said in a person's place
    words: str | None = None


def link_of(entry: Entry, offset: int, length: int, nested: bool = False) -> Link | None:
    """The link of a line; None for a line that is neither shown nor part of a chain."""
    if entry.is_sidechain and not nested:
        return None
    uuid = entry.uuid
    # replies and results of tools: nearly all lines, and nothing about them is in doubt
    if uuid and not entry.is_meta:
        if entry.type == "assistant":
            kind: Kind | None = "error" if entry.is_api_error_message else "reply"
            parent = entry.parent_uuid or entry.logical_parent_uuid
            return Link(uuid, parent, offset, length, kind, entry.message.id)
        # of a result that may be megabytes only the beginning is looked at
        if entry.type == "user" and bytes(
            memoryview(entry.message.content)[:_BEGINNING]
        ).startswith(_RESULT):
            kind = "compaction" if entry.is_compact_summary else "toolResult"
            parent = entry.parent_uuid or entry.logical_parent_uuid
            return Link(uuid, parent, offset, length, kind, light=True)
    if entry.type == "queue-operation":
        return _queued_link(entry, offset, length)
    if uuid is None and entry.type not in ("user", "assistant"):
        return None
    kind = kind_of(entry, nested=nested)
    uuid = uuid or identity_of(entry)
    parent = entry.parent_uuid or entry.logical_parent_uuid
    if entry.type == "assistant":
        return Link(uuid, parent, offset, length, kind, entry.message.id)
    link = Link(uuid, parent, offset, length, kind, light=True)
    match entry.type:
        case "user" if kind in ("prompt", "command"):
            said = blocks_of(entry.message.content)
            first = said[0].text or "" if said else ""
            link.words = prompt_of(said)
            if kind == "command":
                # what a command printed is said by nobody
                link.words = link.words or None
                link.light = not is_command(first) or is_local(first)
        case "user":
            link.words = "" if kind == "notice" else None
            # a compaction's summary belongs to whatever goes on around it
            link.light = kind in ("toolResult", "notice", "compaction", None)
        case "attachment" if kind in ("prompt", "command"):
            link.queue, link.words = "absorbed", prompt_of(blocks_of(queued_prompt(entry)))
        case "system" if entry.subtype == "compact_boundary":
            link.boundary = True
        case "system" if kind == "command":
            # a command that there is none of here is written down as it was typed
            typed = prompt_of(blocks_of(entry.content))
            link.words = typed if typed.startswith("/") else None
    return link


def shown_as(entry: Entry, *, nested: bool = False) -> Kind | None:
    """What a history makes of the line by itself; None: it is shown nowhere.

    A sidechain line of the session's own file is one of a subagent's.
    """
    inline = entry.is_sidechain and not nested
    if inline and entry.type == "queue-operation":
        return None
    link = link_of(entry, 0, 0, nested=nested or inline)
    return link.kind if link is not None else None


def _queued_link(entry: Entry, offset: int, length: int) -> Link | None:
    link = Link(identity_of(entry), None, offset, length, light=True)
    words = prompt_of(blocks_of(entry.content))
    match entry.operation:
        # what the machine queued for itself (ends of background tasks) is no prompt
        case "enqueue" if words and not words.startswith('{"task_id"'):
            link.queue, link.kind = "waits", kind_of(entry)
        case "popAll" if words:
            # into the composer again
            link.queue = "withdrawn"
        case "dequeue":
            # the prompt that follows came from the queue
            link.queue = "taken"
        case "remove":
            link.queue = "removed"
        case _:
            return None
    link.words = words
    return link
