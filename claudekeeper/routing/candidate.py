"""Candidates of routing: a conversation with the words in it, and when it was last active."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from claudekeeper.contract.routing import CandidateScore
from claudekeeper.routing.phrases import routing_phrases
from claudekeeper.routing.stop_words import keywords
from claudekeeper.routing.vocabulary import NAME_WEIGHT, Vocabulary, terms_of

# seconds: how long a conversation is fresh; and then halves its recency
FRESH_SECONDS, HALF_LIFE_SECONDS = 180.0, 600.0
# how many words a reason names
MAX_NAMED_WORDS = 3
# characters at the end of a reply in which a question is looked for
REPLY_END_CHARACTERS = 600
# a question, and at most one sentence after it: “Which one? I would take the first.”
_QUESTION = re.compile(
    r"([^.!?？。\n]{0,300})[?？][\s\"'”’)*_`]*(?:[^.!?？。\n]{1,200}[.!。]?)?\s*$"
)


class CandidateWords(msgspec.Struct, frozen=True):
    """The words of one version of a transcript."""

    # of all commands so far, for the plain rule
    keywords: frozenset[str]
    prompt_words: Vocabulary
    # what Claude said last
    reply_words: Vocabulary
    # whether that was a question, and whether it is open: not to be answered by yes or no alone
    ends_with_question: bool
    open_question: bool


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A recent conversation that may be continued."""

    session_id: str
    title: str | None = None
    workdir: str | None = None
    seconds_ago: float
    words: CandidateWords

    @property
    def recency(self) -> float:
        if self.seconds_ago <= FRESH_SECONDS:
            return 1.0
        return float(0.5 ** ((self.seconds_ago - FRESH_SECONDS) / HALF_LIFE_SECONDS))

    def to_score(
        self, score: float, *, overlap: float, signal: float, because: Sequence[str]
    ) -> CandidateScore:
        return CandidateScore(
            session_id=self.session_id,
            title=self.title,
            workdir=self.workdir,
            score=round(min(max(score, 0.0), 1.0), 4),
            overlap=round(overlap, 4),
            recency=round(self.recency, 4),
            signal=round(signal, 4),
            seconds_ago=round(max(self.seconds_ago, 0.0), 1),
            because=" and ".join(because),
        )


def parse_words(commands: Iterable[str], reply: str = "") -> CandidateWords:
    """The words of all commands of a conversation, and of its last reply."""
    texts = list(commands)
    prompt_terms = [term for text in texts for term in terms_of(text)]
    reply_terms = terms_of(reply)
    # files that Claude named are what the conversation is about, as if the person had named them
    names = [term for term in reply_terms if term.weight == NAME_WEIGHT]
    question = _QUESTION.search(reply[-REPLY_END_CHARACTERS:])
    return CandidateWords(
        keywords=frozenset().union(*map(keywords, texts)),
        prompt_words=Vocabulary.of(prompt_terms + names),
        reply_words=Vocabulary.of(reply_terms),
        ends_with_question=question is not None,
        open_question=question is not None
        and routing_phrases().open_question.search(question[1]) is not None,
    )


def quote_words(words: Iterable[str]) -> str:
    """Some words, in quotation marks, for the reason of a decision."""
    return ", ".join(f"“{word}”" for word in list(words)[:MAX_NAMED_WORDS])
