"""The clauses of a text: what each one does (state, ask, put off …), and its words without endings.

Code and quotations are not a person's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Literal

from claudekeeper.coverage.clause_phrases import clause_phrases

# `states`: something is so; `orders`: Claude is to do something; `asks`: a question; `plans`: it is
# to be talked about; `defers`: it is put off, or not known; `heads`: a heading, a quotation, a word
# before a colon; `assents`: yes, no, agreed; `empty`: thanks and the like
ClauseKind = Literal["states", "orders", "asks", "plans", "defers", "heads", "assents", "empty"]

_FENCE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_QUOTE = re.compile(r"\s*>\s?")
_HEADING = re.compile(r"\s*#{1,6}\s+")
_LIST_ITEM = re.compile(r"\s*(?:[-*+•]|\(?(\d{1,2})[.):])\s+")
# "1) admins 2) every month"
_INLINE_NUMBER = re.compile(r"(?<=\s)(?=\(?\d{1,2}[.):]\s)")
_SENTENCE_BREAK = re.compile(
    r"(?<=[.!?])[\"'”’)\]*_]*\s+|(?<=[。？！])|(?<=;)\s+|\s+[–—]\s+|\s+-\s+"
)
_COLON = re.compile(r"(?<=\w):\s+")
_MARKS = re.compile(r"[*_`~]+(?=\S)|(?<=\S)[*_`~]+")
_QUESTION_END = re.compile(r"[?？؟][\s\"'”’)\]*_]*\Z")
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NO_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_MIN_STEM_LENGTH = 3
MAX_WORD_LENGTH = 40


class Clause:
    """A piece of a sentence. Its kind is found only on demand: most of a long text is about nothing
    of interest."""

    __slots__ = (
        "_heading",
        "_is_question",
        "_kind",
        "block",
        "number",
        "previous",
        "stems",
        "text",
    )

    def __init__(
        self,
        text: str,
        block: int,
        number: int | None,
        *,
        asks: bool,
        heads: Literal["never", "perhaps", "always"],
        before: Clause | None,
    ) -> None:
        self.text = text
        # clauses of one paragraph or item of a list belong together
        self.block = block
        # its number in a numbered list
        self.number = number
        # the words that tell something, without their endings
        self.stems = {word for word in stems_of(_drop_paths(text)) if word is not None}
        # the clause before it in the same line
        self.previous = before
        self._is_question = asks
        self._heading = heads
        self._kind: ClauseKind | None = None

    @property
    def kind(self) -> ClauseKind:
        if self._kind is None:
            self._kind = self._find_kind()
        return self._kind

    @property
    def is_sentence(self) -> bool:
        """Whether it has more than the words that tell something."""
        phrases = clause_phrases()
        words = self.text.casefold().replace("’", "'").split()
        return any(
            word in phrases.stop_words and word not in phrases.filler_words for word in words
        )

    def _find_kind(self) -> ClauseKind:
        if self._heading == "always":
            return "heads"
        kind = clause_kind(self.text, asks=self._is_question)
        if kind == "states" and self._heading == "perhaps":
            return "heads"
        if kind == "asks" and self._is_planned():
            # "let's go on with: who may log in?" asks nobody
            return "plans"
        return kind

    def _is_planned(self) -> bool:
        before = self.previous
        while before is not None:
            if before.kind == "plans":
                return True
            before = before.previous
        return False


def split_clauses(text: str, near: re.Pattern[str] | None = None) -> list[Clause]:
    """The clauses of a text, without code. `near`: only of lines that match this, and of the lines
    beside them."""
    clauses: list[Clause] = []
    block = 0
    if "```" in text or "~~~" in text:
        text = _FENCE.sub("\n\n", text)
    lines = text.splitlines()
    is_near = [near is None or near.search(line) is not None for line in lines]
    for line_index, line in enumerate(lines):
        if not line.strip():
            block += 1
            continue
        if not any(is_near[max(0, line_index - 2) : line_index + 3]):
            continue
        pieces = _INLINE_NUMBER.split(line) if _LIST_ITEM.match(line) else [line]
        for piece in pieces:
            item = _LIST_ITEM.match(piece)
            number = int(item[1]) if item and item[1] else None
            block += item is not None
            clauses += _clauses_in(piece[item.end() :] if item else piece, block, number)
    return clauses


def _clauses_in(line: str, block: int, number: int | None) -> Iterator[Clause]:
    prefix = _QUOTE.match(line) or _HEADING.match(line)
    but = clause_phrases().but
    before: Clause | None = None
    # runs of spaces would be slow to search
    text = " ".join(_MARKS.sub("", line[prefix.end() :] if prefix else line).split())
    for sentence in _SENTENCE_BREAK.split(text):
        asks = _QUESTION_END.search(sentence) is not None
        for piece in but.split(sentence):
            halves = _COLON.split(piece, maxsplit=1)
            for index, half in enumerate(halves):
                if not half.strip():
                    continue
                opens = index == 0 and (len(halves) > 1 or half.rstrip().endswith(":"))
                before = Clause(
                    half.strip(),
                    block,
                    number,
                    asks=asks and index == len(halves) - 1,
                    heads="always" if prefix else "perhaps" if opens else "never",
                    before=before,
                )
                yield before


def clause_kind(clause: str, *, asks: bool = False) -> ClauseKind:
    phrases = clause_phrases()
    if phrases.empty.match(clause):
        return "empty"
    if phrases.defers.search(clause) or phrases.later.search(clause):
        return "defers"
    if phrases.plans.search(clause):
        return "plans"
    if asks or phrases.indirect_question.match(clause):
        return "asks"
    if phrases.assents.match(clause):
        return "assents"
    is_order = phrases.orders.match(clause) and not phrases.named_so.match(clause)
    return "orders" if is_order else "states"


def _drop_paths(text: str) -> str:
    """The text without paths and headers of diffs: the folder of a file says nothing of a topic."""
    if text.startswith("@@ "):
        return ""
    if "/" not in text and "\\" not in text:
        return text
    return " ".join(word for word in text.split() if not _is_path(word))


def _is_path(word: str) -> bool:
    parts = re.split(r"[/\\]", word.strip("\"'`()<>,;:"))
    # /etc/hosts, ./a, C:\a, https://a; and a/b.py, but not read/write
    return len(parts) > 1 and (
        parts[0] in ("", "~", ".", "..") or ":" in parts[0] or "." in parts[-1].strip(".")
    )


def is_inspection(order: str) -> bool:
    """Whether Claude is only to look at something, or to run it."""
    return clause_phrases().inspection.match(order) is not None


def interrogative_of(text: str) -> str | None:
    """The word with which a question begins."""
    match = clause_phrases().interrogative.match(text)
    return match[1].casefold() if match else None


def stems_of(text: str) -> list[str | None]:
    """Every word without its ending; None where it means little."""
    joined = clause_phrases().phrasal.sub(lambda match: match[1] + match[2], text)
    return [stem for token in _TOKEN.findall(joined) for stem in _cached_stems(token)]


def _cached_stems(token: str) -> tuple[str | None, ...]:
    # longer ones are no words, and not worth caching
    return _stems(token) if len(token) <= MAX_WORD_LENGTH else _stems.__wrapped__(token)


@lru_cache(maxsize=16_384)
def _stems(token: str) -> tuple[str | None, ...]:
    if _NO_SPACES.search(token):
        # pairs of signs, as words are not separated
        return tuple(token[start : start + 2] for start in range(max(1, len(token) - 1)))
    word = token.casefold().replace("’", "'")
    is_short = len(word) < _MIN_STEM_LENGTH and not token.isupper() and not word.isdigit()
    if is_short or word in clause_phrases().stop_words:
        return (None,)
    stem = _stem(word.removesuffix("'s"))
    return ("may" if stem in clause_phrases().may_synonyms else stem,)


def tells_of(clause: Clause, item: set[str]) -> bool:
    """Whether a clause says something of an item, and not only that one speaks of it."""
    rest = clause.stems - item
    if (rest and rest <= _talk_stems()) or _is_topic(clause.text, item):
        return False
    return not any(
        item.isdisjoint(stems_of(match[0]))
        for match in clause_phrases().speaks_of.finditer(clause.text)
    )


def _is_topic(text: str, item: set[str]) -> bool:
    """Whether an item stands after "about", and nothing else is said of it."""
    pieces = clause_phrases().regarding.split(text, maxsplit=1)
    if len(pieces) == 1 or not item.isdisjoint(stems_of(pieces[0])):
        return False
    stems = [stem for stem in stems_of(pieces[1]) if stem is not None]
    return bool(stems) and stems[0] in item and set(stems) <= item | _talk_stems()


@cache
def _talk_stems() -> frozenset[str]:
    words = clause_phrases().talk_words
    return frozenset(stem for word in words for stem in stems_of(word) if stem is not None)


def is_faulty(text: str) -> bool:
    """Whether something does not work as it should, by a text: a fault settles nothing."""
    return clause_phrases().fault.search(text) is not None


def stem_pattern(stems: set[str]) -> str:
    """A pattern that matches wherever one of these may stand, with any ending."""
    if "may" in stems:
        stems = stems | clause_phrases().may_synonyms
    return "|".join(sorted({re.escape(stem[:_MIN_STEM_LENGTH]) for stem in stems})) or r"(?!)"


def _stem(word: str) -> str:
    phrases = clause_phrases()
    for ending in phrases.ize_endings + phrases.endings:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM_LENGTH:
            if word.endswith("ss"):
                return word
            stem = word[: -len(ending)]
            if ending in phrases.ize_endings:
                return stem + "is"
            if ending == "ies":
                return stem + "y"
            if (
                ending in ("ing", "ed", "ings")
                and len(stem) > _MIN_STEM_LENGTH
                and stem[-1] == stem[-2]
            ):
                return stem[:-1]
            return stem
    return word
