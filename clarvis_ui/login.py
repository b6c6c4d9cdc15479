"""The login of a browser: a one-time code is exchanged for a signed cookie.

Codes stay in memory for ten minutes. Cookies are signed with a key made from the keeper's token:
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
# without characters that look alike, as people type codes from a terminal to a phone
CODE_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CODE_LENGTH = 12
MISREAD_LETTERS = str.maketrans({"O": "0", "I": "1", "L": "1", "-": None, " ": None})
MAX_OPEN_CODES = 32
MAX_FAILURES = 10
# seconds in which one more attempt is allowed again
FAILURE_SECONDS = 6.0

Clock = Callable[[], float]


class Code(msgspec.Struct, frozen=True):
    text: str
    expires: float

    @property
    def expires_at(self) -> str:
        return datetime.fromtimestamp(self.expires, UTC).isoformat().replace("+00:00", "Z")


def fingerprint(code: str) -> bytes:
    """A code as it is stored and compared: tolerant of spelling, of one length."""
    return hashlib.sha256(header_bytes(code.upper().translate(MISREAD_LETTERS))).digest()


class Codes:
    """One-time codes."""

    def __init__(self, clock: Clock = time.time) -> None:
        self._clock = clock
        # when each expires, and whether this server printed it without a request
        self._open_codes: dict[bytes, tuple[float, bool]] = {}

    def mint(self, *, for_owner: bool = False) -> Code:
        """Makes a code; `for_owner` if the holder of the token requested it."""
        self._forget_expired()
        while len(self._open_codes) >= MAX_OPEN_CODES:
            del self._open_codes[next(iter(self._open_codes))]
        plain = "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))
        code = Code(
            text="-".join(plain[at : at + 4] for at in range(0, CODE_LENGTH, 4)),
            expires=self._clock() + CODE_LIFETIME,
        )
        self._open_codes[fingerprint(plain)] = code.expires, not for_owner
        return code

    def redeem(self, text: str) -> bool:
        """Uses a code up; returns whether this server printed it without a request."""
        self._forget_expired()
        digest = fingerprint(text)
        # all are compared, so that the time tells nothing
        matching = [each for each in self._open_codes if hmac.compare_digest(each, digest)]
        if not matching:
            raise WrongCode
        return self._open_codes.pop(matching[0])[1]

    def _forget_expired(self) -> None:
        now = self._clock()
        self._open_codes = {
            digest: code for digest, code in self._open_codes.items() if code[0] > now
        }


class Cookies:
    """Cookies `EXPIRES.NONCE.SIGNATURE`; only revoked ones are stored."""

    def __init__(self, token: TokenSource, clock: Clock = time.time) -> None:
        self._token = token
        self._clock = clock
        self._revoked: dict[str, int] = {}

    @property
    def name(self) -> str:
        return self._name_for(self._token())

    @staticmethod
    def _name_for(token: str) -> str:
        """A name for each keeper, as cookies do not distinguish ports."""
        return f"clarvis_{sign(token, 'name')[:8]}"

    def issue(self) -> str:
        body = f"{int(self._clock()) + COOKIE_LIFETIME}.{secrets.token_urlsafe(16)}"
        return f"{body}.{sign(self._token(), body)}"

    def is_valid(self, value: str) -> bool:
        return self._is_valid_for(self._token(), value)

    def has_valid(self, cookies: Mapping[str, str], token: str) -> bool:
        """Whether one of the cookies is valid for this token."""
        return self._is_valid_for(token, cookies.get(self._name_for(token), ""))

    def _is_valid_for(self, token: str, value: str) -> bool:
        body, _, signature = value.rpartition(".")
        if not is_same_secret(sign(token, body), signature):
            return False
        return expiry_of(body) > self._clock() and body not in self._revoked

    def revoke(self, value: str) -> None:
        """Refuses a cookie from now on, in case somebody has a copy; until this server ends."""
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
    """The expiry of a cookie whose signature was checked before."""
    return int(body.partition(".")[0])


def header_bytes(text: str) -> bytes:
    """The bytes of a header, which need not be UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def is_same_secret(secret: str, other: str) -> bool:
    """Compares in constant time."""
    return hmac.compare_digest(header_bytes(secret), header_bytes(other))


class Login:
    """Codes, cookies and the limit of failed attempts."""

    def __init__(self, token: TokenSource, clock: Clock = time.time) -> None:
        self._token = token
        # one limit for all callers, for codes and tokens
        self._failures = AttemptLimit(MAX_FAILURES, FAILURE_SECONDS, clock)
        self.codes = Codes(clock)
        self.cookies = Cookies(token, clock)
        self.carried_cookies = CarriedCookies(token, clock)
        self._last_accepted_token: str | None = None

    def admits(self, cookies: Mapping[str, str]) -> bool:
        """Whether one of a browser's cookies is valid."""
        return self.cookies.has_valid(cookies, self._token()) or self.carried_cookies.admits(
            cookies.values()
        )

    def handle_accepted_token(self, token: str) -> None:
        """The keeper accepted this token."""
        self._last_accepted_token = token
        self.carried_cookies.handle_accepted_token(token)

    def had_valid_cookie(self, cookies: Mapping[str, str]) -> bool:
        """Whether one of them was valid for the last token that the keeper accepted.

        It admits nobody. But while the keeper refuses our present token, that token may be wrong,
        and the login still be valid.
        """
        last = self._last_accepted_token
        return last is not None and last != self._token() and self.cookies.has_valid(cookies, last)

    def mint_for_owner(self, authorization: str) -> Code:
        """A code for the holder of the keeper's token; the right token is never refused."""
        scheme, _, secret = authorization.partition(" ")
        if not is_same_secret(self._token(), secret.strip()) or scheme.lower() != "bearer":
            self._check_attempts()
            self._failures.count_failure()
            raise WrongToken
        return self.codes.mint(for_owner=True)

    def redeem(self, code: str) -> tuple[str, bool]:
        """A cookie for a code, and whether this server printed that code without a request."""
        self._check_attempts()
        try:
            is_own = self.codes.redeem(code)
        except WrongCode:
            self._failures.count_failure()
            raise
        return self.cookies.issue(), is_own

    def _check_attempts(self) -> None:
        if seconds := self._failures.retry_after():
            raise TooManyAttempts(TOO_MANY_LOGINS, retry_after=seconds)


def login_link(url: str, code: Code, session: str | None = None) -> str:
    """The code is in the fragment, so that no server and no log gets it."""
    parameter = f"&session={session}" if session else ""
    return f"{url}/#login={code.text}{parameter}"
