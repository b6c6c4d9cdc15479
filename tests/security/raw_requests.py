"""Requests as an attacker writes them: every header is what the test says, nothing is added."""

from __future__ import annotations

import base64
import json
import os
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
}
PATIENCE = 60


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> str:
        return str(json.loads(self.body)["error"]["code"])

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def connect(url: str) -> socket.socket:
    where = urlsplit(url)
    return socket.create_connection((where.hostname or "", where.port or 0), PATIENCE)


def receive(connection: socket.socket) -> Iterator[bytes]:
    """What comes, piece by piece, until the other end closes the connection or cuts it."""
    with suppress(ConnectionResetError, BrokenPipeError):
        while piece := connection.recv(65536):
            yield piece


def exchange(url: str, content: bytes) -> bytes:
    """Whatever comes back for these bytes: a whole answer, or all until the other end closes."""
    answer = b""
    with connect(url) as connection:
        connection.sendall(content)
        for piece in receive(connection):
            answer += piece
            if _is_whole(answer):
                break
    return answer


def _is_whole(answer: bytes) -> bool:
    """Whether there is as much of a body as its head says."""
    head, ended, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"\r\nContent-Length: (\d+)", head)
    return bool(ended) and length is not None and len(body) >= int(length[1])


def send_request(
    url: str,
    method: str,
    path: str,
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
) -> Answer:
    """One request; `Host` is right unless `headers` have another one."""
    sent = {"Host": urlsplit(url).netloc, "Connection": "close", **(headers or {})}
    if body is not None:
        sent.setdefault("Content-Length", str(len(body)))
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items())]
    head = "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
    return parse_answer(exchange(url, head + (body or b"")))


def parse_answer(raw: bytes) -> Answer:
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in rest)}
    if headers.get("transfer-encoding") == "chunked":
        body = _joined(body)
    return Answer(int(first.split(" ")[1]), headers, body)


def upgrade_status(url: str, path: str, headers: dict[str, str]) -> int:
    """The status of an upgrade; 101 would be a success, and is closed at once."""
    sent = {"Host": urlsplit(url).netloc, **UPGRADE, **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
    with connect(url) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\n{head}\r\n".encode())
        return int(connection.recv(100).split(b" ")[1])


def _joined(chunks: bytes) -> bytes:
    whole = b""
    while chunks:
        size, _, rest = chunks.partition(b"\r\n")
        length = int(size, 16)
        whole += rest[:length]
        chunks = rest[length + 2 :]
    return whole
