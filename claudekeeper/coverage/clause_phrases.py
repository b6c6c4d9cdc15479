"""The phrases by which clauses are recognised: the words and patterns of clause_phrases.toml.

The file says what each one means.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from re import Pattern

import msgspec

from claudekeeper.analysis.phrase_file import read_phrases


class ClausePhrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    stop_words: frozenset[str]
    filler_words: frozenset[str]
    talk_words: frozenset[str]
    may_synonyms: frozenset[str]
    negators: frozenset[str]
    why_words: tuple[str, ...]
    decision_phrases: tuple[str, ...]
    ize_endings: tuple[str, ...]
    endings: tuple[str, ...]
    defers: Pattern[str]
    later: Pattern[str]
    plans: Pattern[str]
    fault: Pattern[str]
    regarding: Pattern[str]
    speaks_of: Pattern[str]
    but: Pattern[str]
    indirect_question: Pattern[str]
    interrogative: Pattern[str]
    orders: Pattern[str]
    named_so: Pattern[str]
    inspection: Pattern[str]
    assents: Pattern[str]
    empty: Pattern[str]
    phrasal: Pattern[str]
    request: Pattern[str]
    refusal: Pattern[str]


@cache
def clause_phrases() -> ClausePhrases:
    return read_phrases(Path(__file__).with_suffix(".toml"), ClausePhrases)
