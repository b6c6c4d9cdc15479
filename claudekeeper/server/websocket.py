"""The WebSocket: events of any number of sessions on one connection."""

from __future__ import annotations

import asyncio

import msgspec
from aiohttp import WSMsgType, web

from claudekeeper.contract.errors import Fault, NotAWebSocket
from claudekeeper.contract.events import AttentionRaised
from claudekeeper.contract.frames import (
    PROTOCOL_VERSION,
    ClientFrame,
    Hello,
    Ping,
    Pong,
    ResyncAll,
    Subscribe,
    Subscribed,
    Unsubscribe,
    WsError,
)
from claudekeeper.events.bus import PublishedEvent
from claudekeeper.server.app_keys import ATTENTION, AUTHENTICATOR, BUS, WS_CONNECTIONS
from claudekeeper.server.auth import TOKEN_ENDED
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.schemas import EmptyQuery, parse_query
from claudekeeper.server.ws_connection import WsConnection

HEARTBEAT = 30.0
MAX_FRAME_BYTES = 64 * 1024
# a client that wants more subscribes to all sessions
MAX_SESSIONS = 20_000
# a client that missed more bytes reads the sessions again instead
MAX_REPLAYED_BYTES = 3 * 1024 * 1024

_decode_frame = msgspec.json.Decoder(ClientFrame).decode
_encode = msgspec.json.encode


async def stream(request: web.Request) -> web.StreamResponse:
    parse_query(request, EmptyQuery)
    websocket = web.WebSocketResponse(
        heartbeat=HEARTBEAT, compress=False, max_msg_size=MAX_FRAME_BYTES
    )
    if not websocket.can_prepare(request).ok:
        raise NotAWebSocket
    await websocket.prepare(request)
    transport = request.transport
    assert isinstance(transport, asyncio.WriteTransport)
    bus, connections = request.app[BUS], request.app[WS_CONNECTIONS]
    connection = WsConnection(transport, bus, connections.count_slow)
    connections.add(connection)

    async def close() -> None:
        connection.close(TOKEN_ENDED, b"the token has ended")

    try:
        with request.app[AUTHENTICATOR].hold_until_revoked(request, close):
            connection.send(_encode(Hello(PROTOCOL_VERSION, bus.position)))
            async for message in websocket:
                if message.type is WSMsgType.TEXT:
                    _handle_frame(request.app, connection, message.data)
                elif message.type is WSMsgType.BINARY:
                    _send_error(connection, "Send text, not bytes.")
    finally:
        connections.remove(connection)
    return websocket


def _handle_frame(app: web.Application, connection: WsConnection, text: str) -> None:
    try:
        frame = _decode_frame(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        _send_error(connection, f"This was not understood: {error}.")
        return
    match frame:
        case Ping():
            connection.send(_encode(Pong()))
        case Unsubscribe(sessions):
            connection.unsubscribe(sessions)
        case Subscribe():
            _subscribe(app, connection, frame)


def _subscribe(app: web.Application, connection: WsConnection, frame: Subscribe) -> None:
    """Replays missed events and adds the subscription; nothing is awaited, so none is lost."""
    bus = app[BUS]
    sessions = [session_id.lower() for session_id in frame.sessions]
    if connection.subscription_count + len(sessions) > MAX_SESSIONS:
        _send_error(connection, f"More than {MAX_SESSIONS} sessions: subscribe to '*' instead.")
        return
    missed: list[PublishedEvent] | None = []
    if frame.since is not None:
        missed = bus.replay_since(frame.since)
        if missed is not None:
            session_ids = set(sessions)
            missed = [
                event for event in missed if "*" in session_ids or event.session_id in session_ids
            ]
            if sum(len(event.payload) for event in missed) > MAX_REPLAYED_BYTES:
                missed = None
    connection.subscribe(sessions)
    if missed is None:
        connection.send(_encode(ResyncAll()))
    else:
        connection.send(_encode(Subscribed(len(missed), bus.position)))
        for published in missed:
            connection.handle_event(published)
    for attention in app[ATTENTION].all():
        if connection.is_subscribed(attention.session_id):
            raised = AttentionRaised(session_id=attention.session_id, attention=attention)
            connection.send(bus.encode(raised))


def _send_error(connection: WsConnection, sentence: str) -> None:
    connection.send(_encode(WsError(Fault("invalid_message", sentence))))


ENDPOINTS = [
    Endpoint(
        "GET",
        "/ws",
        stream,
        "The WebSocket: `ClientFrame` from the client, `ServerFrame` from the server",
        None,
        status=101,
        is_websocket=True,
        errors=(NotAWebSocket,),
    )
]
