"""The stage: the demo's keeper and Clarvis in this process, and a few sessions that are alive."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
import orjson

from clarvis_ui.roots import Roots
from clarvis_ui.server import Clarvis, run_clarvis
from clarvis_ui.settings import ClarvisSettings
from claudekeeper.cli.serve import cli_version
from claudekeeper.core.config import load_config
from claudekeeper.demo.sample_projects import PROJECTS
from claudekeeper.demo.start import RunningDemo, start_demo
from claudekeeper.net.listen import ListenAddress, serve_app
from claudekeeper.server.app import create_app
from claudekeeper.server.data_paths import DataPaths

LONGEST_WAIT = 60.0
EDITING = "Expired tokens are accepted"
REMOVING = "Which API keys can go?"
ASKING = "Backups for the reports"
PLANNING = "Postgres 17, this weekend"
REPLYING = "Explain the nightly export"
COLD = "Set up nightly backups"
ELSEWHERE = "Upgrade to Postgres 17"
LOOPBACK = "127.0.0.1"


class Stage:
    """What there is to take pictures of."""

    def __init__(self, demo: RunningDemo, keeper: str, clarvis: Clarvis, empty: Clarvis) -> None:
        self.demo = demo
        self.clarvis = clarvis
        # a Clarvis that may show nothing: to it, nobody has ever used Claude Code
        self.empty = empty
        self.sessions = {sample.title: sample.session_id for sample in demo.samples}
        self._keeper = keeper
        self._close_keeper: AsyncExitStack | None = None

    def closes_with(self, stack: AsyncExitStack) -> None:
        self._close_keeper = stack

    async def stop_keeper(self) -> None:
        assert self._close_keeper is not None
        await self._close_keeper.aclose()

    async def begin(self, title: str, project: str, text: str, **more: str) -> None:
        """A session that is under way; its name is what the pictures call it."""
        workdir = str(self.demo.home.project(project))
        message = {"workdir": workdir, "text": text, "uuid": str(uuid4()), **more}
        begun = await self._ask("POST", "/send", message)
        self.sessions[title] = begun["sessionId"]
        await self._ask("PATCH", f"/sessions/{begun['sessionId']}", {"name": title})

    async def say(self, title: str, text: str) -> None:
        message = {"sessionId": self.sessions[title], "text": text, "uuid": str(uuid4())}
        await self._ask("POST", "/send", message)

    async def until(self, title: str, state: str) -> None:
        async with asyncio.timeout(LONGEST_WAIT):
            while True:
                if (await self._session(title))["state"] == state:
                    return
                await asyncio.sleep(0.1)

    async def _session(self, title: str) -> Any:
        return (await self._ask("GET", f"/sessions/{self.sessions[title]}?limit=1"))["session"]

    async def _ask(self, method: str, path: str, body: Any = None) -> Any:
        token = load_config(self.demo.home.keeper).token
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        data = None if body is None else orjson.dumps(body)
        async with (
            aiohttp.ClientSession(headers=headers) as client,
            client.request(method, f"{self._keeper}{path}", data=data) as answer,
        ):
            answer.raise_for_status()
            return orjson.loads(await answer.read())


@asynccontextmanager
async def staged() -> AsyncIterator[Stage]:
    async with AsyncExitStack() as stack:
        running_demo = await stack.enter_async_context(
            start_demo(progress=lambda step: print(f"  {step}"))
        )
        os.environ.update(running_demo.environment)
        projects = running_demo.home.config / "projects"
        break_a_transcript(projects)
        made = {sample.title: sample.session_id for sample in running_demo.samples}
        grow_cold(projects, made[COLD])
        await stack.enter_async_context(in_a_terminal(running_demo.home.config, made[ELSEWHERE]))
        home = running_demo.home.keeper
        config = load_config(home)
        paths = DataPaths(
            running_demo.home.config / "projects", home / "state.json", home / "cache.db"
        )
        keeping = await stack.enter_async_context(AsyncExitStack())
        app = create_app(config, paths, cli_version())
        keeper = await keeping.enter_async_context(serve_app(app, ListenAddress(LOOPBACK, 0)))
        clarvis = await stack.enter_async_context(
            run_clarvis(ClarvisSettings(keeper=keeper, token=lambda: config.token), LOOPBACK, 0)
        )
        nowhere = running_demo.home.root / "nowhere"
        nowhere.mkdir()
        settings = ClarvisSettings(
            keeper=keeper, token=lambda: config.token, roots=Roots.parse(str(nowhere))
        )
        empty = await stack.enter_async_context(run_clarvis(settings, LOOPBACK, 0))
        stage = Stage(running_demo, keeper, clarvis, empty)
        stage.closes_with(keeping)
        await people(stage)
        yield stage


def grow_cold(projects: Path, session: str) -> None:
    """Nobody has touched it since the day before yesterday."""
    (transcript,) = projects.glob(f"*/{session}.jsonl")
    then = time.time() - 2 * 24 * 3_600
    os.utime(transcript, (then, then))


@asynccontextmanager
async def in_a_terminal(config: Path, session: str) -> AsyncIterator[None]:
    """As it is seen from here: a process that says that it has the session, and idles."""
    bare = {"PATH": os.environ["PATH"]}
    process = await asyncio.create_subprocess_exec("sleep", "3600", env=bare)
    since = int((time.time() - 240) * 1000)
    presence = {"pid": process.pid, "sessionId": session, "entrypoint": "cli", "status": "idle"}
    folder = config / "sessions"
    folder.mkdir(exist_ok=True)
    (folder / f"{process.pid}.json").write_bytes(
        orjson.dumps({**presence, "statusUpdatedAt": since, "startedAt": since})
    )
    try:
        yield
    finally:
        process.kill()
        await process.wait()


def break_a_transcript(projects: Path) -> None:
    folder = next(path for path in sorted(projects.iterdir()) if path.is_dir())
    (folder / f"{uuid4()}.jsonl").write_bytes(b"")


async def people(stage: Stage) -> None:
    """Sessions that wait, run and ask, all at once; `scenes.py` calls them by these names."""
    for project in PROJECTS:
        # the samples have done these jobs already
        await asyncio.to_thread(begin_again, stage.demo.home.project(project))
    await stage.begin(EDITING, "payments-api", "Fix the auth bug in login")
    await stage.begin(REMOVING, "infra", "Rotate the API keys")
    await stage.begin(ASKING, "infra", "Set up nightly backups")
    await stage.begin(PLANNING, "infra", "Upgrade to Postgres 17", permissionMode="plan")
    for title in (EDITING, REMOVING, ASKING, PLANNING):
        await stage.until(title, "waiting")
    await stage.begin(REPLYING, "payments-api", "think: Where does the time go?\n+ slow: 3000")
    await stage.until(REPLYING, "running")
    await stage.say(REPLYING, "also say how to measure it")


def begin_again(project: Path) -> None:
    for command in (["checkout", "--quiet", "."], ["clean", "--quiet", "-fd"]):
        subprocess.run(["git", *command], cwd=project, check=True)
