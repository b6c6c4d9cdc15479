"""Messages: what clients see of the lines of a transcript, in history and live turns alike."""

from __future__ import annotations

import hashlib
import uuid

from msgspec import Raw

from claudekeeper.contract.message import NULL, Message, MessageKind, Role
from claudekeeper.transcripts.entries import (
    EMPTY_RAW,
    Entry,
    blocks_of,
    dumps,
    is_others_origin,
    loads,
    starts_with,
    string_of,
)
from claudekeeper.transcripts.prompts import prompt_kind, unwrap_prompt

_NOTICE_SUBTYPES = frozenset({"away_summary", "model_refusal_fallback", "informational"})
_TOOL_RESULT = b'"type":"tool_result"'
_QUEUED_COMMAND = b'"queued_command"'


def uuid_of(entry: Entry) -> str:
    """The line's uuid; one made from its content where Claude Code gave it none."""
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


def kind_of(entry: Entry, *, nested: bool = False) -> MessageKind | None:
    """The kind of message of a line; None for a hidden one.

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
            return _kind_of_content(entry.content) if entry.operation == "enqueue" else None
        case _:
            return None


def message_of(
    entry: Entry, session_id: str, kind: MessageKind, branch: str | None = None
) -> Message:
    """The Message of a line that `kind_of` shows."""
    body = entry.message
    match entry.type:
        case "assistant" | "user":
            content = as_blocks(body.content)
        case "queue-operation":
            content = as_blocks(entry.content)
        case "attachment":
            content = _attachment_blocks(entry)
        case _:
            content = _system_blocks(entry)
    return Message(
        entry.uuid or uuid_of(entry),
        session_id,
        role_of(entry, kind),
        content,
        entry.timestamp,
        kind,
        body.id,
        entry.parent_uuid or entry.logical_parent_uuid,
        body.model,
        body.usage if starts_with(body.usage, b"{") else NULL,
        entry.agent_id,
        None,
        branch,
        entry.denied_by,
    )


def role_of(entry: Entry, kind: MessageKind) -> Role:
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
    """Whether the line has a tool's result."""
    content = entry.message.content
    if entry.type != "user" or not starts_with(content, b"["):
        return False
    # inside a JSON string these quotes would be escaped, so it can only be a block's type
    if _TOOL_RESULT in bytes(memoryview(content)[:128]):
        return True
    return b'"tool_result"' in bytes(content) and any(
        block.type == "tool_result" for block in blocks_of(content)
    )


def _kind_of_user(entry: Entry) -> MessageKind:
    if is_tool_result(entry):
        return "toolResult"
    kind = _kind_of_content(entry.message.content)
    return "notice" if kind == "prompt" and entry.is_from_others else kind


def _kind_of_content(content: Raw) -> MessageKind:
    if starts_with(content, b'"'):
        return prompt_kind(string_of(content))
    kind: MessageKind = "prompt"
    has_prompt = False
    for block in blocks_of(content):
        if block.type != "text" or not block.text:
            continue
        spoken = prompt_kind(block.text)
        if spoken in ("command", "interruption"):
            return spoken
        if spoken == "notice":
            kind = "notice"
        elif unwrap_prompt(block.text):
            has_prompt = True
    # a person's text beside a notice counts
    return "prompt" if has_prompt else kind


def _kind_of_system(entry: Entry) -> MessageKind | None:
    match entry.subtype:
        case "compact_boundary":
            return "compaction"
        case "api_error":
            return "error"
        case "local_command":
            return "command"
        case subtype if subtype in _NOTICE_SUBTYPES:
            return "notice"
        case _:
            return None


def _kind_of_attachment(entry: Entry) -> MessageKind | None:
    attachment = bytes(entry.attachment)
    if _QUEUED_COMMAND not in attachment[:64] and b"hook" not in attachment[:64]:
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
            kind = _kind_of_content(dumps(loose.get("prompt")))
            by_others = loose.get("commandMode") == "task-notification" or is_others_origin(
                bytes(dumps(loose.get("origin")))
            )
            return "notice" if by_others else kind
        case "hook_blocking_error" | "hook_non_blocking_error" | "hook_system_message":
            return "notice"
        case "edited_text_file" | "goal_status":
            return "notice"
        case _:
            return None


def queued_prompt_content(entry: Entry) -> Raw:
    """The content of a prompt that was given while a turn ran."""
    loose = loads(entry.attachment)
    return dumps(loose.get("prompt")) if isinstance(loose, dict) else EMPTY_RAW


def as_blocks(content: Raw) -> Raw:
    """Content as a list of blocks, whichever way it was written."""
    if starts_with(content, b'"'):
        return Raw(b'[{"type":"text","text":' + bytes(content) + b"}]")
    return content if starts_with(content, b"[") else Raw(b"[]")


def _attachment_blocks(entry: Entry) -> Raw:
    loose = loads(entry.attachment)
    attachment = loose if isinstance(loose, dict) else {}
    match attachment.get("type"):
        case "queued_command":
            return as_blocks(dumps(attachment.get("prompt")))
        case "edited_text_file":
            return _text_block(f"{attachment.get('filename')} was changed outside of Claude Code")
        case "goal_status":
            met = "met" if attachment.get("met") else "not met yet"
            return _text_block(f"Goal {met}: {attachment.get('condition')}")
        case "hook_system_message":
            return _text_block(f"{attachment.get('hookName')}: {attachment.get('content')}")
        case _:
            blocking = attachment.get("blockingError")
            reason = blocking.get("blockingError") if isinstance(blocking, dict) else None
            reason = reason or attachment.get("stderr") or "failed"
            return _text_block(f"{attachment.get('hookName')}: {reason}")


def _system_blocks(entry: Entry) -> Raw:
    if starts_with(entry.content, b'"'):
        return as_blocks(entry.content)
    if entry.subtype == "api_error":
        error = loads(entry.error)
        return _text_block(f"API error: {_error_text(error)}")
    return _text_block((entry.subtype or "notice").replace("_", " "))


def _error_text(error: object) -> str:
    """The message of a nested error."""
    if isinstance(error, str):
        return error
    if isinstance(error, dict):
        for key in ("message", "error", "cause", "formatted", "code", "status", "type"):
            if error.get(key):
                return _error_text(error[key])
    return str(error) if isinstance(error, int) else "no reason given"


def _text_block(text: str) -> Raw:
    return dumps([{"type": "text", "text": text}])
