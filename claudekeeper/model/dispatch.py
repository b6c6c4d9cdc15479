"""Conversations that belong to work: what is asked of them, and what is told."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from claudekeeper.model.commands import Path, Uuid
from claudekeeper.model.errors import Fault
from claudekeeper.model.events import Event, Outcome

Strategy = Literal["summary", "window", "off"]
WorkState = Literal["active", "expired", "reset"]
How = Literal["created", "continued", "renewed"]
# why a session is no longer the conversation's
Why = Literal["expired", "reset", "window", "lost"]
What = Literal[
    "created", "continued", "renewed", "summary", "window", "expired", "reset", "deleted"
]

Label = Annotated[str, Meta(max_length=200)]
# a persona travels as an argument of the CLI, which the system bounds
Prompt = Annotated[str, Meta(max_length=60_000)]
Seconds = Annotated[float, Meta(gt=0, le=10 * 365 * 86_400)]


class ConversationSettings(msgspec.Struct, rename="camel", frozen=True):
    """`conversations` in config.json."""

    # a conversation that is not used for so long begins afresh
    expiry_hours: Annotated[float, Meta(gt=0)] = 24.0
    # what is done when a conversation fills its model's window
    strategy: Strategy = "summary"
    # of the window
    threshold: Annotated[float, Meta(gt=0, le=1)] = 0.8
    # messages that a successor is told of
    keep_messages: Annotated[int, Meta(ge=0, le=1000)] = 20
    # the window in tokens, where it is not what the model's name says
    window_tokens: Annotated[int, Meta(ge=1)] | None = None


class Dispatch(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """Work on an item. `workdir` is needed to begin; `expiresIn` is in seconds."""

    text: Annotated[str, Meta(min_length=1)]
    # the caller's own id for this dispatch: made again under it, it is not said again
    uuid: Uuid | None = None
    workdir: Path | None = None
    project: Label | None = None
    system_prompt: Prompt | None = None
    metadata: dict[str, Any] | None = None
    expires_in: Seconds | None = None
    # answer when the turn is over, with the reply
    wait: bool = False


class Reset(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    keep_system_prompt: bool = True


class Ended(msgspec.Struct, rename="camel", kw_only=True):
    """How a turn ended; `cancelled`: it was taken out of the line, and never began."""

    outcome: Outcome | Literal["cancelled", "unknown"]
    reply: str = ""
    error: Fault | None = None
    usage: dict[str, Any] | None = None
    cost_usd: float | None = None
    duration_ms: int | None = None
    # what the conversation fills of its window now; None where no reply said
    tokens: int | None = None
    model: str | None = None


class Dispatched(msgspec.Struct, rename="camel", kw_only=True):
    """The message is in line; with `wait` its turn is over."""

    key: str
    session_id: str
    uuid: str
    how: How
    expires: str
    ended: Ended | None = None


class Earlier(msgspec.Struct, rename="camel", kw_only=True):
    """A session that was the conversation's once."""

    session_id: str
    ended: str
    why: Why
    details: str | None = None


class Logged(msgspec.Struct, rename="camel", kw_only=True):
    """One dispatch of the audit trail; `outcome` is null while its turn is under way."""

    at: str
    session_id: str
    uuid: str
    how: How
    text: str
    outcome: str | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    finished: str | None = None


class Act(msgspec.Struct, rename="camel", kw_only=True):
    """Something that was done to the conversation by itself."""

    at: str
    what: What
    details: str


class WorkConversation(msgspec.Struct, rename="camel", kw_only=True):
    """The conversation of an item of work."""

    key: str
    state: WorkState
    session_id: str | None
    project: str | None
    workdir: str
    system_prompt: str | None
    metadata: dict[str, Any]
    created: str
    updated: str
    expires: str
    # of the session that it has now
    messages: int | None
    tokens: int
    dispatches: int


class WholeConversation(WorkConversation, rename="camel", kw_only=True):
    """And what became of it, oldest first; of the dispatches the last hundred."""

    earlier: list[Earlier]
    acts: list[Act]
    log: list[Logged]


class WorkConversations(msgspec.Struct):
    conversations: list[WorkConversation]
    # leads to those that were used before these; null at the end
    cursor: str | None


class Forgotten(msgspec.Struct):
    key: str


class ConversationUpdated(Event, tag="conversation/updated"):
    """The conversation of an item has begun, moved on, or was changed by itself."""

    key: str
    what: What
    details: str = ""
