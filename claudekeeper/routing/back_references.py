"""Back references: whether a command points at what was said before, or away from it."""

from __future__ import annotations

import re

import msgspec

from claudekeeper.routing.phrases import routing_phrases
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
# and the share of it that counts when the command is full of new words: “oh and …” is meant so
# whatever follows, a “then” or “it” among many new words may belong to them
MIN_OPENING, MIN_FOLLOW_UP, MIN_POINTER = 0.9, 0.6, 0.5
# a command that tells so little by itself can only be about what was said before
LITTLE_WEIGHT = 3 * COMMON_WEIGHT
# an answer without figures or commas has no more words than this
MAX_BARE_WORDS = 4
# characters at either end of a command that are read
END_CHARACTERS = 1_000
# what a program wrote is longer than this
MIN_PASTE_WORDS = 10
# an answer that does not begin like one has no more words than this, and names one thing at most
MAX_ANSWER_WORDS = 5
_LIST_OR_FIGURES = re.compile(r"\d|[,;|]")


class BackReference(msgspec.Struct, frozen=True):
    """How surely a command points at a conversation, and by which words.

    `changes_topic`: it says that it is about something else.
    """

    strength: float = 0.0
    words: str = ""
    changes_topic: bool = False


class BackReferences(msgspec.Struct, frozen=True):
    """What of a command points back or away, read once for all candidates."""

    # the words that change the topic, open a follow-up, carry on, answer, point
    topic_change: str | None
    opening: str | None
    follow_up: str | None
    answer: str | None
    pointer: str | None
    # what was so before: “still”, “again”
    hint: str | None
    # what is there is to be otherwise
    amendment: str | None
    # the words of what should be otherwise
    subject_words: frozenset[str]
    # the words of the topic that it names or goes back to
    returns_to: frozenset[str]
    # whether the command begins with the pointer
    pointer_first: bool
    # whether it asks for something that does not exist yet
    starts_new_work: bool
    # whether it asks for nothing by itself, as an answer does
    is_bare: bool
    # whether it shows what a program wrote
    is_paste: bool
    # how much the clauses before the pointer tell: it may mean that
    weight_before_pointer: float
    # how much the command tells by itself, and in how many words
    weight: float
    word_count: int

    @property
    def is_short_answer(self) -> bool:
        return self.word_count <= MAX_ANSWER_WORDS and self.weight <= WORD_WEIGHT

    @property
    def has_no_content(self) -> bool:
        """Whether it can only be about what was said before."""
        return self.weight <= LITTLE_WEIGHT

    @classmethod
    def parse(cls, command: str) -> BackReferences:
        phrases = routing_phrases()
        signal = find_opening_signal(command)
        command = normalize(_head_and_tail(command))
        rest = phrases.filler_opening.sub("", command.strip())
        pointing = phrases.not_pointing.sub(" ", rest)
        pointer = phrases.pointer.search(pointing)
        return cls(
            topic_change=_matched_text(phrases.topic_change.search(command)),
            opening=signal or _matched_text(phrases.follow_up_opening.search(rest)),
            follow_up=_matched_text(
                phrases.follow_up_adverb.search(rest) or phrases.follow_up_anywhere.search(rest)
            ),
            answer=_matched_text(
                phrases.answer.search(command.strip()) or phrases.answer.search(rest)
            ),
            pointer=_matched_text(pointer),
            hint=_matched_text(phrases.continuity_hint.search(rest)),
            amendment=_matched_text(phrases.amendment.search(rest)),
            subject_words=_words_in_match(phrases.should_subject.search(rest)),
            returns_to=_words_in_match(phrases.return_to_topic.search(rest)),
            pointer_first=pointer is not None and not pointing[: pointer.start()].strip(),
            starts_new_work=phrases.new_work.search(rest) is not None,
            is_paste=len(rest.split()) >= MIN_PASTE_WORDS
            and phrases.program_output.search(rest) is not None,
            is_bare=_is_bare(rest),
            weight_before_pointer=(
                _weight(_clauses_before(pointing, pointer.start())) if pointer else 0.0
            ),
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
        """The surest of the references to one conversation.

        `ends_with_question`: its last reply asks; `open_question`: for more than yes or no;
        `novelty`: how much of the command is new there.
        """
        if self.topic_change is not None:
            return BackReference(0.0, self.topic_change, changes_topic=True)
        references = [BackReference()]
        if self.opening is not None:
            references.append(
                BackReference(FOLLOW_UP_STRENGTH * _fade(MIN_OPENING, novelty), self.opening)
            )
        elif self.follow_up is not None:
            references.append(
                BackReference(FOLLOW_UP_STRENGTH * _fade(MIN_FOLLOW_UP, novelty), self.follow_up)
            )
        if self.answer is not None:
            references.append(BackReference(ANSWER_STRENGTH * (1 - novelty), self.answer))
        elif (open_question and self.is_bare) or (ends_with_question and self.is_short_answer):
            references.append(BackReference(ANSWER_STRENGTH))
        if self.pointer is not None:
            if self.has_no_content:
                # in a new conversation, “do both” would mean nothing
                strength = FOLLOW_UP_STRENGTH
            elif self.weight_before_pointer > WORD_WEIGHT:
                strength = HINT_STRENGTH * (1 - novelty)
            else:
                share = MIN_OPENING if self.pointer_first else MIN_POINTER
                strength = POINTER_STRENGTH * _fade(share, novelty)
            references.append(BackReference(strength, self.pointer))
        if self.amendment is not None:
            references.append(BackReference(AMENDMENT_STRENGTH * (1 - novelty), self.amendment))
        if topic_returned_to:
            references.append(BackReference(FOLLOW_UP_STRENGTH, self.opening or ""))
        if subject_mentioned:
            references.append(BackReference(POINTER_STRENGTH))
        if self.hint is not None:
            references.append(BackReference(HINT_STRENGTH * (1 - novelty), self.hint))
        if self.is_paste:
            references.append(BackReference(PASTE_STRENGTH))
        if self.has_no_content:
            references.append(BackReference(DEPENDENT_STRENGTH))
        return max(references, key=lambda reference: reference.strength)


def _head_and_tail(text: str) -> str:
    """The words before and after something long that was pasted."""
    if len(text) <= 2 * END_CHARACTERS:
        return text
    return f"{text[:END_CHARACTERS]} {text[-END_CHARACTERS:]}"


def _is_bare(text: str) -> bool:
    """Whether it may be an answer: a few words, a list or figures, and nothing is done to it."""
    if routing_phrases().own_request.search(text) or routing_phrases().object.search(text):
        return False
    first = terms_of(" ".join(text.split()[:1]))
    if first and first[0].weight <= COMMON_WEIGHT and not first[0].word.isdigit():
        return False
    return len(text.split()) <= MAX_BARE_WORDS or _LIST_OR_FIGURES.search(text) is not None


def _words_in_match(match: re.Match[str] | None) -> frozenset[str]:
    return frozenset(term.word for term in terms_of(match[1])) if match else frozenset()


def _fade(least: float, novelty: float) -> float:
    """The share of a reference that counts; `least`: where everything is new."""
    return 1 - (1 - least) * novelty


def _clauses_before(text: str, at: int) -> str:
    breaks = routing_phrases().clause_break.finditer(text, 0, at)
    ends = [match.start() for match in breaks]
    return text[: ends[-1]] if ends else ""


def _weight(text: str) -> float:
    return sum(term.weight for term in terms_of(text))


def _matched_text(match: re.Match[str] | None) -> str | None:
    return match[0].strip() if match else None
