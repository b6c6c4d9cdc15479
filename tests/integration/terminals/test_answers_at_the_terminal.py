"""What a person does at a real terminal while the keeper asks the same question."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from claudekeeper.attention.hook_settings import ClaudeSettingsFile
from claudekeeper.core.config import load_config
from claudekeeper.demo.home import DemoHome
from claudekeeper.demo.messages_api import ScriptedApi
from tests.integration.terminals.conftest import OpenTerminal
from tests.integration.terminals.test_races import home, tmux  # noqa: F401
from tests.integration.terminals.test_terminals import PROMPT, hooks  # noqa: F401
from tests.support.api_visitor import connect_api
from tests.support.keeper_in_process import Event, InProcessKeeper, SocketListener, text_of, uuids
from tests.support.keeper_process import KeeperProcess as Program
from tests.support.terminal import (
    Terminal,
    Tmux,
    needs_tmux,
    prepare_claude_home,
    wait_for_only_presence,
)
from tests.support.transcript_people import SessionWatcher, wait_for_session_update
from tests.support.waiting import wait_for, wait_until

pytestmark = [needs_tmux, pytest.mark.timeout(240)]


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """The process stands still meanwhile."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


async def raised(listener: SocketListener) -> Event:
    return dict((await listener.wait_for_event("attention/raised"))["attention"])


async def settled(listener: SocketListener, question: Event) -> Event:
    return await listener.wait_for_event("attention/settled", attentionId=question["id"])


async def last_settled(listener: SocketListener, question: Event, *, by_terminal: bool) -> Event:
    """How it was settled for good: an answer of ours that came too late is put right, if the
    terminal's own answer was the one that counts."""
    event = listener.events_of("attention/settled", question["sessionId"])[-1]
    if by_terminal and event["by"] != "terminal":
        return await settled(listener, question)
    return event


async def result(listener: SocketListener) -> str:
    event = await listener.wait_for(
        lambda e: e["type"] == "message/added" and e["message"]["kind"] == "toolResult"
    )
    return json.dumps(event["message"]["content"])


@pytest.mark.usefixtures("hooks")
async def test_questions_and_plans_are_answered_there(
    keeper: InProcessKeeper, listener: SocketListener, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    await terminal.type_line("ask: Which colour? red | blue")
    question = await raised(listener)
    session = question["sessionId"]
    await terminal.wait_for_text("1. red")
    await terminal.confirm("1. red")
    assert (await settled(listener, question))["by"] == "terminal"
    assert "red" in await result(listener)
    await wait_for_session_update(listener, session, state="idle", attention=0)
    # Esc: neither allowed nor answered
    await terminal.type_line("run: touch no.txt")
    question = await raised(listener)
    await terminal.wait_for_text(PROMPT)
    await terminal.escape_prompt(PROMPT)
    assert (await settled(listener, question))["decision"] != "allow"
    late = await keeper.post("/resolve", {"attentionId": question["id"], "decision": "allow"}, 409)
    assert late["error"]["code"] == "attention_gone"
    await wait_for_session_update(listener, session, state="idle", attention=0)
    assert not (keeper.workdir / "no.txt").exists()
    await terminal.switch_to_mode("plan mode")
    await terminal.type_line("plan: build the shed")
    question = await raised(listener)
    assert question["kind"] == "plan"
    await terminal.wait_for_text("Exit plan mode?")
    await terminal.confirm("Exit plan mode?")
    assert (await settled(listener, question))["by"] == "terminal"
    await wait_for_session_update(listener, session, attention=0)


@pytest.mark.usefixtures("hooks")
async def test_questions_answered_in_a_race_have_one_answer(
    keeper: InProcessKeeper, listener: SocketListener, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    for _ in range(2):
        await terminal.type_line("ask: Which colour? red | blue")
        question = await raised(listener)
        await terminal.wait_for_text("1. red")
        # the first there, the second here
        answers = {"Which colour?": "blue"}
        body = {"attentionId": question["id"], "decision": "allow", "answers": answers}
        _, answer = await asyncio.gather(
            terminal.confirm("1. red"), keeper.client.post("/resolve", json=body)
        )
        chosen = await result(listener)
        red, blue = '=\\"red' in chosen, '=\\"blue' in chosen
        # an answer that came too late has no effect
        assert (answer.status, red, blue) in {
            (200, True, False),
            (200, False, True),
            (409, True, False),
        }, chosen
        await wait_for_session_update(listener, question["sessionId"], state="idle", attention=0)
        assert (await keeper.get("/attention"))["attention"] == []


@pytest.mark.usefixtures("hooks")
async def test_a_plan_answered_in_a_race_has_one_answer(
    keeper: InProcessKeeper, listener: SocketListener, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    # seconds: who is first, and whether the other can know, is for them to find out
    for head_start in (0.0, 0.2, 0.4):
        await terminal.switch_to_mode("plan mode on")
        await terminal.type_line("plan: build the shed")
        question = await raised(listener)
        await terminal.wait_for_text("Exit plan mode?")
        # approved there, sent back here
        body = {"attentionId": question["id"], "decision": "deny", "message": "with a roof"}
        confirming = asyncio.ensure_future(terminal.confirm("Exit plan mode?"))
        await asyncio.wait({confirming}, timeout=head_start)
        answer = await keeper.client.post("/resolve", json=body)
        await confirming
        await settled(listener, question)
        outcome = await result(listener)
        approved = "approved" in outcome
        assert approved != ("with a roof" in outcome), outcome
        last = await last_settled(listener, question, by_terminal=approved)
        # one who no longer waits was answered there, before it is known how
        assert (answer.status, approved, last["decision"]) in {
            (200, False, "deny"),
            (200, True, "allow"),
            (200, True, "withdrawn"),
            (409, True, "allow"),
            (409, True, "withdrawn"),
        }
        await wait_for_session_update(listener, question["sessionId"], state="idle", attention=0)
        assert (await keeper.get("/attention"))["attention"] == []


@pytest.mark.usefixtures("hooks")
async def test_a_terminal_killed_or_left_with_a_question_open_takes_it_along(
    keeper: InProcessKeeper, listener: SocketListener, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    await terminal.type_line("run: touch never.txt")
    question = await raised(listener)
    await terminal.wait_for_text(PROMPT)
    os.kill((await wait_for_only_presence())["pid"], signal.SIGKILL)
    assert (await settled(listener, question))["decision"] == "withdrawn"
    await wait_for_session_update(
        listener, question["sessionId"], origin=None, state="idle", attention=0
    )
    await keeper.post("/resolve", {"attentionId": question["id"], "decision": "allow"}, 409)
    assert not (keeper.workdir / "never.txt").exists()


@pytest.mark.usefixtures("hooks")
async def test_what_a_terminal_tells_of_itself_is_heard_and_what_the_keeper_runs_asks_once(
    keeper: InProcessKeeper, listener: SocketListener, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    session = (await wait_for_only_presence())["sessionId"]
    await terminal.type_line("say: hello")
    for event in ("SessionStart", "Stop"):
        await listener.wait_for_event("session/notified", session, event=event)
    # nobody says anything more for a while
    idle = await listener.wait_for_event("session/notified", session, event="Notification")
    assert idle["text"] == "Claude is waiting for your input"
    await terminal.type_line("/exit")
    await listener.wait_for_event("session/notified", session, event="SessionEnd")
    # the same hooks are in the settings of a session that the keeper runs
    own = (await keeper.send("run: touch mine.txt"))["sessionId"]
    question = await raised(listener)
    assert (question["sessionId"], question["origin"]) == (own, "gateway")
    await keeper.resolve(question)
    await listener.wait_for_turn_end(own, outcome="done")
    assert len(listener.events_of("attention/raised", own)) == 1
    assert listener.events_of("session/notified", own) == []


async def test_a_session_of_the_keeper_is_resumed_by_its_id(
    keeper: InProcessKeeper, listener: SocketListener, terminals: OpenTerminal
) -> None:
    session = await keeper.start_session("say: from here", listener)
    terminal = await terminals()
    await terminal.type_line("say: another one")
    other = str((await listener.wait_for_event("message/added"))["sessionId"])
    await wait_for_session_update(listener, other, origin="terminal", state="idle")
    await terminal.type_line(f"/resume {session}")
    # the keeper's own CLI makes way, and the one before is nobody's
    await wait_for_session_update(listener, session, origin="terminal")
    await wait_for_session_update(listener, other, origin=None)
    await wait_for(lambda: keeper.get("/health"), lambda health: not health["live"])
    await keeper.post("/send", {"sessionId": session, "text": "say: no"}, 409)
    watcher = await SessionWatcher.open(keeper, session)
    await terminal.type_line("say: goes on")
    await watcher.wait_until(lambda: "goes on" in [text_of(m) for m in watcher.messages])
    assert watcher.uuids == uuids(await keeper.history(session))


async def test_a_keeper_that_stands_still_keeps_no_terminal_waiting(
    home: DemoHome,  # noqa: F811
    tmux: Tmux,  # noqa: F811
    scripted_api: ScriptedApi,
) -> None:
    work = home.project("scratch")
    load_config(home.keeper)
    ClaudeSettingsFile(home.config, home.keeper).install()
    environment = prepare_claude_home(work, home.environment(scripted_api.url))
    with Program(home, "--no-ui", api_url=scripted_api.url) as keeper:
        terminal = await Terminal(tmux, work, environment).start()
        with stopped(keeper.pid):
            await terminal.type_line("run: touch a.txt")
            await terminal.wait_for_text(PROMPT)
            assert not (work / "a.txt").exists()
            await terminal.confirm(PROMPT)
            await wait_until(lambda: (work / "a.txt").exists())
        # what was answered before it heard of it, it does not keep asking
        async with connect_api(keeper) as visitor:
            listener = await visitor.listen()
            await terminal.type_line("run: touch b.txt")
            question = await listener.wait_for(
                lambda e: (
                    e["type"] == "attention/raised"
                    and e["attention"]["input"]["command"] == "touch b.txt"
                )
            )
            await wait_for(
                lambda: visitor.get("/attention"),
                lambda answer: (
                    [each["id"] for each in answer["attention"]] == [question["attention"]["id"]]
                ),
            )
