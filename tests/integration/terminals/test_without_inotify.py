"""A keeper that nobody tells of changes: what others write reaches clients all the same.

`test_following.py` has the one that `watchfiles` tells.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from aiohttp import ClientSession

from claudekeeper.demo.home import DemoHome
from tests.support.keeper_in_process import SocketListener
from tests.support.keeper_process import COMMAND
from tests.support.keeper_process import KeeperProcess as Program
from tests.support.transcript_people import append_lines
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter
from tests.support.waiting import wait_for

NAMESPACE = ["unshare", "-U", "-r"]
NO_INOTIFY = 'echo 0 > /proc/sys/user/max_inotify_instances && exec "$@"'


async def noticing(ask: Callable[[], Awaitable[Any]], mode: str) -> str:
    """How changes are noticed once it is in this way; the reason that is said."""
    health = await wait_for(ask, lambda health: health["watching"]["mode"] == mode)
    return str(health["watching"]["reason"])


@pytest.fixture
def program() -> Iterator[Program]:
    """A keeper whose system gives it no watcher at all."""
    probe = [*NAMESPACE, "sh", "-c", NO_INOTIFY, "sh", "true"]
    if not shutil.which("unshare") or subprocess.run(probe, check=False).returncode:
        pytest.skip("needs user namespaces")
    with DemoHome() as home:
        (home.config / "projects").mkdir(exist_ok=True)
        with Program(home, "--no-ui", command=[*probe[:-1], *COMMAND]) as keeper:
            yield keeper


async def test_where_nothing_tells_it_looks_and_says_so(program: Program) -> None:
    async with ClientSession(program.url, headers=program.auth_headers) as http:

        async def health() -> Any:
            async with http.get("/health") as answer:
                return await answer.json()

        assert "max_user_instances" in await noticing(health, "polling")
        assert (await health())["status"] == "degraded"
        listener = SocketListener(await http.ws_connect("/ws"))
        await listener.send({"type": "subscribe", "sessions": ["*"]})
        await listener.wait_for_event("subscribed")
        transcript = TranscriptWriter(workdir="/code/shop")
        first = transcript.prompt("begin")
        path = transcript.write(program.home.config / "projects")
        assert (await listener.wait_for_message(SESSION_ID, "prompt"))["uuid"] == first
        answer = transcript.reply("begun")
        append_lines(path, transcript.lines[-1])
        assert (await listener.wait_for_message(SESSION_ID, "reply"))["uuid"] == answer
        await listener.close()
