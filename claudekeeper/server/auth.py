"""The door: the right Host, no foreign Origin, and the token. Every request goes through it.

The upgrade to a WebSocket is a request like any other; who stays on afterwards does so in
`Door.staying`, and is asked to leave when the token it came with is no longer the token.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import NoReturn

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware

from claudekeeper.contract.errors import ScopeTooNarrow, Unauthorized
from claudekeeper.core.credentials import Credentials, CredentialsSource
from claudekeeper.core.tasks import Tasks
from claudekeeper.net.attempt_limit import AttemptLimit
from claudekeeper.net.errors import ForeignHost, ForeignOrigin, TooManyAttempts
from claudekeeper.net.host_guard import HostGuard, HostRefused, OriginRefused
from claudekeeper.net.trusted_proxies import Caller
from claudekeeper.server.endpoint import Endpoint

# seconds between two looks at the token, for those who stay and ask nothing
CHECK_SECONDS = 0.5
# how a socket is closed whose token no longer opens the door
TOKEN_ENDED = 4001

CALLER: web.RequestKey[Caller] = web.RequestKey("caller", Caller)
CREDENTIALS: web.RequestKey[Credentials] = web.RequestKey("came_with", Credentials)

Disconnect = Callable[[], Awaitable[object]]


class Authenticator:
    """Checks every request before anything is done for it."""

    def __init__(
        self,
        gate: HostGuard,
        credentials: CredentialsSource,
        endpoints: Iterable[Endpoint] = (),
        attempts: AttemptLimit | None = None,
    ) -> None:
        self._host_guard = gate
        self._credentials = credentials
        self._open_paths = frozenset(each.path for each in endpoints if each.is_public)
        self._hook_endpoints = frozenset(
            (each.method, each.path) for each in endpoints if each.allows_hook_token
        )
        # one for all that is refused here, over HTTP and WebSocket alike
        self._attempt_limit = attempts or AttemptLimit()
        self._connections: dict[Disconnect, Credentials] = {}
        self.refused_tokens = 0
        self._tasks = Tasks()

    @property
    def connection_count(self) -> int:
        """How many stay beyond their answer."""
        return len(self._connections)

    @property
    def middleware(self) -> Middleware:
        @web.middleware
        async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
            self.authenticate(request)
            return await handler(request)

        return check

    def authenticate(self, request: web.Request) -> None:
        """Raises for whoever may not come in; afterwards the request knows its caller."""
        try:
            request[CALLER] = self._host_guard.check(request)
        except HostRefused as refused:
            raise ForeignHost from refused
        except OriginRefused as refused:
            raise ForeignOrigin from refused
        if request.path in self._open_paths:
            return
        credentials = self._credentials()
        scope = credentials.scope_of(_bearer_token(request))
        if scope is None:
            self._refuse(request)
        if scope == "hook" and _endpoint_of(request) not in self._hook_endpoints:
            raise ScopeTooNarrow
        request[CREDENTIALS] = credentials

    def _refuse(self, request: web.Request) -> NoReturn:
        # whoever brings nothing is not guessing
        if request.headers.get(hdrs.AUTHORIZATION):
            self.refused_tokens += 1
            if seconds := self._attempt_limit.retry_after():
                raise TooManyAttempts(retry_after=seconds)
            self._attempt_limit.count_failure()
        raise Unauthorized

    @contextlib.contextmanager
    def hold_until_revoked(self, request: web.Request, leave: Disconnect) -> Iterator[None]:
        """For who stays beyond the answer: `leave` is called once the token has ended."""
        self._connections[leave] = request[CREDENTIALS]
        try:
            yield
        finally:
            self._connections.pop(leave, None)

    async def watch_rotation(self, _app: web.Application) -> AsyncIterator[None]:
        """For `cleanup_ctx`: shows out whoever came with a token that was rotated meanwhile."""
        self._tasks.every(CHECK_SECONDS, self._disconnect_revoked, name="door:watch")
        yield
        await self._tasks.close()

    async def _disconnect_revoked(self) -> None:
        credentials = self._credentials()
        # those of hooks open nothing that anybody stays for
        now = credentials.token
        ended = [each for each, with_ in self._connections.items() if with_.token != now]
        for leave in ended:
            del self._connections[leave]
            # a task for each: one that takes its time to close holds up nobody
            self._tasks.start(_disconnect_quietly(leave), name="door:leave")


async def _disconnect_quietly(leave: Disconnect) -> None:
    with contextlib.suppress(OSError):
        await leave()


def _bearer_token(request: web.Request) -> str:
    scheme, _, secret = request.headers.get(hdrs.AUTHORIZATION, "").strip().partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def _endpoint_of(request: web.Request) -> tuple[str, str]:
    resource = request.match_info.route.resource
    return request.method, resource.canonical if resource else request.path
