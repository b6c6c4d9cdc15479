"""A keeper small enough to read: the wire contract's list, one session and health, from memory."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web

TOKEN = "keeper-token-for-tests"


def session(number: int, **changes: Any) -> dict[str, Any]:
    """A session as the contract has it; the higher its number, the newer it is."""
    modified = datetime(2025, 10, 1, tzinfo=UTC) + timedelta(minutes=number)
    row: dict[str, Any] = {
        "id": f"00000000-0000-4000-8000-{number:012d}",
        "workdir": "/code/payments-api",
        "project": "payments-api",
        "name": None,
        "title": f"Session number {number}",
        "firstPrompt": f"first words of {number}",
        "lastPrompt": f"last words of {number}",
        "messageCount": 10 + number,
        "created": "2025-10-01T08:00:00Z",
        "modified": modified.isoformat().replace("+00:00", "Z"),
        "gitBranch": "main",
        "size": 1000 * (number + 1),
        "model": "claude-opus-5-5",
        "state": "idle",
        "origin": None,
        "attention": None,
        "costUsd": 0.42,
        "tokens": {"input": 1200, "output": 3400, "cacheRead": 50000, "cacheWrite": 6000},
        "error": None,
    }
    return row | changes


class FakeKeeper:
    """Answers like the keeper, remembers what it was asked, and can be told to misbehave."""

    def __init__(self, sessions: list[dict[str, Any]] | None = None) -> None:
        self.rows = {row["id"]: row for row in sessions or []}
        self.token = TOKEN
        self.scan = {"done": 0, "total": 0}
        self.asked: list[web.Request] = []
        self.bodies: list[bytes] = []
        self.break_off = asyncio.Event()
        self.url = ""
        self._runner: web.AppRunner | None = None
        self._address: socket.socket | None = None

    # ---- life ----

    @asynccontextmanager
    async def running(self) -> AsyncIterator[FakeKeeper]:
        # bound but not listening: while the keeper is away nobody else gets its port
        with socket.socket() as self._address:
            self._address.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._address.bind(("127.0.0.1", 0))
            await self.start()
            try:
                yield self
            finally:
                await self.stop()

    async def start(self) -> None:
        """Come up; after a stop, at the same address as before."""
        assert self._address is not None
        port = self._address.getsockname()[1]
        self._runner = web.AppRunner(self.app(), access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port, reuse_address=True).start()
        self.url = f"http://127.0.0.1:{port}"

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    # ---- answers ----

    def app(self) -> web.Application:
        app = web.Application(middlewares=[self._seen])
        app.router.add_get("/health", self.health)
        app.router.add_get("/sessions", self.list_sessions)
        app.router.add_get("/sessions/{id}", self.one_session)
        app.router.add_patch("/sessions/{id}", self.rename)
        app.router.add_get("/sessions/{id}/subagents", self.slowly)
        app.router.add_get("/workdirs", self.workdirs)
        app.router.add_get("/secret", self.health)
        return app

    @web.middleware
    async def _seen(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.asked.append(request)
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return failure(401, "unauthorized", "A valid token is needed.")
        response: web.StreamResponse = await handler(request)
        response.headers["X-Internal"] = "not for browsers"
        return response

    async def health(self, request: web.Request) -> web.Response:
        return web.json_response(
            {
                "status": "ok",
                "version": "0.1.0",
                "cli": "2.1.325",
                "uptime": 12.5,
                "sessions": len(self.rows),
                "live": 0,
                "watching": True,
                "scan": self.scan,
            },
            headers={"ETag": '"one"'},
        )

    async def list_sessions(self, request: web.Request) -> web.Response:
        limit = request.query.get("limit", "50")
        if not limit.isdecimal():
            return failure(400, "invalid_request", "limit must be a number.")
        rows = sorted(self.rows.values(), key=lambda row: str(row["modified"]), reverse=True)
        start = int(request.query.get("cursor", "0"))
        end = start + int(limit)
        return web.json_response(
            {
                "sessions": rows[start:end],
                "cursor": str(end) if end < len(rows) else None,
                "position": f"e:{len(self.asked)}",
            }
        )

    async def one_session(self, request: web.Request) -> web.Response:
        row = self.rows.get(request.match_info["id"])
        if row is None:
            return failure(404, "session_not_found", "There is no session with this id.")
        return web.json_response({"session": row, "messages": [], "before": None})

    async def rename(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.bodies.append(body)
        row = self.rows[request.match_info["id"]]
        row["name"] = json.loads(body)["name"]
        return web.json_response(row)

    async def slowly(self, request: web.Request) -> web.StreamResponse:
        """The first half of an answer; then nothing, until `break_off` cuts the line."""
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"subagents": [')
        await self.break_off.wait()
        assert request.transport is not None
        request.transport.abort()
        return response

    async def workdirs(self, request: web.Request) -> web.Response:
        found = sorted({str(row["workdir"]) for row in self.rows.values()})
        return web.json_response({"workdirs": [{"workdir": path, "sessions": 1} for path in found]})


def failure(status: int, code: str, message: str) -> web.Response:
    return web.json_response({"error": {"code": code, "message": message}}, status=status)
