"""A keeper that ends after a person said stop: nothing is lost, and nothing is said unasked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.demo.home import DemoHome
from claudekeeper.demo.messages_api import ScriptedApi
from claudekeeper.server.app_keys import MANAGER, SHUTDOWN
from claudekeeper.sessions import interrupt
from tests.integration.conftest import StartKeeper
from tests.integration.sending.test_message_queue import prompts
from tests.support.api_visitor import connect_api
from tests.support.keeper_in_process import InProcessKeeper, new_uuid, text_of
from tests.support.keeper_process import KeeperProcess as Program
from tests.support.waiting import wait_for


@pytest.fixture
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        yield home


def replies(messages: list[Any]) -> list[str]:
    return [text_of(message) for message in messages if message["kind"] == "reply"]


async def end(keeper: InProcessKeeper) -> None:
    """As SIGTERM does it, without patience."""
    await keeper.app[SHUTDOWN].drain(0)
    await keeper.stop()


async def test_after_a_kill_it_is_said_once_however_often_it_is_sent(
    home: DemoHome,
    scripted_api: ScriptedApi,
) -> None:
    work = home.project("scratch")
    program = Program(home, "--no-ui", api_url=scripted_api.url)
    async with connect_api(program) as visitor:
        listener = await visitor.listen()
        session = await visitor.start_session(work, "run: touch forbidden.txt")
        await listener.wait_for_event("attention/raised", session)
        body = {"sessionId": session, "text": "say: instead", "interrupt": True}
        body["uuid"] = new_uuid()
        await visitor.post("/send", body, 202)
        program.kill()

    with Program(home, "--no-ui", api_url=scripted_api.url) as program:
        async with connect_api(program) as visitor:
            # whoever had no answer sends it again
            for _ in range(2):
                await visitor.post("/send", body, 202)
            page = await wait_for(
                lambda: visitor.get(f"/sessions/{session}"),
                lambda page: "instead" in replies(page["messages"]),
            )
            assert prompts(page["messages"]) == ["run: touch forbidden.txt", "say: instead"]
    assert not (work / "forbidden.txt").exists()


async def test_what_was_to_be_said_instead_is_what_goes_on(
    start_keeper: StartKeeper,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = (await keeper.send("run: touch forbidden"))["sessionId"]
    await listener.wait_for_question(session)
    await keeper.send("say: waited", session)

    async def slow(_: object) -> None:
        """The keeper ends before the CLI has heard of it."""

    with monkeypatch.context() as patched:
        patched.setattr(interrupt, "_send_interrupt", slow)
        await keeper.send("say: instead", session, interrupt=True)
        await end(keeper)
    keeper = await start_keeper()
    listener = await keeper.listen()
    page = await keeper.get(f"/sessions/{session}")
    assert page["session"]["error"]["code"] == "turn_interrupted"
    interrupted = page["interrupted"]
    assert interrupted["stopped"]
    assert [each["content"] for each in interrupted["queue"]] == ["say: instead", "say: waited"]
    first = await keeper.post(f"/sessions/{session}/continue", {}, 202)
    await listener.wait_for_turn_end(session, outcome="done", uuid=first["uuid"])
    await listener.wait_for_turn_end(session, outcome="done")
    # the turn that a person stopped is not gone on with
    history_prompts = prompts(await keeper.history(session))
    assert history_prompts == ["run: touch forbidden", "say: instead", "say: waited"]
    assert not (keeper.workdir / "forbidden").exists()


async def test_what_is_held_does_not_go_on_with_the_turn(
    start_keeper: StartKeeper,
) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = (await keeper.send("run: touch gate"))["sessionId"]
    await listener.wait_for_question(session)
    await keeper.send("say: held", session)
    keeper.app[MANAGER].hold_queue(session)
    await keeper.send("say: queued", session)
    await end(keeper)
    keeper = await start_keeper()
    listener = await keeper.listen()
    page = await keeper.get(f"/sessions/{session}")
    assert [(each["text"], each["state"]) for each in page["queue"]] == [("say: held", "held")]
    await keeper.post(f"/sessions/{session}/continue", {}, 202)
    await listener.wait_for_turn_end(session, outcome="done")
    await listener.wait_for_turn_end(session, outcome="done")
    history_prompts = prompts(await keeper.history(session))
    assert history_prompts == [
        "run: touch gate",
        "Continue from where you left off.",
        "say: queued",
    ]
    queue = (await keeper.get(f"/sessions/{session}"))["queue"]
    assert [(each["text"], each["state"]) for each in queue] == [("say: held", "held")]


async def test_what_waited_is_held_where_something_else_is_said(
    start_keeper: StartKeeper,
) -> None:
    """It was to follow a turn that nobody goes on with; its words are not lost with it."""
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = (await keeper.send("run: touch gate"))["sessionId"]
    await listener.wait_for_question(session)
    await keeper.send("say: waited", session)
    await end(keeper)
    keeper = await start_keeper()
    listener = await keeper.listen()
    new = (await keeper.send("say: new", session))["uuid"]
    await listener.wait_for_turn_end(session, outcome="done", uuid=new)
    queue = (await keeper.get(f"/sessions/{session}"))["queue"]
    assert [(each["text"], each["state"]) for each in queue] == [("say: waited", "held")]


async def test_what_claude_never_had_is_held_where_something_else_is_said(
    start_keeper: StartKeeper,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    never = tmp_path / "never-ready"
    never.write_text("#!/bin/sh\nexec sleep 60\n")
    never.chmod(0o700)
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = await keeper.start_session("say: one", listener)
    await keeper.close_session(session)
    # no process was ready for it when the keeper ended
    monkeypatch.setenv("CLAUDEKEEPER_CLI", str(never))
    lost = (await keeper.send("say: lost", session))["uuid"]
    await end(keeper)
    monkeypatch.delenv("CLAUDEKEEPER_CLI")
    keeper = await start_keeper()
    listener = await keeper.listen()
    page = await keeper.get(f"/sessions/{session}")
    assert page["interrupted"]["prompt"]["uuid"] == lost
    new = (await keeper.send("say: new", session))["uuid"]
    await listener.wait_for_turn_end(session, outcome="done", uuid=new)
    page = await keeper.get(f"/sessions/{session}")
    assert [(each["uuid"], each["state"]) for each in page["queue"]] == [(lost, "held")]
    # it is told in one place
    assert page["failed"] == []
