"""A plan is shown before it is approved, and carried out after it."""

from __future__ import annotations

from tests.integration.conftest import StartKeeper
from tests.support.keeper_in_process import InProcessKeeper, SocketListener


async def test_a_plan_can_be_read_where_it_is_asked_about(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    words = "plan: look around; write it down\nwrite: done.txt: as planned"
    session = (await keeper.send(words, permissionMode="plan"))["sessionId"]
    question = (await listener.wait_for_event("attention/raised", session))["attention"]
    assert question["kind"] == "plan"
    assert "1. look around\n2. write it down" in question["input"]["plan"]
    assert (await keeper.get("/attention"))["attention"][0]["input"] == question["input"]
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    answer = {"attentionId": question["id"], "decision": "allow", "updatedPermissions": [mode]}
    await keeper.post("/resolve", answer)
    await listener.wait_for_turn_end(session, outcome="done")
    assert (keeper.workdir / "done.txt").read_text() == "as planned"


async def test_edits_that_an_approval_allowed_stay_allowed(
    start_keeper: StartKeeper,
) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = (await keeper.send("plan: write it down", permissionMode="plan"))["sessionId"]
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    await keeper.resolve(await listener.wait_for_question(session), updatedPermissions=[mode])
    await listener.wait_for_turn_end(session, outcome="done")
    await keeper.send("write: one.txt: 1", session)
    await listener.wait_for_turn_end(session, outcome="done")
    await keeper.stop()
    keeper = await start_keeper()
    later = await keeper.listen()
    await keeper.send("write: two.txt: 2", session)
    await later.wait_for_turn_end(session, outcome="done")
    assert (keeper.workdir / "two.txt").exists()
    assert len(listener.events_of("attention/raised")) == 1
    assert later.events_of("attention/raised") == []
