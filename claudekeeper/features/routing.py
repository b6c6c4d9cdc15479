"""Which conversation? Whether a command resumes a recent one or starts anew. Pure.

The plain rule stands here; the scorer that is used unless config.json says otherwise is in
`weighing.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from claudekeeper.features.talk import FRESH, Talk, named
from claudekeeper.features.weighing import improved
from claudekeeper.features.wording import is_very_short, keywords, signal_in
from claudekeeper.model.routing import Cause, Fit, Routing, RoutingSettings, Scorer

OVERLAP, RECENCY, SIGNAL = 0.4, 0.3, 0.3
# a word that carries on, said at once, is hardly ever about something else
LIFTED = 0.85
# the beginning of a pasted file says enough
MOST_CHARACTERS = 20_000
# how much of a title a reason says
TITLE = 60


def plain(command: str, talks: Sequence[Talk]) -> list[Fit]:
    """The rule: words in common, how recent, and whether the command carries on."""
    said, signal = keywords(command), signal_in(command)
    carries_on = float(signal is not None)
    fits: list[tuple[float, Fit]] = []
    for talk in talks:
        shared, either = said & talk.heard.keywords, said | talk.heard.keywords
        overlap = len(shared) / len(either) if either else 0.0
        score = OVERLAP * overlap + RECENCY * talk.recency + SIGNAL * carries_on
        lifted = max(score, LIFTED) if signal and talk.seconds_ago <= FRESH else score
        because = [f"it says “{signal}”"] if signal else []
        because += [f"both speak of {named(sorted(shared))}"] if shared else []
        fit = talk.fit(lifted, overlap=overlap, signal=carries_on, because=because)
        fits.append((score, fit))
    # those that were lifted to the same height are told apart by what they were before
    fits.sort(key=lambda each: (-each[1].score, -each[0], each[1].seconds_ago))
    return [fit for _, fit in fits]


SCORERS: Mapping[Scorer, Callable[[str, Sequence[Talk]], list[Fit]]] = {
    "plain": plain,
    "improved": improved,
}


def decide(command: str, talks: Sequence[Talk], settings: RoutingSettings | None = None) -> Routing:
    """Resume the conversation that fits best, if it fits well enough; otherwise a new one."""
    settings = settings or RoutingSettings()
    command = command[:MOST_CHARACTERS]
    if not settings.enabled:
        return _new([], 1.0, "Routing is switched off.", settings, "disabled")
    if is_very_short(command):
        reason = "That is too short to tell what it belongs to."
        return _new([], 1.0, reason, settings, "tooShort")
    if not talks:
        reason = "No conversation of late is free to be continued."
        return _new([], 1.0, reason, settings, "noCandidates")
    fits = SCORERS[settings.scorer](command, talks)
    best = fits[0]
    if best.score >= settings.confidence_threshold:
        return Routing(
            action="resume",
            session_id=best.session_id,
            title=best.title,
            confidence=best.score,
            reason=_why(best),
            candidates=fits,
            scorer=settings.scorer,
            threshold=settings.confidence_threshold,
            cause="fits",
        )
    nearest = f"“{_short(best.title)}” fits best" if best.title else "The best fit"
    needed = f"{settings.confidence_threshold:.2f} is needed"
    reason = f"{nearest} with {best.score:.2f}; {needed}."
    return _new(fits, 1 - best.score, reason, settings, "belowThreshold")


def _new(
    fits: list[Fit], confidence: float, reason: str, settings: RoutingSettings, cause: Cause
) -> Routing:
    return Routing(
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


def _why(fit: Fit) -> str:
    when = f"the last word was {_ago(fit.seconds_ago)}"
    why = f"{fit.because}, and {when}" if fit.because else when
    return f"{why[0].upper()}{why[1:]}."


def _ago(seconds: float) -> str:
    if seconds < 90:
        return "moments ago"
    return f"{round(seconds / 60)} minutes ago"


def _short(title: str | None) -> str:
    title = " ".join((title or "").split())
    return title if len(title) <= TITLE else title[: TITLE - 1].rstrip() + "…"
