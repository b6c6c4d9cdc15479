"""How often strangers may try: one budget for all of them, whichever way they come."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

Clock = Callable[[], float]

AT_ONCE = 20
# seconds until one more attempt is given back
EVERY = 3.0


class Attempts:
    """A budget of failed attempts that refills by itself; only failures are counted."""

    def __init__(
        self, at_once: int = AT_ONCE, every: float = EVERY, clock: Clock = time.monotonic
    ) -> None:
        self._at_once = at_once
        self._every = every
        self._clock = clock
        self._left = float(at_once)
        self._counted = clock()

    def wait(self) -> int:
        """Whole seconds until another attempt may fail; 0 while there were not too many."""
        now = self._clock()
        refilled = self._left + max(0.0, now - self._counted) / self._every
        self._left, self._counted = min(self._at_once, refilled), now
        return 0 if self._left >= 1 else max(1, math.ceil((1 - self._left) * self._every))

    def count(self) -> None:
        self._left -= 1
