"""The scripted Messages API on loopback, as far as the real CLI uses it."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter, deque
from typing import Any, Self

import msgspec
import orjson
from aiohttp import web

from claudekeeper.demo.model_request import ModelRequest, parse_request
from claudekeeper.demo.reply_events import (
    Drop,
    Event,
    Pause,
    ReplyTokens,
    encode_event,
    error_body,
    events,
    message,
    usage_of,
)
from claudekeeper.demo.reply_script import choose_reply
from claudekeeper.demo.steps import Fail, Reply

MAX_BODY_BYTES = 512 * 1024 * 1024
# many deltas share one write; the CLI still gets each as an event
WRITE_SIZE = 16 * 1024
MAX_FAILURES = 1_000
# later deltas of a long text come without a pause
MAX_PACED_DELTAS = 400


class ReceivedRequest(msgspec.Struct, frozen=True):
    """A request that the API received, for tests of what the model sees."""

    path: str
    session: str
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = orjson.loads(self.raw)
        return body

    @property
    def model_request(self) -> ModelRequest:
        return parse_request(self.raw)


class ScriptedApi:
    """Answers `POST /v1/messages` by the script in the prompt.

    `pace` is the pause between two deltas in seconds, so that people see text arrive. `requests`
    has the last `max_requests` requests.
    """

    def __init__(self, *, pace: float = 0.0, max_requests: int = 100) -> None:
        self.pace = pace
        self.requests: deque[ReceivedRequest] = deque(maxlen=max_requests)
        self._failures: Counter[tuple[str, int, str]] = Counter()
        self._runner: web.AppRunner | None = None

    async def start(self, port: int = 0) -> str:
        """Listens on a loopback port; returns the URL for `ANTHROPIC_BASE_URL`."""
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.router.add_post("/v1/messages", self._handle_messages)
        app.router.add_post("/v1/messages/count_tokens", self._handle_count_tokens)
        app.router.add_route("*", "/{path:.*}", self._handle_unknown)
        # with cancellation, so that an interrupted reply does not sleep to its end
        self._runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.5
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        return self.url

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @property
    def url(self) -> str:
        if self._runner is None:
            raise RuntimeError("the scripted API is not running")
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.stop()

    async def _handle_messages(self, http: web.Request) -> web.StreamResponse:
        raw = await self._record_request(http)
        try:
            request = parse_request(raw)
        except msgspec.DecodeError:
            return error_response(400)
        reply = self._choose_reply(request, http.headers.get("X-Claude-Code-Session-Id", ""))
        if isinstance(reply[0], Fail) and isinstance(reply[0].how, int):
            return error_response(reply[0].how)
        usage = usage_of(request, len(raw))
        if request.body.stream:
            return await self._stream_reply(http, reply, request.body.model, usage)
        # after a broken stream the CLI repeats the request without one, which has to fail too
        broken = next((step for step in reply if isinstance(step, Fail)), None)
        if broken is None:
            return json_response(message(reply, request.body.model, usage))
        return (
            error_response(529)
            if broken.how == "stream"
            else abort_connection(http, web.Response())
        )

    def _choose_reply(self, request: ModelRequest, session: str) -> Reply:
        key = (session, len(request.body.messages), request.prompt)
        reply = choose_reply(request, self._failures[key])
        if any(isinstance(step, Fail) for step in reply):
            if len(self._failures) > MAX_FAILURES:
                self._failures.clear()
            self._failures[key] += 1
        return reply

    async def _stream_reply(
        self, http: web.Request, reply: Reply, model: str, usage: ReplyTokens
    ) -> web.StreamResponse:
        # by this id readers of transcripts recognise the lines of one reply
        headers = {
            "Content-Type": "text/event-stream",
            "request-id": f"req_{secrets.token_hex(12)}",
        }
        response = web.StreamResponse(headers=headers)
        waiting = bytearray()
        paced = 0
        try:
            await response.prepare(http)
            for event in events(reply, model, usage):
                pause = 0.0
                if isinstance(event, dict):
                    waiting += encode_event(event)
                    if self.pace and is_readable(event) and paced < MAX_PACED_DELTAS:
                        paced += 1
                        pause = self.pace
                elif isinstance(event, Pause):
                    pause = event.seconds
                if pause or isinstance(event, Drop) or len(waiting) >= WRITE_SIZE:
                    await response.write(bytes(waiting))
                    waiting.clear()
                    # many deltas must not block the event loop
                    await asyncio.sleep(pause)
                if isinstance(event, Drop):
                    return abort_connection(http, response)
            await response.write(bytes(waiting))
            await response.write_eof()
        except ConnectionError:
            # the CLI closed the connection, as the reply was interrupted
            return response
        return response

    async def _handle_count_tokens(self, http: web.Request) -> web.Response:
        raw = await self._record_request(http)
        try:
            return json_response(
                {"input_tokens": usage_of(parse_request(raw), len(raw)).total_input}
            )
        except msgspec.DecodeError:
            return error_response(400)

    async def _handle_unknown(self, http: web.Request) -> web.Response:
        await self._record_request(http)
        return error_response(404)

    async def _record_request(self, http: web.Request) -> bytes:
        raw = await http.read()
        session = http.headers.get("X-Claude-Code-Session-Id", "")
        self.requests.append(ReceivedRequest(http.path, session, raw))
        return raw


def is_readable(event: Event) -> bool:
    """Whether people read it as it comes: text and thinking, not the input of a tool."""
    return event["type"] == "content_block_delta" and "partial_json" not in event["delta"]


def json_response(body: Event, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json")


def error_response(status: int) -> web.Response:
    return json_response(error_body(status), status)


def abort_connection(http: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """Aborts the connection without closing it."""
    if http.transport is not None:
        http.transport.abort()
    return response
