"""Model and mode that somebody chose hold until somebody chooses otherwise."""

from __future__ import annotations

from claudekeeper.core.limits import Limits
from tests.integration.conftest import StartKeeper


async def test_model_and_mode_survive_a_restart(start_keeper: StartKeeper) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = await keeper.start_session("say: one", listener, model="claude-sonnet-4-5")
    await keeper.post(f"/sessions/{session}/mode", {"permissionMode": "acceptEdits"})
    await keeper.stop()
    keeper = await start_keeper()
    listener = await keeper.listen()
    session_row = (await keeper.get(f"/sessions/{session}"))["session"]
    assert (session_row["model"], session_row["permissionMode"]) == (
        "claude-sonnet-4-5",
        "acceptEdits",
    )
    # chosen while nothing runs: shown at once, and what the next turn has
    changed = await keeper.post(f"/sessions/{session}/mode", {"model": "claude-haiku-4-5"})
    assert changed["model"] == "claude-haiku-4-5"
    await keeper.stop()
    keeper = await start_keeper(Limits(idle_seconds=0.05))
    listener = await keeper.listen()
    await keeper.send("write: a.txt: 1", session)
    await listener.wait_for_turn_end(session, outcome="done")
    assert (keeper.workdir / "a.txt").exists()
    assert not listener.events_of("attention/raised", session)
    replies = [each["model"] for each in await keeper.history(session) if each["model"]]
    assert (replies[0], replies[-1]) == ("claude-sonnet-4-5", "claude-haiku-4-5")


async def test_a_mode_that_an_approved_plan_set_survives_too(start_keeper: StartKeeper) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = (await keeper.send("plan: one step", permissionMode="plan"))["sessionId"]
    await keeper.resolve(await listener.wait_for_question(session))
    await listener.wait_for_turn_end(session, outcome="done")
    mode = (await keeper.get(f"/sessions/{session}"))["session"]["permissionMode"]
    assert mode != "plan"
    await keeper.stop()
    keeper = await start_keeper()
    session_row = (await keeper.get(f"/sessions/{session}"))["session"]
    assert session_row["permissionMode"] == mode
