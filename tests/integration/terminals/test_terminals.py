"""Claude Code in real terminals, seen and answered from here."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.attention.hook_settings import ClaudeSettingsFile
from claudekeeper.cli.instance_lock import hold_instance_lock
from claudekeeper.core.paths import claude_home, keeper_home
from tests.integration.terminals.conftest import OpenTerminal
from tests.support.keeper_in_process import (
    HOOK_TOKEN,
    TOKEN,
    InProcessKeeper,
    SocketListener,
    text_of,
    uuids,
)
from tests.support.terminal import needs_tmux, presence_files, wait_for_only_presence
from tests.support.transcript_people import wait_for_session_update
from tests.support.waiting import wait_until

PROMPT = "Do you want to proceed?"
pytestmark = [needs_tmux, pytest.mark.timeout(240)]


@pytest.fixture
def hooks(keeper: InProcessKeeper) -> Any:
    """The hooks as `claudekeeper hooks install` leaves them, and the keeper where they look."""
    home = keeper_home()
    home.mkdir(exist_ok=True)
    (home / "config.json").write_text(json.dumps({"token": TOKEN, "hookToken": HOOK_TOKEN}))
    ClaudeSettingsFile(claude_home(), home).install()
    with hold_instance_lock(home) as instance:
        instance.announce(keeper=str(keeper.client.make_url("/")).rstrip("/"))
        yield


async def session_of(listener: SocketListener) -> str:
    return str((await listener.wait_for_event("message/added"))["sessionId"])


async def test_a_terminal_is_followed_until_it_is_killed(
    keeper: InProcessKeeper, listener: SocketListener, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    presence = await wait_for_only_presence()
    await terminal.type_line("say: from the terminal")
    session = await session_of(listener)
    assert session == presence["sessionId"]
    await listener.wait_for(lambda event: event["type"] == "message/added" and _reply(event))
    await wait_for_session_update(listener, session, origin="terminal", state="idle")
    refused = await keeper.post("/send", {"sessionId": session, "text": "x"}, 409)
    assert refused["error"]["code"] == "session_elsewhere"
    # /compact tells its mark, /clear goes on as another session
    await terminal.type_line("/compact")
    await listener.wait_for(
        lambda event: event["type"] == "message/added" and _kind(event, "compaction")
    )
    await terminal.wait_for_text("Compacted")
    whole = uuids(await keeper.history(session))
    await listener.wait_until(lambda: uuids(listener.messages(session)) == whole)
    await terminal.type_line("/clear")
    await wait_for_session_update(listener, session, origin=None)
    await terminal.type_line("say: all new")
    other = await session_of(listener)
    assert other != session
    (here,) = presence_files()
    os.kill(here["pid"], signal.SIGKILL)
    await wait_for_session_update(listener, other, origin=None, state="idle")
    assert Path(os.environ["CLAUDE_CONFIG_DIR"], "sessions", f"{here['pid']}.json").exists()


async def test_one_session_goes_from_here_to_a_terminal_and_back(
    keeper: InProcessKeeper, listener: SocketListener, terminals: OpenTerminal
) -> None:
    session = (await keeper.send("say: here"))["sessionId"]
    await listener.wait_for_turn_end(session)
    terminal = await terminals("--resume", session)
    await listener.wait_for_event("turn/status", session, status="elsewhere")
    await wait_for_session_update(listener, session, origin="terminal")
    await terminal.type_line("say: there")
    await listener.wait_for(lambda event: event["type"] == "message/added" and _reply(event))
    await wait_for_session_update(listener, session, state="idle")
    await terminal.type_line("/exit")
    await wait_for_session_update(listener, session, origin=None)
    await keeper.send("say: here again", session)
    await listener.wait_for_turn_end(session, outcome="done")
    words = [text_of(message) for message in await keeper.history(session)]
    assert [text for text in words if text.startswith("say")] == [
        "say: here",
        "say: there",
        "say: here again",
    ]


async def test_questions_of_a_terminal_are_answered_here_or_there(
    hooks: None, keeper: InProcessKeeper, listener: SocketListener, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    # here
    await terminal.type_line("run: touch here.txt")
    question = (await listener.wait_for_event("attention/raised"))["attention"]
    session = question["sessionId"]
    assert (question["origin"], question["kind"]) == ("terminal", "permission")
    assert question["input"]["command"] == "touch here.txt"
    await terminal.wait_for_text(PROMPT)
    await keeper.post("/resolve", {"attentionId": question["id"], "decision": "allow", "by": "me"})
    await terminal.wait_until_gone(PROMPT)
    await wait_until(lambda: (keeper.workdir / "here.txt").exists())
    await wait_for_session_update(listener, session, state="idle", attention=0)
    # there
    await terminal.type_line("run: touch there.txt")
    question = (await listener.wait_for_event("attention/raised"))["attention"]
    await terminal.wait_for_text(PROMPT)
    await terminal.confirm(PROMPT)
    settled = await listener.wait_for_event(
        "attention/settled", session, attentionId=question["id"]
    )
    assert settled["by"] == "terminal"
    await wait_until(lambda: (keeper.workdir / "there.txt").exists())
    late = await keeper.post("/resolve", {"attentionId": question["id"], "decision": "deny"}, 409)
    assert late["error"]["code"] == "attention_gone"
    await wait_for_session_update(listener, session, state="idle")
    # a question
    await terminal.type_line("ask: Which colour? red | blue")
    question = (await listener.wait_for_event("attention/raised"))["attention"]
    assert question["kind"] == "question"
    answers = {"Which colour?": "blue"}
    body = {"attentionId": question["id"], "decision": "allow", "answers": answers}
    await terminal.wait_for_text("Which colour?")
    await keeper.post("/resolve", body)
    event = await listener.wait_for(
        lambda e: e["type"] == "message/added" and _kind(e, "toolResult")
    )
    assert "blue" in json.dumps(event["message"]["content"])
    await wait_for_session_update(listener, session, state="idle")
    # denied, with a reason that the model reads
    await terminal.type_line("run: touch never.txt")
    question = (await listener.wait_for_event("attention/raised"))["attention"]
    body = {"attentionId": question["id"], "decision": "deny", "message": "not today"}
    await keeper.post("/resolve", body)
    event = await listener.wait_for(
        lambda e: e["type"] == "message/added" and _kind(e, "toolResult")
    )
    assert "not today" in json.dumps(event["message"]["content"])
    assert not (keeper.workdir / "never.txt").exists()
    await wait_for_session_update(listener, session, state="idle")
    # a plan
    await terminal.switch_to_mode("plan mode")
    await terminal.type_line("plan: build the shed")
    question = (await listener.wait_for_event("attention/raised"))["attention"]
    assert question["kind"] == "plan"
    await keeper.post("/resolve", {"attentionId": question["id"], "decision": "allow"})
    await listener.wait_for(lambda e: e["type"] == "message/added" and _kind(e, "toolResult"))


async def test_without_a_keeper_the_terminal_asks_as_ever(
    hooks: None, keeper: InProcessKeeper, listener: SocketListener, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    await terminal.type_line("run: touch a.txt")
    await listener.wait_for_event("attention/raised")
    await terminal.wait_for_text(PROMPT)
    await keeper.stop()
    assert not (keeper.workdir / "a.txt").exists()
    await terminal.wait_for_text(PROMPT)
    await terminal.confirm(PROMPT)
    await wait_until(lambda: (keeper.workdir / "a.txt").exists())
    await terminal.wait_until_gone(PROMPT)
    await terminal.type_line("run: touch b.txt")
    await terminal.wait_for_text(PROMPT)
    await terminal.confirm(PROMPT)
    await wait_until(lambda: (keeper.workdir / "b.txt").exists())


def _reply(event: Any) -> bool:
    return _kind(event, "reply")


def _kind(event: Any, kind: str) -> bool:
    return bool(event["message"]["kind"] == kind)
