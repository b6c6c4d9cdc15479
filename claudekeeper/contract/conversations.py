"""Conversations of work items: settings, requests, answers and their event."""

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
# why a session no longer belongs to the conversation
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
    # a ceiling is reached and a person is asked; what the person answered
    "ceiling",
    "allowed",
    "ended",
]

Label = Annotated[str, Meta(max_length=200)]
# it is an argument of the CLI, and the system limits the length of arguments
ItemSystemPrompt = Annotated[str, Meta(max_length=60_000)]
Seconds = Annotated[float, Meta(gt=0, le=10 * 365 * 86_400)]


Hours = Annotated[float, Meta(gt=0)]
Fraction = Annotated[float, Meta(gt=0, le=1)]
MessageCount = Annotated[int, Meta(ge=0, le=1000)]
TokenCount = Annotated[int, Meta(ge=1)]


class ProjectSettings(msgspec.Struct, rename="camel", frozen=True):
    """`conversations.projects` in config.json: settings of one project; null: as for all."""

    enabled: bool | None = None
    expiry_hours: Hours | None = None
    strategy: Strategy | None = None
    threshold: Fraction | None = None
    keep_messages: MessageCount | None = None
    window_tokens: TokenCount | None = None
    ceilings: Ceilings | None = None


class ConversationSettings(msgspec.Struct, rename="camel", frozen=True):
    """`conversations` in config.json."""

    # whether work items are dispatched at all; `projects` may override it
    enabled: bool = True
    # a conversation that is unused for so long starts again
    expiry_hours: Hours = 24.0
    # what happens when a conversation fills the context window of its model
    strategy: Strategy = "summary"
    # of the context window
    threshold: Fraction = 0.8
    # how many of the last messages a summary contains word for word
    keep_messages: MessageCount = 10
    # the context window in tokens, if the name of the model does not tell it
    window_tokens: TokenCount | None = None
    # how much an item may use before a person is asked
    ceilings: Ceilings = Ceilings()
    # seconds between two checks for expired conversations
    sweep_seconds: Annotated[float, Meta(ge=1)] = 3600.0
    # how long a dispatch stays in the audit trail; null: for ever
    audit_days: Annotated[float, Meta(gt=0)] | None = None
    # settings of one project, by its name
    projects: dict[str, ProjectSettings] = {}

    def for_project(self, project: str | None) -> ConversationSettings:
        """The settings for the items of a project."""
        overrides = self.projects.get(project or "")
        if overrides is None:
            return self
        values = msgspec.structs.asdict(overrides).items()
        return msgspec.structs.replace(
            self, **{name: value for name, value in values if value is not None}
        )


class Dispatch(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """A dispatch: one message to the conversation of a work item. `expiresIn` is in seconds.

    The first dispatch of an item needs `workdir`. A key belongs to a project, "" for items without
    one; without `project` it is the only project that has the key.
    """

    text: Annotated[str, Meta(min_length=1)]
    # the caller's id for this dispatch: a second one with the same id is not sent again
    uuid: Uuid | None = None
    workdir: AbsolutePath | None = None
    project: Label | None = None
    system_prompt: ItemSystemPrompt | None = None
    metadata: dict[str, Any] | None = None
    expires_in: Seconds | None = None
    # how much the item may use; config.json may allow less
    ceilings: AskedCeilings | None = None
    # answer after the turn, with the reply
    wait: bool = False


class ResetRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """Lets the next dispatch start a new session."""

    keep_system_prompt: bool = True


class DispatchOutcome(msgspec.Struct, rename="camel", kw_only=True):
    """How a turn ended; `cancelled`: it was taken out of the queue before it began."""

    outcome: TurnOutcome | Literal["cancelled", "unknown"]
    reply: str = ""
    error: Fault | None = None
    usage: dict[str, Any] | None = None
    cost_usd: float | None = None
    duration_ms: int | None = None
    # how much of the context window is used now; None if no reply said it
    tokens: int | None = None
    # of all replies of the turn together
    tokens_used: int = 0
    model: str | None = None


class Dispatched(msgspec.Struct, rename="camel", kw_only=True):
    """The message is in the queue; with `wait` its turn is over."""

    key: str
    project: str | None
    session_id: str
    uuid: str
    how: DispatchKind
    expires: str
    ended: DispatchOutcome | None = None


class EarlierSession(msgspec.Struct, rename="camel", kw_only=True):
    """A session that belonged to the conversation earlier."""

    session_id: str
    ended: str
    why: EndReason
    details: str | None = None


class LoggedDispatch(msgspec.Struct, rename="camel", kw_only=True):
    """A dispatch in the audit trail; `outcome` is null until its turn has ended."""

    at: str
    session_id: str
    uuid: str
    how: DispatchKind
    text: str
    outcome: str | None = None
    # how much of the context window was used, and what the whole turn used
    tokens: int | None = None
    tokens_used: int | None = None
    cost_usd: float | None = None
    finished: str | None = None


class AuditedDispatch(LoggedDispatch, rename="camel", kw_only=True):
    """A dispatch in the audit trail of all items, also of deleted conversations."""

    key: str
    project: str | None


class AuditTrail(msgspec.Struct):
    """Dispatches, newest first; `cursor` leads to the next page, null at the end."""

    dispatches: list[AuditedDispatch]
    cursor: str | None


class AuditedAct(msgspec.Struct, rename="camel", kw_only=True):
    """A change of the conversation that the keeper made."""

    at: str
    what: AuditAction
    details: str


class WorkConversation(msgspec.Struct, rename="camel", kw_only=True):
    """The conversation of a work item."""

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
    # of its present session
    messages: int | None
    # of all turns of the item together, in whichever session
    tokens: int
    # how much of the context window was used at the last reply
    last_window: int
    dispatches: int
    cost_usd: float
    # with what a person allowed beyond them
    ceilings: Ceilings
    # the open question about a ceiling
    attention_id: str | None


class WholeConversation(WorkConversation, rename="camel", kw_only=True):
    """A conversation with its history, oldest first; of the dispatches the last hundred."""

    earlier: list[EarlierSession]
    acts: list[AuditedAct]
    log: list[LoggedDispatch]


class WorkConversations(msgspec.Struct):
    """Conversations, last used first; `cursor` leads to the next page, null at the end."""

    conversations: list[WorkConversation]
    cursor: str | None


class ConversationForgotten(msgspec.Struct, omit_defaults=True):
    """The conversation was deleted; the transcripts stay."""

    key: str
    project: str | None = None


class ConversationUpdated(Event, tag="conversation/updated"):
    """The conversation of a work item was created, continued or changed."""

    key: str
    project: str | None
    what: AuditAction
    details: str = ""
