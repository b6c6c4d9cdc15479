"""A search as an expression of SQLite's full-text index."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence

from claudekeeper.search.query import WHOLE_WORDS, QueryTerm, fold, space_words
from claudekeeper.search.store import words_with_prefix
from claudekeeper.search.trigrams import (
    SHORTEST_PIECE,
    scan_words_containing,
    words_containing,
    words_with_suffix,
)

# longer forms of a word that are named one by one; beyond them a prefix is used
MAX_FORMS = 200
MAX_LITERAL_FORMS = 16
# words that contain a piece; beyond them only words count that begin with it
MAX_CONTAINING = 2_000
# Korean particles attach to words of other letters, too, however short these are: DB를
HANGUL_RANGE = ("\uac00", "\ud7a4")
# words of a phrase that are enough without the one before or after them
ENOUGH_WORDS = 2

_WORD = re.compile(r"[^\W_]+")
_LAST_WORD = re.compile(r"[a-z0-9]+$")


class FtsQuery:
    """Terms in the index's language. Hits that are too many are dropped by reading the message."""

    def __init__(self, database: sqlite3.Connection, terms: Sequence[QueryTerm]) -> None:
        self._database = database
        self._terms = terms
        # messages with a word that begins with each of them; None where one has none
        self.prefix_expression = self._expression(self._prefix_match)

    def infix_expression(self) -> str | None:
        """Messages that have one of the words only inside of longer ones."""
        around = self._expression(self._anywhere_match)
        if around is None or around == self.prefix_expression:
            return None
        return f"(({around}) NOT ({self.prefix_expression}))" if self.prefix_expression else around

    def _expression(self, expression_of: Callable[[QueryTerm], str | None]) -> str | None:
        """The words as one expression; None where the index has one of them nowhere."""
        terms: list[str] = []
        for term in self._terms:
            expression = expression_of(term)
            if expression is None:
                return None
            terms.append(f"({expression})")
        return " AND ".join(terms)

    def _prefix_match(self, term: QueryTerm) -> str | None:
        """Words that begin with the term."""
        if term.kind == "literal":
            return self._phrase_match(space_words(term.text))
        word = fold(term.text)[0]
        if term.matches_prefix and word.isascii():
            return _any_of(self._prefix_forms(word))
        if term.kind == "word" and word.isascii():
            attached = words_with_prefix(self._database, word, MAX_FORMS, HANGUL_RANGE) or []
            return _any_of([_quote(form) for form in (word, *attached)])
        return _any_of([_quote(space_words(term.text)) + (" *" if term.matches_prefix else "")])

    def _anywhere_match(self, term: QueryTerm) -> str | None:
        """Words that begin with the term, or contain it."""
        begun = self._prefix_match(term)
        if not term.matches_inside:
            return begun
        if not (term.kind == "literal" or term.matches_prefix):
            around = self._longer_words(fold(term.text)[0], scan_words_containing)
            return _either(begun, around or _any_of([_quote(term.text) + " *"]))
        first = _WORD.match(text := space_words(term.text))
        inside = self._infix_match(first[0], text[first.end() :]) if first else None
        return _either(begun, inside)

    def _infix_match(self, first: str, rest: str) -> str | None:
        """A phrase whose first word may begin inside of a longer one."""
        if not _WORD.search(rest):
            # a sign after it, or a vowel that is written as a mark, ends the word for the index
            return (
                self._longer_words(first, words_with_suffix if rest else words_containing) or None
            )
        behind = self._phrase_match(rest)
        longer = self._longer_words(first, words_with_suffix) if behind else ""
        if longer is None:
            # very many words end so: the words after it narrow the search, if there are any
            return behind if len(rest) >= SHORTEST_PIECE else None
        return f"({longer} AND {behind})" if longer else None

    def _longer_words(
        self, piece: str, find_words: Callable[[sqlite3.Connection, str, int], list[str] | None]
    ) -> str | None:
        """Words that have this after their beginning; empty: none has it; None: very many do."""
        longer: set[str] = set()
        for form in _indexed_forms(piece):
            words = find_words(self._database, form, MAX_CONTAINING)
            if words is None:
                return None
            longer |= {word for word in words if word != form}
        return _any_of([_quote(word) for word in sorted(longer)]) or ""

    def _phrase_match(self, text: str) -> str | None:
        """Words next to each other, of which the last may be the beginning of a longer one.

        A phrase costs reading the lists of all its words, so there is one phrase, not one for each
        form of its last word. Hits that are too many are dropped when the message is read.
        """
        last = _LAST_WORD.search(fold(text)[0]) if text.isascii() else None
        if last is None:
            # the last word is complete, or there is none
            return _any_of([_quote(text) + (" *" if text[-1:].isalnum() else "")])
        before = _WORD.findall(text[: last.start()])
        forms = words_with_prefix(self._database, last[0], MAX_LITERAL_FORMS)
        if len(before) >= ENOUGH_WORDS:
            before = _strip_common_words(before)
            head = _any_of([_quote(" ".join(before))])
            if forms is None:
                return head
            if len(forms) > 1:
                return f"({head} AND {_any_of([_quote(form) for form in forms])})"
        if forms is None:
            return _any_of([_quote(text) + " *"])
        return _any_of([_quote(" ".join([*before, form])) for form in forms])

    def _prefix_forms(self, start: str) -> list[str]:
        """Every word with this beginning, one by one; a prefix where there are too many."""
        forms = words_with_prefix(self._database, start, MAX_FORMS)
        return [f'"{start}" *'] if forms is None else [f'"{form}"' for form in forms]


def _strip_common_words(words: list[str]) -> list[str]:
    """A phrase without very common words, where enough words remain."""
    while len(words) > ENOUGH_WORDS and words[0].casefold() in WHOLE_WORDS:
        words = words[1:]
    return words


def _indexed_forms(word: str) -> set[str]:
    """The forms of a word in the index, which removes accents, but not in every script."""
    return {fold(word)[0], word.lower()}


def _any_of(forms: list[str]) -> str | None:
    return f"(said : ({' OR '.join(forms)}))" if forms else None


def _either(one: str | None, other: str | None) -> str | None:
    return f"({one} OR {other})" if one and other else one or other


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
