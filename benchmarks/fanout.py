"""One event to many WebSockets: the keeper's bus, and two simple loops for comparison.

`python -m benchmarks.fanout WAY SOCKETS EVENTS` prints the seconds until the last socket has
the last event. The listeners are another process and only look for the last event, so that the
server is measured.
"""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from collections.abc import Mapping
from time import perf_counter
from typing import Any, NamedTuple

import msgspec
import orjson
from aiohttp import web

from benchmarks.harness.measure import Figure, run_module
from claudekeeper.contract.events import MessageAdded
from claudekeeper.contract.message import Message
from claudekeeper.events.bus import EventBus
from claudekeeper.server.ws_connection import MAX_UNSENT_BYTES, WsConnection

SOCKETS = (1, 10, 100)
# about as many bytes for each number of sockets
EVENTS = {1: 20_000, 10: 6_000, 100: 1_000}
ROUNDS = 5
BURST = 16
LAST = "the last one"
SESSION = "00000000-0000-4000-8000-000000000001"


def fan_out(environment: Mapping[str, str]) -> list[Figure]:
    figures = []
    for sockets in SOCKETS:
        events = EVENTS[sockets]
        taken: dict[str, list[float]] = {"keeper": [], "bare": [], "each": []}
        for _ in range(ROUNDS):
            for way, seconds in taken.items():
                seconds.append(_run(environment, way, sockets, events))
        best = {way: min(seconds) for way, seconds in taken.items()}
        rate = events * sockets / best["keeper"]
        work = f"1 KB events to {sockets} socket{'s' if sockets > 1 else ''}"
        details = f"{rate:,.0f} frames a second"
        bare, each = best["bare"] / best["keeper"], best["each"] / best["keeper"]
        figures += [
            Figure(
                work, f"{bare:.1f} × a bare send_str loop", "at least 0.9 ×", bare >= 0.9, details
            ),
            Figure(
                work, f"{each:.1f} × json.dumps for each socket", "at least 2 ×", each >= 2, details
            ),
        ]
    return figures


def _run(environment: Mapping[str, str], way: str, sockets: int, events: int) -> float:
    return float(run_module(environment, "benchmarks.fanout", way, sockets, events))


def _message(text: str) -> Message:
    content = msgspec.Raw(msgspec.json.encode([{"type": "text", "text": text}]))
    return Message("u", SESSION, "assistant", content, "2026-01-01T00:00:00.000Z", "reply")


# the same fields, as a dict
SHAPE: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(_message("")))


def _texts(events: int) -> list[str]:
    return ["x" * 800] * (events - 1) + [LAST]


class Connection(NamedTuple):
    ws: web.WebSocketResponse
    transport: asyncio.WriteTransport


async def _keeper(connections: list[Connection], events: int, bus: EventBus) -> None:
    transports = [each.transport for each in connections]
    for number, text in enumerate(_texts(events)):
        bus.publish(MessageAdded(session_id=SESSION, message=_message(text)))
        if number % BURST == 0:
            await asyncio.sleep(0)
            # the loops for comparison do this by waiting for each socket
            while max(each.get_write_buffer_size() for each in transports) > MAX_UNSENT_BYTES // 4:  # noqa: ASYNC110 - no event tells when the kernel has sent
                await asyncio.sleep(0)


async def _bare(connections: list[Connection], events: int, _bus: EventBus) -> None:
    for number, text in enumerate(_texts(events)):
        line = orjson.dumps(_event(number, text)).decode()
        for ws, _ in connections:
            await ws.send_str(line)


async def _each(connections: list[Connection], events: int, _bus: EventBus) -> None:
    for number, text in enumerate(_texts(events)):
        event = _event(number, text)
        for ws, _ in connections:
            await ws.send_json(event)


def _event(number: int, text: str) -> dict[str, Any]:
    return {
        "position": f"epoch:{number}",
        "type": "message/added",
        "sessionId": SESSION,
        "message": {**SHAPE, "content": [{"type": "text", "text": text}]},
        "after": None,
    }


WAYS = {"keeper": _keeper, "bare": _bare, "each": _each}


async def measured(way: str, count: int, events: int) -> float:
    bus = EventBus()
    connections: list[Connection] = []
    ready, gone = asyncio.Event(), asyncio.Event()
    closed_count = 0

    async def stream(request: web.Request) -> web.StreamResponse:
        nonlocal closed_count
        ws = web.WebSocketResponse(compress=False)
        await ws.prepare(request)
        transport = request.transport
        assert isinstance(transport, asyncio.WriteTransport)
        if way == "keeper":
            WsConnection(transport, bus).subscribe(["*"])
        connections.append(Connection(ws, transport))
        if len(connections) == count:
            ready.set()
        async for _ in ws:
            pass
        closed_count += 1
        if closed_count == count:
            gone.set()
        return ws

    app = web.Application()
    app.router.add_get("/", stream)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    listeners = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.fanout", "listen", str(runner.addresses[0][1]), str(count)
    )
    try:
        await ready.wait()
        start = perf_counter()
        await WAYS[way](connections, events, bus)
        await gone.wait()
        return perf_counter() - start
    finally:
        if listeners.returncode is None:
            listeners.terminate()
        await listeners.wait()
        await runner.cleanup()


class Listener(asyncio.Protocol):
    """Does the handshake, and closes after the last event."""

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self._tail = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        key = base64.b64encode(os.urandom(16)).decode()
        transport.write(
            f"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        tail = self._tail + data
        self._tail = tail[-256:]
        if LAST.encode() in tail:
            self._transport.close()

    def connection_lost(self, _error: Exception | None) -> None:
        self.over.set()


async def listen(port: int, count: int) -> None:
    loop = asyncio.get_running_loop()
    connections = [await loop.create_connection(Listener, "127.0.0.1", port) for _ in range(count)]
    for _, listener in connections:
        await listener.over.wait()


if __name__ == "__main__":
    if sys.argv[1] == "listen":
        asyncio.run(listen(int(sys.argv[2]), int(sys.argv[3])))
    else:
        seconds = asyncio.run(measured(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
        print(orjson.dumps(seconds).decode())
