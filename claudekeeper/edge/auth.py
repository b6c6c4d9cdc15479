"""The door: the right Host, no foreign Origin, and the token. Every request goes through it.

The upgrade to a WebSocket is a request like any other; who stays on afterwards does so in
`Door.staying`, and is asked to leave when the token it came with is no longer the token.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import NoReturn

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware

from claudekeeper.credentials import Credentials, CredentialsSource
from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.live.tasks import Tasks
from claudekeeper.model.errors import (
    ForeignHost,
    ForeignOrigin,
    ScopeTooNarrow,
    TooManyAttempts,
    Unauthorized,
)
from doorway.attempts import Attempts
from doorway.gate import Gate, HostRefused, OriginRefused
from doorway.proxies import Caller

# seconds between two looks at the token, for those who stay and ask nothing
LOOK = 0.5
# how a socket is closed whose token no longer opens the door
TOKEN_ENDED = 4001

CALLER: web.RequestKey[Caller] = web.RequestKey("caller", Caller)
CAME_WITH: web.RequestKey[Credentials] = web.RequestKey("came_with", Credentials)

Leave = Callable[[], Awaitable[object]]


class Door:
    """Checks every request before anything is done for it."""

    def __init__(
        self,
        gate: Gate,
        credentials: CredentialsSource,
        endpoints: Iterable[Endpoint] = (),
        attempts: Attempts | None = None,
    ) -> None:
        self._gate = gate
        self._credentials = credentials
        self._open = frozenset(each.path for each in endpoints if each.open)
        self._for_hooks = frozenset((each.method, each.path) for each in endpoints if each.hooks)
        # one for all that is refused here, over HTTP and WebSocket alike
        self._attempts = attempts or Attempts()
        self._staying: dict[Leave, Credentials] = {}
        self.refused = 0
        self._tasks = Tasks()

    @property
    def guests(self) -> int:
        """How many stay beyond their answer."""
        return len(self._staying)

    @property
    def middleware(self) -> Middleware:
        @web.middleware
        async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
            self.admit(request)
            return await handler(request)

        return check

    def admit(self, request: web.Request) -> None:
        """Raises for whoever may not come in; afterwards the request knows its caller."""
        try:
            request[CALLER] = self._gate.check(request)
        except HostRefused as refused:
            raise ForeignHost from refused
        except OriginRefused as refused:
            raise ForeignOrigin from refused
        if request.path in self._open:
            return
        credentials = self._credentials()
        scope = credentials.scope_of(_bearer(request))
        if scope is None:
            self._refuse(request)
        if scope == "hook" and _address_of(request) not in self._for_hooks:
            raise ScopeTooNarrow
        request[CAME_WITH] = credentials

    def _refuse(self, request: web.Request) -> NoReturn:
        # whoever brings nothing is not guessing
        if request.headers.get(hdrs.AUTHORIZATION):
            self.refused += 1
            if seconds := self._attempts.wait():
                raise TooManyAttempts(retry_after=seconds)
            self._attempts.count()
        raise Unauthorized

    @contextlib.contextmanager
    def staying(self, request: web.Request, leave: Leave) -> Iterator[None]:
        """For who stays beyond the answer: `leave` is called once the token has ended."""
        self._staying[leave] = request[CAME_WITH]
        try:
            yield
        finally:
            self._staying.pop(leave, None)

    async def watch(self, _app: web.Application) -> AsyncIterator[None]:
        """For `cleanup_ctx`: shows out whoever came with a token that was rotated meanwhile."""
        self._tasks.start(self._show_out(), name="door:watch")
        yield
        await self._tasks.close()

    async def _show_out(self) -> None:
        while True:
            await asyncio.sleep(LOOK)
            credentials = self._credentials()
            # those of hooks open nothing that anybody stays for
            now = credentials.token
            ended = [each for each, with_ in self._staying.items() if with_.token != now]
            for leave in ended:
                del self._staying[leave]
                # a task for each: one that takes its time to close holds up nobody
                self._tasks.start(_call(leave), name="door:leave")


async def _call(leave: Leave) -> None:
    with contextlib.suppress(OSError):
        await leave()


def _bearer(request: web.Request) -> str:
    scheme, _, secret = request.headers.get(hdrs.AUTHORIZATION, "").strip().partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def _address_of(request: web.Request) -> tuple[str, str]:
    resource = request.match_info.route.resource
    return request.method, resource.canonical if resource else request.path
