"""An orchestrator works on many items, whatever becomes of the keeper: every thread is its own.

Dispatches run beside each other and several at once on one key; some are made twice under one uuid,
some fail, some let their conversation expire, CLIs are killed in mid-turn, and the keeper is killed
and started again under all of it. Then each item is compared with the transcripts on disk.

`make test` makes a few dispatches; `make orchestrate` (ORCHESTRATED) 500 of them on 50 items.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
import pytest

from claudekeeper.demo.home import DemoHome
from claudekeeper.demo.messages_api import ScriptedApi
from tests.support.api_visitor import connect_api
from tests.support.keeper_process import KeeperProcess
from tests.support.real_cli import scripted_api  # noqa: F401

DISPATCHES = int(os.environ.get("ORCHESTRATED", "12"))
AN_ITEM = 10 if DISPATCHES >= 100 else 4
# the keeper is ended after so many more dispatches; every third time it is asked to
A_LIFE = 40 if DISPATCHES >= 100 else 7
AT_ONCE = 6
TRIES = 3
HOUR = 3600
# with this one even a few dispatches are of every kind
SEED = int(os.environ.get("ORCHESTRATOR_SEED", "17"))


@dataclass
class Dispatch:
    """One thing that is said on an item, under one uuid, however often it has to be tried."""

    key: str
    text: str
    uuid: str = field(default_factory=lambda: str(uuid4()))
    expires_in: float = HOUR
    answers: list[Any] = field(default_factory=list)


@dataclass
class Item:
    """What is to be done on it: step by step, and what belongs to one step at once."""

    key: str
    steps: list[list[Dispatch]]

    @property
    def dispatches(self) -> list[Dispatch]:
        return [dispatch for step in self.steps for dispatch in step]


def planned(chance: random.Random) -> list[Item]:
    items = []
    for number in range(DISPATCHES // AN_ITEM):
        key = f"item/{number} ä"
        steps: list[list[Dispatch]] = []
        remaining = AN_ITEM
        while remaining:
            words = f"say: {key} step {len(steps)}"
            kind = chance.choice(["one", "one", "slow", "once more", "several", "fails", "expires"])
            if kind == "several" and remaining >= 3:
                steps.append([Dispatch(key, f"{words} part {part}") for part in range(3)])
            elif kind == "once more":
                one = Dispatch(key, words)
                # the same object, so one uuid: its second answer must be that of the first
                steps.append([one, one])
            elif kind == "slow":
                steps.append([Dispatch(key, f"{words}\nslow: 0.5")])
            elif kind == "fails":
                steps.append([Dispatch(key, f"{words}\nerror: 401")])
            elif kind == "expires":
                steps.append([Dispatch(key, words, expires_in=0.01)])
            else:
                steps.append([Dispatch(key, words)])
            remaining -= len({each.uuid for each in steps[-1]})
        items.append(Item(key, steps))
    return items


class Orchestrator:
    """Tries until it is told what became of a dispatch."""

    def __init__(self, home: DemoHome, api: ScriptedApi) -> None:
        self._home = home
        self._api = api
        self._work = home.project("scratch")
        self._chance = random.Random(7)
        self._places = asyncio.Semaphore(AT_ONCE)
        self._up = asyncio.Event()
        self._done = asyncio.Condition()
        self._answered = 0
        self.keeper: KeeperProcess
        self.lives = 0
        self.killed = 0

    async def run(self, items: list[Item]) -> None:
        await self._start()
        try:
            async with asyncio.TaskGroup() as group:
                trouble = group.create_task(self._make_trouble())
                working = [group.create_task(self._work_on(item)) for item in items]
                await asyncio.gather(*working)
                trouble.cancel()
        finally:
            await asyncio.to_thread(self.keeper.stop)

    async def _work_on(self, item: Item) -> None:
        for step in item.steps:
            async with self._places:
                await asyncio.gather(*(self._dispatch(dispatch) for dispatch in step))
                if step[0].expires_in < HOUR:
                    await self._expired(item.key)

    async def _dispatch(self, wanted: Dispatch) -> None:
        body = {
            "text": wanted.text,
            "uuid": wanted.uuid,
            "workdir": str(self._work),
            "systemPrompt": f"You work on {wanted.key}.",
            "expiresIn": wanted.expires_in,
            "wait": True,
        }
        # what did not succeed is tried once more: said before, it is only told again
        for _ in range(TRIES):
            answer = await self._asked("POST", f"{address(wanted.key)}/dispatch", body)
            if answer["ended"]["outcome"] == "done":
                break
        wanted.answers.append(answer)
        async with self._done:
            self._answered += 1
            self._done.notify_all()

    async def _expired(self, key: str) -> None:
        while (await self._asked("GET", address(key)))["state"] != "expired":
            pass

    async def _asked(self, method: str, path: str, body: Any = None) -> Any:
        """Again and again, while the keeper ends, is gone, or was killed in mid-answer."""
        while True:
            await self._up.wait()
            keeper = self.keeper
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                async with connect_api(keeper) as visitor:
                    request = visitor.client.request(method, path, json=body)
                    async with request as response:
                        if response.status == 200:
                            return await response.json()
                        # it says so itself when it is about to end
                        assert response.status == 503, await response.text()
            await asyncio.sleep(0.01)

    # ---- what happens meanwhile ----

    async def _make_trouble(self) -> None:
        while True:
            wanted = self._answered + A_LIFE // 2
            async with self._done:
                await self._done.wait_for(lambda: self._answered >= wanted)  # noqa: B023
            self._kill_a_cli()
            wanted = self._answered + A_LIFE // 2
            async with self._done:
                await self._done.wait_for(lambda: self._answered >= wanted)  # noqa: B023
            self._up.clear()
            sign = signal.SIGTERM if self.lives % 3 == 2 else signal.SIGKILL
            await asyncio.to_thread(self.keeper.stop, sign)
            await self._start()

    def _kill_a_cli(self) -> None:
        running = self.keeper.descendants()
        if running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._chance.choice(running), signal.SIGKILL)
                self.killed += 1

    async def _start(self) -> None:
        self.keeper = await asyncio.to_thread(
            lambda: KeeperProcess(self._home, "--no-ui", api_url=self._api.url)
        )
        self.lives += 1
        self._up.set()

    # ---- what is to be seen afterwards ----

    @contextlib.asynccontextmanager
    async def asking(self) -> AsyncIterator[Orchestrator]:
        await self._start()
        try:
            yield self
        finally:
            await asyncio.to_thread(self.keeper.stop)

    async def conversation(self, key: str) -> Any:
        return await self._asked("GET", address(key))


def address(key: str) -> str:
    return f"/conversations/{key.replace('/', '%2F').replace(' ', '%20')}"


def on_disk(config: Path) -> dict[str, list[tuple[str, str]]]:
    """Every session's prompts as (uuid, text), as the CLI wrote them, in order."""
    return {path.stem: list(prompts(path)) for path in config.glob("projects/*/*.jsonl")}


def prompts(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        if entry.get("type") == "user" and isinstance(entry["message"]["content"], str):
            yield entry["uuid"], entry["message"]["content"]
        elif (absorbed := entry.get("attachment", {})).get("type") == "queued_command":
            yield absorbed["source_uuid"], absorbed["prompt"]


@pytest.mark.timeout(3600)
async def test_every_thread_is_exactly_its_own(scripted_api: ScriptedApi) -> None:  # noqa: F811
    items = planned(random.Random(SEED))
    with DemoHome() as home:
        work = Orchestrator(home, scripted_api)
        await work.run(items)
        assert work.lives > 1
        written = on_disk(home.config)
        sessions_of: dict[str, list[str]] = {}
        begun_by: dict[str, set[str]] = {}
        async with work.asking():
            for item in items:
                conversation = await work.conversation(item.key)
                earlier = [each["sessionId"] for each in conversation["earlier"]]
                sessions_of[item.key] = list(filter(None, [*earlier, conversation["sessionId"]]))
                assert {each["uuid"] for each in conversation["log"]} == {
                    each.uuid for each in item.dispatches
                }
                # an answer can be lost with its keeper; the trail has every attempt
                begun_by[item.key] = {
                    each["uuid"] for each in conversation["log"] if each["how"] == "created"
                }

        every = [session for sessions in sessions_of.values() for session in sessions]
        assert len(every) == len(set(every)), "two items share a session"
        assert written.keys() <= set(every), "a session belongs to no item"
        for item in items:
            check(item, sessions_of[item.key], written)
            assert begun_by[item.key] <= {each.uuid for each in item.steps[0]}, item
            assert begun_by[item.key] or item.steps[0][0].expires_in < HOUR, item
        print(summary_of(items, work, len(written)))  # noqa: T201 - what the long run was about
        assert "Traceback" not in work.keeper.log


def check(item: Item, sessions: list[str], written: dict[str, list[tuple[str, str]]]) -> None:
    ours = {each.uuid: each for each in item.dispatches}
    thread = [prompt for session in sessions for prompt in written.get(session, [])]
    thread = [(uuid, text) for uuid, text in thread if not is_the_cli_s_own(text)]
    # none lost, none twice, none of another item
    assert sorted(thread) == sorted((each.uuid, each.text) for each in ours.values()), item.key
    # in the order in which it was worked on; what was said at once, in any
    positions = {uuid: at for at, (uuid, _) in enumerate(thread)}
    steps = [[positions[each.uuid] for each in step] for step in item.steps]
    assert all(max(one) < min(next_) for one, next_ in itertools.pairwise(steps)), item
    where = {uuid: session for session in sessions for uuid, _ in written.get(session, [])}
    for uuid, dispatch in ours.items():
        for answer in dispatch.answers:
            assert (answer["key"], answer["uuid"]) == (item.key, uuid)
            assert answer["sessionId"] == where[uuid]
            if answer["ended"]["outcome"] == "done":
                assert (
                    dispatch.text.split("\n")[0].removeprefix("say: ") in answer["ended"]["reply"]
                )


def summary_of(items: list[Item], work: Orchestrator, sessions: int) -> str:
    every = {each.uuid: each for item in items for each in item.dispatches}
    outcomes = Counter(each.answers[-1]["ended"]["outcome"] for each in every.values())
    how = Counter(each.answers[-1]["how"] for each in every.values())
    return (
        f"{len(every)} dispatches on {len(items)} items in {sessions} sessions, {work.lives} lives "
        f"of the keeper, {work.killed} CLIs killed: {dict(outcomes)}, {dict(how)}"
    )


def is_the_cli_s_own(text: str) -> bool:
    """What it writes itself when a session that was cut off goes on."""
    return text.startswith(("[Request interrupted", "Continue from where you left off."))
