"""A keeper small enough to read: the wire contract from memory, and a socket that says what a test
wants it to say."""

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


NO_ROUTING: dict[str, Any] = {
    "action": "new",
    "sessionId": None,
    "title": None,
    "confidence": 1.0,
    "reason": "No conversation of late is free to be continued.",
    "candidates": [],
}


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
        self.too_many_attempts = False
        self.scan = {"done": 0, "total": 0}
        self.requests: list[web.Request] = []
        self.bodies: list[bytes] = []
        self.abort_stream = asyncio.Event()
        # lists are told while it is set
        self.lists_ready = asyncio.Event()
        self.lists_ready.set()
        self.url = ""
        self.attention: list[dict[str, Any]] = []
        # what an earlier keeper could not see through, by session
        self.interrupted: dict[str, dict[str, Any]] = {}
        # what was said in a session, and by its subagents
        self.messages: dict[str, list[dict[str, Any]]] = {}
        self.subagent_messages: dict[str, list[dict[str, Any]]] = {}
        self.refusal: str | None = None
        self.archive: dict[str, Any] = {
            "on": False,
            "holds": {"kept": 0, "gone": 0, "rewritten": 0, "cost": 0},
            "days": 30,
            "due": [],
        }
        # what is found, and with which parameters it was looked for
        self.hits: list[dict[str, Any]] = []
        self.search_queries: list[dict[str, str]] = []
        # what is answered to the question where a command belongs
        self.routing: dict[str, Any] = {}
        self.routed_messages: list[Any] = []
        self.folders: dict[str, list[str]] = {}
        self.sockets: asyncio.Queue[web.WebSocketResponse] = asyncio.Queue()
        self.open_sockets: set[web.WebSocketResponse] = set()
        self.socket_messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._seq = 0
        self._runner: web.AppRunner | None = None
        self._address: socket.socket | None = None

    # ---- life ----

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[FakeKeeper]:
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
        for each in list(self.open_sockets):
            await each.close(code=1001)
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    # ---- answers ----

    def app(self) -> web.Application:
        app = web.Application(middlewares=[self._record_request], client_max_size=64 * 1024 * 1024)
        app.router.add_get("/health", self.health)
        app.router.add_get("/sessions", self.list_sessions)
        app.router.add_get("/sessions/{id}", self.read_session)
        app.router.add_patch("/sessions/{id}", self.rename)
        app.router.add_get("/sessions/{id}/subagents", self.stream_half)
        app.router.add_get("/sessions/{id}/subagents/{agent}", self.subagent)
        app.router.add_get("/sessions/{id}/routings", self.routings)
        app.router.add_get("/workdirs", self.workdirs)
        app.router.add_get("/secret", self.health)
        app.router.add_get("/attention", self.list_attention)
        app.router.add_get("/directories", self.directories)
        app.router.add_get("/commands", self.commands)
        app.router.add_get("/sessions/{id}/commands", self.commands)
        app.router.add_post("/send", self.send)
        app.router.add_post("/route", self.route)
        app.router.add_post("/resolve", self.resolve)
        deeds = "interrupt|continue|mode|fork|close|restore|recap"
        app.router.add_post(f"/sessions/{{id}}/{{deed:{deeds}}}", self.accept)
        app.router.add_get("/archive", self.archive_status)
        app.router.add_get("/usage", self.health)
        app.router.add_get("/sessions/{id}/resume", self.health)
        app.router.add_get("/sessions/{id}/specification", self.health)
        app.router.add_get("/sessions/{id}/timeline", self.timeline)
        app.router.add_get("/timeline", self.timeline)
        app.router.add_get("/sessions/{id}/family", self.family)
        app.router.add_get("/sessions/{id}/branches", self.health)
        app.router.add_get("/sessions/{id}/branch", self.health)
        app.router.add_get("/sessions/{id}/branch/work", self.health)
        app.router.add_post("/archive", self.archive_status)
        app.router.add_get("/search", self.search)
        app.router.add_get("/sessions/{id}/settings", self.accept)
        app.router.add_get("/sessions/{id}/queue", self.accept)
        app.router.add_delete("/sessions/{id}/queue", self.accept)
        app.router.add_delete("/sessions/{id}/queue/{uuid}", self.accept)
        app.router.add_post("/sessions/{id}/queue/send", self.accept)
        app.router.add_get("/ws", self.accept_socket)
        return app

    @web.middleware
    async def _record_request(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.requests.append(request)
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            refused = error_response(401, "unauthorized", "A valid token is needed.")
            if self.too_many_attempts:
                refused = error_response(429, "too_many_attempts", "Too many wrong tokens.")
                refused.headers["Retry-After"] = "3"
            return refused
        response: web.StreamResponse = await handler(request)
        if not response.prepared:
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
        await self.lists_ready.wait()
        limit = request.query.get("limit", "50")
        if not limit.isdecimal():
            return error_response(400, "invalid_request", "limit must be a number.")
        rows = sorted(self.rows.values(), key=lambda row: str(row["modified"]), reverse=True)
        start = int(request.query.get("cursor", "0"))
        end = start + int(limit)
        self._seq += 1
        return web.json_response(
            {
                "sessions": rows[start:end],
                "cursor": str(end) if end < len(rows) else None,
                "position": f"e:{self._seq}",
            }
        )

    async def read_session(self, request: web.Request) -> web.Response:
        row = self.rows.get(request.match_info["id"])
        if row is None:
            return error_response(404, "session_not_found", "There is no session with this id.")
        messages = self.messages.get(row["id"], [])
        uuids = [message["uuid"] for message in messages]
        before = request.query.get("before")
        end = len(messages) if before is None else uuids.index(before)
        start = max(0, end - int(request.query.get("limit", "200")))
        return web.json_response(
            {
                "session": row,
                "messages": messages[start:end],
                "before": uuids[start] if start > 0 else None,
                "branches": [],
                "queue": [],
                "partial": None,
                "turn": None,
                "position": f"e:{self._seq}",
                "interrupted": self.interrupted.get(request.match_info["id"]),
            }
        )

    async def subagent(self, request: web.Request) -> web.Response:
        agent_id = request.match_info["agent"]
        if agent_id not in self.subagent_messages:
            return error_response(404, "subagent_not_found", "There is no subagent with this id.")
        return web.json_response(
            {
                "subagent": {"agentId": agent_id},
                "messages": self.subagent_messages[agent_id],
                "before": None,
                "branches": [],
            }
        )

    async def rename(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.bodies.append(body)
        row = self.rows[request.match_info["id"]]
        row["name"] = json.loads(body)["name"]
        return web.json_response(row)

    async def stream_half(self, request: web.Request) -> web.StreamResponse:
        """The first half of an answer; then nothing, until `break_off` cuts the line."""
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"subagents": [')
        await self.abort_stream.wait()
        assert request.transport is not None
        request.transport.abort()
        return response

    async def workdirs(self, request: web.Request) -> web.Response:
        workdirs = sorted({str(row["workdir"]) for row in self.rows.values()})
        return web.json_response(
            {"workdirs": [{"workdir": path, "sessions": 1} for path in workdirs]}
        )

    # ---- talking ----

    async def list_attention(self, request: web.Request) -> web.Response:
        return web.json_response({"attention": self.attention})

    async def directories(self, request: web.Request) -> web.Response:
        path = request.query.get("path", "/code")
        if path not in self.folders:
            return error_response(404, "directory_not_found", "There is no such directory.")
        folders = [{"name": name, "path": f"{path}/{name}"} for name in self.folders[path]]
        parent = path.rpartition("/")[0] or "/"
        return web.json_response({"path": path, "parent": parent, "directories": folders})

    async def commands(self, request: web.Request) -> web.Response:
        return web.json_response(
            {
                "commands": [{"name": "compact", "description": "", "argumentHint": ""}],
                "models": [
                    {"value": "default", "displayName": "Default", "description": "Opus 5.5"},
                    {"value": "haiku", "displayName": "Haiku", "description": "Quick answers"},
                ],
                "modes": ["default", "acceptEdits", "plan"],
            }
        )

    async def send(self, request: web.Request) -> web.Response:
        body = await request.read()
        if self.refusal is not None:
            return error_response(429, "keeper_busy", self.refusal)
        self.bodies.append(body)
        request_body = json.loads(body)
        session_id = request_body.get("sessionId") or session(900 + len(self.bodies))["id"]
        if session_id not in self.rows:
            started = session(
                900, id=session_id, workdir=request_body["workdir"], title=None, state="running"
            )
            started |= {"project": request_body["workdir"].rpartition("/")[2], "origin": "gateway"}
            started |= {
                "firstPrompt": request_body.get("text"),
                "lastPrompt": request_body.get("text"),
            }
            self.rows[session_id] = started
        answer = {"sessionId": session_id, "uuid": request_body.get("uuid"), "state": "queued"}
        return web.json_response(answer, status=202)

    async def route(self, request: web.Request) -> web.Response:
        self.bodies.append(await request.read())
        return web.json_response(NO_ROUTING | self.routing)

    async def routings(self, _request: web.Request) -> web.Response:
        return web.json_response({"routings": self.routed_messages})

    async def family(self, request: web.Request) -> web.Response:
        """All sessions are forks of the first one."""
        rows = list(self.rows.values())
        kin = [
            {
                "sessionId": row["id"],
                "workdir": row["workdir"],
                "parent": rows[0]["id"] if at else None,
                "at": "a-message" if at else None,
            }
            for at, row in enumerate(rows)
        ]
        return web.json_response(
            {"sessionId": request.match_info["id"], "sessions": kin, "complete": True}
        )

    async def search(self, request: web.Request) -> web.Response:
        self.search_queries.append(dict(request.query))
        index = {"stage": "ready", "done": 1, "total": 1}
        return web.json_response(
            {"hits": self.hits, "cursor": "0:1:0", "decisionsFirst": False, "index": index}
        )

    async def timeline(self, request: web.Request) -> web.Response:
        usage = {"by": "day", "zone": "UTC", "after": None, "before": None, "complete": True}
        return web.json_response({**usage, "total": {}, "buckets": [], "prompts": self.hits})

    async def archive_status(self, request: web.Request) -> web.Response:
        if request.method == "POST":
            body = await request.read()
            self.bodies.append(body)
            self.archive |= json.loads(body)
        return web.json_response(self.archive)

    async def resolve(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.bodies.append(body)
        request_body = json.loads(body)
        open_ones = [row for row in self.attention if row["id"] == request_body["attentionId"]]
        if not open_ones:
            return error_response(409, "attention_gone", "Somebody answered this already.")
        self.attention.remove(open_ones[0])
        return web.json_response({"attentionId": request_body["attentionId"], "decision": "allow"})

    async def accept(self, request: web.Request) -> web.Response:
        """For what a test only wants to have arrived."""
        return web.json_response(self.rows[request.match_info["id"]])

    # ---- the socket ----

    async def accept_socket(self, request: web.Request) -> web.WebSocketResponse:
        """Says hello, hears what it is told (`heard`), says what a test tells it to (`tell`)."""
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.open_sockets.add(socket)
        await socket.send_json({"type": "hello", "version": 1, "position": f"e:{self._seq}"})
        self.sockets.put_nowait(socket)
        try:
            async for message in socket:
                command = json.loads(message.data)
                self.socket_messages.put_nowait(command)
                if command["type"] == "subscribe":
                    await socket.send_json({"type": "subscribed", "replayed": 0})
        finally:
            self.open_sockets.discard(socket)
        return socket

    async def publish(self, kind: str, session_id: str | None = None, /, **more: Any) -> None:
        """An event to everyone who listens."""
        self._seq += 1
        event = {"type": kind, "position": f"e:{self._seq}", "sessionId": session_id, **more}
        for each in list(self.open_sockets):
            await each.send_json(event)


def question(number: int, of: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """An open question of a session, as the contract has it."""
    question_fields: dict[str, Any] = {
        "id": f"question-{number}",
        "sessionId": of["id"],
        "toolUseId": f"toolu_{number}",
        "tool": "Bash",
        "input": {"command": "npm test"},
        "kind": "permission",
        "title": None,
        "description": None,
        "suggestions": [],
        "blockedPath": None,
        "reason": None,
        "agentId": None,
        "origin": "gateway",
        "raised": "2025-10-01T09:00:00Z",
    }
    question_fields |= changes
    # each by itself, unless a test says what belongs together
    return {"grants": [[each] for each in question_fields["suggestions"]]} | question_fields


def error_response(status: int, code: str, message: str) -> web.Response:
    return web.json_response({"error": {"code": code, "message": message}}, status=status)
