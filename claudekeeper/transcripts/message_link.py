"""A line reduced to its links with other lines, so that any number fits in memory."""

from __future__ import annotations

from typing import Literal

import msgspec

from claudekeeper.contract.message import MessageKind
from claudekeeper.transcripts.entries import Entry, blocks_of
from claudekeeper.transcripts.messages import kind_of, queued_prompt_content, uuid_of
from claudekeeper.transcripts.prompts import is_command, is_local_command, prompt_of

# how the content of a tool's result begins
_RESULT_PREFIXES = (b'[{"tool_use_id":"', b'[{"type":"tool_result"')
_MAX_PREFIX_LENGTH = max(map(len, _RESULT_PREFIXES))

QueueAction = Literal["waits", "taken", "withdrawn", "absorbed", "removed"]


class MessageLink(msgspec.Struct, gc=False):
    """Where an entry stands in the file, its parent, and what it is to a reader."""

    uuid: str
    parent_uuid: str | None
    offset: int
    length: int
    kind: MessageKind | None = None
    # the reply that the line is a block of
    reply_id: str | None = None
    # a compaction starts a new root, but a reader goes on above it
    is_boundary: bool = False
    # it does not decide which branch is the main one: a tool's result, a
    # local command, a hidden line
    is_neutral: bool = False
    # what happened to a queued prompt; one that waits is shown only if it was never taken
    queue_action: QueueAction | None = None
    # the text of a person's prompt; empty for one that the machine wrote
    prompt_text: str | None = None


def link_of(entry: Entry, offset: int, length: int, nested: bool = False) -> MessageLink | None:
    """The link of a line; None for a line that is neither shown nor part of a chain."""
    if entry.is_sidechain and not nested:
        return None
    uuid = entry.uuid
    # replies and tools' results: nearly all lines, and easy to recognise
    if uuid and not entry.is_meta:
        if entry.type == "assistant":
            kind: MessageKind | None = "error" if entry.is_api_error_message else "reply"
            parent = entry.parent_uuid or entry.logical_parent_uuid
            return MessageLink(uuid, parent, offset, length, kind, entry.message.id)
        # a result may be megabytes: only its beginning is checked
        if entry.type == "user" and bytes(
            memoryview(entry.message.content)[:_MAX_PREFIX_LENGTH]
        ).startswith(_RESULT_PREFIXES):
            kind = "compaction" if entry.is_compact_summary else "toolResult"
            parent = entry.parent_uuid or entry.logical_parent_uuid
            return MessageLink(uuid, parent, offset, length, kind, is_neutral=True)
    if entry.type == "queue-operation":
        return _queued_link(entry, offset, length)
    if uuid is None and entry.type not in ("user", "assistant"):
        return None
    kind = kind_of(entry, nested=nested)
    uuid = uuid or uuid_of(entry)
    parent = entry.parent_uuid or entry.logical_parent_uuid
    if entry.type == "assistant":
        return MessageLink(uuid, parent, offset, length, kind, entry.message.id)
    link = MessageLink(uuid, parent, offset, length, kind, is_neutral=True)
    match entry.type:
        case "user" if kind in ("prompt", "command"):
            blocks = blocks_of(entry.message.content)
            first = blocks[0].text or "" if blocks else ""
            link.prompt_text = prompt_of(blocks)
            if kind == "command":
                # a command's output is nobody's prompt
                link.prompt_text = link.prompt_text or None
                link.is_neutral = not is_command(first) or is_local_command(first)
        case "user":
            link.prompt_text = "" if kind == "notice" else None
            # a compaction's summary belongs to the branch around it
            link.is_neutral = kind in ("toolResult", "notice", "compaction", None)
        case "attachment" if kind in ("prompt", "command"):
            link.queue_action, link.prompt_text = (
                "absorbed",
                prompt_of(blocks_of(queued_prompt_content(entry))),
            )
        case "system" if entry.subtype == "compact_boundary":
            link.is_boundary = True
        case "system" if kind == "command":
            # an unknown command is written as it was typed
            typed = prompt_of(blocks_of(entry.content))
            link.prompt_text = typed if typed.startswith("/") else None
    return link


def kind_in_history(entry: Entry, *, nested: bool = False) -> MessageKind | None:
    """The kind of message that a history shows for the line alone; None: it is not shown.

    A sidechain line of the session's own file is one of a subagent's.
    """
    inline = entry.is_sidechain and not nested
    if inline and entry.type == "queue-operation":
        return None
    link = link_of(entry, 0, 0, nested=nested or inline)
    return link.kind if link is not None else None


def _queued_link(entry: Entry, offset: int, length: int) -> MessageLink | None:
    link = MessageLink(uuid_of(entry), None, offset, length, is_neutral=True)
    words = prompt_of(blocks_of(entry.content))
    match entry.operation:
        # what the machine queued for itself (ends of background tasks) is no prompt
        case "enqueue" if words and not words.startswith('{"task_id"'):
            link.queue_action, link.kind = "waits", kind_of(entry)
        case "popAll" if words:
            # back into the composer
            link.queue_action = "withdrawn"
        case "dequeue":
            # the prompt that follows came from the queue
            link.queue_action = "taken"
        case "remove":
            link.queue_action = "removed"
        case _:
            return None
    link.prompt_text = words
    return link
