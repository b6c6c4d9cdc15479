"""The words of a command: which of them say what it is about, and which only carry on."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from re import Pattern

import msgspec

from claudekeeper.analysis.phrase_file import read_phrases

_SPACES = re.compile(r"\s+")
_WORD_START = re.compile(r"\b\w")
# a word without the punctuation around it
_WORD_CORE = re.compile(r"[^\W_](?:.*[^\W_])?")
# signs that look alike, as programs and phones write them
_LOOKALIKES = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
        **dict.fromkeys("\u2018\u2019\u201b\u02bc\u00b4\uff07", "'"),
        # they stand between letters and are not seen
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff"),
    }
)
# fewer letters than this tell nothing; signs of Chinese and Japanese say more each
MIN_LETTERS = 4
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class RoutingWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words of stop_words.toml, which says what each set is for."""

    stop_words: frozenset[str]
    filler_words: frozenset[str]
    common_words: frozenset[str]
    widespread_words: frozenset[str]
    definite_articles: frozenset[str]
    indefinite_articles: frozenset[str]
    # the whole word of each short one
    abbreviations: dict[str, str]
    signal: Pattern[str]
    opening: Pattern[str]
    split_compounds: Pattern[str]
    verb: Pattern[str]
    empty_chinese: Pattern[str]


@cache
def routing_words() -> RoutingWords:
    return read_phrases(Path(__file__).with_suffix(".toml"), RoutingWords)


def keywords(text: str) -> frozenset[str]:
    """Lower-cased words of more than two letters, without stop words."""
    stop_words = routing_words().stop_words
    pieces = text.lower().replace("’", "'").split()
    words = (match[0] for piece in pieces if (match := _WORD_CORE.search(piece)) is not None)
    return frozenset(word for word in words if len(word) > 2 and word not in stop_words)


def normalize(text: str) -> str:
    """The text with one kind of space, hyphen and apostrophe each."""
    return _SPACES.sub(" ", text.translate(_LOOKALIKES)).strip()


def find_signal(text: str) -> str | None:
    """The first words that carry on, as they were said."""
    match = routing_words().signal.search(normalize(text))
    return match[0] if match else None


def find_opening_signal(text: str) -> str | None:
    """The words that carry on with which a command opens, after a greeting, thanks and the like."""
    text = normalize(text)
    words = routing_words()
    opening = words.opening.match(text)
    # the longest row of such words may have taken one that is a part of the signal: “and then”
    for start in _word_starts(text, opening.end() if opening else 0):
        if (match := words.signal.match(text, start)) is not None:
            return match[0]
    return None


def _word_starts(text: str, end: int) -> list[int]:
    return [match.start() for match in _WORD_START.finditer(text, 0, end + 1)] + [end]


def is_very_short(text: str) -> bool:
    letters = sum(char.isalnum() for char in text)
    return letters + 2 * len(_CJK.findall(text)) < MIN_LETTERS
