"""Requests as an attacker writes them: every header is what the test says, nothing is added."""

from __future__ import annotations

import base64
import json
import os
import re
import socket
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


def spoken(url: str, content: bytes) -> bytes:
    """Whatever comes back for these bytes: a whole answer, or all until the other end closes."""
    where = urlsplit(url)
    with socket.create_connection((where.hostname or "", where.port or 0), PATIENCE) as line:
        line.sendall(content)
        found = b""
        try:
            while not _is_whole(found) and (piece := line.recv(65536)):
                found += piece
        except ConnectionResetError:
            pass
        return found


def _is_whole(found: bytes) -> bool:
    """Whether there is as much of a body as its head says."""
    head, ended, body = found.partition(b"\r\n\r\n")
    length = re.search(rb"\r\nContent-Length: (\d+)", head)
    return bool(ended) and length is not None and len(body) >= int(length[1])


def asked(
    url: str,
    method: str,
    path: str,
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
) -> Answer:
    """One request; `Host` is right unless it is given."""
    given = {"Host": urlsplit(url).netloc, "Connection": "close", **(headers or {})}
    if body is not None:
        given.setdefault("Content-Length", str(len(body)))
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
    head = "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
    return parsed(spoken(url, head + (body or b"")))


def parsed(raw: bytes) -> Answer:
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in rest)}
    if headers.get("transfer-encoding") == "chunked":
        body = _joined(body)
    return Answer(int(first.split(" ")[1]), headers, body)


def upgraded(url: str, path: str, headers: dict[str, str]) -> int:
    """The status of an upgrade; 101 would be a success, and is closed at once."""
    where = urlsplit(url)
    given = {"Host": where.netloc, **UPGRADE, **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    with socket.create_connection((where.hostname or "", where.port or 0), PATIENCE) as line:
        line.sendall(f"GET {path} HTTP/1.1\r\n{head}\r\n".encode())
        return int(line.recv(100).split(b" ")[1])


def _joined(chunks: bytes) -> bytes:
    whole = b""
    while chunks:
        size, _, rest = chunks.partition(b"\r\n")
        length = int(size, 16)
        whole += rest[:length]
        chunks = rest[length + 2 :]
    return whole
