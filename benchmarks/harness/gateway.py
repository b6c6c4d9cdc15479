"""A keeper with the real CLI behind it, in a process that looks at itself.

`python -m benchmarks.harness.gateway endurance URL` prints what a thousand turns left behind,
as JSON; `URL` is the scripted API's, whose own memory is nobody's business here.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
from aiohttp import ClientSession, ClientWebSocketResponse, web

from claudekeeper.core.config import Config
from claudekeeper.core.runtime_options import tune_malloc
from claudekeeper.core.worker_threads import set_switch_interval
from claudekeeper.demo.home import DemoHome
from claudekeeper.server.app import create_app
from claudekeeper.server.data_paths import DataPaths

TOKEN = "a-token-for-the-bench"
SESSIONS = 10
# how often it is looked at what the process holds, and seconds in between
LOOKS, LOOK = 10, 0.05
# turns after which it is looked at
MARKS = (300, 500, 1_000, 1_500)


@asynccontextmanager
async def gateway(api: str) -> AsyncIterator[Talker]:
    """`api` is the address of the scripted one."""
    # as where it is served
    tune_malloc()
    set_switch_interval()
    with DemoHome() as home:
        os.environ.update(home.environment(api))
        places = DataPaths(home.config / "projects", home.root / "state.json", home.root / "c.db")
        app = create_app(Config(token=TOKEN), places, "bench")
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
        self.workdir = workdir

    async def send(self, text: str, session: str | None = None) -> str:
        where = {"sessionId": session} if session else {"workdir": str(self.workdir)}
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
            event = orjson.loads(message.data)
            if event["type"] == "turn/finished":
                left.discard(event["sessionId"])
            if not left:
                return


async def endurance(api: str) -> dict[int, dict[str, int]]:
    """What the process holds after so many turns on ten sessions."""
    held: dict[int, dict[str, int]] = {}
    async with gateway(api) as talker:
        ws = await talker.listen()
        sessions = {await talker.send("say: hello") for _ in range(SESSIONS)}
        await talker.finished(ws, sessions)
        for turns in range(SESSIONS, MARKS[-1] + 1, SESSIONS):
            await _round(talker, ws, sessions)
            if turns in MARKS:
                held[turns] = await _held()
        await ws.close()
    return held


async def _round(talker: Talker, ws: ClientWebSocketResponse, sessions: set[str]) -> None:
    for session in sessions:
        await talker.send("say: again", session)
    await talker.finished(ws, sessions)


async def _held() -> dict[str, int]:
    """The least of a moment: what is just being read or told is not held."""
    looks: list[dict[str, int]] = []
    for _ in range(LOOKS):
        looks.append(_look())
        await asyncio.sleep(LOOK)
    return {what: min(look[what] for look in looks) for what in looks[0]}


def _look() -> dict[str, int]:
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
        case ["endurance", api]:
            print(
                orjson.dumps(asyncio.run(endurance(api)), option=orjson.OPT_NON_STR_KEYS).decode()
            )
