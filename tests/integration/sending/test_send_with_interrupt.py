"""Stop and say this: one request interrupts the turn that runs, and its message is said next."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from claudekeeper.sessions import interrupt
from tests.integration.sending.test_message_queue import prompts
from tests.support.keeper_in_process import InProcessKeeper, SocketListener, new_uuid, text_of
from tests.support.waiting import wait_until


async def stop_and_say(keeper: InProcessKeeper, text: str, session: str, **more: Any) -> str:
    return str((await keeper.send(text, session, interrupt=True, **more))["uuid"])


async def order(listener: SocketListener, session: str, last: str) -> list[tuple[str, str]]:
    """The turns as they ended, by prompt, until the one of this prompt."""
    await listener.wait_for_turn_end(session, uuid=last)
    return [
        (each["uuid"], each["outcome"]) for each in listener.events_of("turn/finished", session)
    ]


async def test_it_is_said_before_what_waits(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    first = await keeper.send("slow: 60")
    session = first["sessionId"]
    await listener.wait_for_event("message/delta", session)
    waiting = (await keeper.send("say: waited", session))["uuid"]
    uuid = await stop_and_say(keeper, "say: now", session)
    assert await order(listener, session, waiting) == [
        (first["uuid"], "interrupted"),
        (uuid, "done"),
        (waiting, "done"),
    ]
    assert prompts(await keeper.history(session)) == ["slow: 60", "say: now", "say: waited"]


async def test_with_a_question_open(keeper: InProcessKeeper, listener: SocketListener) -> None:
    session = (await keeper.send("run: touch forbidden"))["sessionId"]
    question = await listener.wait_for_question(session)
    pid = keeper.pid_of(session)
    uuid = await stop_and_say(keeper, "say: not that", session)
    settled = await listener.wait_for_event("attention/settled", session)
    assert (settled["attentionId"], settled["decision"]) == (question["id"], "withdrawn")
    await listener.wait_for_turn_end(session, outcome="done", uuid=uuid)
    assert not (keeper.workdir / "forbidden").exists()
    assert keeper.pid_of(session) == pid


async def test_during_a_tool(keeper: InProcessKeeper, listener: SocketListener) -> None:
    session = (await keeper.send("run: touch begun; sleep 60"))["sessionId"]
    await keeper.resolve(await listener.wait_for_question(session))
    await wait_until((keeper.workdir / "begun").exists)
    uuid = await stop_and_say(keeper, "say: enough", session)
    await listener.wait_for_turn_end(session, outcome="done", uuid=uuid)
    assert text_of((await keeper.history(session))[-1]) == "enough"


async def test_while_its_process_starts(keeper: InProcessKeeper, listener: SocketListener) -> None:
    first = await keeper.send("slow: 60")
    uuid = await stop_and_say(keeper, "say: now", first["sessionId"])
    assert await order(listener, first["sessionId"], uuid) == [
        (first["uuid"], "interrupted"),
        (uuid, "done"),
    ]


async def test_where_nothing_runs_it_is_a_message_like_any_other(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = await keeper.start_session("say: one", listener, interrupt=True)
    uuid = await stop_and_say(keeper, "say: two", session)
    await listener.wait_for_turn_end(session, outcome="done", uuid=uuid)
    await keeper.close_session(session)
    uuid = await stop_and_say(keeper, "say: three", session)
    await listener.wait_for_turn_end(session, outcome="done", uuid=uuid)


async def test_the_same_uuid_again_stops_nothing(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("slow: 60"))["sessionId"]
    await listener.wait_for_event("message/delta", session)
    uuid = new_uuid()
    every = [stop_and_say(keeper, "run: touch asked", session, uuid=uuid) for _ in range(3)]
    await asyncio.gather(*every)
    question = await listener.wait_for_question(session)
    # its own turn runs by now
    await stop_and_say(keeper, "run: touch asked", session, uuid=uuid)
    await keeper.resolve(question)
    await listener.wait_for_turn_end(session, outcome="done", uuid=uuid)
    await stop_and_say(keeper, "run: touch asked", session, uuid=uuid)
    assert prompts(await keeper.history(session)) == ["slow: 60", "run: touch asked"]
    assert len(listener.events_of("turn/finished", session)) == 2


async def test_the_same_message_at_once_with_another_model_is_one_message(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    """The CLI is told of the model before the message is taken."""
    session = await keeper.start_session("say: one", listener)
    uuid = new_uuid()
    models = ("claude-sonnet-4-5", "claude-opus-4-5", "claude-haiku-4-5")
    every = [stop_and_say(keeper, "say: two", session, uuid=uuid, model=each) for each in models]
    await asyncio.gather(*every)
    last = (await keeper.send("say: three", session))["uuid"]
    await listener.wait_for_turn_end(session, outcome="done", uuid=last)
    assert prompts(await keeper.history(session)) == ["say: one", "say: two", "say: three"]


async def test_at_any_moment_of_a_turn_it_is_said_once_and_whole(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = await keeper.start_session("say: one", listener)
    expected = ["say: one"]
    for n in range(12):
        await keeper.send(f"say: {n}", session)
        # a little later in each round: from the beginning of the turn past its end
        for _ in range(n):
            await keeper.get(f"/sessions/{session}?limit=1")
        uuid = await stop_and_say(keeper, f"say: instead of {n}", session)
        await listener.wait_for_turn_end(session, outcome="done", uuid=uuid)
        expected += [f"say: {n}", f"say: instead of {n}"]
    assert prompts(await keeper.history(session)) == expected


async def test_the_last_word_counts_where_two_are_said(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    first = await keeper.send("run: touch gate")
    session = first["sessionId"]
    await listener.wait_for_question(session)
    one, two = [await stop_and_say(keeper, f"say: {word}", session) for word in ("one", "two")]
    # the second may have come before the first one's turn, or have stopped it
    await listener.wait_until(lambda: {one, two} <= listener.turn_outcomes(session).keys())
    assert listener.turn_outcomes(session)[first["uuid"]] == "interrupted"
    assert listener.turn_outcomes(session)[two] == "done"


async def test_what_is_held_stays_held(keeper: InProcessKeeper, listener: SocketListener) -> None:
    session = (await keeper.send("run: touch gate"))["sessionId"]
    await listener.wait_for_question(session)
    held = (await keeper.send("say: held", session))["uuid"]
    await keeper.post(f"/sessions/{session}/interrupt", {"hold": True}, 202)
    await keeper.send("slow: 60", session)
    await listener.wait_for_event("message/delta", session)
    uuid = await stop_and_say(keeper, "say: now", session)
    await listener.wait_for_turn_end(session, outcome="done", uuid=uuid)
    queue = (await keeper.get(f"/sessions/{session}"))["queue"]
    assert [(each["uuid"], each["state"]) for each in queue] == [(held, "held")]


async def test_a_turn_that_ignores_it_is_ended_and_the_message_is_said(
    keeper: InProcessKeeper, listener: SocketListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupt, "KILL_SECONDS", 0.0)

    async def deaf(_: object) -> None:
        raise RuntimeError("the CLI does not answer")

    monkeypatch.setattr(interrupt, "_send_interrupt", deaf)
    session = (await keeper.send("slow: 60"))["sessionId"]
    await listener.wait_for_event("message/delta", session)
    uuid = await stop_and_say(keeper, "say: now", session)
    await listener.wait_for_turn_end(session, outcome="interrupted")
    await listener.wait_for_turn_end(session, outcome="done", uuid=uuid)


async def test_it_is_refused_where_a_fork_would_take_the_turn(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = await keeper.start_session("say: one", listener)
    body = {"sessionId": session, "text": "say: two", "interrupt": True, "fork": True}
    refused = await keeper.post("/send", body, 400)
    assert "interrupt" in refused["error"]["message"]


async def test_it_is_refused_where_routing_would_choose_the_session(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    await keeper.start_session("say: one", listener)
    workdir = str(keeper.workdir)
    body = {"workdir": workdir, "text": "say: two", "interrupt": True, "route": True}
    refused = await keeper.post("/send", body, 400)
    assert "interrupt" in refused["error"]["message"]
