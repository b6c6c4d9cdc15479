"""The events of the WebSocket. Each is named noun/verb and belongs to a session."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from claudekeeper.contract.attention import Attention, AttentionOutcome
from claudekeeper.contract.errors import Fault
from claudekeeper.contract.message import Message
from claudekeeper.contract.sessions import Session

DeltaKind = Literal["text", "thinking", "input"]
TurnOutcome = Literal["done", "interrupted", "failed"]
# `held`: it waits until a person sends it
QueueState = Literal["queued", "held", "taken", "cancelled"]


class Event(msgspec.Struct, rename="camel", tag_field="type", kw_only=True, gc=False):
    session_id: str


class SessionUpdated(Event, tag="session/updated"):
    """A session is new or has changed."""

    session: Session


class SessionRemoved(Event, tag="session/removed"):
    """The transcript was deleted."""


class Resync(Event, tag="resync"):
    """The events of this session have a gap: read it again over REST."""


class SessionNotified(Event, tag="session/notified"):
    """A hook of a Claude Code that somebody else runs: `Notification`, `Stop` and others."""

    event: str
    text: str | None = None
    title: str | None = None
    # the kind of notification, or why the session started or ended
    reason: str | None = None


class SessionFailed(Event, tag="session/failed"):
    """A message could not be processed; `uuid` is that message."""

    uuid: str | None
    error: Fault


class MessageAdded(Event, tag="message/added"):
    """A message was added after the message `after`; null: at the end."""

    message: Message
    after: str | None = None


class PartialBlock(msgspec.Struct, rename="camel"):
    """The block of a reply that is being written, so far."""

    message_id: str
    index: int
    kind: DeltaKind
    text: str
    tool: str | None = None
    tool_use_id: str | None = None


class MessageDelta(Event, tag="message/delta"):
    """A piece of the block that is being written."""

    message_id: str
    index: int
    kind: DeltaKind
    text: str
    tool: str | None = None
    tool_use_id: str | None = None


class MessageWithdrawn(Event, tag="message/withdrawn"):
    """The pieces of this block are void: it is written again, or was lost."""

    message_id: str
    index: int


class TurnStarted(Event, tag="turn/started"):
    """A turn has started; `uuid` is that of its prompt, null for a turn without one."""

    uuid: str | None


class TurnStatus(Event, tag="turn/status"):
    """What a turn is doing: `retrying`, `compacting`, `rateLimited` or about a task."""

    status: str
    attempt: int | None = None
    max_retries: int | None = None
    delay_ms: float | None = None
    error: str | None = None
    task_id: str | None = None
    tool_use_id: str | None = None
    description: str | None = None
    task_status: str | None = None
    details: dict[str, Any] | None = None


class TurnFinished(Event, tag="turn/finished"):
    """A turn has ended."""

    uuid: str | None
    outcome: TurnOutcome
    error: Fault | None = None
    usage: dict[str, Any] | None = None
    cost_usd: float | None = None
    # of the whole turn: every model, subagents and compactions too
    tokens_used: int | None = None
    duration_ms: int | None = None


class CurrentTurnView(msgspec.Struct, rename="camel"):
    """The turn that runs; `status` is its last status."""

    uuid: str | None
    started: str
    status: TurnStatus | None = None


class QueuedPrompt(msgspec.Struct, rename="camel"):
    """A prompt in the queue."""

    uuid: str
    text: str
    state: QueueState
    images: int = 0


class QueueUpdated(Event, tag="queue/updated"):
    """The queue of a session has changed; `queue` is all of it."""

    queue: list[QueuedPrompt]


class AttentionRaised(Event, tag="attention/raised"):
    """A question waits for a person."""

    attention: Attention


class AttentionSettled(Event, tag="attention/settled"):
    """A question was answered, or was taken back by whoever asked it."""

    attention_id: str
    decision: AttentionOutcome
    by: str
