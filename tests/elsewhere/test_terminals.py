"""Claude Code in real terminals, seen and answered from here."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.features.hooks import Settings
from claudekeeper.instance import only_one
from claudekeeper.readers.paths import claude_home, keeper_home
from tests.elsewhere.conftest import OpenTerminal
from tests.elsewhere.people import updated
from tests.elsewhere.terminal import only_presence, presences, without_tmux
from tests.talking.keeper import HOOK_TOKEN, TOKEN, Ear, Keeper, text_of, uuids
from tests.waiting import until

PROMPT = "Do you want to proceed?"
pytestmark = [without_tmux, pytest.mark.timeout(240)]


@pytest.fixture
def hooks(keeper: Keeper) -> Any:
    """The hooks as `claudekeeper hooks install` leaves them, and the keeper where they look."""
    home = keeper_home()
    home.mkdir(exist_ok=True)
    (home / "config.json").write_text(json.dumps({"token": TOKEN, "hookToken": HOOK_TOKEN}))
    Settings(claude_home(), home).install()
    with only_one(home) as instance:
        instance.announce(keeper=str(keeper.client.make_url("/")).rstrip("/"))
        yield


async def session_of(ear: Ear) -> str:
    return str((await ear.event("message/added"))["sessionId"])


async def test_a_terminal_is_followed_until_it_is_killed(
    keeper: Keeper, ear: Ear, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    presence = await only_presence()
    await terminal.say("say: from the terminal")
    session = await session_of(ear)
    assert session == presence["sessionId"]
    await ear.until(lambda event: event["type"] == "message/added" and _reply(event))
    await updated(ear, session, origin="terminal", state="idle")
    refused = await keeper.post("/send", {"sessionId": session, "text": "x"}, 409)
    assert refused["error"]["code"] == "session_elsewhere"
    # /compact tells its mark, /clear goes on as another session
    await terminal.say("/compact")
    await ear.until(lambda event: event["type"] == "message/added" and _kind(event, "compaction"))
    await terminal.shows("Compacted")
    whole = uuids(await keeper.history(session))
    while uuids(ear.messages(session)) != whole:
        await ear.next()
    await terminal.say("/clear")
    await updated(ear, session, origin=None)
    await terminal.say("say: all new")
    other = await session_of(ear)
    assert other != session
    (here,) = presences()
    os.kill(here["pid"], signal.SIGKILL)
    await updated(ear, other, origin=None, state="idle")
    assert Path(os.environ["CLAUDE_CONFIG_DIR"], "sessions", f"{here['pid']}.json").exists()


async def test_one_session_goes_from_here_to_a_terminal_and_back(
    keeper: Keeper, ear: Ear, terminals: OpenTerminal
) -> None:
    session = (await keeper.send("say: here"))["sessionId"]
    await ear.finished(session)
    terminal = await terminals("--resume", session)
    await ear.event("turn/status", session, status="elsewhere")
    await updated(ear, session, origin="terminal")
    await terminal.say("say: there")
    await ear.until(lambda event: event["type"] == "message/added" and _reply(event))
    await updated(ear, session, state="idle")
    await terminal.say("/exit")
    await updated(ear, session, origin=None)
    await keeper.send("say: here again", session)
    await ear.finished(session, outcome="done")
    words = [text_of(message) for message in await keeper.history(session)]
    assert [text for text in words if text.startswith("say")] == [
        "say: here",
        "say: there",
        "say: here again",
    ]


async def test_questions_of_a_terminal_are_answered_here_or_there(
    hooks: None, keeper: Keeper, ear: Ear, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    # here
    await terminal.say("run: touch here.txt")
    question = (await ear.event("attention/raised"))["attention"]
    session = question["sessionId"]
    assert (question["origin"], question["kind"]) == ("terminal", "permission")
    assert question["input"]["command"] == "touch here.txt"
    await terminal.shows(PROMPT)
    await keeper.post("/resolve", {"attentionId": question["id"], "decision": "allow", "by": "me"})
    await terminal.shows_no(PROMPT)
    await until(lambda: (keeper.workdir / "here.txt").exists())
    await updated(ear, session, state="idle", attention=0)
    # there
    await terminal.say("run: touch there.txt")
    question = (await ear.event("attention/raised"))["attention"]
    await terminal.shows(PROMPT)
    await terminal.confirm(PROMPT)
    settled = await ear.event("attention/settled", session, attentionId=question["id"])
    assert settled["by"] == "terminal"
    await until(lambda: (keeper.workdir / "there.txt").exists())
    late = await keeper.post("/resolve", {"attentionId": question["id"], "decision": "deny"}, 409)
    assert late["error"]["code"] == "attention_gone"
    await updated(ear, session, state="idle")
    # a question
    await terminal.say("ask: Which colour? red | blue")
    question = (await ear.event("attention/raised"))["attention"]
    assert question["kind"] == "question"
    answers = {"Which colour?": "blue"}
    wish = {"attentionId": question["id"], "decision": "allow", "answers": answers}
    await terminal.shows("Which colour?")
    await keeper.post("/resolve", wish)
    told = await ear.until(lambda e: e["type"] == "message/added" and _kind(e, "toolResult"))
    assert "blue" in json.dumps(told["message"]["content"])
    await updated(ear, session, state="idle")
    # denied, with a reason that the model reads
    await terminal.say("run: touch never.txt")
    question = (await ear.event("attention/raised"))["attention"]
    wish = {"attentionId": question["id"], "decision": "deny", "message": "not today"}
    await keeper.post("/resolve", wish)
    told = await ear.until(lambda e: e["type"] == "message/added" and _kind(e, "toolResult"))
    assert "not today" in json.dumps(told["message"]["content"])
    assert not (keeper.workdir / "never.txt").exists()
    await updated(ear, session, state="idle")
    # a plan
    await terminal.switch_to("plan mode")
    await terminal.say("plan: build the shed")
    question = (await ear.event("attention/raised"))["attention"]
    assert question["kind"] == "plan"
    await keeper.post("/resolve", {"attentionId": question["id"], "decision": "allow"})
    await ear.until(lambda e: e["type"] == "message/added" and _kind(e, "toolResult"))


async def test_without_a_keeper_the_terminal_asks_as_ever(
    hooks: None, keeper: Keeper, ear: Ear, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    await terminal.say("run: touch a.txt")
    await ear.event("attention/raised")
    await terminal.shows(PROMPT)
    await keeper.stop()
    assert not (keeper.workdir / "a.txt").exists()
    await terminal.shows(PROMPT)
    await terminal.confirm(PROMPT)
    await until(lambda: (keeper.workdir / "a.txt").exists())
    await terminal.shows_no(PROMPT)
    await terminal.say("run: touch b.txt")
    await terminal.shows(PROMPT)
    await terminal.confirm(PROMPT)
    await until(lambda: (keeper.workdir / "b.txt").exists())


def _reply(event: Any) -> bool:
    return _kind(event, "reply")


def _kind(event: Any, kind: str) -> bool:
    return bool(event["message"]["kind"] == kind)
