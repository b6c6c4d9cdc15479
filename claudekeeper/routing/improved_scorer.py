"""The improved scorer: what a command is about, what it refers to, whether it changes the topic.

It uses more than the plain rule: rare words tell more than common ones, and file names most;
Claude's last reply counts; “it” and “the second one” point at something; an answer belongs to a
question; “new thing:” ends a conversation. Pure.
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
# a reference at least as sure as this raises the score to it, at once after the last message
SURE_REFERENCE = 0.9
# words of the last reply, against those of the prompts
REPLY_WEIGHT = 0.8
# a new word is weaker evidence against than a shared one is evidence for
MISSING_WEIGHT = 0.6
# a few shared words are doubtful evidence; with so many there is no doubt
MAX_DOUBT, HITS_WITHOUT_DOUBT = 0.5, 2.0
# for evidence of widespread words only, where a special word is new
ORDINARY_FACTOR = 0.4
# a request for something that does not exist yet counts as so many new words
NEW_WORK_NOVELTY = 1.5
# so many new words are the topic of a follow-up; with so many more it is another topic
NEW_WORDS, NEW_TOPIC = 2.0, 3.0
# with so many new words, common words are no evidence
NEW_WORDS_WITHOUT_COMMON = 2.0
# a reference points at the last conversation, unless another one shares so much more
TARGET_MARGIN = 0.05
ELSEWHERE_FACTOR = 0.3
# a reference weaker than this is not named as a reason
FAINT_REFERENCE = 0.1
# how much of the novelty a sure reference takes away
NOVELTY_EXCUSE = 0.5
# for the novelty of an answer to an open question
ANSWER_NOVELTY_FACTOR = 0.5
# the output of a program is full of new words: so much of it counts
PASTE_NOVELTY_FACTOR, MAX_PASTE_NOVELTY = 0.2, 4.0
# for the score when the command says that it is about something else
TOPIC_CHANGE_FACTOR = 0.35


class _SharedWords(msgspec.Struct, frozen=True):
    """What a command and a conversation have in common."""

    candidate: Candidate
    # without those of every conversation about code
    words: tuple[str, ...]
    # without those that much other work has
    rare: frozenset[str]
    evidence: float
    # how much of the command is about something that was never spoken of in the conversation
    novelty: float


def score_improved(command: str, candidates: Sequence[Candidate]) -> list[CandidateScore]:
    terms = sought_terms(command)
    strengths = [[_match_strength(term, each) for term in terms] for each in candidates]
    # how many conversations have each word
    spread = [sum(strength > 0 for strength in column) for column in zip(*strengths, strict=True)]
    references = BackReferences.parse(command)
    shared = [
        _compare(candidate, terms, row, spread, references)
        for candidate, row in zip(candidates, strengths, strict=True)
    ]
    target = _find_target(shared)
    has_signal = find_signal(command) is not None
    scores = [
        _score(each, references, has_signal=has_signal, is_target=each is target) for each in shared
    ]
    scores.sort(key=lambda score: (-score.score, score.seconds_ago))
    return scores


def _compare(
    candidate: Candidate,
    terms: Sequence[SoughtTerm],
    strengths: Sequence[float],
    spread: Sequence[int],
    references: BackReferences,
) -> _SharedWords:
    hits, common = 0.0, 0.0
    missing = NEW_WORK_NOVELTY if references.starts_new_work else 0.0
    matches = [term for term, strength in zip(terms, strengths, strict=True) if strength]
    pairs = WordPairs.of(matches)
    for term, strength, count in zip(terms, strengths, spread, strict=True):
        if strength:
            # a word of several conversations tells less of which one is meant
            hit = strength * term.match_weight / count**0.5
            if term.common:
                common += hit
            else:
                hits += hit
        elif not term.overlaps(pairs):
            missing += term.missing_weight
    if references.is_paste:
        missing = min(missing, MAX_PASTE_NOVELTY)
    # “write tests for” says nothing where it is followed by another topic
    hits += common * max(0.0, 1 - missing / NEW_WORDS_WITHOUT_COMMON)
    matches.sort(key=lambda term: -term.match_weight)
    rare = frozenset(term.word for term in matches if term.rare)
    doubt = MAX_DOUBT * max(0.0, 1 - hits / HITS_WITHOUT_DOUBT)
    evidence = hits / (hits + MISSING_WEIGHT * missing + doubt) if hits else 0.0
    if not rare and any(term.rare for term in terms):
        # they share what much work has, and what is special is new
        evidence *= ORDINARY_FACTOR
    return _SharedWords(
        candidate,
        tuple(term.word for term in matches if not term.common),
        rare,
        evidence=evidence,
        novelty=min(1.0, max(0.0, missing - NEW_WORDS) / NEW_TOPIC),
    )


def _match_strength(term: SoughtTerm, candidate: Candidate) -> float:
    strength = candidate.words.prompt_words.match_strength(term)
    if strength >= REPLY_WEIGHT:
        return strength
    return max(strength, REPLY_WEIGHT * candidate.words.reply_words.match_strength(term))


def _find_target(shared: Sequence[_SharedWords]) -> _SharedWords:
    """The conversation at which references point."""
    last = min(shared, key=lambda each: each.candidate.seconds_ago)
    closest = max(shared, key=lambda each: each.evidence)
    return closest if closest.evidence >= last.evidence + TARGET_MARGIN else last


def _score(
    shared: _SharedWords, references: BackReferences, *, has_signal: bool, is_target: bool
) -> CandidateScore:
    candidate = shared.candidate
    reference = references.strongest(
        ends_with_question=candidate.words.ends_with_question,
        open_question=candidate.words.open_question,
        novelty=shared.novelty,
        subject_mentioned=not references.subject_words.isdisjoint(shared.rare),
        topic_returned_to=not references.returns_to.isdisjoint(shared.words),
    )
    novelty = shared.novelty
    if references.is_bare and candidate.words.open_question:
        # the answer to “which one?” has words that nobody said before
        novelty *= ANSWER_NOVELTY_FACTOR
    if references.is_paste:
        novelty *= PASTE_NOVELTY_FACTOR
    strength = reference.strength * (1.0 if is_target else ELSEWHERE_FACTOR)
    score = (
        EVIDENCE_WEIGHT * shared.evidence
        + RECENCY_WEIGHT * candidate.recency
        # “also that” is understood for longer than the time alone would say
        + REFERENCE_WEIGHT * strength * candidate.recency**0.4
        # who points at something says new things of it
        - NOVELTY_WEIGHT * novelty * (1 - shared.evidence) * (1 - NOVELTY_EXCUSE * strength)
    )
    if reference.changes_topic:
        score *= TOPIC_CHANGE_FACTOR
    elif (
        is_target
        and has_signal
        and candidate.seconds_ago <= FRESH_SECONDS
        and reference.strength >= SURE_REFERENCE
    ):
        score = max(score, SURE_REFERENCE_SCORE)
    points = reference.words and not reference.changes_topic and strength >= FAINT_REFERENCE
    because = [f"it says “{reference.words}”"] if points else []
    because += [f"both speak of {quote_words(shared.words)}"] if shared.words else []
    return candidate.to_score(score, overlap=shared.evidence, signal=strength, because=because)
