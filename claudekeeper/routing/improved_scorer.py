"""The improved scorer: what a command is about, to what it refers, and whether it says goodbye.

Beside the plain rule's words and times it knows that rare words tell more than common ones, that
file names tell most, that Claude's last words count, that “it” and “the second one” point at
something, that an answer belongs to a question, and that “new thing:” ends a conversation. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from claudekeeper.contract.routing import CandidateScore
from claudekeeper.routing.back_references import BackReferences
from claudekeeper.routing.candidate import FRESH_SECONDS, Candidate, quote_words
from claudekeeper.routing.stop_words import find_signal
from claudekeeper.routing.vocabulary import SoughtTerm, WordPairs, sought_terms

# what counts how much
EVIDENCE_WEIGHT, RECENCY_WEIGHT, REFERENCE_WEIGHT, NOVELTY_WEIGHT = 0.75, 0.3, 0.45, 0.35
SURE_REFERENCE_SCORE = 0.85
# a reference that is as sure as this lifts
SURE_REFERENCE = 0.9
# what Claude said last, against what the person said
REPLY_WEIGHT = 0.8
# a word that nobody said before speaks less against than a shared one speaks for
MISSING_WEIGHT = 0.6
# so much has to be shared before sharing all of it counts fully; with so much there is no doubt
MOST_DOUBT, HITS_WITHOUT_DOUBT = 0.5, 2.0
# what is left of evidence that lies in words of much work, where a special one is new
ORDINARY_FACTOR = 0.4
# who asks for a thing that is not there yet says as much as with so many new words
NEW_WORK_NOVELTY = 1.5
# so many new words are the topic of a follow-up; with so many more it is another topic
NEW_WORDS, NEW_TOPIC = 2.0, 3.0
# with so many new words, what every command has in common tells nothing
NEW_WORDS_WITHOUT_COMMON = 2.0
# a reference points at the last conversation, unless another one shares so much more
TARGET_MARGIN = 0.05
ELSEWHERE_FACTOR = 0.3
# a reference weaker than this is no reason to name
FAINT_REFERENCE = 0.1
# how much of the novelty a sure reference takes away
NOVELTY_EXCUSE = 0.5
# what is left of novelty in an answer to an open question
ANSWER_NOVELTY_FACTOR = 0.5
# what a program wrote is full of words that nobody said: so much of it counts
PASTE_NOVELTY_FACTOR, MOST_PASTE_NOVELTY = 0.2, 4.0
# what is left of a score when the command says that it is about something else
TOPIC_CHANGE_FACTOR = 0.35


class _SharedWords(msgspec.Struct, frozen=True):
    """What a command and a conversation have in common."""

    candidate: Candidate
    # those that tell something
    words: tuple[str, ...]
    # those that much other work does not have
    rare: frozenset[str]
    evidence: float
    # how much of the command is about something that was never spoken of there
    novelty: float


def score_improved(command: str, talks: Sequence[Candidate]) -> list[CandidateScore]:
    words = sought_terms(command)
    found = [[_match_strength(each, talk) for each in words] for talk in talks]
    # in how many of them each word is spoken of
    spread = [sum(strength > 0 for strength in strengths) for strengths in zip(*found, strict=True)]
    pointers = BackReferences.parse(command)
    shared = [
        _compare(talk, words, strengths, spread, pointers)
        for talk, strengths in zip(talks, found, strict=True)
    ]
    pointed = _find_target(shared)
    signal = find_signal(command) is not None
    fits = [_score(each, pointers, signal=signal, pointed=each is pointed) for each in shared]
    fits.sort(key=lambda fit: (-fit.score, fit.seconds_ago))
    return fits


def _compare(
    talk: Candidate,
    words: Sequence[SoughtTerm],
    strengths: Sequence[float],
    spread: Sequence[int],
    pointers: BackReferences,
) -> _SharedWords:
    hits, common = 0.0, 0.0
    missing = NEW_WORK_NOVELTY if pointers.starts_new_work else 0.0
    found = [each for each, strength in zip(words, strengths, strict=True) if strength]
    pairs = WordPairs.of(found)
    for each, strength, talks in zip(words, strengths, spread, strict=True):
        if strength:
            # said in several of them, it tells less of which
            hit = strength * each.match_weight / talks**0.5
            if each.common:
                common += hit
            else:
                hits += hit
        elif not each.overlaps(pairs):
            missing += each.missing_weight
    if pointers.is_paste:
        missing = min(missing, MOST_PASTE_NOVELTY)
    # “write tests for” says nothing where it is followed by another topic
    hits += common * max(0.0, 1 - missing / NEW_WORDS_WITHOUT_COMMON)
    found.sort(key=lambda each: -each.match_weight)
    rare = frozenset(each.word for each in found if each.rare)
    doubt = MOST_DOUBT * max(0.0, 1 - hits / HITS_WITHOUT_DOUBT)
    evidence = hits / (hits + MISSING_WEIGHT * missing + doubt) if hits else 0.0
    if not rare and any(each.rare and not at for each, at in zip(words, strengths, strict=True)):
        # what they share is what much work has, and what is special is new
        evidence *= ORDINARY_FACTOR
    return _SharedWords(
        talk,
        tuple(each.word for each in found if not each.common),
        rare,
        evidence=evidence,
        novelty=min(1.0, max(0.0, missing - NEW_WORDS) / NEW_TOPIC),
    )


def _match_strength(word: SoughtTerm, talk: Candidate) -> float:
    said = talk.words.prompt_words.match_strength(word)
    return (
        max(said, REPLY_WEIGHT * talk.words.reply_words.match_strength(word))
        if said < REPLY_WEIGHT
        else said
    )


def _find_target(shared: Sequence[_SharedWords]) -> _SharedWords:
    last = min(shared, key=lambda each: each.candidate.seconds_ago)
    closest = max(shared, key=lambda each: each.evidence)
    return closest if closest.evidence >= last.evidence + TARGET_MARGIN else last


def _score(
    shared: _SharedWords, pointers: BackReferences, *, signal: bool, pointed: bool
) -> CandidateScore:
    talk = shared.candidate
    reference = pointers.strongest(
        ends_with_question=talk.words.ends_with_question,
        open_question=talk.words.open_question,
        novelty=shared.novelty,
        subject_mentioned=not pointers.subject_words.isdisjoint(shared.rare),
        topic_returned_to=not pointers.returns_to.isdisjoint(shared.words),
    )
    novelty = shared.novelty
    if pointers.is_bare and talk.words.open_question:
        # who is asked “which one?” answers with words that were not there yet
        novelty *= ANSWER_NOVELTY_FACTOR
    if pointers.is_paste:
        novelty *= PASTE_NOVELTY_FACTOR
    aimed = reference.strength * (1.0 if pointed else ELSEWHERE_FACTOR)
    score = (
        EVIDENCE_WEIGHT * shared.evidence
        + RECENCY_WEIGHT * talk.recency
        # “also that” is understood for longer than the time alone would say
        + REFERENCE_WEIGHT * aimed * talk.recency**0.4
        # who points at something says new things of it
        - NOVELTY_WEIGHT * novelty * (1 - shared.evidence) * (1 - NOVELTY_EXCUSE * aimed)
    )
    if reference.changes_topic:
        score *= TOPIC_CHANGE_FACTOR
    elif (
        pointed
        and signal
        and talk.seconds_ago <= FRESH_SECONDS
        and reference.strength >= SURE_REFERENCE
    ):
        score = max(score, SURE_REFERENCE_SCORE)
    points = reference.words and not reference.changes_topic and aimed >= FAINT_REFERENCE
    because = [f"it says “{reference.words}”"] if points else []
    because += [f"both speak of {quote_words(shared.words)}"] if shared.words else []
    return talk.to_score(score, overlap=shared.evidence, signal=aimed, because=because)
