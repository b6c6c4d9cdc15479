"""A keeper with the real CLI, in a process that measures itself.

`python -m benchmarks.harness.gateway endurance URL` prints memory, tasks and descriptors after many
turns as JSON. `URL` is that of the scripted API, which is not measured.
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
# samples of a measurement, and seconds between them
SAMPLES, SAMPLE_SECONDS = 10, 0.05
# turns after which the process is measured
MARKS = (300, 500, 1_000, 1_500)


@asynccontextmanager
async def gateway(api: str) -> AsyncIterator[KeeperCaller]:
    """A keeper that uses the scripted API at `api`."""
    # as `claudekeeper serve` does
    tune_malloc()
    set_switch_interval()
    with DemoHome() as home:
        os.environ.update(home.environment(api))
        paths = DataPaths(home.config / "projects", home.root / "state.json", home.root / "c.db")
        app = create_app(Config(token=TOKEN), paths, "bench")
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        headers = {"Authorization": f"Bearer {TOKEN}"}
        try:
            async with ClientSession(f"http://127.0.0.1:{port}", headers=headers) as session:
                yield KeeperCaller(session, port, home.project("scratch"))
        finally:
            await runner.cleanup()


class KeeperCaller:
    """A client of the keeper's API."""

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
        """Waits until a turn has ended in each of these sessions."""
        pending = set(sessions)
        async for message in ws:
            event = orjson.loads(message.data)
            if event["type"] == "turn/finished":
                pending.discard(event["sessionId"])
            if not pending:
                return


async def endurance(api: str) -> dict[int, dict[str, int]]:
    """Measures the process after so many turns of ten sessions."""
    by_turns: dict[int, dict[str, int]] = {}
    async with gateway(api) as caller:
        ws = await caller.listen()
        sessions = {await caller.send("say: hello") for _ in range(SESSIONS)}
        await caller.finished(ws, sessions)
        for turns in range(SESSIONS, MARKS[-1] + 1, SESSIONS):
            await _round(caller, ws, sessions)
            if turns in MARKS:
                by_turns[turns] = await _min_sample()
        await ws.close()
    return by_turns


async def _round(caller: KeeperCaller, ws: ClientWebSocketResponse, sessions: set[str]) -> None:
    for session in sessions:
        await caller.send("say: again", session)
    await caller.finished(ws, sessions)


async def _min_sample() -> dict[str, int]:
    """The minimum of some samples, without what is in use only for a moment."""
    samples: list[dict[str, int]] = []
    for _ in range(SAMPLES):
        samples.append(_sample())
        await asyncio.sleep(SAMPLE_SECONDS)
    return {what: min(sample[what] for sample in samples) for what in samples[0]}


def _sample() -> dict[str, int]:
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
