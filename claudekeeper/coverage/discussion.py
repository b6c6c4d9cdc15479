"""What is known of a conversation about a checklist; kept in the cache as it is."""

from __future__ import annotations

from typing import Literal

import msgspec

# `answered`: Claude asked, and the person answered; `said`: the person said it of their own accord;
# `discussed`: the person asked, and Claude told; `marked`: the checklist itself says so
EvidenceKind = Literal["answered", "said", "discussed", "marked"]


class Evidence(msgspec.Struct, array_like=True, gc=False):
    """By what an item is covered: the person's words, and the message they stand in."""

    how: EvidenceKind
    words: str
    uuid: str
    at: str
    # from 0 to 1: how surely these words are about it
    confidence: float
    # when it was covered first
    since: str


class PutOff(msgspec.Struct, array_like=True, gc=False):
    """A question that Claude put."""

    text: str
    uuid: str
    at: str


class AskedItem(msgspec.Struct, array_like=True, gc=False):
    """A paragraph in which Claude asks: the items it is about, and its words."""

    items: list[int]
    stems: list[str]
    number: int | None = None
    # whether yes or no says something
    is_yes_no: bool = False
    # whether the items are what Claude proposed, and only then asked about
    is_proposal: bool = False


class Discussion(msgspec.Struct, array_like=True, gc=False):
    """What is known of a conversation, by the place of an item in its checklist."""

    covered: dict[int, Evidence] = {}
    questions: dict[int, PutOff] = {}
    # when the person spoke of it last
    last_discussed: dict[int, str] = {}
    # what waits for the person's next words
    pending_questions: list[AskedItem] = []
    raised_items: list[int] = []
    asked_by_person: dict[int, Evidence] = {}
    # whether what waits was asked before the person asked back
    has_older_questions: bool = False
