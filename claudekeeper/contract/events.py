"""What the server tells clients. Each event is named noun/verb and belongs to a session."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from claudekeeper.contract.attention import Attention, AttentionOutcome
from claudekeeper.contract.errors import Fault
from claudekeeper.contract.message import Message
from claudekeeper.contract.sessions import Session

DeltaKind = Literal["text", "thinking", "input"]
TurnOutcome = Literal["done", "interrupted", "failed"]
# `held`: it waits until a person sends it on
QueueState = Literal["queued", "held", "taken", "cancelled"]


class Event(msgspec.Struct, rename="camel", tag_field="type", kw_only=True, gc=False):
    session_id: str


class SessionUpdated(Event, tag="session/updated"):
    session: Session


class SessionRemoved(Event, tag="session/removed"):
    """The transcript is gone."""


class Resync(Event, tag="resync"):
    """What was told of this session does not hold: read it again over REST."""


class SessionNotified(Event, tag="session/notified"):
    """A hook of a session elsewhere fired: `Notification`, `Stop`, `SessionStart`, `SessionEnd`."""

    event: str
    text: str | None = None
    title: str | None = None
    # why: the kind of notification, how it began or why it ended
    reason: str | None = None


class SessionFailed(Event, tag="session/failed"):
    """A message could not be worked on; `uuid` is that message."""

    uuid: str | None
    error: Fault


class MessageAdded(Event, tag="message/added"):
    """Stands behind the message `after`; null means at the end."""

    message: Message
    after: str | None = None


class PartialBlock(msgspec.Struct, rename="camel"):
    """The block of a reply that is being written, as far as it was told."""

    message_id: str
    index: int
    kind: DeltaKind
    text: str
    tool: str | None = None
    tool_use_id: str | None = None


class MessageDelta(Event, tag="message/delta"):
    message_id: str
    index: int
    kind: DeltaKind
    text: str
    tool: str | None = None
    tool_use_id: str | None = None


class MessageWithdrawn(Event, tag="message/withdrawn"):
    """The pieces of this block are no part of the conversation: it is begun again, or was lost."""

    message_id: str
    index: int


class TurnStarted(Event, tag="turn/started"):
    """`uuid` is the prompt's; null for a turn that nobody asked for."""

    uuid: str | None


class TurnStatus(Event, tag="turn/status"):
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
    uuid: str | None
    outcome: TurnOutcome
    error: Fault | None = None
    usage: dict[str, Any] | None = None
    cost_usd: float | None = None
    # what its turn used in all: every model, subagents and compactions too
    tokens_used: int | None = None
    duration_ms: int | None = None


class CurrentTurnView(msgspec.Struct, rename="camel"):
    """The turn that runs; `status` is the last that was told of it."""

    uuid: str | None
    started: str
    status: TurnStatus | None = None


class QueuedPrompt(msgspec.Struct, rename="camel"):
    """A message that waits for its turn."""

    uuid: str
    text: str
    state: QueueState
    images: int = 0


class QueueUpdated(Event, tag="queue/updated"):
    queue: list[QueuedPrompt]


class AttentionRaised(Event, tag="attention/raised"):
    attention: Attention


class AttentionSettled(Event, tag="attention/settled"):
    attention_id: str
    decision: AttentionOutcome
    by: str
