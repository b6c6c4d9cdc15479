"""Whether a command points at what was said before, or away from it, in several languages."""

from __future__ import annotations

import re

import msgspec

from claudekeeper.routing import phrases
from claudekeeper.routing.stop_words import find_opening_signal, normalize
from claudekeeper.routing.vocabulary import COMMON_WEIGHT, WORD_WEIGHT, terms_of

# how surely each kind of word points back
(
    FOLLOW_UP_STRENGTH,
    ANSWER_STRENGTH,
    POINTER_STRENGTH,
    DEPENDENT_STRENGTH,
    AMENDMENT_STRENGTH,
    PASTE_STRENGTH,
    HINT_STRENGTH,
) = 1.0, 0.8, 0.8, 0.7, 0.5, 0.3, 0.25
# and how much of that is left when the command is full of new words: “oh and …” is meant so
# whatever follows, a “then” or “it” among many new words may belong to them
OPENING_LEAST, FOLLOW_UP_LEAST, POINTER_LEAST = 0.9, 0.6, 0.5
# a command that tells so little by itself can only be about what was there before
LITTLE_WEIGHT = 3 * COMMON_WEIGHT
# an answer without figures or commas has no more words than this
MOST_BARE_WORDS = 4
# characters at either end of a command that are looked at
END_CHARACTERS = 1_000
# what a program wrote is longer than this
MIN_PASTE_WORDS = 10
# an answer that is none by its words and asks for something by itself is no longer than this, and
# names one thing at most
MOST_ANSWER_WORDS = 5


class BackReference(msgspec.Struct, frozen=True):
    """`parts`: the command says that it is about something else."""

    strength: float = 0.0
    words: str = ""
    changes_topic: bool = False


class BackReferences(msgspec.Struct, frozen=True):
    """What of a command points back or away, found once for all candidates."""

    # words that end a conversation, open a follow-up, carry on, answer, point
    topic_change: str | None
    opening: str | None
    follow_up: str | None
    answer: str | None
    pointer: str | None
    # what was so before: “still”, “again”
    hint: str | None
    # what is there is to be otherwise
    amendment: str | None
    # of what it is said that it should be so
    subject_words: frozenset[str]
    # what it says that it goes back to, or speaks of
    returns_to: frozenset[str]
    # whether the pointer is what the command speaks of first
    pointer_first: bool
    # whether a thing is asked for that is not there yet
    starts_new_work: bool
    # whether it asks for nothing by itself, as an answer does
    is_bare: bool
    # whether it shows what a program wrote
    is_paste: bool
    # how much was named in the clauses before the pointer: it may mean that
    weight_before_pointer: float
    # how much the command tells by itself, and in how many words
    weight: float
    word_count: int

    @property
    def is_short_answer(self) -> bool:
        return self.word_count <= MOST_ANSWER_WORDS and self.weight <= WORD_WEIGHT

    @property
    def has_no_content(self) -> bool:
        """It can only be about what was there before."""
        return self.weight <= LITTLE_WEIGHT

    @classmethod
    def parse(cls, command: str) -> BackReferences:
        signal = find_opening_signal(command)
        command = normalize(_head_and_tail(command))
        rest = phrases.FILLER_OPENING.sub("", command.strip())
        pointing = phrases.NOT_POINTING.sub(" ", rest)
        pointer = phrases.POINTER.search(pointing)
        return cls(
            topic_change=_matched_text(phrases.TOPIC_CHANGE.search(command)),
            opening=signal or _matched_text(phrases.FOLLOW_UP_OPENING.search(rest)),
            follow_up=_matched_text(
                phrases.FOLLOW_UP_ADVERB.search(rest) or phrases.FOLLOW_UP_ANYWHERE.search(rest)
            ),
            answer=_matched_text(
                phrases.ANSWER.search(command.strip()) or phrases.ANSWER.search(rest)
            ),
            pointer=_matched_text(pointer),
            hint=_matched_text(phrases.CONTINUITY_HINT.search(rest)),
            amendment=_matched_text(phrases.AMENDMENT.search(rest)),
            subject_words=_words_in_match(phrases.SHOULD_SUBJECT.search(rest)),
            returns_to=_words_in_match(phrases.RETURN_TO_TOPIC.search(rest)),
            pointer_first=pointer is not None and not pointing[: pointer.start()].strip(),
            starts_new_work=phrases.NEW_WORK.search(rest) is not None,
            is_paste=len(rest.split()) >= MIN_PASTE_WORDS
            and phrases.PROGRAM_OUTPUT.search(rest) is not None,
            is_bare=_is_bare(rest),
            weight_before_pointer=_weight(_clauses_before(pointing, pointer.start()))
            if pointer
            else 0.0,
            weight=_weight(rest),
            word_count=len(rest.split()),
        )

    def strongest(
        self,
        *,
        ends_with_question: bool = False,
        open_question: bool = False,
        novelty: float = 0.0,
        subject_mentioned: bool = False,
        topic_returned_to: bool = False,
    ) -> BackReference:
        """`asked`: Claude's last words were a question; `openly`: one for more than yes or no.
        `novelty`: how much is new there; `known`: its subject was spoken of there;
        `returned`: so was what it says that it goes back to.
        """
        if self.topic_change is not None:
            return BackReference(0.0, self.topic_change, changes_topic=True)
        found = [BackReference()]
        if self.opening is not None:
            found.append(
                BackReference(FOLLOW_UP_STRENGTH * _fade(OPENING_LEAST, novelty), self.opening)
            )
        elif self.follow_up is not None:
            found.append(
                BackReference(FOLLOW_UP_STRENGTH * _fade(FOLLOW_UP_LEAST, novelty), self.follow_up)
            )
        if self.answer is not None:
            found.append(BackReference(ANSWER_STRENGTH * (1 - novelty), self.answer))
        elif (open_question and self.is_bare) or (
            ends_with_question
            and self.word_count <= MOST_ANSWER_WORDS
            and self.weight <= WORD_WEIGHT
        ):
            found.append(BackReference(ANSWER_STRENGTH))
        if self.pointer is not None:
            inside = self.weight_before_pointer > WORD_WEIGHT
            left = OPENING_LEAST if self.pointer_first else POINTER_LEAST
            strength = (
                HINT_STRENGTH * (1 - novelty) if inside else POINTER_STRENGTH * _fade(left, novelty)
            )
            # begun anew, “do both” would mean nothing
            strength = FOLLOW_UP_STRENGTH if self.has_no_content else strength
            found.append(BackReference(strength, self.pointer))
        if self.amendment is not None:
            found.append(BackReference(AMENDMENT_STRENGTH * (1 - novelty), self.amendment))
        if topic_returned_to:
            found.append(BackReference(FOLLOW_UP_STRENGTH, self.opening or ""))
        if subject_mentioned:
            found.append(BackReference(POINTER_STRENGTH))
        if self.hint is not None:
            found.append(BackReference(HINT_STRENGTH * (1 - novelty), self.hint))
        if self.is_paste:
            found.append(BackReference(PASTE_STRENGTH))
        if self.has_no_content:
            found.append(BackReference(DEPENDENT_STRENGTH))
        return max(found, key=lambda each: each.strength)


def _head_and_tail(text: str) -> str:
    """Of something long that was pasted, what was said before and after it."""
    return (
        text
        if len(text) <= 2 * END_CHARACTERS
        else f"{text[:END_CHARACTERS]} {text[-END_CHARACTERS:]}"
    )


def _is_bare(text: str) -> bool:
    """Whether it may be an answer: a few words, a list or figures, and nothing is done to it."""
    if phrases.OWN_REQUEST.search(text) or phrases.OBJECT.search(text):
        return False
    first = terms_of(" ".join(text.split()[:1]))
    if first and first[0].weight <= COMMON_WEIGHT and not first[0].word.isdigit():
        return False
    return len(text.split()) <= MOST_BARE_WORDS or phrases.LIST_OR_FIGURES.search(text) is not None


def _words_in_match(found: re.Match[str] | None) -> frozenset[str]:
    return frozenset(term.word for term in terms_of(found[1])) if found else frozenset()


def _fade(least: float, novelty: float) -> float:
    """What novelty leaves of a reference."""
    return 1 - (1 - least) * novelty


def _clauses_before(text: str, at: int) -> str:
    ends = [found.start() for found in phrases.CLAUSE_BREAK.finditer(text, 0, at)]
    return text[: ends[-1]] if ends else ""


def _weight(text: str) -> float:
    return sum(term.weight for term in terms_of(text))


def _matched_text(found: re.Match[str] | None) -> str | None:
    return found[0].strip() if found else None
