"""Matches of a query in a text, their rank, and a snippet to show. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from claudekeeper.contract.message import MessageKind
from claudekeeper.search.query import QueryTerm, fold

# characters of a snippet, and how many of them stand before the first match
SNIPPET_LENGTH = 240
LEAD_LENGTH = 60
# matches of a term that count in one text
MAX_MATCHES = 100

_BLANKS = re.compile(r"\s+")
# words of people count more than output of tools
_KIND_WEIGHTS: dict[MessageKind, float] = {
    "prompt": 1.6,
    "reply": 1.4,
    "compaction": 1.2,
    "command": 1.0,
    "error": 0.9,
    "notice": 0.8,
    "interruption": 0.5,
    "toolResult": 0.8,
}
_DECISION_WEIGHT = 2.0


class SnippetPart(msgspec.Struct, frozen=True):
    """Some text of a snippet; `match`: a term of the query."""

    text: str
    match: bool = False


class Snippet(msgspec.Struct, frozen=True):
    """One match of a term in a text."""

    start: int
    end: int
    term: int


@lru_cache(maxsize=256)
def _compile(term: QueryTerm) -> re.Pattern[str]:
    return re.compile(term.pattern)


def find_matches(text: str, terms: Sequence[QueryTerm]) -> list[Snippet] | None:
    """Every match of the terms, in order; None where one of them has none."""
    lower = text.lower()
    if len(lower) == len(text) and (finds := _find_in_folded(lower, text, terms)) is not None:
        # accents are removed only where nothing matches with them
        return finds
    folded, offsets = fold(text)
    if offsets is None:
        return _find_in_folded(folded, text, terms)
    finds = _find_in_folded(folded, "".join(text[at] for at in offsets), terms)
    if finds is None:
        return None
    return [_to_original_offsets(find, offsets, len(text)) for find in finds]


def _find_in_folded(folded: str, text: str, terms: Sequence[QueryTerm]) -> list[Snippet] | None:
    """`text` is the original, with the same length as the folded text."""
    finds: list[Snippet] = []
    for number, term in enumerate(terms):
        before = len(finds)
        for match in _compile(term).finditer(folded):
            start, end = match.span()
            if not term.matches_inside and folded.isascii() and not is_word_start(text, start):
                continue
            finds.append(Snippet(start, end, number))
            if len(finds) - before >= MAX_MATCHES:
                break
        if len(finds) == before:
            return None
    finds.sort(key=lambda find: (find.start, -find.end))
    return finds


def is_word_start(text: str, at: int) -> bool:
    """Whether a word begins here, also inside of a name: Token in refreshTokenCache."""
    if at == 0 or not text[at - 1].isalnum():
        return True
    if not text[at].isupper():
        return False
    return not text[at - 1].isupper() or text[at + 1 : at + 2].islower()


def _to_original_offsets(find: Snippet, offsets: list[int], length: int) -> Snippet:
    end = offsets[find.end] if find.end < len(offsets) else length
    return Snippet(offsets[find.start], end, find.term)


def best_window(finds: Sequence[Snippet]) -> int:
    """Where a snippet of `LENGTH` has most of the terms; the first such offset."""
    best, most_terms = 0, 0
    ahead = 0
    counts: dict[int, int] = {}
    for at, find in enumerate(finds):
        while ahead < len(finds) and finds[ahead].end <= find.start + SNIPPET_LENGTH - LEAD_LENGTH:
            counts[finds[ahead].term] = counts.get(finds[ahead].term, 0) + 1
            ahead += 1
        if len(counts) > most_terms:
            best, most_terms = at, len(counts)
        if counts.get(find.term):
            counts[find.term] -= 1
            if not counts[find.term]:
                del counts[find.term]
    return best


def make_snippet(text: str, finds: Sequence[Snippet]) -> list[SnippetPart]:
    """The text around the matches, in parts that match and parts that do not."""
    first = finds[best_window(finds)]
    start = _word_start(text, max(0, first.start - LEAD_LENGTH), first.start)
    end = _word_end(text, max(first.end, start + SNIPPET_LENGTH))
    pieces: list[SnippetPart] = []
    at = start
    for find in finds:
        if find.start < at or find.end > end:
            continue
        pieces.append(SnippetPart(text[at : find.start]))
        pieces.append(SnippetPart(text[find.start : find.end], match=True))
        at = find.end
    pieces.append(SnippetPart(text[at:end]))
    parts = [
        SnippetPart(_BLANKS.sub(" ", piece.text), piece.match) for piece in pieces if piece.text
    ]
    if start > 0:
        parts.insert(0, SnippetPart("…"))
    if end < len(text):
        parts.append(SnippetPart("…"))
    return _join_parts(parts)


def _join_parts(pieces: list[SnippetPart]) -> list[SnippetPart]:
    joined: list[SnippetPart] = []
    for piece in pieces:
        if joined and joined[-1].match == piece.match and not piece.match:
            joined[-1] = SnippetPart(joined[-1].text + piece.text)
        else:
            joined.append(piece)
    return joined


def _word_start(text: str, at: int, before: int) -> int:
    while 0 < at < before and not text[at - 1].isspace():
        at += 1
    return at


def _word_end(text: str, at: int) -> int:
    end = min(at, len(text))
    while end < len(text) and end - at < LEAD_LENGTH and not text[end].isspace():
        end += 1
    return end


def score(text: str, finds: Sequence[Snippet], kind: MessageKind, *, decides: bool) -> float:
    """How well a message matches: who says it, how many matches, how close together, how early."""
    terms = {find.term for find in finds}
    # a match inside of a word is rarely what was meant
    worth = [(find.term, 1.0 if is_word_start(text, find.start) else 0.2) for find in finds]
    frequent = sum(min(sum(one for each, one in worth if each == term), 5) for term in terms)
    near = max(1, len(_terms_in_window(finds))) / len(terms)
    dense = frequent / math.sqrt(1 + len(text) / 800)
    early = 0.5 if finds[0].start < SNIPPET_LENGTH else 0.0
    return (dense + 2 * near + early) * (_DECISION_WEIGHT if decides else _KIND_WEIGHTS[kind])


def _terms_in_window(finds: Sequence[Snippet]) -> set[int]:
    first = finds[best_window(finds)].start
    return {find.term for find in finds if first <= find.start <= first + SNIPPET_LENGTH}
