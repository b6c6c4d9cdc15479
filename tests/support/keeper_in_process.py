"""A keeper with the real SDK and the real CLI behind it, and a person at a socket."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
from aiohttp import ClientWebSocketResponse, WSMsgType
from aiohttp.test_utils import TestClient
from pytest_aiohttp import AiohttpClient

from claudekeeper.core.config import Config
from claudekeeper.core.limits import Limits
from claudekeeper.server.app import create_app
from claudekeeper.server.data_paths import DataPaths
from tests.contract.contract_schema import check_frame
from tests.support.transcript_writer import projects_folder

TOKEN = "a-token-that-is-long-enough"
HOOK_TOKEN = "a-token-for-hooks-and-nothing-else"

Event = dict[str, Any]
EventPredicate = Callable[[Event], bool]


class InProcessKeeper:
    """The keeper over its public contract."""

    def __init__(
        self,
        home: Path,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.time,
        **config: Any,
    ) -> None:
        self.home = home
        self.workdir = home / "work"
        self.workdir.mkdir(exist_ok=True)
        paths = DataPaths(projects_folder(), home / "state.json", home / "cache.db")
        settings = Config(token=TOKEN, hook_token=HOOK_TOKEN, limits=limits or Limits(), **config)
        self.app = create_app(settings, paths, "2.1.0", clock=clock)
        self.client: TestClient[Any, Any]

    async def start(self, aiohttp_client: AiohttpClient) -> InProcessKeeper:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        self.client = await aiohttp_client(self.app, headers=headers)
        return self

    async def stop(self) -> None:
        await self.client.close()

    async def request(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        async with self.client.request(method, path, json=body) as response:
            text = await response.text()
            assert response.status == status, f"{response.status} {text}"
            return msgspec.json.decode(text)

    async def get(self, path: str, status: int = 200) -> Any:
        return await self.request("GET", path, None, status)

    async def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        return await self.request("POST", path, body, status)

    async def send(self, text: str, session: str | None = None, **more: Any) -> Any:
        """Say something; without a session a new one begins."""
        where = {"sessionId": session} if session else {"workdir": str(self.workdir)}
        return await self.post("/send", {**where, "text": text, **more}, 202)

    async def start_session(self, text: str, listener: SocketListener, **more: Any) -> str:
        """A new session whose first turn is over."""
        session = str((await self.send(text, **more))["sessionId"])
        await listener.wait_for_turn_end(session, outcome="done")
        return session

    async def resolve(self, attention: Event, status: int = 200, **answer: Any) -> Any:
        """Answer a question: `decision` is allow unless said."""
        body = {"attentionId": attention["id"], "decision": "allow", **answer}
        return await self.post("/resolve", body, status)

    async def interrupt(self, session: str) -> bool:
        return bool((await self.post(f"/sessions/{session}/interrupt", {}, 202))["interrupted"])

    async def close_session(self, session: str) -> None:
        await self.post(f"/sessions/{session}/close", {}, 202)

    async def state_of(self, session: str) -> str:
        return str((await self.get(f"/sessions/{session}?limit=1"))["session"]["state"])

    async def history(self, session: str, query: str = "limit=1000") -> list[Any]:
        return list((await self.get(f"/sessions/{session}?{query}"))["messages"])

    async def listen(self, *sessions: str, since: str | None = None) -> SocketListener:
        ws = await self.client.ws_connect("/ws", max_msg_size=0)
        listener = SocketListener(ws)
        await listener.wait_for(lambda event: event["type"] == "hello")
        ask: Event = {"type": "subscribe", "sessions": list(sessions) or ["*"]}
        await listener.send(ask | ({"since": since} if since else {}))
        await listener.wait_for(lambda event: event["type"] in ("subscribed", "resync"))
        return listener

    def transcript_path(self, session: str) -> Path:
        (path,) = projects_folder().glob(f"*/{session}.jsonl")
        return path

    def transcript(self, session: str) -> list[Any]:
        lines = self.transcript_path(session).read_bytes().splitlines()
        return [msgspec.json.decode(line) for line in lines]

    def is_live(self, session: str) -> bool:
        """Whether somebody owns it, with a CLI or without."""
        from claudekeeper.server.app_keys import MANAGER

        return self.app[MANAGER].get(session) is not None

    def pid_of(self, session: str) -> int:
        from claudekeeper.server.app_keys import MANAGER

        live = self.app[MANAGER].get(session)
        assert live is not None
        assert live.pid is not None
        return live.pid


class SocketListener:
    """Somebody at the socket: everything that was heard, in order."""

    def __init__(self, ws: ClientWebSocketResponse) -> None:
        self.ws = ws
        self.events: list[Event] = []
        self._next_index = 0

    async def send(self, message: Event) -> None:
        await self.ws.send_json(message)

    async def next_event(self) -> Event:
        if self._next_index == len(self.events):
            message = await asyncio.wait_for(self.ws.receive(), 60)
            assert message.type is WSMsgType.TEXT, f"the socket closed: {message}"
            self.events.append(msgspec.json.decode(message.data))
            check_frame(self.events[-1])
        self._next_index += 1
        return self.events[self._next_index - 1]

    def forget(self) -> None:
        """Drops what was received so far, for tests with very many events."""
        self.events.clear()
        self._next_index = 0

    async def wait_for(self, matches: EventPredicate) -> Event:
        while not matches(event := await self.next_event()):
            pass
        return event

    async def wait_until(self, holds: Callable[[], object]) -> None:
        """Receives events until it holds of what was received so far."""
        while not holds():
            await self.next_event()

    async def wait_for_event(self, type_: str, session: str | None = None, **fields: Any) -> Event:
        """The next event of this type, whatever comes before it."""

        def matches(event: Event) -> bool:
            return (
                event["type"] == type_
                and session in (None, event.get("sessionId"))
                and all(event.get(name) == value for name, value in fields.items())
            )

        return await self.wait_for(matches)

    async def wait_for_question(self, session: str) -> Any:
        """The next question of the session."""
        return (await self.wait_for_event("attention/raised", session))["attention"]

    async def wait_for_message(self, session: str, kind: str) -> Any:
        """The next message of this kind."""
        event = await self.wait_for(
            lambda event: (
                event["type"] == "message/added"
                and event["sessionId"] == session
                and event["message"]["kind"] == kind
            )
        )
        return event["message"]

    async def wait_for_turn_end(self, session: str, **fields: Any) -> Event:
        return await self.wait_for_event("turn/finished", session, **fields)

    def events_of(self, type_: str, session: str | None = None) -> list[Event]:
        return [
            event
            for event in self.events
            if event["type"] == type_ and session in (None, event.get("sessionId"))
        ]

    def added_messages(self) -> list[Any]:
        """The messages of all sessions, in the order of their events."""
        return [event["message"] for event in self.events_of("message/added")]

    def turn_outcomes(self, session: str) -> dict[str, str]:
        """How each turn of the session ended, by the UUID of its prompt."""
        turns = self.events_of("turn/finished", session)
        return {event["uuid"]: event["outcome"] for event in turns}

    def sessions_of(self, type_: str) -> set[str]:
        """The sessions of which an event of this type was received."""
        return {event["sessionId"] for event in self.events_of(type_)}

    def messages(self, session: str) -> list[Any]:
        """The main conversation as it was told, each in its place."""
        messages: list[Any] = []
        for event in self.events_of("message/added", session):
            message = event["message"]
            if message["parentToolUseId"] is None:
                uuids = [each["uuid"] for each in messages]
                after = event["after"]
                messages.insert(
                    uuids.index(after) + 1 if after in uuids else len(messages), message
                )
        return messages

    async def close(self) -> None:
        await self.ws.close()


def new_uuid() -> str:
    return str(uuid4())


def uuids(messages: list[Any]) -> list[str]:
    return [message["uuid"] for message in messages]


def text_of(message: Any) -> str:
    return "".join(block.get("text", "") for block in message["content"])
