"""Slash commands, models, modes, images: what is told is what is written, in its order."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from claudekeeper.demo.messages_api import ScriptedApi
from claudekeeper.demo.sample_image import phone_screenshot
from tests.support.keeper_in_process import (
    InProcessKeeper,
    SocketListener,
    new_uuid,
    text_of,
    uuids,
)


async def same(keeper: InProcessKeeper, listener: SocketListener, session: str) -> list[Any]:
    """What was told is the history, message by message."""
    published, history = listener.messages(session), await keeper.history(session)
    assert [(each["uuid"], each["kind"]) for each in published] == [
        (each["uuid"], each["kind"]) for each in history
    ]
    for live, stored in zip(published, history, strict=True):
        assert live["content"] == stored["content"]
        assert live["role"] == stored["role"]
    return history


async def test_commands_of_every_sort(keeper: InProcessKeeper, listener: SocketListener) -> None:
    commands = keeper.workdir / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "greet.md").write_text("---\ndescription: Says hello\n---\nsay: hello $ARGUMENTS\n")
    session = await keeper.start_session("say: one", listener)
    pid = keeper.pid_of(session)
    for text in ("/cost", "/context", "/greet world", "/nonsense", "/compact", "say: after"):
        uuid = (await keeper.send(text, session))["uuid"]
        finished = await listener.wait_for_turn_end(session, uuid=uuid)
        assert finished["outcome"] == "done", text
        history = await same(keeper, listener, session)
        assert uuid in uuids(history), text
    kinds = [message["kind"] for message in history]
    assert "compaction" in kinds
    # one that there is only in terminals is written down under another uuid, and once
    await keeper.send("/help", session)
    await listener.wait_for_turn_end(session, outcome="done")
    assert [text_of(each) for each in await same(keeper, listener, session)].count("/help") == 1
    assert "hello world" in [text_of(message) for message in history]
    assert keeper.pid_of(session) == pid
    statuses = [event["status"] for event in listener.events_of("turn/status", session)]
    assert statuses.index("compacting") < statuses.index("working")
    offer = await keeper.get(f"/sessions/{session}/commands")
    assert ("greet", "Says hello") in [
        (each["name"], each["description"].removesuffix(" (project)")) for each in offer["commands"]
    ]
    assert offer["models"]
    assert "plan" in offer["modes"]


async def test_commands_that_would_leave_the_session_are_refused(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = await keeper.start_session("say: one", listener)
    for text, instead in (
        ("/clear", "Begin one in the same directory"),
        (" /clear ", "Begin one in the same directory"),
        ("/new", "this one stays as it is"),
        ("/exit now", "ends by itself"),
        ("/Resume", "Open that one"),
    ):
        failure = await keeper.post("/send", {"sessionId": session, "text": text}, 400)
        assert failure["error"]["code"] == "command_refused"
        assert failure["error"]["message"].startswith(text.split()[0])
        assert instead in failure["error"]["message"]
    assert len(await same(keeper, listener, session)) == 2


async def test_model_and_mode_before_between_and_during_turns(
    keeper: InProcessKeeper, listener: SocketListener, scripted_api: ScriptedApi
) -> None:
    session = await keeper.start_session("say: one", listener, model="claude-sonnet-4-5")
    pid = keeper.pid_of(session)
    mode = f"/sessions/{session}/mode"
    answer = await keeper.post(mode, {"model": "claude-haiku-4-5", "permissionMode": "acceptEdits"})
    assert (answer["model"], answer["permissionMode"]) == ("claude-haiku-4-5", "acceptEdits")
    await keeper.send("write: a.txt: 1", session)
    await listener.wait_for_turn_end(session, outcome="done")
    assert (keeper.workdir / "a.txt").exists()
    await same(keeper, listener, session)
    # in mid-turn: what is asked after it is asked in the new way
    await keeper.send("run: touch gate\nwrite: b.txt: 1", session, permissionMode="default")
    question = await listener.wait_for_question(session)
    await keeper.post(mode, {"permissionMode": "acceptEdits", "model": "claude-opus-4-5"})
    await keeper.resolve(question)
    await listener.wait_for_turn_end(session, outcome="done")
    assert (keeper.workdir / "b.txt").exists()
    assert len(listener.events_of("attention/raised", session)) == 1
    await keeper.send("say: last", session)
    await listener.wait_for_turn_end(session, outcome="done")
    history = await same(keeper, listener, session)
    replies = [message["model"] for message in history if message["kind"] == "reply"]
    assert replies[0] == "claude-sonnet-4-5"
    assert replies[1] == "claude-haiku-4-5"
    assert replies[-1] == "claude-opus-4-5"
    assert keeper.pid_of(session) == pid
    # while it starts: the first turn is asked in the new way already
    session = (await keeper.send("write: c.txt: 1"))["sessionId"]
    await keeper.post(f"/sessions/{session}/mode", {"permissionMode": "acceptEdits"})
    await listener.wait_for_turn_end(session, outcome="done")
    assert not listener.events_of("attention/raised", session)


async def test_bypassing_permissions_takes_another_process(
    keeper: InProcessKeeper, listener: SocketListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    # else Claude Code refuses it to root
    monkeypatch.setenv("IS_SANDBOX", "1")
    session = await keeper.start_session("say: one", listener)
    pid = keeper.pid_of(session)
    await keeper.send("run: touch a", session, permissionMode="bypassPermissions")
    await listener.wait_for_turn_end(session, outcome="done")
    assert (keeper.workdir / "a").exists()
    assert keeper.pid_of(session) != pid
    assert not listener.events_of("attention/raised", session)
    await keeper.post(f"/sessions/{session}/mode", {"permissionMode": "default"})
    await keeper.send("run: touch b", session)
    await keeper.resolve(await listener.wait_for_question(session))
    await listener.wait_for_turn_end(session, outcome="done")
    await same(keeper, listener, session)


async def test_bypassing_permissions_as_root_is_refused(
    keeper: InProcessKeeper, listener: SocketListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    session = await keeper.start_session("say: one", listener)
    mode = {"permissionMode": "bypassPermissions"}
    message = {"text": "say: x", **mode}
    for failure in (
        await keeper.post("/send", {"sessionId": session, **message}, 409),
        await keeper.post("/send", {"workdir": str(keeper.workdir), **message}, 409),
        await keeper.post(f"/sessions/{session}/mode", mode, 409),
    ):
        assert failure["error"]["code"] == "mode_refused"
    assert len((await keeper.get("/sessions"))["sessions"]) == 1
    await keeper.send("say: two", session)
    await listener.wait_for_turn_end(session, outcome="done")


async def test_an_image_is_seen(keeper: InProcessKeeper, listener: SocketListener) -> None:
    data = base64.b64encode(phone_screenshot()).decode()
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": data},
    }
    text = {"type": "text", "text": "look"}
    uuid = new_uuid()
    body = {"workdir": str(keeper.workdir), "content": [text, picture], "uuid": uuid}
    session = (await keeper.post("/send", body, 202))["sessionId"]
    await listener.wait_for_turn_end(session, outcome="done")
    history = await same(keeper, listener, session)
    assert history[0]["uuid"] == uuid
    assert history[0]["content"][1]["source"]["data"] == data
    assert "180×320" in text_of(history[-1])


async def test_a_background_agent_reports_later(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    # it may ask before the turn that began it is over
    other = await keeper.listen()
    session = await keeper.start_session("agent later: run: touch late", listener)
    question = await other.wait_for_question(session)
    assert question["agentId"]
    assert await keeper.state_of(session) == "waiting"
    # the conversation goes on meanwhile
    await keeper.send("say: meanwhile", session)
    await listener.wait_for_turn_end(session, outcome="done")
    assert (await keeper.get("/attention"))["attention"] == [question]
    await keeper.resolve(question)
    await listener.wait_for_event("turn/status", session, status="taskEnded")
    await listener.wait_for_event("turn/started", session, uuid=None)
    await listener.wait_for_turn_end(session, outcome="done", uuid=None)
    assert (keeper.workdir / "late").exists()
    await same(keeper, listener, session)
    assert await keeper.state_of(session) == "idle"


async def test_a_fork_whole_and_at_a_message(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    chosen = {"model": "claude-haiku-4-5", "permissionMode": "acceptEdits"}
    session = await keeper.start_session("say: one", listener, **chosen)
    await keeper.send("say: two", session)
    await listener.wait_for_turn_end(session)
    history = await keeper.history(session)
    whole = await keeper.post(f"/sessions/{session}/fork", {}, 201)
    part = await keeper.post(f"/sessions/{session}/fork", {"at": history[1]["uuid"]}, 201)
    words = [text_of(message) for message in history]
    assert [text_of(each) for each in await keeper.history(whole["id"])] == words
    assert [text_of(each) for each in await keeper.history(part["id"])] == words[:2]
    await keeper.post(f"/sessions/{session}/fork", {"at": new_uuid()}, 404)
    # a copy of the copy goes on as the original was told to
    copy = await keeper.post(f"/sessions/{part['id']}/fork", {}, 201)
    assert {name: copy[name] for name in chosen} == chosen
    await keeper.send("say: other", copy["id"])
    await listener.wait_for_turn_end(copy["id"], outcome="done")
    forked = await keeper.history(copy["id"])
    assert [text_of(each) for each in forked] == [*words[:2], "say: other", "other"]
    assert forked[-1]["model"] == chosen["model"]
    assert uuids(await keeper.history(session)) == uuids(history)


async def test_forking_in_mid_turn_leaves_the_turn_alone(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = await keeper.start_session("say: one", listener)
    await keeper.send("run: touch a", session)
    question = await listener.wait_for_question(session)
    fork = await keeper.post(f"/sessions/{session}/fork", {}, 201)
    await keeper.send("say: aside", fork["id"])
    await listener.wait_for_turn_end(fork["id"], outcome="done")
    await keeper.resolve(question)
    await listener.wait_for_turn_end(session, outcome="done")
    await same(keeper, listener, session)
