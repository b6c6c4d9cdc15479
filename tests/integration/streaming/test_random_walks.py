"""Random walks: whatever happens in whatever order, what is told, read and written is one thing.

`WALK_SEEDS="1 2 3"` walks other ways, `WALK_STEPS=200` longer ones.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
from collections import Counter
from typing import Any

import pytest

from claudekeeper.core.limits import Limits
from tests.integration.conftest import StartKeeper
from tests.support.conversation_follower import HistoryFollower
from tests.support.keeper_in_process import InProcessKeeper, SocketListener, new_uuid, uuids
from tests.support.own_process import children

SEEDS = [int(seed) for seed in os.environ.get("WALK_SEEDS", "1 2").split()]
STEPS = int(os.environ.get("WALK_STEPS", "30"))

SCRIPTS = [
    "say: hello",
    "think: hm\nsay: so\nrun: touch a && run: touch b\nsay: done",
    "write: notes.md: hello",
    "count: 3000",
    "slow: 1",
    "run: sleep 0.2",
    "agent: run: touch deep",
    "ask: Which? One | Two",
    "error: 401",
    "error: 529 once",
    "/cost",
    "/compact",
    "/nonsense",
]


class Walk:
    def __init__(
        self,
        keeper: InProcessKeeper,
        listener: SocketListener,
        sessions: list[str],
        seed: int,
        *,
        killing: bool,
    ) -> None:
        self.keeper = keeper
        self.listener = listener
        self.random = random.Random(seed)
        self.sessions = sessions
        self.sent: dict[str, str] = {}
        self.followers: list[tuple[str, HistoryFollower]] = []
        steps = [self.send] * 6 + [self.answer] * 6 + [self.join] * 2
        steps += [self.interrupt, self.take_back, self.switch, self.close, self.drop]
        self.steps = [*steps, self.kill, self.kill] if killing else steps

    async def step(self) -> None:
        await self.random.choice(self.steps)()
        # a few words back and forth: another moment each time
        for _ in range(self.random.randrange(25)):
            await self.hear()

    async def hear(self) -> None:
        """Everything that was told until now."""
        await self.listener.send({"type": "ping"})
        await self.listener.wait_for_event("pong")

    async def send(self) -> None:
        session = self.random.choice(self.sessions)
        uuid = new_uuid()
        self.sent[uuid] = session
        await self.keeper.send(self.random.choice(SCRIPTS), session, uuid=uuid, wait=True)

    async def answer(self) -> None:
        questions = (await self.keeper.get("/attention"))["attention"]
        if questions:
            await self.settle(self.random.choice(questions), self.random.random() < 0.8)

    async def settle(self, question: Any, allow: bool) -> None:
        body: dict[str, Any] = {"attentionId": question["id"]}
        body["decision"] = "allow" if allow else "deny"
        if question["kind"] == "question" and allow:
            body["answers"] = {each["question"]: "One" for each in question["input"]["questions"]}
        async with self.keeper.client.post("/resolve", json=body) as response:
            # it may have been withdrawn since
            assert response.status in (200, 409)

    async def join(self) -> None:
        session = self.random.choice(self.sessions)
        follower = HistoryFollower(self.keeper, session)
        await follower.connect()
        self.followers.append((session, follower))

    async def drop(self) -> None:
        for _, follower in self.followers:
            if self.random.random() < 0.5:
                await follower.disconnect()

    async def interrupt(self) -> None:
        await self.keeper.interrupt(self.random.choice(self.sessions))

    async def take_back(self) -> None:
        if self.sent:
            uuid = self.random.choice(list(self.sent))
            path = f"/sessions/{self.sent[uuid]}/queue/{uuid}"
            async with self.keeper.client.delete(path) as response:
                # the line of a process that is gone is gone with it
                assert response.status in (200, 404, 409)

    async def switch(self) -> None:
        mode = self.random.choice(["default", "acceptEdits", "plan"])
        path = f"/sessions/{self.random.choice(self.sessions)}/mode"
        async with self.keeper.client.post(path, json={"permissionMode": mode}) as response:
            # the process may end at this very moment
            assert response.status in (200, 409)

    async def close(self) -> None:
        await self.keeper.close_session(self.random.choice(self.sessions))

    async def kill(self) -> None:
        for pid in self.random.sample(children(), min(1, len(children()))):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    async def come_to_rest(self) -> None:
        while True:
            for question in (await self.keeper.get("/attention"))["attention"]:
                await self.settle(question, allow=True)
            pages = [await self.keeper.get(f"/sessions/{each}?limit=1") for each in self.sessions]
            if all(page["session"]["state"] == "idle" for page in pages):
                return
            await self.listener.next_event()

    async def check(self) -> None:
        await self.hear()
        for session in self.sessions:
            known_messages = await self._known(session)
            history = uuids(await self.keeper.history(session))
            assert [name for name, count in Counter(history).items() if count > 1] == []
            whole = await self.keeper.get(f"/sessions/{session}?limit=all")
            assert uuids(whole["messages"]) == history
            for follower in known_messages:
                assert uuids(follower.messages) == history
            self._check_turns(session, history)
        raised = [event["attention"]["id"] for event in self.listener.events_of("attention/raised")]
        settled = [event["attentionId"] for event in self.listener.events_of("attention/settled")]
        assert sorted(raised) == sorted(settled)
        assert (await self.keeper.get("/attention"))["attention"] == []

    async def _known(self, session: str) -> list[HistoryFollower]:
        followers = [follower for each, follower in self.followers if each == session]
        for follower in followers:
            await follower.catch_up()
        return followers

    def _check_turns(self, session: str, history: list[str]) -> None:
        started = [event["uuid"] for event in self.listener.events_of("turn/started", session)]
        finished = {
            event["uuid"]: event for event in self.listener.events_of("turn/finished", session)
        }
        assert [
            event["uuid"] for event in self.listener.events_of("turn/finished", session)
        ] == started
        cancelled = {
            each["uuid"]
            for event in self.listener.events_of("queue/updated", session)
            for each in event["queue"]
            if each["state"] == "cancelled"
        }
        for uuid, where in self.sent.items():
            if where == session:
                # had its turn, or was taken back; never both, never neither
                assert (uuid in finished) != (uuid in cancelled)
                if uuid in finished and finished[uuid]["outcome"] == "done":
                    assert uuid in history


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.timeout(600)
async def test_a_walk(start_keeper: StartKeeper, seed: int) -> None:
    rng = random.Random(seed)
    idle = rng.choice([0.2, 900.0])
    keeper = await start_keeper(Limits(live_sessions=2, idle_seconds=idle))
    listener = await keeper.listen()
    # a message that a killed CLI had no time to write is taken back: those walks tell less
    sessions = [await keeper.start_session("say: hello", listener) for _ in range(3)]
    walk = Walk(keeper, listener, sessions, seed, killing=seed % 2 == 0)
    for _ in range(STEPS):
        await walk.step()
    await walk.come_to_rest()
    await walk.check()
    for session, follower in walk.followers:
        assert session in walk.sessions
        await follower.disconnect()
    await keeper.stop()
    assert not children()
