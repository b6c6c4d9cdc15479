"""Routing: its settings, and the decision which session a prompt belongs to."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta

Scorer = Literal["plain", "improved"]
# the reason as a word for the log: the sentence quotes the prompt
Cause = Literal["fits", "belowThreshold", "tooShort", "noCandidates", "disabled"]
CAUSES: tuple[Cause, ...] = get_args(Cause)
ACTIONS: tuple[Literal["resume", "new"], ...] = ("resume", "new")
SCORERS: tuple[Scorer, ...] = get_args(Scorer)


class RoutingSettings(msgspec.Struct, rename="camel", frozen=True):
    """`routing` in config.json."""

    enabled: bool = True
    # a session with a lower score is not resumed
    confidence_threshold: Annotated[float, Meta(ge=0, le=1)] = 0.45
    # a session that is idle for longer is no candidate
    expiry_minutes: Annotated[float, Meta(gt=0, le=1440)] = 30.0
    scorer: Scorer = "improved"


class CandidateScore(msgspec.Struct, rename="camel", kw_only=True):
    """How well a prompt fits one session; all scores are between 0 and 1."""

    session_id: str
    title: str | None
    workdir: str | None
    score: float
    # words in common; how recently it was used; words that refer to earlier ones
    overlap: float
    recency: float
    signal: float
    seconds_ago: float
    # the reason as a sentence; empty if it is only recent
    because: str
    # the prompt approves the plan of that session: the mode in which it continues
    leaves_plan_for: str | None = None


class RoutingDecision(msgspec.Struct, rename="camel", kw_only=True):
    """Where a prompt goes. `confidence` is that of the action: for `new`, 1 − the best score."""

    action: Literal["resume", "new"]
    session_id: str | None
    title: str | None
    confidence: float
    reason: str
    candidates: list[CandidateScore]
    # the scorer and the threshold that decided
    scorer: Scorer = "improved"
    threshold: float = 0.0
    cause: Cause = "noCandidates"
    # `POST /send` takes it as `routing`, and stores the decision with the message
    id: str | None = None


class RoutedMessage(msgspec.Struct, rename="camel", kw_only=True):
    """The routing decision behind a message."""

    # of the message and of its session
    uuid: str
    session_id: str
    at: str
    # the decision of the keeper
    routing: RoutingDecision
    # False: the person chose another destination
    followed: bool = True
    # it approved the plan of the session: the mode in which that continued
    left_plan_for: str | None = None
