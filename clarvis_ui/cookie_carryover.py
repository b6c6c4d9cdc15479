"""Logins made while the keeper refused our token stay valid once the token is right.

Cookies are signed with the token, so that a rotated one ends them. Where our token was only wrong,
nothing was rotated, and nobody should have to log in twice. So the cookies issued meanwhile are
remembered and stay valid for the first token that the keeper accepts; the next one ends them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from .settings import TokenSource

if TYPE_CHECKING:
    from .login import Clock

# how long a login waits for the right token
CARRY_SECONDS = 24 * 3600


class CarriedCookies:
    """The remembered cookies, in memory only: a restart of this server ends them."""

    def __init__(self, token: TokenSource, clock: Clock) -> None:
        self._token = token
        self._clock = clock
        # by cookie: the token at its issue, and when it expires
        self._waiting: dict[str, tuple[str, float]] = {}
        self._carried: set[str] = set()
        self._carried_to_token: str | None = None

    def add(self, cookie: str) -> None:
        """For the cookie of a code that this server printed, while the keeper refuses the token."""
        self._waiting[cookie] = self._token(), self._clock() + CARRY_SECONDS

    def handle_accepted_token(self, token: str) -> None:
        """The keeper accepted this token: the waiting cookies become valid for it."""
        if token != self._carried_to_token and self._carried:
            self._carried = set()
        if not self._waiting:
            return
        now = self._clock()
        # cookies of this very token are valid without this
        self._carried |= {
            cookie
            for cookie, (issued_for, expires) in self._waiting.items()
            if issued_for != token and expires > now
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
