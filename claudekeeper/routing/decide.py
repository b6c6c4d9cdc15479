"""Decisions: which recent conversation a command resumes, or whether it begins a new one. Pure.

The plain scorer is here; the one that is used unless config.json says otherwise is in
`improved_scorer.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from claudekeeper.contract.routing import (
    CandidateScore,
    Cause,
    RoutingDecision,
    RoutingSettings,
    Scorer,
)
from claudekeeper.routing.candidate import FRESH_SECONDS, Candidate, quote_words
from claudekeeper.routing.improved_scorer import score_improved
from claudekeeper.routing.stop_words import find_signal, is_very_short, keywords

OVERLAP_WEIGHT, RECENCY_WEIGHT, SIGNAL_WEIGHT = 0.4, 0.3, 0.3
# a command that carries on at once is hardly ever about something else
FRESH_SIGNAL_SCORE = 0.85
# of a pasted file the beginning is enough
MAX_CHARACTERS = 20_000
# of the title in a reason
MAX_TITLE_LENGTH = 60


def score_plain(command: str, candidates: Sequence[Candidate]) -> list[CandidateScore]:
    """The rule: words in common, how recent, and whether the command carries on."""
    words, signal = keywords(command), find_signal(command)
    carries_on = float(signal is not None)
    # each with its score before it was raised
    scores: list[tuple[float, CandidateScore]] = []
    for candidate in candidates:
        shared, either = words & candidate.words.keywords, words | candidate.words.keywords
        overlap = len(shared) / len(either) if either else 0.0
        plain = (
            OVERLAP_WEIGHT * overlap
            + RECENCY_WEIGHT * candidate.recency
            + SIGNAL_WEIGHT * carries_on
        )
        is_fresh = candidate.seconds_ago <= FRESH_SECONDS
        raised = max(plain, FRESH_SIGNAL_SCORE) if signal and is_fresh else plain
        because = [f"it says “{signal}”"] if signal else []
        because += [f"both speak of {quote_words(sorted(shared))}"] if shared else []
        score = candidate.to_score(raised, overlap=overlap, signal=carries_on, because=because)
        scores.append((plain, score))
    scores.sort(key=lambda each: (-each[1].score, -each[0], each[1].seconds_ago))
    return [score for _, score in scores]


SCORER_FUNCTIONS: Mapping[Scorer, Callable[[str, Sequence[Candidate]], list[CandidateScore]]] = {
    "plain": score_plain,
    "improved": score_improved,
}


def decide(
    command: str, candidates: Sequence[Candidate], settings: RoutingSettings | None = None
) -> RoutingDecision:
    """Resume the conversation that fits best, if it fits well enough; otherwise a new one."""
    settings = settings or RoutingSettings()
    command = command[:MAX_CHARACTERS]
    if not settings.enabled:
        return _new_session([], 1.0, "Routing is switched off.", settings, "disabled")
    if is_very_short(command):
        reason = "That is too short to tell what it belongs to."
        return _new_session([], 1.0, reason, settings, "tooShort")
    if not candidates:
        reason = "No conversation of late is free to be continued."
        return _new_session([], 1.0, reason, settings, "noCandidates")
    scores = SCORER_FUNCTIONS[settings.scorer](command, candidates)
    best = scores[0]
    if best.score >= settings.confidence_threshold:
        return RoutingDecision(
            action="resume",
            session_id=best.session_id,
            title=best.title,
            confidence=best.score,
            reason=_reason(best),
            candidates=scores,
            scorer=settings.scorer,
            threshold=settings.confidence_threshold,
            cause="fits",
        )
    nearest = f"“{_short_title(best.title)}” fits best" if best.title else "The best fit"
    needed = f"{settings.confidence_threshold:.2f} is needed"
    reason = f"{nearest} with {best.score:.2f}; {needed}."
    return _new_session(scores, 1 - best.score, reason, settings, "belowThreshold")


def _new_session(
    scores: list[CandidateScore],
    confidence: float,
    reason: str,
    settings: RoutingSettings,
    cause: Cause,
) -> RoutingDecision:
    return RoutingDecision(
        action="new",
        session_id=None,
        title=None,
        confidence=round(confidence, 4),
        reason=reason,
        candidates=scores,
        scorer=settings.scorer,
        threshold=settings.confidence_threshold,
        cause=cause,
    )


def _reason(score: CandidateScore) -> str:
    when = f"the last word was {_ago(score.seconds_ago)}"
    sentence = f"{score.because}, and {when}" if score.because else when
    return f"{sentence[0].upper()}{sentence[1:]}."


def _ago(seconds: float) -> str:
    if seconds < 90:
        return "moments ago"
    return f"{round(seconds / 60)} minutes ago"


def _short_title(title: str | None) -> str:
    title = " ".join((title or "").split())
    return title if len(title) <= MAX_TITLE_LENGTH else title[: MAX_TITLE_LENGTH - 1].rstrip() + "…"
