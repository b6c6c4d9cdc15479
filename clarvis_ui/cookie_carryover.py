"""Who logged in while the keeper refused our token stays, once the right one is there.

Cookies are signed with the token, so that a new one ends them: that is what a rotation is for.
Where our own token was only wrong, nothing was rotated, and nobody should have to log in twice. So
the cookies that were given out while the keeper said no are remembered, and the first token that it
takes is theirs too; the next one ends them like all others.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from .settings import TokenSource

if TYPE_CHECKING:
    from .login import Clock

# how long somebody may wait for the right token
CARRY_SECONDS = 24 * 3600


class CarriedCookies:
    """In memory alone: a restart of this server ends them."""

    def __init__(self, token: TokenSource, clock: Clock) -> None:
        self._token = token
        self._clock = clock
        # cookie → the token under which it was given out, and until when it waits
        self._waiting: dict[str, tuple[str, float]] = {}
        self._carried: set[str] = set()
        self._carried_to_token: str | None = None

    def add(self, cookie: str) -> None:
        """Only for a cookie of a code that this server told itself, while the keeper refuses."""
        self._waiting[cookie] = self._token(), self._clock() + CARRY_SECONDS

    def handle_accepted_token(self, token: str) -> None:
        """The keeper took this token: whoever waited is carried over to it."""
        if token != self._carried_to_token and self._carried:
            self._carried = set()
        if not self._waiting:
            return
        now = self._clock()
        # a token that is taken after all has cookies of its own, which need no carrying
        self._carried |= {
            cookie
            for cookie, (under, until) in self._waiting.items()
            if under != token and until > now
        }
        self._carried_to_token = token
        self._waiting = {}

    def admits(self, cookies: Collection[str]) -> bool:
        if any(self._is_waiting(cookie) for cookie in cookies):
            return True
        return self.carries(cookies)

    def carries(self, cookies: Collection[str]) -> bool:
        return self._token() == self._carried_to_token and not self._carried.isdisjoint(cookies)

    def forget(self, cookies: Collection[str]) -> None:
        for cookie in cookies:
            self._waiting.pop(cookie, None)
            self._carried.discard(cookie)

    def _is_waiting(self, cookie: str) -> bool:
        return cookie in self._waiting and self._waiting[cookie][1] > self._clock()
