"""A conversation as routing sees it: what was said in it, taken apart once, and when."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from claudekeeper.contract.routing import CandidateScore
from claudekeeper.routing.stop_words import keywords
from claudekeeper.routing.vocabulary import NAME_WEIGHT, Vocabulary, terms_of

# seconds: fresh for so long, then half as fresh after each of these
FRESH_SECONDS, HALF_LIFE_SECONDS = 180.0, 600.0
# how many words a reason names
MOST_NAMED_WORDS = 3
# characters at the end of a reply in which a question is looked for
REPLY_END_CHARACTERS = 600
# a question, and one sentence after it at most: “Which one? I would take the first.”
_QUESTION = re.compile(
    r"([^.!?？。\n]{0,300})[?？][\s\"'”’)*_`]*(?:[^.!?？。\n]{1,200}[.!。]?)?\s*$"
)
# one that asks for more than yes or no
_OPEN_QUESTION = re.compile(
    r"\b(?:which|what|who|whom|whose|where|when|how|or|(?:can|could) you|welche[rsnm]?|was|wer|wo"
    r"|wann|wie|oder|können sie|kannst du|quel(?:le)?s?|qui|où|quand|comment|combien|ou|pouvez-vous"
    r"|cuál(?:es)?|qué|quién|dónde|cuándo|cómo|o|quale|quali|come|dove|qual|onde|como|welk|waar|hoe"
    r"|of|как|какой|какая|какие|где|когда|или|jak|który|która|gdzie|kiedy|czy)\b"
    r"|哪|什么|多少|怎么|还是|どの|どれ|どちら|何|いつ|어느|어떤|무엇|언제",
    re.IGNORECASE,
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
    """One candidate."""

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
    """Take apart what was said."""
    said = list(commands)
    in_commands = [term for each in said for term in terms_of(each)]
    in_reply = terms_of(reply)
    # files that Claude named are what the conversation is about, as if the person had said them
    names = [term for term in in_reply if term.weight == NAME_WEIGHT]
    question = _QUESTION.search(reply[-REPLY_END_CHARACTERS:])
    return CandidateWords(
        keywords=frozenset().union(*map(keywords, said)),
        prompt_words=Vocabulary.of(in_commands + names),
        reply_words=Vocabulary.of(in_reply),
        ends_with_question=question is not None,
        open_question=question is not None and _OPEN_QUESTION.search(question[1]) is not None,
    )


def quote_words(words: Iterable[str]) -> str:
    """Some words, as a reason says them."""
    return ", ".join(f"“{word}”" for word in list(words)[:MOST_NAMED_WORDS])
