"""Whether a command points at what was said before, or away from it, in several languages."""

from __future__ import annotations

import re

import msgspec

from claudekeeper.features import phrases
from claudekeeper.features.terms import COMMON_WORD, WORD, terms_of
from claudekeeper.features.wording import even, opening_signal

# how surely each kind of word points back
CARRIES_ON, ANSWERS, POINTS, DANGLES, AMENDS, SHOWS, HINTS = 1.0, 0.8, 0.8, 0.7, 0.5, 0.3, 0.25
# and how much of that is left when the command is full of new words: “oh and …” is meant so
# whatever follows, a “then” or “it” among many new words may belong to them
OPENS, CARRIED, POINTED = 0.9, 0.6, 0.5
# a command that tells so little by itself can only be about what was there before
LITTLE = 3 * COMMON_WORD
# an answer without figures or commas has no more words than this
BARE_WORDS = 4
# characters at either end of a command that are looked at
MOST_SAID = 1_000
# what a program wrote is longer than this
PASTE_WORDS = 10
# an answer that is none by its words and asks for something by itself is no longer than this, and
# names one thing at most
ANSWER_WORDS = 5


class Reference(msgspec.Struct, frozen=True):
    """`parts`: the command says that it is about something else."""

    strength: float = 0.0
    words: str = ""
    parts: bool = False


class Pointers(msgspec.Struct, frozen=True):
    """What of a command points back or away, found once for all candidates."""

    # words that end a conversation, open a follow-up, carry on, answer, point
    parting: str | None
    opening: str | None
    carrying: str | None
    answer: str | None
    pointer: str | None
    # what was so before: “still”, “again”
    hint: str | None
    # what is there is to be otherwise
    amends: str | None
    # of what it is said that it should be so
    subject: frozenset[str]
    # what it says that it goes back to, or speaks of
    returns: frozenset[str]
    # whether the pointer is what the command speaks of first
    first: bool
    # whether a thing is asked for that is not there yet
    begins: bool
    # whether it asks for nothing by itself, as an answer does
    bare: bool
    # whether it shows what a program wrote
    pasted: bool
    # how much was named in the clauses before the pointer: it may mean that
    before: float
    # how much the command tells by itself, and in how many words
    weight: float
    length: int

    @property
    def names_little(self) -> bool:
        return self.length <= ANSWER_WORDS and self.weight <= WORD

    @property
    def says_nothing(self) -> bool:
        """It can only be about what was there before."""
        return self.weight <= LITTLE

    @classmethod
    def in_command(cls, command: str) -> Pointers:
        signal = opening_signal(command)
        command = even(_shortened(command))
        rest = phrases.OPENING.sub("", command.strip())
        pointing = phrases.NOT_POINTING.sub(" ", rest)
        pointer = phrases.POINTER.search(pointing)
        return cls(
            parting=_text(phrases.PARTING.search(command)),
            opening=signal or _text(phrases.STARTS_WITH.search(rest)),
            carrying=_text(phrases.THEN.search(rest) or phrases.ANYWHERE.search(rest)),
            answer=_text(phrases.ANSWER.search(command.strip()) or phrases.ANSWER.search(rest)),
            pointer=_text(pointer),
            hint=_text(phrases.HINT.search(rest)),
            amends=_text(phrases.AMENDS.search(rest)),
            subject=_subject(phrases.SUBJECT.search(rest)),
            returns=_subject(phrases.RETURNS.search(rest)),
            first=pointer is not None and not pointing[: pointer.start()].strip(),
            begins=phrases.BEGINS.search(rest) is not None,
            pasted=len(rest.split()) >= PASTE_WORDS and phrases.PASTE.search(rest) is not None,
            bare=_is_bare(rest),
            before=_weight(_clauses_before(pointing, pointer.start())) if pointer else 0.0,
            weight=_weight(rest),
            length=len(rest.split()),
        )

    def reference(
        self,
        *,
        asked: bool = False,
        openly: bool = False,
        novelty: float = 0.0,
        known: bool = False,
        returned: bool = False,
    ) -> Reference:
        """`asked`: Claude's last words were a question; `openly`: one for more than yes or no.
        `novelty`: how much is new there; `known`: its subject was spoken of there;
        `returned`: so was what it says that it goes back to.
        """
        if self.parting is not None:
            return Reference(0.0, self.parting, parts=True)
        found = [Reference()]
        if self.opening is not None:
            found.append(Reference(CARRIES_ON * _left(OPENS, novelty), self.opening))
        elif self.carrying is not None:
            found.append(Reference(CARRIES_ON * _left(CARRIED, novelty), self.carrying))
        if self.answer is not None:
            found.append(Reference(ANSWERS * (1 - novelty), self.answer))
        elif (openly and self.bare) or (
            asked and self.length <= ANSWER_WORDS and self.weight <= WORD
        ):
            found.append(Reference(ANSWERS))
        if self.pointer is not None:
            inside = self.before > WORD
            left = OPENS if self.first else POINTED
            strength = HINTS * (1 - novelty) if inside else POINTS * _left(left, novelty)
            # begun anew, “do both” would mean nothing
            strength = CARRIES_ON if self.says_nothing else strength
            found.append(Reference(strength, self.pointer))
        if self.amends is not None:
            found.append(Reference(AMENDS * (1 - novelty), self.amends))
        if returned:
            found.append(Reference(CARRIES_ON, self.opening or ""))
        if known:
            found.append(Reference(POINTS))
        if self.hint is not None:
            found.append(Reference(HINTS * (1 - novelty), self.hint))
        if self.pasted:
            found.append(Reference(SHOWS))
        if self.says_nothing:
            found.append(Reference(DANGLES))
        return max(found, key=lambda each: each.strength)


def _shortened(text: str) -> str:
    """Of something long that was pasted, what was said before and after it."""
    return text if len(text) <= 2 * MOST_SAID else f"{text[:MOST_SAID]} {text[-MOST_SAID:]}"


def _is_bare(text: str) -> bool:
    """Whether it may be an answer: a few words, a list or figures, and nothing is done to it."""
    if phrases.STANDS_ALONE.search(text) or phrases.OBJECT.search(text):
        return False
    first = terms_of(" ".join(text.split()[:1]))
    if first and first[0].weight <= COMMON_WORD and not first[0].word.isdigit():
        return False
    return len(text.split()) <= BARE_WORDS or phrases.LISTS.search(text) is not None


def _subject(found: re.Match[str] | None) -> frozenset[str]:
    return frozenset(term.word for term in terms_of(found[1])) if found else frozenset()


def _left(least: float, novelty: float) -> float:
    """What novelty leaves of a reference."""
    return 1 - (1 - least) * novelty


def _clauses_before(text: str, at: int) -> str:
    ends = [found.start() for found in phrases.CLAUSES.finditer(text, 0, at)]
    return text[: ends[-1]] if ends else ""


def _weight(text: str) -> float:
    return sum(term.weight for term in terms_of(text))


def _text(found: re.Match[str] | None) -> str | None:
    return found[0].strip() if found else None
