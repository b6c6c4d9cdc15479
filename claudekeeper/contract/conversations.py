"""Conversations that belong to work: what is asked of them, and what is told."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from claudekeeper.contract.ceilings import AskedCeilings, Ceilings
from claudekeeper.contract.errors import Fault
from claudekeeper.contract.events import Event, TurnOutcome
from claudekeeper.contract.requests import AbsolutePath, Uuid

Strategy = Literal["summary", "window", "off"]
WorkState = Literal["active", "expired", "reset", "ended"]
DispatchKind = Literal["created", "continued", "renewed"]
# why a session is no longer the conversation's
EndReason = Literal["expired", "reset", "window", "lost"]
AuditAction = Literal[
    "created",
    "continued",
    "renewed",
    "summary",
    "window",
    "expired",
    "reset",
    "deleted",
    # a ceiling is reached and a person is asked; what the person said
    "ceiling",
    "allowed",
    "ended",
]

Label = Annotated[str, Meta(max_length=200)]
# a persona travels as an argument of the CLI, which the system bounds
ItemSystemPrompt = Annotated[str, Meta(max_length=60_000)]
Seconds = Annotated[float, Meta(gt=0, le=10 * 365 * 86_400)]


Hours = Annotated[float, Meta(gt=0)]
Fraction = Annotated[float, Meta(gt=0, le=1)]
MessageCount = Annotated[int, Meta(ge=0, le=1000)]
TokenCount = Annotated[int, Meta(ge=1)]


class ProjectSettings(msgspec.Struct, rename="camel", frozen=True):
    """What `conversations.projects` says of one project; the rest is as for all of them."""

    enabled: bool | None = None
    expiry_hours: Hours | None = None
    strategy: Strategy | None = None
    threshold: Fraction | None = None
    keep_messages: MessageCount | None = None
    window_tokens: TokenCount | None = None
    ceilings: Ceilings | None = None


class ConversationSettings(msgspec.Struct, rename="camel", frozen=True):
    """`conversations` in config.json."""

    # whether items of work are dispatched at all; `projects` may say otherwise for one of them
    enabled: bool = True
    # a conversation that is not used for so long begins afresh
    expiry_hours: Hours = 24.0
    # what is done when a conversation fills its model's window
    strategy: Strategy = "summary"
    # of the window
    threshold: Fraction = 0.8
    # the last messages that a summary keeps word for word
    keep_messages: MessageCount = 10
    # the window in tokens, where it is not what the model's name says
    window_tokens: TokenCount | None = None
    # the most that an item may use before a person is asked
    ceilings: Ceilings = Ceilings()
    # seconds between two looks for conversations that have expired
    sweep_seconds: Annotated[float, Meta(ge=1)] = 3600.0
    # how long a dispatch stays in the audit trail; null keeps all of them
    audit_days: Annotated[float, Meta(gt=0)] | None = None
    # settings of one project, by its name
    projects: dict[str, ProjectSettings] = {}

    def for_project(self, project: str | None) -> ConversationSettings:
        """The settings that hold for the items of a project."""
        own = self.projects.get(project or "")
        if own is None:
            return self
        said = {
            name: value for name, value in msgspec.structs.asdict(own).items() if value is not None
        }
        return msgspec.structs.replace(self, **said)


class Dispatch(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """Work on an item. `workdir` is needed to begin; `expiresIn` is in seconds.

    An item is its key in its project: "" is that of items without one. Left out, it is the one
    project in which the key stands.
    """

    text: Annotated[str, Meta(min_length=1)]
    # the caller's own id for this dispatch: made again under it, it is not said again
    uuid: Uuid | None = None
    workdir: AbsolutePath | None = None
    project: Label | None = None
    system_prompt: ItemSystemPrompt | None = None
    metadata: dict[str, Any] | None = None
    expires_in: Seconds | None = None
    # the most that the item may use; config.json may allow less
    ceilings: AskedCeilings | None = None
    # answer when the turn is over, with the reply
    wait: bool = False


class ResetRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    keep_system_prompt: bool = True


class DispatchOutcome(msgspec.Struct, rename="camel", kw_only=True):
    """How a turn ended; `cancelled`: it was taken out of the line, and never began."""

    outcome: TurnOutcome | Literal["cancelled", "unknown"]
    reply: str = ""
    error: Fault | None = None
    usage: dict[str, Any] | None = None
    cost_usd: float | None = None
    duration_ms: int | None = None
    # what the conversation fills of its window now; None where no reply said
    tokens: int | None = None
    # what all replies of the turn used together
    tokens_used: int = 0
    model: str | None = None


class Dispatched(msgspec.Struct, rename="camel", kw_only=True):
    """The message is in line; with `wait` its turn is over."""

    key: str
    project: str | None
    session_id: str
    uuid: str
    how: DispatchKind
    expires: str
    ended: DispatchOutcome | None = None


class EarlierSession(msgspec.Struct, rename="camel", kw_only=True):
    """A session that was the conversation's once."""

    session_id: str
    ended: str
    why: EndReason
    details: str | None = None


class LoggedDispatch(msgspec.Struct, rename="camel", kw_only=True):
    """One dispatch of the audit trail; `outcome` is null while its turn is under way."""

    at: str
    session_id: str
    uuid: str
    how: DispatchKind
    text: str
    outcome: str | None = None
    # what the conversation filled of its window, and what the turn used in all
    tokens: int | None = None
    tokens_used: int | None = None
    cost_usd: float | None = None
    finished: str | None = None


class AuditedDispatch(LoggedDispatch, rename="camel", kw_only=True):
    """A dispatch of the whole trail, also of an item whose conversation is forgotten."""

    key: str
    project: str | None


class AuditTrail(msgspec.Struct):
    """Dispatches, the last one first; `cursor` leads to those before them, null at the end."""

    dispatches: list[AuditedDispatch]
    cursor: str | None


class AuditedAct(msgspec.Struct, rename="camel", kw_only=True):
    """Something that was done to the conversation by itself."""

    at: str
    what: AuditAction
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
    # what all turns of the item used together, whatever their session was
    tokens: int
    # what the session filled of its window when its last reply came
    last_window: int
    dispatches: int
    cost_usd: float
    # those that hold for it, with what a person allowed
    ceilings: Ceilings
    # the question that waits for a person since a ceiling was reached
    attention_id: str | None


class WholeConversation(WorkConversation, rename="camel", kw_only=True):
    """And what became of it, oldest first; of the dispatches the last hundred."""

    earlier: list[EarlierSession]
    acts: list[AuditedAct]
    log: list[LoggedDispatch]


class WorkConversations(msgspec.Struct):
    conversations: list[WorkConversation]
    # leads to those that were used before these; null at the end
    cursor: str | None


class ConversationForgotten(msgspec.Struct, omit_defaults=True):
    key: str
    project: str | None = None


class ConversationUpdated(Event, tag="conversation/updated"):
    """The conversation of an item has begun, moved on, or was changed by itself."""

    key: str
    project: str | None
    what: AuditAction
    details: str = ""
