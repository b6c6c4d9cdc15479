"""Search queries: words, phrases in quotes, file names, symbols. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

import msgspec

from claudekeeper.analysis.plain_text import in_syllables
from claudekeeper.net.errors import InvalidRequest
from claudekeeper.search.trigrams import letters_of

MAX_TERMS = 64
# shorter words match only whole words: everything begins with an "a"
SHORTEST_PREFIX = 3
# Scripts that write syllables, or no vowels: a sign is more than a letter there, and what other
# languages put beside a short word is attached to it. Hebrew to Thaana, those of India and of the
# islands, Ethiopic to syllabics, Yi, Vai, Korean.
_SYLLABIC_SCRIPTS = re.compile(
    "[\u0590-\u07bf\u0860-\u0dff\u1200-\u167f\u18b0-\u18ff\u1a00-\u1a1f\u1b00-\u1c4f"
    "\u2d80-\u2ddf\ua000-\ua48f\ua500-\ua63f\ua800-\ua8ff\ua930-\uaa5f\uaae0-\uaaff"
    "\uab00-\uab2f\uab70-\uabff\uac00-\ud7a3\ufb1d-\ufdff\ufe70-\ufefc]+"
)
# these match only whole words too: every message has them
_WHOLE_WORDS_TEXT = """
and are but can did for from had has have how its not our out she the that them then there
they this was were what when which who why will with you your
"""

_PIECE = re.compile(r'"([^"]*)"?|(\S+)')
_WORD = re.compile(r"[^\W_]+")
_COMBINING = re.compile(r"[\u0300-\u036f]")
# "What did we decide about …?", "Which database did we choose?", "decisions on …"
_DECISION_QUESTION = re.compile(
    r"^\s*(?:(?:what|which|how|why|when|where|who|did|do|have|has|had|was|were)\b.*"
    r"\b(?:decid(?:e|ed|ing)|decisions?|agree[ds]?|cho(?:o?se|sen)|settled?)\b"
    r"|decisions?\s+(?:about|on|for|regarding)\b)",
    re.IGNORECASE | re.DOTALL,
)
_QUESTION_WORDS_TEXT = """
a about agree agreed an and are as at be been by can chose choose chosen concerning decide
decided deciding decision decisions did do does for from go going had has have how i in is
it make made of on or our regarding settle settled should take that the there they this to
us use used was we were what when where which who why will with would you
"""

WHOLE_WORDS = frozenset(_WHOLE_WORDS_TEXT.split())
_QUESTION_WORDS = frozenset(_QUESTION_WORDS_TEXT.split())
# scripts that put no spaces between words: every character is a word there
_UNSPACED_SCRIPTS = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f"
    "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\ua980-\ua9ff\uaa60-\uaa7f"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff])"
)


class QueryTerm(msgspec.Struct, frozen=True):
    """`word`: any word that has it, best at its beginning. `literal`: exactly this, anywhere."""

    kind: Literal["word", "literal"]
    text: str

    @property
    def pattern(self) -> str:
        """The term as it stands in folded text; any white space counts as one blank."""
        pieces = (re.escape(piece) for piece in fold(self.text)[0].split())
        return r"\s+".join(pieces)

    @property
    def matches_inside(self) -> bool:
        """Whether it matches inside of a word."""
        return self.kind == "literal" or self.matches_prefix or self.takes_affix

    @property
    def matches_prefix(self) -> bool:
        """Whether it matches the beginning of a longer word."""
        letters = len(letters_of(self.text))
        return letters >= SHORTEST_PREFIX and self.text.casefold() not in WHOLE_WORDS

    @property
    def takes_affix(self) -> bool:
        """Whether it is short, but other letters may be attached to it."""
        return _SYLLABIC_SCRIPTS.fullmatch(self.text) is not None


class SearchQueryTerms(msgspec.Struct, frozen=True):
    """The terms, all of which a message must have."""

    terms: tuple[QueryTerm, ...]
    decisions_first: bool = False


class EmptyQueryError(InvalidRequest):
    code = "nothing_to_look_for"
    sentence = "Say at least one word to look for."


def parse(text: str) -> SearchQueryTerms:
    """Parse a query; every text is one, unless it has no word."""
    text = in_syllables(text.replace("\0", " "))
    asks = _DECISION_QUESTION.search(text) is not None
    terms = [term for piece in _PIECE.finditer(text) if (term := _parse_term(piece)) is not None]
    if asks:
        # without these words only the topic of a question remains
        about = [each for each in terms if each.text.casefold() not in _QUESTION_WORDS]
        terms, asks = (about, True) if about else (terms, False)
    if not terms:
        raise EmptyQueryError
    if len(terms) > MAX_TERMS:
        raise InvalidRequest(f"Look for at most {MAX_TERMS} words at once.")
    return SearchQueryTerms(tuple(dict.fromkeys(terms)), asks)


def _parse_term(piece: re.Match[str]) -> QueryTerm | None:
    quoted, bare = piece[1], piece[2]
    if quoted is not None:
        quoted = quoted.strip()
        return QueryTerm("literal", quoted) if _WORD.search(quoted) else None
    bare = _strip_edges(bare)
    if not bare:
        return None
    return QueryTerm("word" if _WORD.fullmatch(bare) else "literal", bare)


def _strip_edges(text: str) -> str:
    """The word without signs around it; marks on letters stay: in many scripts they are vowels."""
    ends = [at for at, sign in enumerate(text) if unicodedata.category(sign)[0] in "LMN"]
    return text[ends[0] : ends[-1] + 1] if _WORD.search(text) else ""


# ---- letters as the index takes them: case and accents do not count ----


class _Folding(dict[int, int]):
    """Each character → one without case and accents; filled on demand."""

    def __missing__(self, code: int) -> int:
        apart = unicodedata.normalize("NFD", chr(code))
        # a Korean syllable is decomposed too, but its parts are letters
        base = (apart[0] if all(map(unicodedata.combining, apart[1:])) else chr(code)).lower()
        self[code] = ord(base) if len(base) == 1 else code
        return self[code]


_fold_table = _Folding()


def fold(text: str) -> tuple[str, list[int] | None]:
    """The text as it is compared, and the original offset of each character; None: unchanged."""
    if text.isascii():
        return text.lower(), None
    if not _COMBINING.search(text):
        return text.translate(_fold_table), None
    offsets = [at for at, letter in enumerate(text) if not "\u0300" <= letter <= "\u036f"]
    return "".join(text[at] for at in offsets).translate(_fold_table), offsets


def space_words(text: str) -> str:
    """The text in lower case, with spaces between the words of every script, for SQLite."""
    return text if text.isascii() else _UNSPACED_SCRIPTS.sub(r" \1 ", _lower(text))


def _lower(text: str) -> str:
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    # İ would become two characters
    return "".join(small if len(small := each.lower()) == 1 else each for each in text)
