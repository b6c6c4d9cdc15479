"""Closing: what runs ends, whatever it is doing; the history stays."""

from __future__ import annotations

from tests.support.keeper_in_process import InProcessKeeper, SocketListener


async def test_closing_in_mid_reply_ends_the_turn_as_interrupted(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("slow: 600"))["sessionId"]
    await listener.wait_for_event("message/delta", session)
    await keeper.post(f"/sessions/{session}/close", status=202)
    await listener.wait_for_turn_end(session, outcome="interrupted")
    page = await keeper.get(f"/sessions/{session}")
    assert page["session"]["state"] == "idle"
    assert page["session"]["origin"] is None
    assert (await keeper.get("/health"))["live"] == 0
    # its transcript speaks for it from now on
    assert not listener.events_of("session/removed", session)


async def test_closing_with_an_open_question_takes_it_back(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("run: touch b.txt"))["sessionId"]
    question = (await listener.wait_for_event("attention/raised", session))["attention"]
    await keeper.post(f"/sessions/{session}/close", status=202)
    await listener.wait_for_event(
        "attention/settled", session, attentionId=question["id"], decision="withdrawn"
    )
    assert (await keeper.get("/attention"))["attention"] == []
    assert not (keeper.workdir / "b.txt").exists()
