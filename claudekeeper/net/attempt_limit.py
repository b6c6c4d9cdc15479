"""The limit of failed logins: one budget for all callers together."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

Clock = Callable[[], float]

MAX_ATTEMPTS = 20
# seconds in which one attempt is added again
REFILL_SECONDS = 3.0


class AttemptLimit:
    """A budget of failed attempts that refills by itself; only failures are counted."""

    def __init__(
        self,
        max_attempts: int = MAX_ATTEMPTS,
        refill_seconds: float = REFILL_SECONDS,
        clock: Clock = time.monotonic,
    ) -> None:
        self._max_attempts = max_attempts
        self._refill_seconds = refill_seconds
        self._clock = clock
        self._remaining = float(max_attempts)
        self._refilled_at = clock()

    def retry_after(self) -> int:
        """Whole seconds until another attempt may fail; 0 while the budget lasts."""
        now = self._clock()
        refilled = self._remaining + max(0.0, now - self._refilled_at) / self._refill_seconds
        self._remaining, self._refilled_at = min(self._max_attempts, refilled), now
        return (
            0
            if self._remaining >= 1
            else max(1, math.ceil((1 - self._remaining) * self._refill_seconds))
        )

    def count_failure(self) -> None:
        self._remaining -= 1
