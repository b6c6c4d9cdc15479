"""Which conversation a command belongs to: what config.json may say of it, and the answer."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Scorer = Literal["plain", "improved"]


class RoutingSettings(msgspec.Struct, rename="camel", frozen=True):
    """`routing` in config.json."""

    enabled: bool = True
    # a conversation that fits less than this is not resumed
    confidence_threshold: Annotated[float, Meta(ge=0, le=1)] = 0.45
    # a conversation in which nothing was said for longer is not thought of
    expiry_minutes: Annotated[float, Meta(gt=0, le=1440)] = 30.0
    scorer: Scorer = "improved"


class Fit(msgspec.Struct, rename="camel", kw_only=True):
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


class Routing(msgspec.Struct, rename="camel", kw_only=True):
    """Where a command goes. `confidence` is in the action: in a new one, 1 − the best score."""

    action: Literal["resume", "new"]
    session_id: str | None
    title: str | None
    confidence: float
    reason: str
    candidates: list[Fit]
