"""What was said is not lost, however early its CLI or the keeper ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from claudekeeper.core.limits import Limits
from claudekeeper.demo.home import DemoHome
from claudekeeper.demo.messages_api import ScriptedApi
from tests.integration.conftest import StartKeeper
from tests.support.api_visitor import KeeperApi, connect_api
from tests.support.keeper_in_process import (
    InProcessKeeper,
    SocketListener,
    new_uuid,
    text_of,
    uuids,
)
from tests.support.keeper_process import KeeperProcess as Program
from tests.support.waiting import wait_for


@pytest.fixture
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        yield home


async def fails(
    keeper: InProcessKeeper, listener: SocketListener, monkeypatch: pytest.MonkeyPatch, **more: Any
) -> Any:
    """A new session whose CLI ends before it has written a line."""
    monkeypatch.setenv("CLAUDEKEEPER_CLI", "/bin/false")
    sent = await keeper.send("say: not forgotten", **more)
    failed = await listener.wait_for_event("session/failed", sent["sessionId"])
    monkeypatch.delenv("CLAUDEKEEPER_CLI")
    assert failed["error"]["code"] == "cli_failed"
    return sent


async def check_session(keeper: InProcessKeeper, sent: Any) -> Any:
    """The session, in the list and by its link, with what was said."""
    page = await keeper.get(f"/sessions/{sent['sessionId']}")
    session = page["session"]
    assert session["error"]["code"] == "cli_failed"
    assert (session["state"], session["firstPrompt"]) == ("idle", "say: not forgotten")
    assert session["workdir"] == str(keeper.workdir)
    assert page["messages"] == []
    assert page["interrupted"]["prompt"] == {"uuid": sent["uuid"], "content": "say: not forgotten"}
    listed = (await keeper.get("/sessions"))["sessions"]
    (row,) = (row for row in listed if row["id"] == sent["sessionId"])
    whole = await keeper.get(f"/sessions/{sent['sessionId']}?limit=all")
    # whether it still runs may be another thing a moment later
    for same in ("error", "state", "firstPrompt", "lastPrompt", "workdir", "modified"):
        assert row[same] == whole["session"][same] == session[same], same
    return session


async def test_a_session_that_failed_before_its_first_line_stays_with_its_prompt(
    start_keeper: StartKeeper,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keeper = await start_keeper(Limits(idle_seconds=0.05))
    listener = await keeper.listen()
    sent = await fails(keeper, listener, monkeypatch, permissionMode="acceptEdits")
    session = sent["sessionId"]
    await check_session(keeper, sent)
    # when it has idled away, and in the next keeper
    await wait_for(
        lambda: keeper.get("/health"),
        lambda health: not health["live"] and not keeper.is_live(session),
    )
    await check_session(keeper, sent)
    assert not listener.events_of("session/removed", session)
    await keeper.stop()
    keeper = await start_keeper()
    listener = await keeper.listen()
    await check_session(keeper, sent)
    named = await keeper.request("PATCH", f"/sessions/{session}", {"name": "kept"})
    assert named["name"] == "kept"
    again = await keeper.post(f"/sessions/{session}/continue", {}, 202)
    assert (again["sessionId"], again["uuid"]) == (session, sent["uuid"])
    await listener.wait_for_turn_end(session, outcome="done", uuid=sent["uuid"])
    history = await keeper.history(session)
    assert [text_of(each) for each in history] == ["say: not forgotten", "not forgotten"]
    assert history[0]["uuid"] == sent["uuid"]
    page = await keeper.get(f"/sessions/{session}")
    assert (page["session"]["error"], page["interrupted"]) == (None, None)
    await keeper.post(f"/sessions/{session}/continue", {}, 409)


async def test_it_is_gone_on_with_by_any_message_too(
    start_keeper: StartKeeper,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    sent = await fails(keeper, listener, monkeypatch)
    await keeper.stop()
    keeper = await start_keeper()
    listener = await keeper.listen()
    # the client that sent it tries again
    await keeper.send("say: not forgotten", sent["sessionId"], uuid=sent["uuid"])
    await listener.wait_for_turn_end(sent["sessionId"], outcome="done")
    assert len(await keeper.history(sent["sessionId"])) == 2


async def test_one_that_nobody_wants_can_be_closed(
    start_keeper: StartKeeper,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    now = await fails(keeper, listener, monkeypatch)
    await keeper.close_session(now["sessionId"])
    await listener.wait_for_event("session/removed", now["sessionId"])
    later = await fails(keeper, listener, monkeypatch)
    await keeper.stop()
    keeper = await start_keeper()
    listener = await keeper.listen()
    assert [row["id"] for row in (await keeper.get("/sessions"))["sessions"]] == [
        later["sessionId"]
    ]
    await keeper.close_session(later["sessionId"])
    await listener.wait_for_event("session/removed", later["sessionId"])
    await keeper.get(f"/sessions/{later['sessionId']}", 404)
    assert (await keeper.get("/sessions"))["sessions"] == []


async def interrupted(visitor: KeeperApi, session: str) -> Any:
    page = await visitor.get(f"/sessions/{session}")
    assert page["session"]["error"]["code"] == "turn_interrupted"
    listed = [row["id"] for row in (await visitor.get("/sessions"))["sessions"]]
    assert listed.count(session) == 1
    return page


async def test_sigkill_right_after_a_message_was_taken(
    home: DemoHome,
    scripted_api: ScriptedApi,
) -> None:
    """Whoever got its 202 finds it again: in a new session and in an old one."""
    work = home.project("scratch")
    program = Program(home, "--no-ui", api_url=scripted_api.url)
    async with connect_api(program) as visitor:
        listener = await visitor.listen()
        old = await visitor.start_session(work, "say: first")
        await listener.wait_for_turn_end(old, outcome="done")
        uuid = new_uuid()
        new = await visitor.start_session(work, "say: new", uuid=uuid)
        # last, because its CLI runs already; and longer, or its turn could be over
        prompts = {old: new_uuid(), new: uuid}
        body = {"sessionId": old, "text": "slow: 3", "uuid": prompts[old]}
        await visitor.post("/send", body, 202)
        program.kill()

    with Program(home, "--no-ui", api_url=scripted_api.url) as program:
        async with connect_api(program) as visitor:
            listener = await visitor.listen()
            for session, words in ((old, "slow: 3"), (new, "say: new")):
                await interrupted(visitor, session)
                await visitor.post(f"/sessions/{session}/continue", status=202)
                await listener.wait_for_turn_end(session, outcome="done")
                messages = (await visitor.get(f"/sessions/{session}"))["messages"]
                assert uuids(messages).count(prompts[session]) == 1
                assert words in [text_of(each) for each in messages]


async def test_sigkill_right_after_a_message_was_taken_for_a_copy(
    home: DemoHome,
    scripted_api: ScriptedApi,
) -> None:
    """Sent again, it goes to the copy that was made for it, and is said there once."""
    work = home.project("scratch")
    body = {"text": "say: in a copy", "uuid": new_uuid(), "fork": True}
    program = Program(home, "--no-ui", api_url=scripted_api.url)
    async with connect_api(program) as visitor:
        listener = await visitor.listen()
        body["sessionId"] = await visitor.start_session(work, "say: first")
        await listener.wait_for_turn_end(body["sessionId"], outcome="done")
        copy = (await visitor.post("/send", body, 202))["sessionId"]
        program.kill()

    with Program(home, "--no-ui", api_url=scripted_api.url) as program:
        async with connect_api(program) as visitor:
            listener = await visitor.listen()
            for _ in range(2):
                assert (await visitor.post("/send", body, 202))["sessionId"] == copy
            await listener.wait_for_turn_end(copy, outcome="done")
            listed = (await visitor.get("/sessions"))["sessions"]
            assert {row["id"] for row in listed} == {body["sessionId"], copy}
            messages = (await visitor.get(f"/sessions/{copy}"))["messages"]
            assert uuids(messages).count(body["uuid"]) == 1
