"""Which conversation? Whether a command resumes a recent one or starts anew. Pure.

The plain rule stands here; the scorer that is used unless config.json says otherwise is in
`weighing.py`.
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
# a word that carries on, said at once, is hardly ever about something else
FRESH_SIGNAL_SCORE = 0.85
# the beginning of a pasted file says enough
MOST_CHARACTERS = 20_000
# how much of a title a reason says
LONGEST_TITLE = 60


def score_plain(command: str, talks: Sequence[Candidate]) -> list[CandidateScore]:
    """The rule: words in common, how recent, and whether the command carries on."""
    said, signal = keywords(command), find_signal(command)
    carries_on = float(signal is not None)
    fits: list[tuple[float, CandidateScore]] = []
    for talk in talks:
        shared, either = said & talk.words.keywords, said | talk.words.keywords
        overlap = len(shared) / len(either) if either else 0.0
        score = (
            OVERLAP_WEIGHT * overlap + RECENCY_WEIGHT * talk.recency + SIGNAL_WEIGHT * carries_on
        )
        lifted = (
            max(score, FRESH_SIGNAL_SCORE)
            if signal and talk.seconds_ago <= FRESH_SECONDS
            else score
        )
        because = [f"it says “{signal}”"] if signal else []
        because += [f"both speak of {quote_words(sorted(shared))}"] if shared else []
        fit = talk.to_score(lifted, overlap=overlap, signal=carries_on, because=because)
        fits.append((score, fit))
    # those that were lifted to the same height are told apart by what they were before
    fits.sort(key=lambda each: (-each[1].score, -each[0], each[1].seconds_ago))
    return [fit for _, fit in fits]


SCORER_FUNCTIONS: Mapping[Scorer, Callable[[str, Sequence[Candidate]], list[CandidateScore]]] = {
    "plain": score_plain,
    "improved": score_improved,
}


def decide(
    command: str, talks: Sequence[Candidate], settings: RoutingSettings | None = None
) -> RoutingDecision:
    """Resume the conversation that fits best, if it fits well enough; otherwise a new one."""
    settings = settings or RoutingSettings()
    command = command[:MOST_CHARACTERS]
    if not settings.enabled:
        return _new_session([], 1.0, "Routing is switched off.", settings, "disabled")
    if is_very_short(command):
        reason = "That is too short to tell what it belongs to."
        return _new_session([], 1.0, reason, settings, "tooShort")
    if not talks:
        reason = "No conversation of late is free to be continued."
        return _new_session([], 1.0, reason, settings, "noCandidates")
    fits = SCORER_FUNCTIONS[settings.scorer](command, talks)
    best = fits[0]
    if best.score >= settings.confidence_threshold:
        return RoutingDecision(
            action="resume",
            session_id=best.session_id,
            title=best.title,
            confidence=best.score,
            reason=_reason(best),
            candidates=fits,
            scorer=settings.scorer,
            threshold=settings.confidence_threshold,
            cause="fits",
        )
    nearest = f"“{_short_title(best.title)}” fits best" if best.title else "The best fit"
    needed = f"{settings.confidence_threshold:.2f} is needed"
    reason = f"{nearest} with {best.score:.2f}; {needed}."
    return _new_session(fits, 1 - best.score, reason, settings, "belowThreshold")


def _new_session(
    fits: list[CandidateScore],
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
        candidates=fits,
        scorer=settings.scorer,
        threshold=settings.confidence_threshold,
        cause=cause,
    )


def _reason(fit: CandidateScore) -> str:
    when = f"the last word was {_ago(fit.seconds_ago)}"
    why = f"{fit.because}, and {when}" if fit.because else when
    return f"{why[0].upper()}{why[1:]}."


def _ago(seconds: float) -> str:
    if seconds < 90:
        return "moments ago"
    return f"{round(seconds / 60)} minutes ago"


def _short_title(title: str | None) -> str:
    title = " ".join((title or "").split())
    return title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1].rstrip() + "…"
