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

from .entry import Admitted
from .guard import comes_from_afar
from .keeper import HEARTBEAT, Keeper
from .sieve import Sieve

LARGEST_FRAME = 1024 * 1024
# how long a browser that does not read may hold up the end of its line
CLOSING_PATIENCE = 2.0
ADMISSION_CHECKED_EVERY = 1.0
KEEPER_AWAY = WSCloseCode.GOING_AWAY
NO_LONGER_ADMITTED = 4001
# these say that there was no code; they may not be sent
UNSENDABLE = frozenset({1004, 1005, 1006, 1015})


class Message(Protocol):
    @property
    def type(self) -> WSMsgType: ...

    @property
    def data(self) -> Any: ...


class Line(Protocol):
    """One end, as far as it is pumped: both of aiohttp's sockets are such."""

    @property
    def close_code(self) -> int | None: ...

    async def receive(self) -> Message: ...

    async def send_frame(self, message: bytes, opcode: WSMsgType) -> None: ...


class Ended(Exception):
    """One side is over, and with it the other."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the line ended with {code}")
        self.code = code


Passes = Callable[[bytes], Awaitable[bool]]


async def everything(_frame: bytes) -> bool:
    return True


async def pump(source: Line, sink: Line, passes: Passes, *, lost: int) -> None:
    """Frames from one side to the other until one of them ends; `lost` is for an end unsaid."""
    while True:
        message = await source.receive()
        if message.type is not WSMsgType.TEXT:
            raise Ended(end_of(source, message, lost))
        if await passes(message.data):
            try:
                await sink.send_frame(message.data, WSMsgType.TEXT)
            except (ConnectionError, aiohttp.ClientError) as error:
                raise Ended(lost) from error


def end_of(source: Line, message: Message, lost: int) -> int:
    if message.type is WSMsgType.BINARY:
        return WSCloseCode.UNSUPPORTED_DATA
    code = source.close_code
    return lost if code is None or code in UNSENDABLE else code


async def until_turned_out(admitted: Admitted) -> None:
    """Whoever logs out, or has a cookie of an old token, is not told anything more."""
    while True:
        if not admitted():
            raise Ended(NO_LONGER_ADMITTED)
        await asyncio.sleep(ADMISSION_CHECKED_EVERY)


class Relay:
    """`sieve` is None where every session may be seen."""

    def __init__(
        self,
        keeper: Keeper,
        sieve: Sieve | None,
        admitted_by: Callable[[web.Request], Admitted],
    ) -> None:
        self._keeper = keeper
        self._passes: Passes = sieve.passes if sieve else everything
        self._admitted_by = admitted_by
        self._open: WeakSet[web.WebSocketResponse] = WeakSet()

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/ws", self.join)]

    async def join(self, request: web.Request) -> web.WebSocketResponse:
        # the keeper first: where it is away, the browser is told so before anything is promised
        async with await self._keeper.socket() as keeper:
            browser = web.WebSocketResponse(
                heartbeat=HEARTBEAT,
                max_msg_size=LARGEST_FRAME,
                decode_text=False,
                compress=comes_from_afar(request),
            )
            await browser.prepare(request)
            self._open.add(browser)
            code = await self._joined(browser, keeper, self._admitted_by(request))
        await hang_up(browser, request, code)
        return browser

    async def _joined(self, browser: Line, keeper: Line, admitted: Admitted) -> int:
        """How it ended."""
        code: int = KEEPER_AWAY
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(
                    pump(keeper, browser, self._passes, lost=KEEPER_AWAY), name="relay:down"
                )
                group.create_task(
                    pump(browser, keeper, everything, lost=KEEPER_AWAY), name="relay:up"
                )
                group.create_task(until_turned_out(admitted), name="relay:door")
        except* Ended as ends:
            code = next(end.code for end in ends.exceptions if isinstance(end, Ended))
        return code

    async def hang_up_all(self, _app: web.Application) -> None:
        """For `on_shutdown`: open lines must not hold up a restart."""
        for browser in list(self._open):
            await close_in_time(browser, WSCloseCode.GOING_AWAY)


async def hang_up(browser: web.WebSocketResponse, request: web.Request, code: int) -> None:
    transport = request.transport
    if not await close_in_time(browser, code) and transport is not None:
        transport.abort()


async def close_in_time(browser: web.WebSocketResponse, code: int) -> bool:
    try:
        async with asyncio.timeout(CLOSING_PATIENCE):
            await browser.close(code=code)
    except TimeoutError:
        return False
    return True
