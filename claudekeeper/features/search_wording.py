"""What somebody looks for, as the index of words is asked for it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence

from claudekeeper.features.search_query import WHOLE_WORDS, Term, fold
from claudekeeper.readers.lexicon import LEAST, words_around, words_ending, words_with
from claudekeeper.readers.search_index import spaced, words_beginning

# longer forms of a word that are named one by one; beyond them the index is asked for all
FORMS = 200
FORMS_OF_LITERAL = 16
# words that have it inside; beyond them only those count that begin with it
MOST_AROUND = 2_000
# Korean particles attach to words of other letters, too, however short these are: DB를
SYLLABLES = ("\uac00", "\ud7a4")
# words of a phrase that tell enough without the one behind or before them
FEW = 2

_WORDS = re.compile(r"[^\W_]+")
_LAST_WORD = re.compile(r"[a-z0-9]+$")


class Wording:
    """Terms in the index's own language; what is found too much is seen in the message itself."""

    def __init__(self, database: sqlite3.Connection, terms: Sequence[Term]) -> None:
        self._database = database
        self._terms = terms
        # what has a word that begins with each of them; None where one of them is nowhere
        self.begun = self._expression(self._begun)

    def only_inside(self) -> str | None:
        """What has one of the words only inside of longer ones."""
        around = self._expression(self._around)
        if around is None or around == self.begun:
            return None
        return f"(({around}) NOT ({self.begun}))" if self.begun else around

    def _expression(self, asked_for: Callable[[Term], str | None]) -> str | None:
        """The words as the index is asked for them; None where one of them is nowhere."""
        terms: list[str] = []
        for term in self._terms:
            asked = asked_for(term)
            if asked is None:
                return None
            terms.append(f"({asked})")
        return " AND ".join(terms)

    def _begun(self, term: Term) -> str | None:
        """What begins with it."""
        if term.kind == "literal":
            return self._phrase(spaced(term.text))
        word = fold(term.text)[0]
        if term.begins and word.isascii():
            return _of(self._words_like(word))
        if term.kind == "word" and word.isascii():
            attached = words_beginning(self._database, word, FORMS, SYLLABLES) or []
            return _of([_quoted(form) for form in (word, *attached)])
        return _of([_quoted(spaced(term.text)) + (" *" if term.begins else "")])

    def _around(self, term: Term) -> str | None:
        """What begins with it, or has it inside."""
        begun = self._begun(term)
        if not term.anywhere:
            return begun
        if not (term.kind == "literal" or term.begins):
            around = self._longer(fold(term.text)[0], words_around)
            return _either(begun, around or _of([_quoted(term.text) + " *"]))
        first = _WORDS.match(text := spaced(term.text))
        inside = self._from_inside(first[0], text[first.end() :]) if first else None
        return _either(begun, inside)

    def _from_inside(self, first: str, rest: str) -> str | None:
        """The same, where its first word begins inside of a longer one."""
        if not _WORDS.search(rest):
            # a sign behind it, or a vowel that is written as a mark, ends the word for the index
            return self._longer(first, words_ending if rest else words_with) or None
        behind = self._phrase(rest)
        longer = self._longer(first, words_ending) if behind else ""
        if longer is None:
            # very many end so: what stands behind tells more, if it tells anything
            return behind if len(rest) >= LEAST else None
        return f"({longer} AND {behind})" if longer else None

    def _longer(
        self, piece: str, look_up: Callable[[sqlite3.Connection, str, int], list[str] | None]
    ) -> str | None:
        """Words that have this behind their beginning; empty where none has, None: very many."""
        found: set[str] = set()
        for kept in _as_kept(piece):
            words = look_up(self._database, kept, MOST_AROUND)
            if words is None:
                return None
            found |= {word for word in words if word != kept}
        return _of([_quoted(word) for word in sorted(found)]) or ""

    def _phrase(self, text: str) -> str | None:
        """Words next to each other, of which the last may be the beginning of a longer one.

        A phrase costs the reading of all its words' lists, so there is one, not one for each form
        of its last word; what is too much is seen when the message itself is read.
        """
        last = _LAST_WORD.search(fold(text)[0]) if text.isascii() else None
        if last is None:
            # the end is one of a word, or of none at all
            return _of([_quoted(text) + (" *" if text[-1:].isalnum() else "")])
        before = _WORDS.findall(text[: last.start()])
        forms = words_beginning(self._database, last[0], FORMS_OF_LITERAL)
        if len(before) >= FEW:
            before = _without_first(before)
            head = _of([_quoted(" ".join(before))])
            if forms is None:
                return head
            if len(forms) > 1:
                return f"({head} AND {_of([_quoted(form) for form in forms])})"
        if forms is None:
            return _of([_quoted(text) + " *"])
        return _of([_quoted(" ".join([*before, form])) for form in forms])

    def _words_like(self, start: str) -> list[str]:
        """Every word that begins so, one by one; as a beginning where they are too many."""
        forms = words_beginning(self._database, start, FORMS)
        return [f'"{start}" *'] if forms is None else [f'"{form}"' for form in forms]


def _without_first(words: list[str]) -> list[str]:
    """A phrase without what every message has, where enough is left of it."""
    while len(words) > FEW and words[0].casefold() in WHOLE_WORDS:
        words = words[1:]
    return words


def _as_kept(word: str) -> set[str]:
    """As the index may have it: accents are taken off there, but not in every script."""
    return {fold(word)[0], word.lower()}


def _of(forms: list[str]) -> str | None:
    return f"(said : ({' OR '.join(forms)}))" if forms else None


def _either(one: str | None, other: str | None) -> str | None:
    return f"({one} OR {other})" if one and other else one or other


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
