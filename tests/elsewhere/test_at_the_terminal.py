"""What a person does at a real terminal while the keeper asks the same question."""

from __future__ import annotations

import asyncio
import json
import os
import signal

import pytest

from claudekeeper.config import load_config
from claudekeeper.demo.api import ScriptedApi
from claudekeeper.demo.home import DemoHome
from claudekeeper.features.hooks import Settings
from tests.elsewhere.conftest import OpenTerminal
from tests.elsewhere.people import Watcher, updated
from tests.elsewhere.terminal import Terminal, Tmux, only_presence, set_up, without_tmux
from tests.elsewhere.test_at_odds import home, tmux  # noqa: F401
from tests.elsewhere.test_terminals import PROMPT, hooks  # noqa: F401
from tests.process import Keeper as Program
from tests.real_cli import scripted_api  # noqa: F401
from tests.talking.keeper import Ear, Event, Keeper, text_of, uuids
from tests.visitor import visiting
from tests.waiting import until

pytestmark = [without_tmux, pytest.mark.timeout(240)]


async def raised(ear: Ear) -> Event:
    return dict((await ear.event("attention/raised"))["attention"])


async def settled(ear: Ear, question: Event) -> Event:
    return await ear.event("attention/settled", attentionId=question["id"])


async def result(ear: Ear) -> str:
    told = await ear.until(
        lambda e: e["type"] == "message/added" and e["message"]["kind"] == "toolResult"
    )
    return json.dumps(told["message"]["content"])


@pytest.mark.usefixtures("hooks")
async def test_questions_and_plans_are_answered_there(
    keeper: Keeper, ear: Ear, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    await terminal.say("ask: Which colour? red | blue")
    question = await raised(ear)
    session = question["sessionId"]
    await terminal.shows("1. red")
    await terminal.confirm("1. red")
    assert (await settled(ear, question))["by"] == "terminal"
    assert "red" in await result(ear)
    await updated(ear, session, state="idle", attention=0)
    # Esc: neither allowed nor answered
    await terminal.say("run: touch no.txt")
    question = await raised(ear)
    await terminal.shows(PROMPT)
    await terminal.leave(PROMPT)
    assert (await settled(ear, question))["decision"] != "allow"
    late = await keeper.post("/resolve", {"attentionId": question["id"], "decision": "allow"}, 409)
    assert late["error"]["code"] == "attention_gone"
    await updated(ear, session, state="idle", attention=0)
    assert not (keeper.workdir / "no.txt").exists()
    await terminal.switch_to("plan mode")
    await terminal.say("plan: build the shed")
    question = await raised(ear)
    assert question["kind"] == "plan"
    await terminal.shows("Exit plan mode?")
    await terminal.confirm("Exit plan mode?")
    assert (await settled(ear, question))["by"] == "terminal"
    await updated(ear, session, attention=0)


@pytest.mark.usefixtures("hooks")
async def test_questions_answered_in_a_race_have_one_answer(
    keeper: Keeper, ear: Ear, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    for _ in range(2):
        await terminal.say("ask: Which colour? red | blue")
        question = await raised(ear)
        await terminal.shows("1. red")
        # the first there, the second here
        answers = {"Which colour?": "blue"}
        wish = {"attentionId": question["id"], "decision": "allow", "answers": answers}
        _, answer = await asyncio.gather(
            terminal.confirm("1. red"), keeper.client.post("/resolve", json=wish)
        )
        assert answer.status in (200, 409)
        chosen = await result(ear)
        assert ('=\\"red' in chosen) != ('=\\"blue' in chosen), chosen
        if answer.status == 409:
            assert "blue" not in chosen
        await updated(ear, question["sessionId"], state="idle", attention=0)
        assert (await keeper.get("/attention"))["attention"] == []


@pytest.mark.usefixtures("hooks")
async def test_a_plan_answered_in_a_race_has_one_answer(
    keeper: Keeper, ear: Ear, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    # seconds: who is first, and whether the other can know, is for them to find out
    for head_start in (0.0, 0.2, 0.4):
        await terminal.switch_to("plan mode on")
        await terminal.say("plan: build the shed")
        question = await raised(ear)
        await terminal.shows("Exit plan mode?")
        # approved there, sent back here
        wish = {"attentionId": question["id"], "decision": "deny", "message": "with a roof"}
        there = asyncio.ensure_future(terminal.confirm("Exit plan mode?"))
        await asyncio.wait({there}, timeout=head_start)
        answer = await keeper.client.post("/resolve", json=wish)
        await there
        assert answer.status in (200, 409)
        await settled(ear, question)
        told = await result(ear)
        approved = "with a roof" not in told
        assert approved == ("approved" in told), told
        last = ear.of("attention/settled", question["sessionId"])[-1]
        if approved and last["by"] != "terminal":
            # our answer came too late and nobody could know: it is put right
            last = await settled(ear, question)
        # one who no longer waits was answered there, before it is known how
        assert last["decision"] in (("allow", "withdrawn") if approved else ("deny",))
        assert approved or answer.status == 200
        await updated(ear, question["sessionId"], state="idle", attention=0)
        assert (await keeper.get("/attention"))["attention"] == []


@pytest.mark.usefixtures("hooks")
async def test_a_terminal_killed_or_left_with_a_question_open_takes_it_along(
    keeper: Keeper, ear: Ear, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    await terminal.say("run: touch never.txt")
    question = await raised(ear)
    await terminal.shows(PROMPT)
    os.kill((await only_presence())["pid"], signal.SIGKILL)
    assert (await settled(ear, question))["decision"] == "withdrawn"
    await updated(ear, question["sessionId"], origin=None, state="idle", attention=0)
    await keeper.post("/resolve", {"attentionId": question["id"], "decision": "allow"}, 409)
    assert not (keeper.workdir / "never.txt").exists()


@pytest.mark.usefixtures("hooks")
async def test_what_a_terminal_tells_of_itself_is_heard_and_what_the_keeper_runs_asks_once(
    keeper: Keeper, ear: Ear, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    session = (await only_presence())["sessionId"]
    await terminal.say("say: hello")
    for event in ("SessionStart", "Stop"):
        await ear.event("session/notified", session, event=event)
    # nobody says anything more for a while
    idle = await ear.event("session/notified", session, event="Notification")
    assert idle["text"] == "Claude is waiting for your input"
    await terminal.say("/exit")
    await ear.event("session/notified", session, event="SessionEnd")
    # the same hooks are in the settings of a session that the keeper runs
    own = (await keeper.send("run: touch mine.txt"))["sessionId"]
    question = await raised(ear)
    assert (question["sessionId"], question["origin"]) == (own, "gateway")
    await keeper.resolve(question)
    await ear.finished(own, outcome="done")
    assert len(ear.of("attention/raised", own)) == 1
    assert ear.of("session/notified", own) == []


async def test_a_session_of_the_keeper_is_resumed_by_its_id(
    keeper: Keeper, ear: Ear, terminals: OpenTerminal
) -> None:
    session = await keeper.begin("say: from here", ear)
    terminal = await terminals()
    await terminal.say("say: another one")
    other = str((await ear.event("message/added"))["sessionId"])
    await updated(ear, other, origin="terminal", state="idle")
    await terminal.say(f"/resume {session}")
    # the keeper's own CLI makes way, and the one before is nobody's
    await updated(ear, session, origin="terminal")
    await updated(ear, other, origin=None)
    while (await keeper.get("/health"))["live"]:
        pass
    await keeper.post("/send", {"sessionId": session, "text": "say: no"}, 409)
    watcher = await Watcher.of(keeper, session)
    await terminal.say("say: goes on")
    await watcher.sees(lambda: "goes on" in [text_of(m) for m in watcher.messages])
    assert watcher.uuids == uuids(await keeper.history(session))


async def test_a_keeper_that_stands_still_keeps_no_terminal_waiting(
    home: DemoHome,  # noqa: F811
    tmux: Tmux,  # noqa: F811
    scripted_api: ScriptedApi,  # noqa: F811
) -> None:
    work = home.project("scratch")
    load_config(home.keeper)
    Settings(home.config, home.keeper).install()
    environment = set_up(work, home.environment(scripted_api.url))
    with Program(home, "--no-ui", api_url=scripted_api.url) as keeper:
        terminal = await Terminal(tmux, work, environment).start()
        os.kill(keeper.pid, signal.SIGSTOP)
        try:
            await terminal.say("run: touch a.txt")
            await terminal.shows(PROMPT)
            assert not (work / "a.txt").exists()
            await terminal.confirm(PROMPT)
            await until(lambda: (work / "a.txt").exists())
        finally:
            os.kill(keeper.pid, signal.SIGCONT)
        # what was answered before it heard of it, it does not keep asking
        async with visiting(keeper) as visitor:
            ear = await visitor.listen()
            await terminal.say("run: touch b.txt")
            question = await ear.until(
                lambda e: (
                    e["type"] == "attention/raised"
                    and e["attention"]["input"]["command"] == "touch b.txt"
                )
            )
            while [each["id"] for each in (await visitor.get("/attention"))["attention"]] != [
                question["attention"]["id"]
            ]:
                pass
