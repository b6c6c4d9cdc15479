"""The WebSocket: events of any number of sessions on one connection."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from aiohttp import WSMsgType, web

from claudekeeper.edge.auth import TOKEN_ENDED
from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import BUS, DESK, DOOR, SOCKETS
from claudekeeper.edge.sockets import Socket, frame
from claudekeeper.edge.wire import Failure, NoQuery, query_of
from claudekeeper.live.bus import Told
from claudekeeper.model.errors import Fault, NotAWebSocket
from claudekeeper.model.events import AttentionRaised

VERSION = 1
HEARTBEAT = 30.0
LARGEST_FRAME = 64 * 1024
# whoever wants to hear of more hears of all
MOST_SESSIONS = 20_000
# a client that missed more than this reads again instead
MOST_REPLAYED = 3 * 1024 * 1024

Ids = Annotated[list[Annotated[str, msgspec.Meta(max_length=64)]], msgspec.Meta(max_length=1000)]


class Subscribe(msgspec.Struct, tag="subscribe", forbid_unknown_fields=True):
    sessions: Ids
    since: str | None = None


class Unsubscribe(msgspec.Struct, tag="unsubscribe", forbid_unknown_fields=True):
    sessions: Ids


class Ping(msgspec.Struct, tag="ping", forbid_unknown_fields=True):
    pass


class Hello(msgspec.Struct, tag="hello"):
    version: int
    position: str


class Subscribed(msgspec.Struct, tag="subscribed"):
    replayed: int
    position: str


class Complaint(msgspec.Struct, tag="error"):
    error: Fault


_asked = msgspec.json.Decoder(Subscribe | Unsubscribe | Ping)
_PONG = b'{"type":"pong"}'
_RESYNC = b'{"type":"resync"}'


async def stream(request: web.Request) -> web.StreamResponse:
    query_of(request, NoQuery)
    ws = web.WebSocketResponse(heartbeat=HEARTBEAT, compress=False, max_msg_size=LARGEST_FRAME)
    if not ws.can_prepare(request).ok:
        raise NotAWebSocket
    await ws.prepare(request)
    transport = request.transport
    assert isinstance(transport, asyncio.WriteTransport)
    bus, sockets = request.app[BUS], request.app[SOCKETS]
    socket = Socket(transport, bus, sockets.count_slow)
    sockets.add(socket)

    async def leave() -> None:
        socket.cut_off(TOKEN_ENDED, b"the token has ended")

    try:
        with request.app[DOOR].staying(request, leave):
            socket.say(msgspec.json.encode(Hello(VERSION, bus.position)))
            async for message in ws:
                if message.type is WSMsgType.TEXT:
                    _answer(request.app, socket, message.data)
                elif message.type is WSMsgType.BINARY:
                    _complain(socket, "Send text, not bytes.")
    finally:
        sockets.remove(socket)
    return ws


def _answer(app: web.Application, socket: Socket, text: str) -> None:
    try:
        asked = _asked.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        _complain(socket, f"This was not understood: {error}.")
        return
    match asked:
        case Ping():
            socket.say(_PONG)
        case Unsubscribe(sessions):
            socket.unsubscribe(sessions)
        case Subscribe():
            _subscribe(app, socket, asked)


def _subscribe(app: web.Application, socket: Socket, asked: Subscribe) -> None:
    """No event is between what is replayed and what is heard from now on: nothing waits here."""
    bus = app[BUS]
    sessions = [each.lower() for each in asked.sessions]
    if socket.subscriptions + len(sessions) > MOST_SESSIONS:
        _complain(socket, f"More than {MOST_SESSIONS} sessions: subscribe to '*' instead.")
        return
    missed: list[Told] | None = []
    if asked.since is not None:
        missed = bus.since(asked.since)
        if missed is not None:
            wanted = set(sessions)
            missed = [told for told in missed if "*" in wanted or told.session_id in wanted]
            if sum(len(told.line) for told in missed) > MOST_REPLAYED:
                missed = None
    socket.subscribe(sessions)
    if missed is None:
        socket.say(_RESYNC)
    else:
        socket.say(msgspec.json.encode(Subscribed(len(missed), bus.position)))
        for told in missed:
            told.frame = told.frame or frame(told.line)
            socket.put(told.frame)
    for attention in app[DESK].all():
        if socket.wants(attention.session_id):
            event = AttentionRaised(session_id=attention.session_id, attention=attention)
            socket.say(bus.line(event))


def _complain(socket: Socket, sentence: str) -> None:
    socket.say(msgspec.json.encode(Complaint(Fault("invalid_message", sentence))))


ENDPOINTS = [
    Endpoint(
        "GET",
        "/ws",
        stream,
        "The WebSocket with all events; see the README for what is said on it",
        Failure,
        status=101,
        failures=(NotAWebSocket,),
    )
]
