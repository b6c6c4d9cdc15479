"""The improved scorer: what a command is about, to what it refers, and whether it says goodbye.

Beside the plain rule's words and times it knows that rare words tell more than common ones, that
file names tell most, that Claude's last words count, that “it” and “the second one” point at
something, that an answer belongs to a question, and that “new thing:” ends a conversation. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from claudekeeper.features.references import Pointers
from claudekeeper.features.talk import FRESH, Talk, named
from claudekeeper.features.terms import Pairs, Wanted, wanted
from claudekeeper.features.wording import signal_in
from claudekeeper.model.routing import Fit

# what counts how much
EVIDENCE, RECENCY, REFERENCE, NOVELTY = 0.75, 0.3, 0.45, 0.35
LIFTED = 0.85
# a reference that is as sure as this lifts
SURE = 0.9
# what Claude said last, against what the person said
REPLY = 0.8
# a word that nobody said before speaks less against than a shared one speaks for
MISSING = 0.6
# so much has to be shared before sharing all of it counts fully; with so much there is no doubt
DOUBT, SURELY = 0.5, 2.0
# what is left of evidence that lies in words of much work, where a special one is new
ORDINARY = 0.4
# who asks for a thing that is not there yet says as much as with so many new words
BEGINNING = 1.5
# so many new words are the topic of a follow-up; with so many more it is another topic
NEW_WORDS, NEW_TOPIC = 2.0, 3.0
# with so many new words, what every command has in common tells nothing
ANOTHER = 2.0
# a reference points at the last conversation, unless another one shares so much more
MARGIN = 0.05
POINTED_ELSEWHERE = 0.3
# a reference weaker than this is no reason to name
FAINT = 0.1
# how much of the novelty a sure reference takes away
EXCUSED = 0.5
# what is left of novelty in an answer to an open question
ANSWERED = 0.5
# what a program wrote is full of words that nobody said: so much of it counts
PASTED, PASTED_WORDS = 0.2, 4.0
# what is left of a score when the command says that it is about something else
PARTING = 0.35


class _Shared(msgspec.Struct, frozen=True):
    """What a command and a conversation have in common."""

    talk: Talk
    # those that tell something
    words: tuple[str, ...]
    # those that much other work does not have
    rare: frozenset[str]
    evidence: float
    # how much of the command is about something that was never spoken of there
    novelty: float


def improved(command: str, talks: Sequence[Talk]) -> list[Fit]:
    words = wanted(command)
    found = [[_found(each, talk) for each in words] for talk in talks]
    # in how many of them each word is spoken of
    spread = [sum(strength > 0 for strength in strengths) for strengths in zip(*found, strict=True)]
    pointers = Pointers.in_command(command)
    shared = [
        _compare(talk, words, strengths, spread, pointers)
        for talk, strengths in zip(talks, found, strict=True)
    ]
    pointed = _pointed_at(shared)
    signal = signal_in(command) is not None
    fits = [_fit(each, pointers, signal=signal, pointed=each is pointed) for each in shared]
    fits.sort(key=lambda fit: (-fit.score, fit.seconds_ago))
    return fits


def _compare(
    talk: Talk,
    words: Sequence[Wanted],
    strengths: Sequence[float],
    spread: Sequence[int],
    pointers: Pointers,
) -> _Shared:
    hits, common = 0.0, 0.0
    missing = BEGINNING if pointers.begins else 0.0
    found = [each for each, strength in zip(words, strengths, strict=True) if strength]
    pairs = Pairs.of(found)
    for each, strength, talks in zip(words, strengths, spread, strict=True):
        if strength:
            # said in several of them, it tells less of which
            hit = strength * each.shared / talks**0.5
            if each.common:
                common += hit
            else:
                hits += hit
        elif not each.overlaps(pairs):
            missing += each.missing
    if pointers.pasted:
        missing = min(missing, PASTED_WORDS)
    # “write tests for” says nothing where it is followed by another topic
    hits += common * max(0.0, 1 - missing / ANOTHER)
    found.sort(key=lambda each: -each.shared)
    rare = frozenset(each.word for each in found if each.rare)
    doubt = DOUBT * max(0.0, 1 - hits / SURELY)
    evidence = hits / (hits + MISSING * missing + doubt) if hits else 0.0
    if not rare and any(each.rare and not at for each, at in zip(words, strengths, strict=True)):
        # what they share is what much work has, and what is special is new
        evidence *= ORDINARY
    return _Shared(
        talk,
        tuple(each.word for each in found if not each.common),
        rare,
        evidence=evidence,
        novelty=min(1.0, max(0.0, missing - NEW_WORDS) / NEW_TOPIC),
    )


def _found(word: Wanted, talk: Talk) -> float:
    said = talk.heard.commands.finds(word)
    return max(said, REPLY * talk.heard.reply.finds(word)) if said < REPLY else said


def _pointed_at(shared: Sequence[_Shared]) -> _Shared:
    last = min(shared, key=lambda each: each.talk.seconds_ago)
    closest = max(shared, key=lambda each: each.evidence)
    return closest if closest.evidence >= last.evidence + MARGIN else last


def _fit(shared: _Shared, pointers: Pointers, *, signal: bool, pointed: bool) -> Fit:
    talk = shared.talk
    reference = pointers.reference(
        asked=talk.heard.asked,
        openly=talk.heard.open_question,
        novelty=shared.novelty,
        known=not pointers.subject.isdisjoint(shared.rare),
        returned=not pointers.returns.isdisjoint(shared.words),
    )
    novelty = shared.novelty
    if pointers.bare and talk.heard.open_question:
        # who is asked “which one?” answers with words that were not there yet
        novelty *= ANSWERED
    if pointers.pasted:
        novelty *= PASTED
    aimed = reference.strength * (1.0 if pointed else POINTED_ELSEWHERE)
    score = (
        EVIDENCE * shared.evidence
        + RECENCY * talk.recency
        # “also that” is understood for longer than the time alone would say
        + REFERENCE * aimed * talk.recency**0.4
        # who points at something says new things of it
        - NOVELTY * novelty * (1 - shared.evidence) * (1 - EXCUSED * aimed)
    )
    if reference.parts:
        score *= PARTING
    elif pointed and signal and talk.seconds_ago <= FRESH and reference.strength >= SURE:
        score = max(score, LIFTED)
    points = reference.words and not reference.parts and aimed >= FAINT
    because = [f"it says “{reference.words}”"] if points else []
    because += [f"both speak of {named(shared.words)}"] if shared.words else []
    return talk.fit(score, overlap=shared.evidence, signal=aimed, because=because)
