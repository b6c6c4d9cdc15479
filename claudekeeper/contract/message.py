"""A message as clients see it."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Raw

# no value: msgspec encodes `Raw | None`, but does not decode it
NULL = Raw(b"null")
Denier = Literal["person", "rule"]
MessageKind = Literal[
    "prompt", "reply", "toolResult", "command", "compaction", "interruption", "error", "notice"
]
Role = Literal["user", "assistant", "system"]


class Message(msgspec.Struct, rename="camel", gc=False):
    """One message of a conversation. `content` is the list of blocks as Claude Code wrote it."""

    uuid: str
    session_id: str
    role: Role
    content: Raw
    timestamp: str | None
    kind: MessageKind
    message_id: str | None = None
    parent_uuid: str | None = None
    model: str | None = None
    # an object, or null
    usage: Raw = msgspec.field(default_factory=lambda: NULL)
    agent_id: str | None = None
    parent_tool_use_id: str | None = None
    branch: str | None = None
    # of a tool call that was not made: whether a person or a rule denied it
    denied_by: Denier | None = None
