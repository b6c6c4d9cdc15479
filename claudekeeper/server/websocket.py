"""The WebSocket: events of any number of sessions on one connection."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from aiohttp import WSMsgType, web

from claudekeeper.contract.errors import Fault, NotAWebSocket
from claudekeeper.contract.events import AttentionRaised
from claudekeeper.events.bus import PublishedEvent
from claudekeeper.net.responses import ErrorAnswer
from claudekeeper.server.app_keys import ATTENTION, AUTHENTICATOR, BUS, WS_CONNECTIONS
from claudekeeper.server.auth import TOKEN_ENDED
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.schemas import EmptyQuery, parse_query
from claudekeeper.server.ws_connection import WsConnection, encode_frame

PROTOCOL_VERSION = 1
HEARTBEAT = 30.0
LARGEST_FRAME = 64 * 1024
# whoever wants to hear of more hears of all
MOST_SESSIONS = 20_000
# a client that missed more than this reads again instead
MOST_REPLAYED = 3 * 1024 * 1024

SessionIds = Annotated[
    list[Annotated[str, msgspec.Meta(max_length=64)]], msgspec.Meta(max_length=1000)
]


class Subscribe(msgspec.Struct, tag="subscribe", forbid_unknown_fields=True):
    sessions: SessionIds
    since: str | None = None


class Unsubscribe(msgspec.Struct, tag="unsubscribe", forbid_unknown_fields=True):
    sessions: SessionIds


class Ping(msgspec.Struct, tag="ping", forbid_unknown_fields=True):
    pass


class Hello(msgspec.Struct, tag="hello"):
    version: int
    position: str


class Subscribed(msgspec.Struct, tag="subscribed"):
    replayed: int
    position: str


class WsError(msgspec.Struct, tag="error"):
    error: Fault


_request_decoder = msgspec.json.Decoder(Subscribe | Unsubscribe | Ping)
_PONG = b'{"type":"pong"}'
_RESYNC = b'{"type":"resync"}'


async def stream(request: web.Request) -> web.StreamResponse:
    parse_query(request, EmptyQuery)
    ws = web.WebSocketResponse(heartbeat=HEARTBEAT, compress=False, max_msg_size=LARGEST_FRAME)
    if not ws.can_prepare(request).ok:
        raise NotAWebSocket
    await ws.prepare(request)
    transport = request.transport
    assert isinstance(transport, asyncio.WriteTransport)
    bus, sockets = request.app[BUS], request.app[WS_CONNECTIONS]
    socket = WsConnection(transport, bus, sockets.count_slow)
    sockets.add(socket)

    async def leave() -> None:
        socket.close(TOKEN_ENDED, b"the token has ended")

    try:
        with request.app[AUTHENTICATOR].hold_until_revoked(request, leave):
            socket.send(msgspec.json.encode(Hello(PROTOCOL_VERSION, bus.position)))
            async for message in ws:
                if message.type is WSMsgType.TEXT:
                    _handle_request(request.app, socket, message.data)
                elif message.type is WSMsgType.BINARY:
                    _send_error(socket, "Send text, not bytes.")
    finally:
        sockets.remove(socket)
    return ws


def _handle_request(app: web.Application, socket: WsConnection, text: str) -> None:
    try:
        asked = _request_decoder.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        _send_error(socket, f"This was not understood: {error}.")
        return
    match asked:
        case Ping():
            socket.send(_PONG)
        case Unsubscribe(sessions):
            socket.unsubscribe(sessions)
        case Subscribe():
            _subscribe(app, socket, asked)


def _subscribe(app: web.Application, socket: WsConnection, asked: Subscribe) -> None:
    """No event is between what is replayed and what is heard from now on: nothing waits here."""
    bus = app[BUS]
    sessions = [each.lower() for each in asked.sessions]
    if socket.subscription_count + len(sessions) > MOST_SESSIONS:
        _send_error(socket, f"More than {MOST_SESSIONS} sessions: subscribe to '*' instead.")
        return
    missed: list[PublishedEvent] | None = []
    if asked.since is not None:
        missed = bus.replay_since(asked.since)
        if missed is not None:
            wanted = set(sessions)
            missed = [told for told in missed if "*" in wanted or told.session_id in wanted]
            if sum(len(told.payload) for told in missed) > MOST_REPLAYED:
                missed = None
    socket.subscribe(sessions)
    if missed is None:
        socket.send(_RESYNC)
    else:
        socket.send(msgspec.json.encode(Subscribed(len(missed), bus.position)))
        for told in missed:
            told.frame = told.frame or encode_frame(told.payload)
            socket.send_frame(told.frame)
    for attention in app[ATTENTION].all():
        if socket.is_subscribed(attention.session_id):
            event = AttentionRaised(session_id=attention.session_id, attention=attention)
            socket.send(bus.encode(event))


def _send_error(socket: WsConnection, sentence: str) -> None:
    socket.send(msgspec.json.encode(WsError(Fault("invalid_message", sentence))))


ENDPOINTS = [
    Endpoint(
        "GET",
        "/ws",
        stream,
        "The WebSocket with all events; see the README for what is said on it",
        ErrorAnswer,
        status=101,
        errors=(NotAWebSocket,),
    )
]
