"""A conversation as routing sees it: what was said in it, taken apart once, and when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from claudekeeper.features.terms import NAME, Vocabulary, terms_of
from claudekeeper.features.wording import keywords
from claudekeeper.model.routing import Fit

# seconds: fresh for so long, then half as fresh after each of these
FRESH, HALVING = 180.0, 600.0
# how many words a reason names
NAMED = 3


class Heard(msgspec.Struct, frozen=True):
    """The words of one version of a transcript."""

    # of all commands so far, for the plain rule
    keywords: frozenset[str]
    commands: Vocabulary
    # what Claude said last
    reply: Vocabulary
    asked: bool


class Talk(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate."""

    session_id: str
    title: str | None = None
    workdir: str | None = None
    seconds_ago: float
    heard: Heard

    @property
    def recency(self) -> float:
        if self.seconds_ago <= FRESH:
            return 1.0
        return float(0.5 ** ((self.seconds_ago - FRESH) / HALVING))

    def fit(self, score: float, *, overlap: float, signal: float, because: Sequence[str]) -> Fit:
        return Fit(
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


def hear(commands: Iterable[str], reply: str = "") -> Heard:
    """Take apart what was said."""
    said = list(commands)
    in_commands = [term for each in said for term in terms_of(each)]
    in_reply = terms_of(reply)
    # files that Claude named are what the conversation is about, as if the person had said them
    names = [term for term in in_reply if term.weight == NAME]
    return Heard(
        keywords=frozenset().union(*map(keywords, said)),
        commands=Vocabulary.of(in_commands + names),
        reply=Vocabulary.of(in_reply),
        asked=reply.rstrip().endswith(("?", "？")),
    )


def named(words: Iterable[str]) -> str:
    """Some words, as a reason says them."""
    return ", ".join(f"“{word}”" for word in list(words)[:NAMED])
