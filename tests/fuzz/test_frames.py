"""The WebSocket, told nonsense: it complains or closes, and the next socket works."""

from __future__ import annotations

import json
import os
import socket
import struct
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.conftest import FuzzedKeeper
from tests.fuzz.test_requests import EXAMPLES, anything
from tests.security.raw_requests import UPGRADE, connect, receive, send_request
from tests.support.transcript_writer import SESSION_ID

TEXT, BINARY, CLOSE, PING = 1, 2, 8, 9

ids = st.lists(st.sampled_from([SESSION_ID, "*", "", "x" * 65]) | st.text(max_size=10), max_size=4)
positions = st.sampled_from(["", ":", "a:b", "0:0", "00000000:99999999999999999999999"])
sensible = st.one_of(
    st.just({"type": "ping"}),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["subscribe", "unsubscribe"]), "sessions": ids},
        optional={"since": positions | st.text(max_size=12), "more": st.integers()},
    ),
)
payloads = st.one_of(
    sensible.map(lambda value: json.dumps(value).encode()),
    anything.map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=300),
    st.just(b"[" * 20_000),
)
frames = st.tuples(st.sampled_from([TEXT, TEXT, TEXT, BINARY, PING, 0, 3, 11]), payloads)


def masked(kind: int, payload: bytes) -> bytes:
    """A frame as a client has to write it; the mask is all zeros, and so changes nothing."""
    size = len(payload)
    if size < 126:
        head = struct.pack("!BB", 0x80 | kind, 0x80 | size)
    else:
        head = struct.pack("!BBQ", 0x80 | kind, 0x80 | 127, size)
    return head + b"\0\0\0\0" + payload


def upgraded(keeper: FuzzedKeeper) -> socket.socket:
    """A socket after its hello."""
    connection = connect(keeper.url)
    head = {"Host": urlsplit(keeper.url).netloc, **UPGRADE, **keeper.auth_headers}
    text = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    connection.sendall(f"GET /ws HTTP/1.1\r\n{text}\r\n".encode())
    receive_until(connection, b'"hello"')
    return connection


def receive_until(connection: socket.socket, words: bytes) -> bytes:
    """What comes until the words do."""
    content = b""
    for piece in receive(connection):
        content += piece
        if words in content:
            return content
    raise AssertionError(f"it ended without {words!r}: {content!r}")


# a longer look takes longer
@pytest.mark.timeout(120 + EXAMPLES)
@settings(
    max_examples=EXAMPLES * 4,
    deadline=None,
    derandomize="FUZZ_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
    database=None,
)
@given(st.lists(frames, max_size=6), st.sampled_from([0, 7]))
def test_nonsense_closes_one_socket_at_most(
    keeper: FuzzedKeeper, sent: list[tuple[int, bytes]], first_piece: int
) -> None:
    content = b"".join(masked(kind, payload) for kind, payload in sent)
    content += masked(CLOSE, struct.pack("!H", 1000))
    with upgraded(keeper) as connection:
        with suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(content[:first_piece])
            connection.sendall(content[first_piece:])
        # it ends: whatever was sent, the closing frame is answered or the connection is cut
        list(receive(connection))
    upgraded(keeper).close()
    assert send_request(keeper.url, "GET", "/health").status == 200


def test_a_socket_does_not_remember_sessions_without_end(keeper: FuzzedKeeper) -> None:
    with upgraded(keeper) as connection:
        for number in range(21):
            ids = [f"{number}-{index}" for index in range(1000)]
            command = {"type": "subscribe", "sessions": ids}
            connection.sendall(masked(TEXT, json.dumps(command).encode()))
        assert receive_until(connection, b'"error"').count(b'"subscribed"') == 20
