"""A keeper with the real CLI and the scripted API behind it, in a process that looks at clocks.

`python -m bench.gateway latency` and `… endurance` print JSON. What the gateway adds is the time
from the moment at which the CLI's pipe has a message to the moment at which a client, in another
process, has it from its socket: all that the SDK itself does with a message counts as ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, web

from claudekeeper.config import Config
from claudekeeper.demo.api import ScriptedApi
from claudekeeper.demo.home import DemoHome
from claudekeeper.edge.app import Places, create_app
from claudekeeper.live.client import Client, Ears, Opening, Question, make_sdk_client
from claudekeeper.live.memory import be_frugal
from claudekeeper.model.attention import Answer

TOKEN = "a-token-for-the-bench"
PIECES = 300
# slower than a frame, so that pieces are not joined: joining is meant, and no latency
PACE = 0.025
SESSIONS = 10
TURNS = 100
# rounds until the ring of events is full: it is bounded, and takes its bound
WARM = 50


class Stamps:
    """When the pipe had what."""

    def __init__(self) -> None:
        self.heard: dict[str, float] = {}

    async def make_client(self, opening: Opening, ears: Ears) -> Client:
        return await make_sdk_client(opening, _Clocked(ears, self))


class _Clocked:
    def __init__(self, ears: Ears, stamps: Stamps) -> None:
        self._ears = ears
        self._heard = stamps.heard

    def hear(self, raw: dict[str, Any]) -> None:
        key = _key(raw)
        if key is not None:
            self._heard.setdefault(key, monotonic())
        self._ears.hear(raw)

    def ended(self, error: Exception | None) -> None:
        self._ears.ended(error)

    async def ask(self, question: Question) -> Answer:
        return await self._ears.ask(question)


def _key(raw: dict[str, Any]) -> str | None:
    if raw.get("type") == "stream_event":
        delta = raw["event"].get("delta", {})
        return str(delta["text"]) if delta.get("type") == "text_delta" else None
    return str(raw["uuid"]) if raw.get("type") == "assistant" else None


@asynccontextmanager
async def gateway(stamps: Stamps, pace: float) -> AsyncIterator[Talker]:
    with DemoHome() as home:
        async with ScriptedApi(pace=pace, keep=1) as api:
            os.environ.update(home.environment(api.url))
            places = Places(home.config / "projects", home.root / "state.json", home.root / "c.db")
            app = create_app(Config(token=TOKEN), places, "bench", make_client=stamps.make_client)
            runner = web.AppRunner(app, access_log=None)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            port = runner.addresses[0][1]
            headers = {"Authorization": f"Bearer {TOKEN}"}
            try:
                async with ClientSession(f"http://127.0.0.1:{port}", headers=headers) as session:
                    yield Talker(session, port, home.project("scratch"))
            finally:
                await runner.cleanup()


class Talker:
    """Says things to the gateway over its contract."""

    def __init__(self, http: ClientSession, port: int, workdir: Path) -> None:
        self.http = http
        self.port = port
        self._workdir = workdir

    async def send(self, text: str, session: str | None = None) -> str:
        where = {"sessionId": session} if session else {"workdir": str(self._workdir)}
        async with self.http.post("/send", json={**where, "text": text}) as answer:
            return str((await answer.json())["sessionId"])

    async def listen(self) -> ClientWebSocketResponse:
        ws = await self.http.ws_connect("/ws", max_msg_size=0)
        await ws.send_json({"type": "subscribe", "sessions": ["*"]})
        return ws

    async def finished(self, ws: ClientWebSocketResponse, sessions: set[str]) -> None:
        """Until each of these has ended a turn."""
        left = set(sessions)
        async for message in ws:
            event = json.loads(message.data)
            if event["type"] == "turn/finished":
                left.discard(event["sessionId"])
            if not left:
                return


async def latency() -> dict[str, list[float]]:
    """Seconds that were added, for each piece of text and for each whole message."""
    stamps = Stamps()
    async with gateway(stamps, PACE) as talker:
        listener = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bench.gateway", "listen", str(talker.port),
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert listener.stdout is not None
        await listener.stdout.readline()
        ws = await talker.listen()
        try:
            session = await talker.send(f"count: {PIECES}")
            await talker.finished(ws, {session})
            for number in range(PIECES // 5):
                await talker.send(f"say: message {number}", session)
                await talker.finished(ws, {session})
            await talker.send("say: the end", session)
            out = json.loads(await listener.stdout.readline())
        finally:
            with contextlib.suppress(ProcessLookupError):
                listener.terminate()
            await listener.wait()
            await ws.close()
    got: dict[str, float] = out["pieces"]
    whole: dict[str, float] = out["messages"]
    return {
        "pieces": [got[key] - at for key, at in stamps.heard.items() if key in got],
        "messages": [whole[key] - at for key, at in stamps.heard.items() if key in whole],
    }


async def listen(port: int) -> None:
    """A client of its own: says when it got what."""
    pieces: dict[str, float] = {}
    messages: dict[str, float] = {}
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        ClientSession(headers=headers) as http,
        http.ws_connect(f"http://127.0.0.1:{port}/ws") as ws,
    ):
        await ws.send_json({"type": "subscribe", "sessions": ["*"]})
        print("ready", flush=True)
        async for message in ws:
            at = monotonic()
            event = json.loads(message.data)
            if event["type"] == "message/delta":
                pieces.setdefault(event["text"], at)
            elif event["type"] == "message/added":
                messages.setdefault(event["message"]["uuid"], at)
                if "the end" in str(event["message"]["content"]) and (
                    event["message"]["role"] == "assistant"
                ):
                    break
    print(json.dumps({"pieces": pieces, "messages": messages}), flush=True)


async def endurance() -> dict[str, dict[str, int]]:
    """What a thousand turns on ten sessions leave behind."""
    be_frugal()
    async with gateway(Stamps(), 0.0) as talker:
        ws = await talker.listen()
        sessions = {await talker.send("say: hello") for _ in range(SESSIONS)}
        await talker.finished(ws, sessions)
        for _ in range(WARM):
            await _round(talker, ws, sessions)
        before = _held()
        for _ in range(TURNS):
            await _round(talker, ws, sessions)
        after = _held()
        await ws.close()
    return {"before": before, "after": after}


async def _round(talker: Talker, ws: ClientWebSocketResponse, sessions: set[str]) -> None:
    for session in sessions:
        await talker.send("say: again", session)
    await talker.finished(ws, sessions)


def _held() -> dict[str, int]:
    gc.collect()
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return {
        "memory": int(line.split()[1]) * 1024,
        "tasks": len(asyncio.all_tasks()),
        "descriptors": sum(1 for _ in Path("/proc/self/fd").iterdir()),
        "processes": len(children),
    }


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["latency"]:
            print(json.dumps(asyncio.run(latency())))
        case ["endurance"]:
            print(json.dumps(asyncio.run(endurance())))
        case ["listen", port]:
            asyncio.run(listen(int(port)))
