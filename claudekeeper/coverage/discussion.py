"""The discussion of a checklist in a conversation, as the cache stores it."""

from __future__ import annotations

from typing import Literal

import msgspec

# `answered`: Claude asked, and the person answered; `said`: the person said it without a question;
# `discussed`: the person asked, and Claude explained; `marked`: the checklist itself says so
EvidenceKind = Literal["answered", "said", "discussed", "marked"]


class Evidence(msgspec.Struct, array_like=True, gc=False):
    """What covers an item: the person's words, and the message they are in."""

    how: EvidenceKind
    words: str
    uuid: str
    at: str
    # from 0 to 1: how surely these words are about it
    confidence: float
    # when it was first covered
    since: str


class AskedQuestion(msgspec.Struct, array_like=True, gc=False):
    """A question that Claude asked."""

    text: str
    uuid: str
    at: str


class PendingQuestion(msgspec.Struct, array_like=True, gc=False):
    """A paragraph in which Claude asks: the items it is about, and its words without endings."""

    items: list[int]
    stems: list[str]
    number: int | None = None
    # whether yes or no answers it
    is_yes_no: bool = False
    # whether Claude proposed the items before it asked
    is_proposal: bool = False


class Discussion(msgspec.Struct, array_like=True, gc=False):
    """The state of a discussion, by the index of an item in its checklist."""

    covered: dict[int, Evidence] = {}
    questions: dict[int, AskedQuestion] = {}
    # when the person last spoke of it
    last_discussed: dict[int, str] = {}
    # questions that the next prompt may answer, items that the person raised or asked about
    pending_questions: list[PendingQuestion] = []
    raised_items: list[int] = []
    asked_by_person: dict[int, Evidence] = {}
    # whether the pending questions are older than a question that the person asked back
    has_older_questions: bool = False
