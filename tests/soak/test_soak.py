"""Mixed work, again and again: nothing is lost, and nothing is left over.

`make test` does a few rounds; `make soak` (SOAK_ROUNDS) hundreds.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from claudekeeper.demo.home import DemoHome
from claudekeeper.demo.messages_api import ScriptedApi
from tests.support.api_visitor import KeeperApi, connect_api
from tests.support.keeper_in_process import SocketListener, text_of
from tests.support.keeper_process import KeeperProcess, is_alive, parse_metrics
from tests.support.real_cli import scripted_api  # noqa: F401
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter
from tests.support.waiting import wait_until

ROUNDS = int(os.environ.get("SOAK_ROUNDS", "1"))
# what a round may leave in memory on the average: caches fill, pools grow once
MEGABYTE = 1024 * 1024
ALLOWED_AT_FIRST = 64 * MEGABYTE
ALLOWED_A_ROUND = 256 * 1024
# once the events, ledgers and trails that are remembered have filled their bounds, a round leaves
# three more sessions in the list and nothing else
WARM = 60
ALLOWED_WARM = 4 * MEGABYTE
ALLOWED_A_WARM_ROUND = 64 * 1024
RESIDENT = "process_resident_memory_bytes"
READING = ["/health", "/sessions", "/workdirs", "/attention", "/metrics", f"/sessions/{SESSION_ID}"]


@pytest.fixture
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        transcript = TranscriptWriter()
        for number in range(50):
            transcript.prompt(f"number {number}")
        transcript.write(home.config / "projects")
        yield home


class Soak:
    """One keeper, and everything that is done to it."""

    def __init__(
        self, keeper: KeeperProcess, home: DemoHome, visitor: KeeperApi, listener: SocketListener
    ) -> None:
        self.keeper = keeper
        self.home = home
        self.visitor = visitor
        self.listener = listener
        self.work = home.project("scratch")
        self.random = random.Random(7)
        self.prompts: dict[str, list[str]] = {}

    async def round(self, number: int) -> None:
        texts = [f"say: round {number}, session {which}" for which in range(3)]
        sessions = [await self.begin(text) for text in texts]
        await self.all_done(sessions)
        allowed, interrupted, killed = sessions
        await asyncio.gather(self.clients_that_vanish(), self.many_requests())
        await self.say(allowed, f"run: touch {number}.txt")
        question = (await self.listener.wait_for_event("attention/raised", allowed))["attention"]
        body = {"attentionId": question["id"], "decision": "allow"}
        await self.visitor.post("/resolve", body)
        await self.listener.wait_for_turn_end(allowed, outcome="done")
        assert (self.work / f"{number}.txt").exists()

        await self.say(interrupted, "slow: 600")
        await self.listener.wait_for_event("message/delta", interrupted)
        await self.visitor.post(f"/sessions/{interrupted}/interrupt", status=202)
        await self.listener.wait_for_turn_end(interrupted, outcome="interrupted")

        await self.say(killed, "slow: 600")
        await self.listener.wait_for_event("message/delta", killed)
        # a CLI writes a moment after it speaks, and takes that moment with it
        await wait_until(lambda: self.is_written(killed, "slow: 600"))
        os.kill(self.pid_of(killed), signal.SIGKILL)
        await self.listener.wait_for_turn_end(killed, outcome="failed")
        await self.say(killed, "say: after the kill")
        await self.listener.wait_for_turn_end(killed, outcome="done")

        self.files_that_come_and_go(number)
        for session in sessions:
            history = (await self.visitor.get(f"/sessions/{session}?limit=1000"))["messages"]
            prompts = [text_of(each) for each in history if each["kind"] == "prompt"]
            assert prompts == self.prompts[session]
            await self.visitor.post(f"/sessions/{session}/close", status=202)
        while (await self.visitor.get("/health"))["live"]:
            pass

    async def all_done(self, sessions: list[str]) -> None:
        """In whichever order they come."""
        waiting = set(sessions)
        while waiting:
            event = await self.listener.wait_for_event("turn/finished", outcome="done")
            waiting.discard(event["sessionId"])

    async def begin(self, text: str) -> str:
        session = await self.visitor.start_session(self.work, text)
        self.prompts[session] = [text]
        return session

    async def say(self, session: str, text: str) -> None:
        await self.visitor.post("/send", {"sessionId": session, "text": text}, 202)
        self.prompts[session].append(text)

    def is_written(self, session: str, text: str) -> bool:
        (path,) = self.home.config.glob(f"projects/*/{session}.jsonl")
        return text in path.read_text()

    def pid_of(self, session: str) -> int:
        for file in (self.home.config / "sessions").glob("*.json"):
            with contextlib.suppress(OSError, ValueError):
                presence = json.loads(file.read_text())
                if presence["sessionId"] == session and is_alive(presence["pid"]):
                    return int(presence["pid"])
        raise AssertionError("its CLI was not found")

    async def clients_that_vanish(self) -> None:
        for _ in range(5):
            listener = await self.visitor.listen()
            line = listener.ws.get_extra_info("socket")
            assert line is not None
            # as when a machine falls asleep: no word of goodbye
            line.shutdown(socket.SHUT_RDWR)
            await listener.ws.close()

    async def many_requests(self) -> None:
        async def read(path: str) -> None:
            async with self.visitor.client.get(path) as answer:
                assert answer.status == 200
                if self.random.random() < 0.8:
                    await answer.read()

        paths = [self.random.choice(READING) for _ in range(50)]
        await asyncio.gather(*(read(path) for path in paths))
        for name in ("one", "two", None):
            await self.visitor.request("PATCH", f"/sessions/{SESSION_ID}", {"name": name})

    def files_that_come_and_go(self, number: int) -> None:
        transcript = TranscriptWriter(f"5e551011-0000-4000-8000-{number:012}")
        for _ in range(20):
            transcript.prompt("x" * 1000)
        path = transcript.write(self.home.config / "projects", f"-round-{number % 5}")
        path.write_bytes(path.read_bytes()[:5000])
        path.unlink()

    async def figures(self) -> dict[str, float]:
        async with self.visitor.client.get("/metrics") as answer:
            return parse_metrics(await answer.text())

    async def settled(self, like: dict[str, float] | None) -> dict[str, float]:
        """Until nothing is left over: as many descriptors, tasks and sockets as before."""
        while True:
            now = await self.figures()
            names = ("process_open_fds", "claudekeeper_tasks", "claudekeeper_sockets")
            if like is None or all(now[name] <= like[name] for name in names):
                return now


@pytest.mark.timeout(3600)
async def test_mixed_work_leaves_nothing_behind(
    home: DemoHome,
    scripted_api: ScriptedApi,  # noqa: F811
) -> None:
    with KeeperProcess(home, "--no-ui", api_url=scripted_api.url) as keeper:
        # a connection a request: whatever stays open is not the client's
        async with connect_api(keeper, force_close=True) as visitor:
            listener = await visitor.listen()
            soak = Soak(keeper, home, visitor, listener)
            # the first round imports the SDK, opens the cache and fills the pools
            await soak.round(0)
            first = await soak.settled(None)
            resident = [first[RESIDENT]]
            for number in range(1, ROUNDS + 1):
                await soak.round(number)
                resident.append((await soak.figures())[RESIDENT])
            last: dict[str, Any] = await soak.settled(first)
            series = [round(each / 1e6) for each in resident[::10]]
            print("MB after each tenth round:", series)  # noqa: T201 - for who started a long one
            grown = last[RESIDENT] - first[RESIDENT]
            assert grown < ALLOWED_AT_FIRST + ALLOWED_A_ROUND * ROUNDS
            # a short run has no round that counts as warm
            warm = resident[WARM:] or [0]
            assert warm[-1] - warm[0] < ALLOWED_WARM + ALLOWED_A_WARM_ROUND * len(warm)
            assert keeper.descendants() == []
            assert "Traceback" not in keeper.log
