"""Whether a command says that what was planned is to be done now. Pure.

A session that is planning leaves plan mode by such a word, so in doubt it is none: a question, a
negation, a condition, or a word about the plan itself.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from re import Pattern

import msgspec

from claudekeeper.analysis.phrase_file import read_phrases

# a task is described in many sentences, and any of them may speak of building
MAX_COMMAND_LENGTH = 400

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|“[^“”]*”|\"[^\"\n]*\"", re.DOTALL)
_MARKS = re.compile(r"^\W+|\W+$")
_SPACES = re.compile(r"[^\S\n]+")
_QUESTION_MARK = re.compile(r"[?？؟]")


class StartPhrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The patterns of start_words.toml, which says what each one means."""

    clause_break: Pattern[str]
    start: Pattern[str]
    negation: Pattern[str]
    about_plan: Pattern[str]
    request: Pattern[str]


@cache
def _phrases() -> StartPhrases:
    return read_phrases(Path(__file__).with_suffix(".toml"), StartPhrases)


def starts_work(command: str) -> bool:
    """Whether a session that plans is told to do now what it planned."""
    text = command[: MAX_COMMAND_LENGTH + 1].replace("’", "'")
    text = _SPACES.sub(" ", _CODE.sub(" ", text)).strip()
    if len(command) > MAX_COMMAND_LENGTH or not text or text.startswith("/"):
        return False
    phrases = _phrases()
    if phrases.negation.search(text) or phrases.about_plan.search(text):
        return False
    if _QUESTION_MARK.search(text) and not phrases.request.match(text):
        return False
    clauses = phrases.clause_break.split(text.rstrip("?？ "))
    # an emoji or a smiley behind it says nothing else
    return any(phrases.start.fullmatch(_MARKS.sub("", clause)) for clause in clauses if clause)
