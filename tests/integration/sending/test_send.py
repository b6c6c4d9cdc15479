"""Sending: new, continued, resumed; one identity from the first moment to the transcript."""

from __future__ import annotations

from tests.integration.conftest import StartKeeper
from tests.support.keeper_in_process import (
    InProcessKeeper,
    SocketListener,
    new_uuid,
    text_of,
    uuids,
)


async def test_a_new_session_is_there_before_its_file(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    uuid = new_uuid()
    answer = await keeper.send("say: hello", uuid=uuid)
    assert answer["uuid"] == uuid
    assert answer["state"] == "starting"
    session = answer["sessionId"]
    page = await keeper.get(f"/sessions/{session}")
    assert page["session"]["state"] == "starting"
    assert page["session"]["workdir"] == str(keeper.workdir)
    await listener.wait_for_turn_end(session, outcome="done", uuid=uuid)
    states = [event["session"]["state"] for event in listener.events_of("session/updated", session)]
    assert states.index("starting") < states.index("running")


async def test_told_and_written_are_one_conversation(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    uuid = new_uuid()
    session = (await keeper.send("run: touch a.txt", uuid=uuid))["sessionId"]
    question = await listener.wait_for_event("attention/raised", session)
    await keeper.post("/resolve", {"attentionId": question["attention"]["id"], "decision": "allow"})
    await listener.wait_for_turn_end(session, outcome="done")
    published = listener.messages(session)
    assert uuids(published) == uuids(await keeper.history(session))
    assert published[0]["uuid"] == uuid
    assert [message["kind"] for message in published] == ["prompt", "reply", "toolResult", "reply"]
    assert (keeper.workdir / "a.txt").exists()


async def test_a_warm_session_goes_on_in_the_same_process(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("say: one"))["sessionId"]
    await listener.wait_for_turn_end(session)
    pid = keeper.pid_of(session)
    await keeper.send("say: two", session)
    await listener.wait_for_turn_end(session)
    assert keeper.pid_of(session) == pid
    assert uuids(listener.messages(session)) == uuids(await keeper.history(session))


async def test_a_session_is_resumed_after_a_restart(start_keeper: StartKeeper) -> None:
    first = await start_keeper()
    listener = await first.listen()
    session = (await first.send("say: one"))["sessionId"]
    await listener.wait_for_turn_end(session)
    await first.stop()
    second = await start_keeper()
    listener = await second.listen()
    await second.send("say: two", session)
    await listener.wait_for_turn_end(session, outcome="done")
    history = await second.history(session)
    assert [text_of(message) for message in history] == ["say: one", "one", "say: two", "two"]
