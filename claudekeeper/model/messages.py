"""A line of the transcript → the Message that clients see; history and live turns share it."""

from __future__ import annotations

import hashlib
import uuid
from typing import Literal

import msgspec
from msgspec import Raw

from claudekeeper.model.entries import (
    NOTHING,
    NULL,
    Denier,
    Entry,
    blocks_of,
    dumps,
    loads,
    spoken_by_others,
    starts,
    string_of,
)
from claudekeeper.model.prompts import as_typed, spoken_as

Kind = Literal[
    "prompt", "reply", "toolResult", "command", "compaction", "interruption", "error", "notice"
]
Role = Literal["user", "assistant", "system"]

_NOTICES = frozenset({"away_summary", "model_refusal_fallback", "informational"})
_TOOL_RESULT = b'"type":"tool_result"'
_QUEUED = b'"queued_command"'


class Message(msgspec.Struct, rename="camel", gc=False):
    """One message of a conversation. `content` is the list of blocks as Claude Code wrote it."""

    uuid: str
    session_id: str
    role: Role
    content: Raw
    timestamp: str | None
    kind: Kind
    message_id: str | None = None
    parent_uuid: str | None = None
    model: str | None = None
    # JSON: an object, or null; `Raw | None` could be written down, and not read back
    usage: Raw = msgspec.field(default_factory=lambda: NULL)
    agent_id: str | None = None
    parent_tool_use_id: str | None = None
    branch: str | None = None
    # of a call that was not made: who did not want it, a person or a rule
    denied_by: Denier | None = None


def identity_of(entry: Entry) -> str:
    """The line's uuid; one made from its words where Claude Code gave it none."""
    if entry.uuid:
        return entry.uuid
    words = b"\0".join(
        (
            (entry.session_id or "").encode("utf-8", "replace"),
            (entry.timestamp or "").encode("utf-8", "replace"),
            bytes(entry.content),
            bytes(entry.message.content),
        )
    )
    return str(uuid.UUID(bytes=hashlib.blake2b(words, digest_size=16).digest(), version=5))


def kind_of(entry: Entry, *, nested: bool = False) -> Kind | None:
    """What the line is to a reader; None for what stays hidden.

    In a subagent's own transcript (`nested`) every line is a sidechain one, so that mark hides
    nothing there.
    """
    if entry.is_meta or (entry.is_sidechain and not nested):
        return None
    match entry.type:
        case "assistant":
            return "error" if entry.is_api_error_message else "reply"
        case "user":
            return "compaction" if entry.is_compact_summary else _kind_of_user(entry)
        case "system":
            return _kind_of_system(entry)
        case "attachment":
            return _kind_of_attachment(entry)
        case "queue-operation":
            return _kind_of_words(entry.content) if entry.operation == "enqueue" else None
        case _:
            return None


def message_of(entry: Entry, session_id: str, kind: Kind, branch: str | None = None) -> Message:
    """The Message of a line that `kind_of` shows."""
    body = entry.message
    match entry.type:
        case "assistant" | "user":
            content = blocks(body.content)
        case "queue-operation":
            content = blocks(entry.content)
        case "attachment":
            content = _attached(entry)
        case _:
            content = _said_by_the_system(entry)
    return Message(
        entry.uuid or identity_of(entry),
        session_id,
        role_of(entry, kind),
        content,
        entry.timestamp,
        kind,
        body.id,
        entry.parent_uuid or entry.logical_parent_uuid,
        body.model,
        body.usage if starts(body.usage, b"{") else NULL,
        entry.agent_id,
        None,
        branch,
        entry.denied_by,
    )


def role_of(entry: Entry, kind: Kind) -> Role:
    """Who says it."""
    match entry.type:
        case "assistant":
            return "assistant"
        case "user" | "queue-operation":
            return "user"
        case "attachment":
            return "user" if kind in ("prompt", "command") else "system"
        case _:
            return "system"


def is_tool_result(entry: Entry) -> bool:
    """Whether the line brings a tool's result back."""
    content = entry.message.content
    if entry.type != "user" or not starts(content, b"["):
        return False
    # inside a JSON string these quotes would be escaped, so it can only be a block's type
    if _TOOL_RESULT in bytes(memoryview(content)[:128]):
        return True
    return b'"tool_result"' in bytes(content) and any(
        block.type == "tool_result" for block in blocks_of(content)
    )


def _kind_of_user(entry: Entry) -> Kind:
    if is_tool_result(entry):
        return "toolResult"
    kind = _kind_of_words(entry.message.content)
    return "notice" if kind == "prompt" and entry.by_others else kind


def _kind_of_words(content: Raw) -> Kind:
    if starts(content, b'"'):
        return spoken_as(string_of(content))
    kind: Kind = "prompt"
    said = False
    for block in blocks_of(content):
        if block.type != "text" or not block.text:
            continue
        spoken = spoken_as(block.text)
        if spoken in ("command", "interruption"):
            return spoken
        if spoken == "notice":
            kind = "notice"
        elif as_typed(block.text):
            said = True
    # what a person said beside a notice counts
    return "prompt" if said else kind


def _kind_of_system(entry: Entry) -> Kind | None:
    match entry.subtype:
        case "compact_boundary":
            return "compaction"
        case "api_error":
            return "error"
        case "local_command":
            return "command"
        case subtype if subtype in _NOTICES:
            return "notice"
        case _:
            return None


def _kind_of_attachment(entry: Entry) -> Kind | None:
    attachment = bytes(entry.attachment)
    if _QUEUED not in attachment[:64] and b"hook" not in attachment[:64]:
        name = attachment[:64]
        if b'"edited_text_file"' in name or b'"goal_status"' in name:
            return "notice"
        if b'"type"' in name:
            return None
    loose = loads(attachment)
    if not isinstance(loose, dict):
        return None
    match loose.get("type"):
        case "queued_command":
            kind = _kind_of_words(dumps(loose.get("prompt")))
            by_others = loose.get("commandMode") == "task-notification" or spoken_by_others(
                bytes(dumps(loose.get("origin")))
            )
            return "notice" if by_others else kind
        case "hook_blocking_error" | "hook_non_blocking_error" | "hook_system_message":
            return "notice"
        case "edited_text_file" | "goal_status":
            return "notice"
        case _:
            return None


def queued_prompt(entry: Entry) -> Raw:
    """The content of a prompt that was given while a turn ran."""
    loose = loads(entry.attachment)
    return dumps(loose.get("prompt")) if isinstance(loose, dict) else NOTHING


def blocks(content: Raw) -> Raw:
    """Content as a list of blocks, whichever way it was written."""
    if starts(content, b'"'):
        return Raw(b'[{"type":"text","text":' + bytes(content) + b"}]")
    return content if starts(content, b"[") else Raw(b"[]")


def _attached(entry: Entry) -> Raw:
    loose = loads(entry.attachment)
    attachment = loose if isinstance(loose, dict) else {}
    match attachment.get("type"):
        case "queued_command":
            return blocks(dumps(attachment.get("prompt")))
        case "edited_text_file":
            return _words(f"{attachment.get('filename')} was changed outside of Claude Code")
        case "goal_status":
            met = "met" if attachment.get("met") else "not met yet"
            return _words(f"Goal {met}: {attachment.get('condition')}")
        case "hook_system_message":
            return _words(f"{attachment.get('hookName')}: {attachment.get('content')}")
        case _:
            blocking = attachment.get("blockingError")
            said = blocking.get("blockingError") if isinstance(blocking, dict) else None
            said = said or attachment.get("stderr") or "failed"
            return _words(f"{attachment.get('hookName')}: {said}")


def _said_by_the_system(entry: Entry) -> Raw:
    if starts(entry.content, b'"'):
        return blocks(entry.content)
    if entry.subtype == "api_error":
        error = loads(entry.error)
        return _words(f"API error: {_reason(error)}")
    return _words((entry.subtype or "notice").replace("_", " "))


def _reason(error: object) -> str:
    """The most telling words of a nested error."""
    if isinstance(error, str):
        return error
    if isinstance(error, dict):
        for key in ("message", "error", "cause", "formatted", "code", "status", "type"):
            if error.get(key):
                return _reason(error[key])
    return str(error) if isinstance(error, int) else "no reason given"


def _words(text: str) -> Raw:
    return dumps([{"type": "text", "text": text}])
