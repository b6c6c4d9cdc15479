"""The improved scorer: what a command is about, to what it refers, and whether it says goodbye.

Beside the plain rule's words and times it knows that rare words tell more than common ones, that
file names tell most, that Claude's last words count, that “it” and “the second one” point at
something, that an answer belongs to a question, and that “new thing:” ends a conversation. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from claudekeeper.features.references import Reference, reference_in
from claudekeeper.features.talk import FRESH, Talk, named
from claudekeeper.features.terms import Term, terms_of
from claudekeeper.features.wording import signal_in
from claudekeeper.model.routing import Fit

# what counts how much
EVIDENCE, RECENCY, REFERENCE, NOVELTY = 0.75, 0.3, 0.45, 0.3
LIFTED = 0.85
# what Claude said last, against what the person said
REPLY = 0.7
# a word that nobody said before speaks less against than a shared one speaks for
MISSING = 0.5
# so much has to be shared before sharing all of it counts fully
DOUBT = 0.5
# so many new words are the topic of a follow-up; with so many more it is another topic
NEW_WORDS, NEW_TOPIC = 2.0, 3.0
# a reference points at the last conversation, unless another one shares so much more
MARGIN = 0.15
POINTED_ELSEWHERE = 0.3
# what is left of a score when the command says that it is about something else
PARTING = 0.35


class _Shared(msgspec.Struct, frozen=True):
    """What a command and a conversation have in common."""

    talk: Talk
    words: tuple[str, ...]
    evidence: float
    # how much of the command is about something that was never spoken of there
    novelty: float


def improved(command: str, talks: Sequence[Talk]) -> list[Fit]:
    terms = terms_of(command)
    shared = [_compare(terms, talk, talks) for talk in talks]
    pointed = _pointed_at(shared)
    fits = [_fit(command, each, each is pointed) for each in shared]
    fits.sort(key=lambda fit: (-fit.score, fit.seconds_ago))
    return fits


def _compare(terms: Sequence[Term], talk: Talk, talks: Sequence[Talk]) -> _Shared:
    hits = missing = 0.0
    words = []
    for term in terms:
        found = _found(term, talk)
        if found:
            # said in several of them, it tells less of which
            others = sum(_found(term, other) > 0 for other in talks) if len(talks) > 1 else 1
            hits += found * term.weight / others**0.5
            words.append(term)
        else:
            missing += term.weight
    words.sort(key=lambda term: -term.weight)
    return _Shared(
        talk,
        tuple(term.word for term in words),
        evidence=hits / (hits + MISSING * missing + DOUBT),
        novelty=min(1.0, max(0.0, missing - NEW_WORDS) / NEW_TOPIC),
    )


def _found(term: Term, talk: Talk) -> float:
    said = talk.heard.commands.finds(term.word)
    return max(said, REPLY * talk.heard.reply.finds(term.word)) if said < 1 else said


def _pointed_at(shared: Sequence[_Shared]) -> _Shared:
    last = min(shared, key=lambda each: each.talk.seconds_ago)
    closest = max(shared, key=lambda each: each.evidence)
    return closest if closest.evidence >= last.evidence + MARGIN else last


def _fit(command: str, shared: _Shared, pointed: bool) -> Fit:
    talk = shared.talk
    reference = reference_in(command, asked=talk.heard.asked, novelty=shared.novelty)
    aimed = reference.strength * (1.0 if pointed else POINTED_ELSEWHERE)
    score = (
        EVIDENCE * shared.evidence
        + RECENCY * talk.recency
        + REFERENCE * aimed * talk.recency
        - NOVELTY * shared.novelty * (1 - shared.evidence)
    )
    if reference.parts:
        score *= PARTING
    elif pointed and _carries_on_at_once(command, talk, reference):
        score = max(score, LIFTED)
    because = [f"it says “{reference.words}”"] if reference.words and not reference.parts else []
    because += [f"both speak of {named(shared.words)}"] if shared.words else []
    return talk.fit(score, overlap=shared.evidence, signal=aimed, because=because)


def _carries_on_at_once(command: str, talk: Talk, reference: Reference) -> bool:
    return talk.seconds_ago <= FRESH and reference.strength >= 0.9 and bool(signal_in(command))
