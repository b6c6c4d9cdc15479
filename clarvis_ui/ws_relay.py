"""/api/ws: a browser's socket and one of the keeper's, joined frame by frame.

Nothing is kept in between: a frame is read from one side when the last one was taken by the other,
so a browser that does not read holds up its own line to the keeper, which then cuts it off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol
from weakref import WeakSet

import aiohttp
from aiohttp import WSCloseCode, WSMsgType, web

from .event_filter import EventFilter
from .keeper_client import HEARTBEAT, KeeperClient
from .login_routes import StillLoggedIn
from .security import is_remote

LARGEST_FRAME = 1024 * 1024
# how long a browser that does not read may hold up the end of its line
CLOSE_SECONDS = 2.0
LOGIN_CHECK_SECONDS = 1.0
KEEPER_AWAY = WSCloseCode.GOING_AWAY
LOGGED_OUT = 4001
# these say that there was no code; they may not be sent
UNSENDABLE_CODES = frozenset({1004, 1005, 1006, 1015})


class RelayFrame(Protocol):
    @property
    def type(self) -> WSMsgType: ...

    @property
    def data(self) -> Any: ...


class SocketEnd(Protocol):
    """One end, as far as it is pumped: both of aiohttp's sockets are such."""

    @property
    def close_code(self) -> int | None: ...

    async def receive(self) -> RelayFrame: ...

    async def send_frame(self, message: bytes, opcode: WSMsgType) -> None: ...


class SocketClosed(Exception):
    """One side is over, and with it the other."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the line ended with {code}")
        self.code = code


FrameFilter = Callable[[bytes], Awaitable[bool]]


async def pass_everything(_frame: bytes) -> bool:
    return True


async def pump(source: SocketEnd, sink: SocketEnd, passes: FrameFilter, *, lost_code: int) -> None:
    """Frames from one side to the other until one of them ends; `lost` is for an end unsaid."""
    while True:
        message = await source.receive()
        if message.type is not WSMsgType.TEXT:
            raise SocketClosed(close_code_of(source, message, lost_code))
        if await passes(message.data):
            try:
                await sink.send_frame(message.data, WSMsgType.TEXT)
            except (ConnectionError, aiohttp.ClientError) as error:
                raise SocketClosed(lost_code) from error


def close_code_of(source: SocketEnd, message: RelayFrame, lost: int) -> int:
    if message.type is WSMsgType.BINARY:
        return WSCloseCode.UNSUPPORTED_DATA
    code = source.close_code
    return lost if code is None or code in UNSENDABLE_CODES else code


async def close_when_logged_out(admitted: StillLoggedIn) -> None:
    """Whoever logs out, or has a cookie of an old token, is not told anything more."""
    while True:
        if not admitted():
            raise SocketClosed(LOGGED_OUT)
        await asyncio.sleep(LOGIN_CHECK_SECONDS)


class Relay:
    """`sieve` is None where every session may be seen."""

    def __init__(
        self,
        keeper: KeeperClient,
        sieve: EventFilter | None,
        admitted_by: Callable[[web.Request], StillLoggedIn],
    ) -> None:
        self._keeper = keeper
        self._passes: FrameFilter = sieve.passes if sieve else pass_everything
        self._login_check = admitted_by
        self._browsers: WeakSet[web.WebSocketResponse] = WeakSet()

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/ws", self.connect)]

    async def connect(self, request: web.Request) -> web.WebSocketResponse:
        # the keeper first: where it is away, the browser is told so before anything is promised
        async with await self._keeper.open_socket() as keeper:
            browser = web.WebSocketResponse(
                heartbeat=HEARTBEAT,
                max_msg_size=LARGEST_FRAME,
                decode_text=False,
                compress=is_remote(request),
            )
            await browser.prepare(request)
            self._browsers.add(browser)
            code = await self._relay(browser, keeper, self._login_check(request))
        await close_or_abort(browser, request, code)
        return browser

    async def _relay(self, browser: SocketEnd, keeper: SocketEnd, admitted: StillLoggedIn) -> int:
        """How it ended."""
        code: int = KEEPER_AWAY
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(
                    pump(keeper, browser, self._passes, lost_code=KEEPER_AWAY), name="relay:down"
                )
                group.create_task(
                    pump(browser, keeper, pass_everything, lost_code=KEEPER_AWAY), name="relay:up"
                )
                group.create_task(close_when_logged_out(admitted), name="relay:door")
        except* SocketClosed as ends:
            code = next(end.code for end in ends.exceptions if isinstance(end, SocketClosed))
        return code

    async def close_all(self, _app: web.Application) -> None:
        """For `on_shutdown`: open lines must not hold up a restart."""
        for browser in list(self._browsers):
            await close_in_time(browser, WSCloseCode.GOING_AWAY)


async def close_or_abort(browser: web.WebSocketResponse, request: web.Request, code: int) -> None:
    transport = request.transport
    if not await close_in_time(browser, code) and transport is not None:
        transport.abort()


async def close_in_time(browser: web.WebSocketResponse, code: int) -> bool:
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await browser.close(code=code)
    except TimeoutError:
        return False
    return True
