"""/api/ws: the WebSocket of a browser joined to one of the keeper, frame by frame.

Nothing is buffered: a frame is read from one side once the other side took the one before. So a
browser that does not read delays its own connection to the keeper, which then closes it.
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

MAX_FRAME_BYTES = 1024 * 1024
# how long the close of a connection waits for a browser that does not read
CLOSE_SECONDS = 2.0
LOGIN_CHECK_SECONDS = 1.0
KEEPER_AWAY = WSCloseCode.GOING_AWAY
LOGGED_OUT = 4001
# codes for a missing close code; they may not be sent
UNSENDABLE_CODES = frozenset({1004, 1005, 1006, 1015})


class RelayFrame(Protocol):
    @property
    def type(self) -> WSMsgType: ...

    @property
    def data(self) -> Any: ...


class SocketEnd(Protocol):
    """One end of a relay: a WebSocket of aiohttp's server or client."""

    @property
    def close_code(self) -> int | None: ...

    async def receive(self) -> RelayFrame: ...

    async def send_frame(self, message: bytes, opcode: WSMsgType) -> None: ...


class SocketClosed(Exception):
    """One side was closed, so the other one is closed too."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the connection was closed with {code}")
        self.code = code


FrameFilter = Callable[[bytes], Awaitable[bool]]


async def pass_everything(_frame: bytes) -> bool:
    return True


async def pump(source: SocketEnd, sink: SocketEnd, passes: FrameFilter, *, lost_code: int) -> None:
    """Passes frames on until one side ends; `lost_code` is for an end without a code."""
    while True:
        message = await source.receive()
        if message.type is not WSMsgType.TEXT:
            raise SocketClosed(close_code_of(source, message, lost_code))
        if await passes(message.data):
            try:
                await sink.send_frame(message.data, WSMsgType.TEXT)
            except (ConnectionError, aiohttp.ClientError) as error:
                raise SocketClosed(lost_code) from error


def close_code_of(source: SocketEnd, message: RelayFrame, lost_code: int) -> int:
    if message.type is WSMsgType.BINARY:
        return WSCloseCode.UNSUPPORTED_DATA
    code = source.close_code
    return lost_code if code is None or code in UNSENDABLE_CODES else code


async def close_when_logged_out(is_logged_in: StillLoggedIn) -> None:
    """Ends the relay after a logout, and when the cookie is of an old token."""
    while True:
        if not is_logged_in():
            raise SocketClosed(LOGGED_OUT)
        await asyncio.sleep(LOGIN_CHECK_SECONDS)


class Relay:
    """Relays between browsers and the keeper; without `event_filter` every event passes."""

    def __init__(
        self,
        keeper: KeeperClient,
        event_filter: EventFilter | None,
        login_check: Callable[[web.Request], StillLoggedIn],
    ) -> None:
        self._keeper = keeper
        self._passes: FrameFilter = event_filter.passes if event_filter else pass_everything
        self._login_check = login_check
        self._browsers: WeakSet[web.WebSocketResponse] = WeakSet()

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/ws", self.connect)]

    async def connect(self, request: web.Request) -> web.WebSocketResponse:
        # the keeper first, so that its failure is still an HTTP error for the browser
        async with await self._keeper.open_socket() as keeper:
            browser = web.WebSocketResponse(
                heartbeat=HEARTBEAT,
                max_msg_size=MAX_FRAME_BYTES,
                decode_text=False,
                compress=is_remote(request),
            )
            await browser.prepare(request)
            self._browsers.add(browser)
            code = await self._relay(browser, keeper, self._login_check(request))
        await close_or_abort(browser, request, code)
        return browser

    async def _relay(
        self, browser: SocketEnd, keeper: SocketEnd, is_logged_in: StillLoggedIn
    ) -> int:
        """Returns the close code."""
        code: int = KEEPER_AWAY
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(
                    pump(keeper, browser, self._passes, lost_code=KEEPER_AWAY), name="relay:down"
                )
                group.create_task(
                    pump(browser, keeper, pass_everything, lost_code=KEEPER_AWAY), name="relay:up"
                )
                group.create_task(close_when_logged_out(is_logged_in), name="relay:door")
        except* SocketClosed as ends:
            code = next(end.code for end in ends.exceptions if isinstance(end, SocketClosed))
        return code

    async def close_all(self, _app: web.Application) -> None:
        """For `on_shutdown`: open connections must not delay a restart."""
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
