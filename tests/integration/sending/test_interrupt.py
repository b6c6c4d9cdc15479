"""Interruptions at every moment: the turn ends, the session goes on in the same process."""

from __future__ import annotations

import asyncio
import json

from tests.support.conversation_follower import HistoryFollower
from tests.support.keeper_in_process import InProcessKeeper, SocketListener, text_of, uuids
from tests.support.waiting import wait_until


async def go_on(
    keeper: InProcessKeeper, listener: SocketListener, session: str, pid: int | None = None
) -> None:
    """The session takes the next message, and nothing of the last turn is left behind."""
    assert (await keeper.get("/attention"))["attention"] == []
    page = await keeper.get(f"/sessions/{session}")
    assert (page["session"]["state"], page["partial"], page["turn"]) == ("idle", None, None)
    assert not await keeper.interrupt(session)
    await keeper.send("say: I go on", session)
    await listener.wait_for_turn_end(session, outcome="done")
    assert pid in (None, keeper.pid_of(session))
    history = await keeper.history(session)
    assert text_of(history[-1]) == "I go on"
    assert uuids(listener.messages(session)) == uuids(history)


async def test_while_it_starts(keeper: InProcessKeeper, listener: SocketListener) -> None:
    session = (await keeper.send("slow: 60"))["sessionId"]
    assert await keeper.interrupt(session)
    await listener.wait_for_turn_end(session, outcome="interrupted")
    await go_on(keeper, listener, session)


async def test_while_a_hook_holds_the_prompt_back(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    """The CLI has the prompt and does not work on it yet."""
    hook = {"type": "command", "command": "if mv hold held; then sleep 60; fi"}
    settings = keeper.workdir / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}))
    (keeper.workdir / "hold").touch()
    session = (await keeper.send("say: one"))["sessionId"]
    await wait_until((keeper.workdir / "held").exists)
    pid = keeper.pid_of(session)
    follower = HistoryFollower(keeper, session)
    await follower.connect()
    assert await keeper.interrupt(session)
    await listener.wait_for_turn_end(session, outcome="interrupted")
    await keeper.send("say: I go on", session)
    await listener.wait_for_turn_end(session, outcome="done")
    assert keeper.pid_of(session) == pid
    await follower.catch_up()
    history = await keeper.history(session)
    assert uuids(follower.messages) == uuids(history)
    assert [text_of(history[0]), text_of(history[-1])] == ["say: one", "I go on"]


async def test_in_mid_sentence_and_twice_at_once(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("slow: 60"))["sessionId"]
    await listener.wait_for_event("message/delta", session)
    pid = keeper.pid_of(session)
    assert all(await asyncio.gather(*(keeper.interrupt(session) for _ in range(3))))
    await listener.wait_for_turn_end(session, outcome="interrupted")
    assert [message["kind"] for message in listener.messages(session)][-1] == "interruption"
    await go_on(keeper, listener, session, pid)
    assert len(listener.events_of("turn/finished", session)) == 2


async def test_during_a_tool_and_during_a_question(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("run: touch begun; sleep 60"))["sessionId"]
    question = await listener.wait_for_question(session)
    pid = keeper.pid_of(session)
    assert await keeper.interrupt(session)
    settled = await listener.wait_for_event("attention/settled", session)
    assert (settled["attentionId"], settled["decision"]) == (question["id"], "withdrawn")
    await listener.wait_for_turn_end(session, outcome="interrupted")
    late = await keeper.resolve(question, status=409)
    assert late["error"]["code"] == "attention_gone"
    assert not (keeper.workdir / "begun").exists()
    await go_on(keeper, listener, session, pid)
    await keeper.send("run: touch begun; sleep 60", session)
    await keeper.resolve(await listener.wait_for_question(session))
    await wait_until((keeper.workdir / "begun").exists)
    assert await keeper.interrupt(session)
    await listener.wait_for_turn_end(session, outcome="interrupted")
    await go_on(keeper, listener, session, pid)


async def test_during_a_question_of_a_subagent(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("agent: run: touch deep"))["sessionId"]
    await listener.wait_for_question(session)
    pid = keeper.pid_of(session)
    assert await keeper.interrupt(session)
    await listener.wait_for_event("attention/settled", session, decision="withdrawn")
    await listener.wait_for_turn_end(session, outcome="interrupted")
    await go_on(keeper, listener, session, pid)


async def test_during_a_retry(keeper: InProcessKeeper, listener: SocketListener) -> None:
    session = (await keeper.send("error: 529"))["sessionId"]
    status = await listener.wait_for_event("turn/status", session, status="retrying")
    assert status["attempt"] == 1
    page = await keeper.get(f"/sessions/{session}")
    assert page["turn"]["status"]["status"] == "retrying"
    pid = keeper.pid_of(session)
    assert await keeper.interrupt(session)
    await listener.wait_for_turn_end(session, outcome="interrupted")
    await go_on(keeper, listener, session, pid)


async def test_during_a_compaction(keeper: InProcessKeeper, listener: SocketListener) -> None:
    session = await keeper.start_session("say: one", listener)
    pid = keeper.pid_of(session)
    await keeper.send("/compact slow: 60", session)
    await listener.wait_for_event("turn/status", session, status="compacting")
    assert await keeper.interrupt(session)
    finished = await listener.wait_for_turn_end(session)
    assert finished["outcome"] in ("interrupted", "done")
    await go_on(keeper, listener, session, pid)


async def test_between_turns_nothing_runs(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = await keeper.start_session("say: one", listener)
    assert not await keeper.interrupt(session)
    await keeper.close_session(session)
    assert not await keeper.interrupt(session)
    assert len(listener.events_of("turn/finished", session)) == 1
