"""Nobody holds the keeper by sending or reading slowly."""

from __future__ import annotations

import asyncio
import socket

import pytest

from tests.server.conftest import TOKEN, Api, get_json
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder
from tests.support.waiting import wait_until

HEAD = (
    f"HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n"
)


async def test_half_a_body_is_not_waited_for(keeper: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("claudekeeper.server.schemas.BODY_SECONDS", 0.05)
    TranscriptWriter().write(projects_folder())
    reader, writer = await asyncio.open_connection("127.0.0.1", keeper.server.port)
    writer.write(f'PATCH /sessions/{SESSION_ID} {HEAD}{{"name": "ha'.encode())
    assert b" 408 " in await reader.readline()
    writer.close()
    await writer.wait_closed()
    assert (await get_json(keeper, f"/sessions/{SESSION_ID}"))["session"]["name"] is None


async def test_a_client_that_takes_nothing_is_left(
    keeper: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("claudekeeper.server.routes.history.CLIENT_READ_SECONDS", 0.05)
    transcript = TranscriptWriter()
    # more than the system keeps between the two
    for _ in range(400):
        transcript.prompt("x" * 50_000)
    transcript.write(projects_folder())
    head = f"Host: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    connections = keeper.server.runner.server  # type: ignore[attr-defined]
    with socket.create_connection(("127.0.0.1", keeper.server.port)) as line:
        line.sendall(f"GET /sessions/{SESSION_ID}?limit=all HTTP/1.1\r\n{head}".encode())
        await wait_until(lambda: len(connections.connections) == 1)
        # it reads nothing at all; sooner or later nobody is at the other end
        await wait_until(lambda: len(connections.connections) == 0)
    assert (await get_json(keeper, "/health"))["status"] in {"ok", "degraded"}
