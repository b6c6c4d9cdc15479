"""How people point back at what was said, answer, turn away or begin: the patterns of phrases.toml.

The file says what each one means.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from re import Pattern

import msgspec

from claudekeeper.analysis.phrase_file import read_phrases


class RoutingPhrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    object: Pattern[str]
    filler_opening: Pattern[str]
    follow_up_opening: Pattern[str]
    follow_up_adverb: Pattern[str]
    follow_up_anywhere: Pattern[str]
    answer: Pattern[str]
    own_request: Pattern[str]
    pointer: Pattern[str]
    not_pointing: Pattern[str]
    continuity_hint: Pattern[str]
    should_subject: Pattern[str]
    return_to_topic: Pattern[str]
    amendment: Pattern[str]
    program_output: Pattern[str]
    clause_break: Pattern[str]
    new_work: Pattern[str]
    topic_change: Pattern[str]
    open_question: Pattern[str]


@cache
def routing_phrases() -> RoutingPhrases:
    return read_phrases(Path(__file__).with_suffix(".toml"), RoutingPhrases)
