"""How a browser is let in: a one-time code becomes a signed cookie.

Codes live in memory for ten minutes. Cookies are signed with a key made from the keeper's token:
they survive a restart of this server, and a new token ends them all.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import msgspec

from claudekeeper.net.attempt_limit import AttemptLimit
from claudekeeper.net.errors import TooManyAttempts

from .cookie_carryover import CarriedCookies
from .errors import TOO_MANY_LOGINS, WrongCode, WrongToken
from .settings import TokenSource

CODE_LIFETIME = 600
COOKIE_LIFETIME = 30 * 24 * 3600
# no letter or digit that can be mistaken for another: people type it from a terminal to a phone
CODE_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CODE_LENGTH = 12
MISREAD_LETTERS = str.maketrans({"O": "0", "I": "1", "L": "1", "-": None, " ": None})
MOST_OPEN_CODES = 32
FAILURES_ALLOWED = 10
# seconds until one more is allowed again
FAILURE_SECONDS = 6.0

Clock = Callable[[], float]


class Code(msgspec.Struct, frozen=True):
    text: str
    expires: float

    @property
    def expires_at(self) -> str:
        return datetime.fromtimestamp(self.expires, UTC).isoformat().replace("+00:00", "Z")


def fingerprint(code: str) -> bytes:
    """A code as it is kept and compared: forgiving of spelling, of one length."""
    return hashlib.sha256(header_bytes(code.upper().translate(MISREAD_LETTERS))).digest()


class Codes:
    """One-time codes; each opens the door once."""

    def __init__(self, clock: Clock = time.time) -> None:
        self._clock = clock
        # until when, and whether this server told it by itself
        self._open_codes: dict[bytes, tuple[float, bool]] = {}

    def mint(self, *, for_owner: bool = False) -> Code:
        """`asked_for` by whoever holds the token."""
        self._forget_expired()
        while len(self._open_codes) >= MOST_OPEN_CODES:
            del self._open_codes[next(iter(self._open_codes))]
        plain = "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))
        code = Code(
            text="-".join(plain[at : at + 4] for at in range(0, CODE_LENGTH, 4)),
            expires=self._clock() + CODE_LIFETIME,
        )
        self._open_codes[fingerprint(plain)] = code.expires, not for_owner
        return code

    def redeem(self, text: str) -> bool:
        """Whether this server told the code by itself."""
        self._forget_expired()
        given = fingerprint(text)
        # look at every one, whether or not it was found: time must not tell
        matching = [known for known in self._open_codes if hmac.compare_digest(known, given)]
        if not matching:
            raise WrongCode
        return self._open_codes.pop(matching[0])[1]

    def _forget_expired(self) -> None:
        now = self._clock()
        self._open_codes = {
            known: kept for known, kept in self._open_codes.items() if kept[0] > now
        }


class Cookies:
    """`EXPIRES.NONCE.SIGNATURE`; nothing is stored but the ones that were logged out."""

    def __init__(self, token: TokenSource, clock: Clock = time.time) -> None:
        self._token = token
        self._clock = clock
        self._revoked: dict[str, int] = {}

    @property
    def name(self) -> str:
        return self._name_for(self._token())

    @staticmethod
    def _name_for(token: str) -> str:
        """Cookies ignore ports: a name for each keeper lets two of them live on one machine."""
        return f"clarvis_{sign(token, 'name')[:8]}"

    def issue(self) -> str:
        body = f"{int(self._clock()) + COOKIE_LIFETIME}.{secrets.token_urlsafe(16)}"
        return f"{body}.{sign(self._token(), body)}"

    def is_valid(self, value: str) -> bool:
        return self._is_valid_under(self._token(), value)

    def has_valid(self, given: Mapping[str, str], token: str) -> bool:
        """Whether one of them is, or was, good under this token."""
        return self._is_valid_under(token, given.get(self._name_for(token), ""))

    def _is_valid_under(self, token: str, value: str) -> bool:
        body, _, signature = value.rpartition(".")
        if not is_same_secret(sign(token, body), signature):
            return False
        return expiry_of(body) > self._clock() and body not in self._revoked

    def revoke(self, value: str) -> None:
        """Refuse a cookie for as long as this server runs, in case somebody kept a copy."""
        if not self.is_valid(value):
            return
        body = value.rpartition(".")[0]
        now = self._clock()
        self._revoked = {old: until for old, until in self._revoked.items() if until > now}
        self._revoked[body] = expiry_of(body)


def sign(token: str, body: str) -> str:
    key = hashlib.sha256(b"clarvis cookie\0" + header_bytes(token)).digest()
    return hmac.new(key, header_bytes(body), hashlib.sha256).hexdigest()


def expiry_of(body: str) -> int:
    """Only for a body whose signature was found right."""
    return int(body.partition(".")[0])


def header_bytes(text: str) -> bytes:
    """The bytes of a header, whatever they were: a stranger's need not be UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def is_same_secret(secret: str, given: str) -> bool:
    """Compare without telling by the time how much was right."""
    return hmac.compare_digest(header_bytes(secret), header_bytes(given))


class Login:
    """The door: what it takes to get a code, and a cookie for it."""

    def __init__(self, token: TokenSource, clock: Clock = time.time) -> None:
        self._token = token
        # all callers together: codes and tokens, whoever tries them
        self._failures = AttemptLimit(FAILURES_ALLOWED, FAILURE_SECONDS, clock)
        self.codes = Codes(clock)
        self.cookies = Cookies(token, clock)
        self.carried_cookies = CarriedCookies(token, clock)
        self._last_accepted_token: str | None = None

    def admits(self, given: Mapping[str, str]) -> bool:
        """Whether one of a browser's cookies lets it in."""
        return self.cookies.has_valid(given, self._token()) or self.carried_cookies.admits(
            given.values()
        )

    def handle_accepted_token(self, token: str) -> None:
        """The keeper took this token."""
        self._last_accepted_token = token
        self.carried_cookies.handle_accepted_token(token)

    def had_valid_cookie(self, given: Mapping[str, str]) -> bool:
        """Whether one of them was good under the last token that the keeper took.

        It opens nothing. But while the keeper refuses the one we have now, its owner has not been
        turned out: our token is wrong, and may become what it was.
        """
        last = self._last_accepted_token
        return last is not None and last != self._token() and self.cookies.has_valid(given, last)

    def mint_for_owner(self, authorization: str) -> Code:
        """A code for whoever holds the keeper's token; the right one is never turned away."""
        scheme, _, given = authorization.partition(" ")
        if not is_same_secret(self._token(), given.strip()) or scheme.lower() != "bearer":
            self._check_attempts()
            self._failures.count_failure()
            raise WrongToken
        return self.codes.mint(for_owner=True)

    def redeem(self, code: str) -> tuple[str, bool]:
        """A cookie for a code, and whether this server told that code by itself."""
        self._check_attempts()
        try:
            own = self.codes.redeem(code)
        except WrongCode:
            self._failures.count_failure()
            raise
        return self.cookies.issue(), own

    def _check_attempts(self) -> None:
        if seconds := self._failures.retry_after():
            raise TooManyAttempts(TOO_MANY_LOGINS, retry_after=seconds)


def login_link(url: str, code: Code, session: str | None = None) -> str:
    """The code travels in the fragment: no server and no log ever sees it."""
    place = f"&session={session}" if session else ""
    return f"{url}/#login={code.text}{place}"
