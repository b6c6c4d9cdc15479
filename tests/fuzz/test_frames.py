"""The WebSocket, told nonsense: it complains or closes, and the next socket works."""

from __future__ import annotations

import json
import os
import socket
import struct
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.conftest import FuzzedKeeper
from tests.fuzz.test_requests import EXAMPLES, anything
from tests.security.raw_requests import UPGRADE, asked
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


def connected(keeper: FuzzedKeeper) -> tuple[socket.socket, Any]:
    """A socket after its hello."""
    where = urlsplit(keeper.url)
    line = socket.create_connection((where.hostname or "", where.port or 0), 60)
    head = {"Host": where.netloc, **UPGRADE, **keeper.auth_headers}
    text = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    line.sendall(f"GET /ws HTTP/1.1\r\n{text}\r\n".encode())
    said = b""
    while b"\r\n\r\n" not in said or b'"hello"' not in said:
        piece = line.recv(4096)
        assert piece, said
        said += piece
    return line, said


# a longer look takes longer
@pytest.mark.timeout(120 + EXAMPLES)
@settings(
    max_examples=EXAMPLES * 4,
    deadline=None,
    derandomize="FUZZ_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
    database=None,
)
@given(st.lists(frames, max_size=6), st.booleans())
def test_nonsense_closes_one_socket_at_most(
    keeper: FuzzedKeeper, said: list[tuple[int, bytes]], in_pieces: bool
) -> None:
    line, _ = connected(keeper)
    content = b"".join(masked(kind, payload) for kind, payload in said)
    content += masked(CLOSE, struct.pack("!H", 1000))
    with closing(line):
        try:
            for piece in [content[:7], content[7:]] if in_pieces else [content]:
                line.sendall(piece)
            # it ends: whatever was said, the closing frame is answered or the line is cut
            while line.recv(65536):
                pass
        except (ConnectionResetError, BrokenPipeError):
            pass
    again, _ = connected(keeper)
    again.close()
    assert asked(keeper.url, "GET", "/health").status == 200


def test_a_socket_does_not_remember_sessions_without_end(keeper: FuzzedKeeper) -> None:
    line, _ = connected(keeper)
    with closing(line):
        for number in range(21):
            ids = [f"{number}-{index}" for index in range(1000)]
            asking = {"type": "subscribe", "sessions": ids}
            line.sendall(masked(TEXT, json.dumps(asking).encode()))
        said = b""
        while b'"error"' not in said:
            said += line.recv(65536)
        assert said.count(b'"subscribed"') == 20
