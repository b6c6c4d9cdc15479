"""SIGTERM and SIGKILL in the middle of turns: what ends, what is kept, and what nobody approves."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

import pytest

from claudekeeper.core.config import load_config
from claudekeeper.demo.home import DemoHome
from claudekeeper.demo.messages_api import ScriptedApi
from tests.support.api_visitor import KeeperApi, connect_api
from tests.support.keeper_in_process import SocketListener
from tests.support.keeper_process import COMMAND, KeeperProcess, is_alive
from tests.support.waiting import read_until, wait_until


@pytest.fixture
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        yield home


@pytest.fixture
def api_url(scripted_api: ScriptedApi) -> str:
    return scripted_api.url


def set_limits(home: DemoHome, **limits: Any) -> None:
    load_config(home.keeper)
    file = home.keeper / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "limits": limits}))


def transcripts(home: DemoHome) -> dict[str, list[Any]]:
    """Every line of every session; a torn one would not be JSON."""
    return {
        path.stem: [json.loads(line) for line in path.read_text().splitlines()]
        for path in home.config.glob("projects/*/*.jsonl")
    }


async def closing_code(listener: SocketListener) -> int | None:
    async for _ in listener.ws:
        pass
    return listener.ws.close_code


async def status_and_headers(visitor: KeeperApi, body: Any) -> tuple[int, Mapping[str, str]]:
    async with visitor.client.post("/send", json=body) as answer:
        return answer.status, answer.headers


async def asks(listener: SocketListener, session: str) -> Any:
    return (await listener.wait_for_event("attention/raised", session))["attention"]


async def shows_interrupted(visitor: KeeperApi, session: str) -> Any:
    """The session as the next keeper shows it; nothing has been approved meanwhile."""
    page = await visitor.get(f"/sessions/{session}")
    assert page["session"]["error"]["code"] == "turn_interrupted"
    assert page["session"]["state"] == "idle"
    assert (await visitor.get("/attention"))["attention"] == []
    listed = (await visitor.get("/sessions"))["sessions"]
    (row,) = [each for each in listed if each["id"] == session]
    assert row["error"]["code"] == "turn_interrupted"
    return page["interrupted"]


async def goes_on(visitor: KeeperApi, session: str) -> None:
    """One click, and the turn goes on."""
    listener = await visitor.listen()
    await visitor.post(f"/sessions/{session}/continue", status=202)
    await listener.wait_for_event("turn/finished", session)
    page = await visitor.get(f"/sessions/{session}")
    assert page["session"]["error"] is None
    assert page["interrupted"] is None
    await visitor.post(f"/sessions/{session}/continue", status=409)
    await listener.close()


async def test_sigterm_ends_in_order_and_the_next_keeper_knows(
    home: DemoHome, api_url: str
) -> None:
    set_limits(home, drainSeconds=600)
    work = home.project("scratch")
    with KeeperProcess(home, api_url=api_url) as keeper:
        async with connect_api(keeper) as visitor:
            listener = await visitor.listen()
            asking = await visitor.start_session(work, "run: touch forbidden.txt")
            question = await asks(listener, asking)
            busy = await visitor.start_session(work, "slow: 900")
            await listener.wait_for_event("message/delta", busy)
            await visitor.post("/send", {"sessionId": busy, "text": "say: later"}, 202)
            children = keeper.descendants()
            assert len(children) >= 2
            keeper.process.send_signal(signal.SIGTERM)

            # whoever comes now is told to come again
            body = {"workdir": str(work), "text": "say: too late"}
            *earlier, last = await read_until(
                lambda: status_and_headers(visitor, body), lambda answer: answer[0] == 503
            )
            # these were quicker than the signal
            assert {status for status, _ in earlier} <= {202, 429}
            assert int(last[1]["Retry-After"]) > 0
            assert (await visitor.get("/health"))["status"] == "ok"

            # a turn of fifteen minutes will not end: a second signal makes it short
            keeper.process.send_signal(signal.SIGTERM)
            assert await closing_code(listener) == 1001
        assert await asyncio.to_thread(keeper.stop) == 0
    assert not [pid for pid in children if is_alive(pid)]
    assert not (work / "forbidden.txt").exists()
    assert {asking, busy} <= transcripts(home).keys()

    with KeeperProcess(home, api_url=api_url) as keeper:
        async with connect_api(keeper) as visitor:
            interrupted = await shows_interrupted(visitor, asking)
            assert [each["input"] for each in interrupted["questions"]] == [question["input"]]
            resolving = {"attentionId": question["id"], "decision": "allow"}
            await visitor.post("/resolve", resolving, 404)
            await goes_on(visitor, asking)
            interrupted = await shows_interrupted(visitor, busy)
            assert [item["content"] for item in interrupted["queue"]] == ["say: later"]
    assert not (work / "forbidden.txt").exists()


async def test_a_turn_that_can_end_is_seen_through(home: DemoHome, api_url: str) -> None:
    set_limits(home, drainSeconds=600)
    with KeeperProcess(home, "--no-ui", api_url=api_url) as keeper:
        async with connect_api(keeper) as visitor:
            listener = await visitor.listen()
            session = await visitor.start_session(home.project("scratch"), "slow: 2")
            await listener.wait_for_event("message/delta", session)
            keeper.process.send_signal(signal.SIGTERM)
            await listener.wait_for_event("turn/finished", session, outcome="done")
            assert await closing_code(listener) == 1001
        assert await asyncio.to_thread(keeper.stop) == 0
    assert json.loads((home.keeper / "turns.json").read_text()) == {}


async def test_ctrl_c_in_a_terminal_reaches_the_keeper_alone(home: DemoHome, api_url: str) -> None:
    """It is for everybody in the terminal's group; the turns that run are seen through."""
    set_limits(home, drainSeconds=600)
    alone = ["setsid", *COMMAND]
    with KeeperProcess(home, "--no-ui", api_url=api_url, command=alone) as keeper:
        async with connect_api(keeper) as visitor:
            listener = await visitor.listen()
            session = await visitor.start_session(home.project("scratch"), "slow: 2")
            await listener.wait_for_event("message/delta", session)
            os.killpg(keeper.pid, signal.SIGINT)
            await listener.wait_for_event("turn/finished", session, outcome="done")
            assert await closing_code(listener) == 1001
        assert await asyncio.to_thread(keeper.stop) == 0
    assert json.loads((home.keeper / "turns.json").read_text()) == {}


async def test_sigkill_leaves_no_process_and_approves_nothing(home: DemoHome, api_url: str) -> None:
    work = home.project("scratch")
    keeper = KeeperProcess(home, "--no-ui", api_url=api_url)
    async with connect_api(keeper) as visitor:
        listener = await visitor.listen()
        asking = await visitor.start_session(work, "run: touch forbidden.txt")
        question = await asks(listener, asking)
        busy = await visitor.start_session(
            work, "run: touch started.txt; tail -f /dev/null; touch late.txt"
        )
        allowed = {"attentionId": (await asks(listener, busy))["id"], "decision": "allow"}
        await visitor.post("/resolve", allowed)
        await wait_until((work / "started.txt").exists)
        record = home.keeper / "turns.json"
        await wait_until(
            lambda: question["id"] in record.read_text() and busy in record.read_text()
        )
        children = keeper.descendants()
        keeper.kill()
    # the system tells them that the keeper is gone, and they end what they began
    await wait_until(lambda: not any(is_alive(pid) for pid in children))

    with KeeperProcess(home, "--no-ui", api_url=api_url) as keeper:
        assert keeper.descendants() == []
        async with connect_api(keeper) as visitor:
            interrupted = await shows_interrupted(visitor, asking)
            assert [each["id"] for each in interrupted["questions"]] == [question["id"]]
            await visitor.post(
                "/resolve", {"attentionId": question["id"], "decision": "allow"}, 404
            )
            await shows_interrupted(visitor, busy)
            await goes_on(visitor, busy)
        assert not (work / "forbidden.txt").exists()
        assert not (work / "late.txt").exists()


async def test_what_waited_when_the_keeper_was_killed_can_still_be_taken_back(
    home: DemoHome, api_url: str
) -> None:
    work = home.project("scratch")
    keeper = KeeperProcess(home, "--no-ui", api_url=api_url)
    wanted, unwanted = str(uuid4()), str(uuid4())
    async with connect_api(keeper) as visitor:
        listener = await visitor.listen()
        session = await visitor.start_session(work, "run: touch asked.txt")
        await asks(listener, session)
        for uuid, text in ((wanted, "say: this one"), (unwanted, "say: not this one")):
            await visitor.post("/send", {"sessionId": session, "text": text, "uuid": uuid}, 202)
        keeper.kill()

    with KeeperProcess(home, "--no-ui", api_url=api_url) as keeper:
        async with connect_api(keeper) as visitor:
            listener = await visitor.listen()
            await visitor.request("DELETE", f"/sessions/{session}/queue/{unwanted}")
            event = await listener.wait_for_event("queue/updated", session)
            assert [(item["uuid"], item["state"]) for item in event["queue"]] == [
                (unwanted, "cancelled")
            ]
            interrupted = await shows_interrupted(visitor, session)
            assert [item["uuid"] for item in interrupted["queue"]] == [wanted]
            await visitor.request("DELETE", f"/sessions/{session}/queue/{unwanted}", status=404)
            await visitor.post(f"/sessions/{session}/continue", status=202)
            await listener.wait_for_turn_end(session, uuid=wanted)
    uuids = [line.get("uuid") for line in transcripts(home)[session]]
    assert wanted in uuids
    assert unwanted not in uuids


async def test_a_dispatch_that_a_kill_cut_short_has_one_thread(
    home: DemoHome, api_url: str
) -> None:
    work = home.project("scratch")
    address = "/conversations/ticket-7/dispatch"
    first = {"text": "slow: 900", "workdir": str(work), "uuid": str(uuid4())}
    with KeeperProcess(home, api_url=api_url) as keeper:
        async with connect_api(keeper) as visitor:
            listener = await visitor.listen()
            begun = await visitor.post(address, first)
            await listener.wait_for_event("message/delta", begun["sessionId"])
            keeper.process.kill()
            keeper.process.wait()

    with KeeperProcess(home, api_url=api_url) as keeper:
        async with connect_api(keeper) as visitor:
            # whoever had no answer asks again: it was said, and what became of it is not known
            again = await visitor.post(address, {**first, "wait": True})
            assert again["sessionId"] == begun["sessionId"]
            assert again["ended"]["outcome"] == "unknown"
            on = {"text": "say: on", "uuid": str(uuid4()), "wait": True}
            went_on = await visitor.post(address, on)
            assert (went_on["sessionId"], went_on["how"]) == (begun["sessionId"], "continued")
            assert went_on["ended"]["reply"] == "on"
            item = await visitor.get("/conversations/ticket-7")
            assert [each["outcome"] for each in item["log"]] == ["unknown", "done"]
    (lines,) = transcripts(home).values()
    uuids = [line["uuid"] for line in lines if line["type"] == "user" and "uuid" in line]
    assert uuids.count(first["uuid"]) == 1
    assert uuids.count(on["uuid"]) == 1
