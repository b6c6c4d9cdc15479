"""Which conversation a command belongs to: what config.json may say of it, and the answer."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta

Scorer = Literal["plain", "improved"]
# why, in a word: the sentence that says it has words of the command in it
Cause = Literal["fits", "belowThreshold", "tooShort", "noCandidates", "disabled"]
CAUSES: tuple[Cause, ...] = get_args(Cause)
ACTIONS: tuple[Literal["resume", "new"], ...] = ("resume", "new")
SCORERS: tuple[Scorer, ...] = get_args(Scorer)


class RoutingSettings(msgspec.Struct, rename="camel", frozen=True):
    """`routing` in config.json."""

    enabled: bool = True
    # a conversation that fits less than this is not resumed
    confidence_threshold: Annotated[float, Meta(ge=0, le=1)] = 0.45
    # a conversation in which nothing was said for longer is not thought of
    expiry_minutes: Annotated[float, Meta(gt=0, le=1440)] = 30.0
    scorer: Scorer = "improved"


class CandidateScore(msgspec.Struct, rename="camel", kw_only=True):
    """How well a command fits one conversation; everything lies between 0 and 1."""

    session_id: str
    title: str | None
    workdir: str | None
    score: float
    # words in common; how lately it was spoken in; words that carry on
    overlap: float
    recency: float
    signal: float
    seconds_ago: float
    # what speaks for it, in words; empty where nothing but its being recent does
    because: str
    # the command says that what is planned there is to be done now: the mode it goes on in
    leaves_plan_for: str | None = None


class RoutingDecision(msgspec.Struct, rename="camel", kw_only=True):
    """Where a command goes. `confidence` is in the action: in a new one, 1 − the best score."""

    action: Literal["resume", "new"]
    session_id: str | None
    title: str | None
    confidence: float
    reason: str
    candidates: list[CandidateScore]
    # what it was decided by
    scorer: Scorer = "improved"
    threshold: float = 0.0
    cause: Cause = "noCandidates"
    # `POST /send` takes it, so that the answer is kept with the message that was sent by it
    id: str | None = None


class RoutedMessage(msgspec.Struct, rename="camel", kw_only=True):
    """Why a message went where it did."""

    # of the message, and of the session that it went to
    uuid: str
    session_id: str
    at: str
    # what the keeper would have done
    routing: RoutingDecision
    # False: the person chose another way
    followed: bool = True
    # its words ended the planning there: the mode in which the session went on
    left_plan_for: str | None = None
