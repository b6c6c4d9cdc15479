"""The phrases with which Claude turns to a person: the patterns of question_phrases.toml.

The file says what each one means.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from re import Pattern

import msgspec

from claudekeeper.analysis.phrase_file import read_phrases


class QuestionPhrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    addresses_person: Pattern[str]
    self_answer: Pattern[str]
    reported_question: Pattern[str]
    leading_question: Pattern[str]
    short_offer: Pattern[str]
    self_service: Pattern[str]
    awaits_answer: Pattern[str]
    choice_lead: Pattern[str]
    request: Pattern[str]
    optional_request: Pattern[str]
    left_to_person: Pattern[str]
    persons_move: Pattern[str]
    document_lead: Pattern[str]
    question_cue: Pattern[str]
    alternative: Pattern[str]
    question_start: Pattern[str]
    all_good: Pattern[str]
    continuation: Pattern[str]
    follow_up_request: Pattern[str]
    before_action: Pattern[str]
    courtesy: Pattern[str]
    offer: Pattern[str]


@cache
def question_phrases() -> QuestionPhrases:
    return read_phrases(Path(__file__).with_suffix(".toml"), QuestionPhrases)
