"""What is known of a conversation about a checklist; kept in the cache as it is."""

from __future__ import annotations

from typing import Literal

import msgspec

# `answered`: Claude asked, and the person answered; `said`: the person said it of their own accord;
# `discussed`: the person asked, and Claude told; `marked`: the checklist itself says so
How = Literal["answered", "said", "discussed", "marked"]


class Evidence(msgspec.Struct, array_like=True, gc=False):
    """By what an item is covered: the person's words, and the message they stand in."""

    how: How
    words: str
    uuid: str
    at: str
    # from 0 to 1: how surely these words are about it
    confidence: float
    # when it was covered first
    since: str


class Put(msgspec.Struct, array_like=True, gc=False):
    """A question that Claude put."""

    text: str
    uuid: str
    at: str


class Asking(msgspec.Struct, array_like=True, gc=False):
    """A paragraph in which Claude asks: the items it is about, and its words."""

    items: list[int]
    words: list[str]
    number: int | None = None
    # whether yes or no says something
    assentable: bool = False
    # whether the items are what Claude proposed, and only then asked about
    proposed: bool = False


class Discussion(msgspec.Struct, array_like=True, gc=False):
    """What is known of a conversation, by the place of an item in its checklist."""

    covered: dict[int, Evidence] = {}
    asked: dict[int, Put] = {}
    # when the person spoke of it last
    discussed: dict[int, str] = {}
    # what waits for the person's next words
    pending: list[Asking] = []
    raised: list[int] = []
    wondered: dict[int, Evidence] = {}
    # whether what waits was asked before the person asked back
    kept: bool = False
