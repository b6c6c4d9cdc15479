"""What the CLI says on its pipe → the Message that history would give. Pure."""

from __future__ import annotations

from typing import Any

from claudekeeper.contract.message import Message
from claudekeeper.transcripts.entries import (
    EMPTY_RAW,
    Entry,
    EntryMessage,
    blocks_of,
    dumps,
    parse_ordinary,
)
from claudekeeper.transcripts.messages import is_tool_result, kind_of, message_of

SYNTHETIC = "<synthetic>"
# entries that can be messages; most others are the CLI's own records
_MESSAGE_TYPES = frozenset({"user", "assistant", "system", "attachment"})


def message_of_sdk(
    raw: dict[str, Any], session_id: str, prompts: set[str], denied: set[str]
) -> Message | None:
    """A message that is certain to be written just as it was said; None for all others.

    What the CLI says and what it writes differ for commands, compactions and its own words, in
    order or in content: those are told when they are written. `prompts` are the uuids of prompts
    that were sent as they are, `denied` the ids of calls that a person did not want.
    """
    uuid = raw.get("uuid")
    nested = raw.get("parent_tool_use_id") is not None
    entry = _entry(raw)
    if entry is None or not isinstance(uuid, str):
        return None
    if raw["type"] == "assistant":
        if entry.message.model == SYNTHETIC or raw.get("error"):
            return None
    elif raw.get("isReplay") or raw.get("isSynthetic"):
        if uuid not in prompts:
            return None
    elif not (nested or is_tool_result(entry)):
        return None
    kind = kind_of(entry, nested=nested)
    if kind is None or (uuid in prompts and kind != "prompt"):
        return None
    message = message_of(entry, session_id, kind)
    message.parent_tool_use_id = raw.get("parent_tool_use_id")
    if kind == "toolResult" and denied:
        results = {block.tool_use_id for block in blocks_of(entry.message.content)}
        message.denied_by = "person" if results & denied else None
    return message


def message_of_line(line: dict[str, Any], session_id: str) -> Message | None:
    """The message of a line that the CLI has just written to the transcript."""
    if line.get("type") not in _MESSAGE_TYPES or line.get("isMeta"):
        return None
    entry = parse_ordinary(bytes(dumps(line)))
    kind = kind_of(entry) if entry is not None else None
    return message_of(entry, session_id, kind) if entry is not None and kind else None


def _entry(raw: dict[str, Any]) -> Entry | None:
    body = raw.get("message")
    if not isinstance(body, dict):
        return None
    usage = body.get("usage")
    return Entry(
        type=raw["type"],
        uuid=raw.get("uuid"),
        session_id=raw.get("session_id"),
        timestamp=raw.get("timestamp"),
        agent_id=raw.get("agent_id"),
        message=EntryMessage(
            id=body.get("id"),
            role=body.get("role"),
            model=body.get("model"),
            content=dumps(body.get("content")),
            usage=dumps(usage) if isinstance(usage, dict) else EMPTY_RAW,
        ),
    )
