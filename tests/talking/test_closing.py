"""Closing: what runs ends, whatever it is doing; the history stays."""

from __future__ import annotations

from tests.talking.keeper import Ear, Keeper


async def test_closing_in_mid_reply_ends_the_turn_as_interrupted(keeper: Keeper, ear: Ear) -> None:
    session = (await keeper.send("slow: 600"))["sessionId"]
    await ear.event("message/delta", session)
    await keeper.post(f"/sessions/{session}/close", status=202)
    await ear.finished(session, outcome="interrupted")
    page = await keeper.get(f"/sessions/{session}")
    assert page["session"]["state"] == "idle"
    assert page["session"]["origin"] is None
    assert (await keeper.get("/health"))["live"] == 0
    # its transcript speaks for it from now on
    assert not ear.of("session/removed", session)


async def test_closing_with_an_open_question_takes_it_back(keeper: Keeper, ear: Ear) -> None:
    session = (await keeper.send("run: touch b.txt"))["sessionId"]
    asked = (await ear.event("attention/raised", session))["attention"]
    await keeper.post(f"/sessions/{session}/close", status=202)
    await ear.event("attention/settled", session, attentionId=asked["id"], decision="withdrawn")
    assert (await keeper.get("/attention"))["attention"] == []
    assert not (keeper.workdir / "b.txt").exists()
