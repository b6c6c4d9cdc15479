"""Ceilings of items: on reaching one a person is asked, and until then nothing goes on."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any

import pytest

from claudekeeper.contract.ceilings import Ceilings
from claudekeeper.contract.conversations import ConversationSettings, ProjectSettings
from claudekeeper.server.app_keys import CONVERSATIONS
from tests.integration.conftest import StartKeeper
from tests.support.keeper_in_process import InProcessKeeper, new_uuid
from tests.support.orchestrator import Orchestrator, ShiftedClock, prompts_of

HOUR = 3600.0
pytestmark = pytest.mark.timeout(400)


async def open_question(keeper: InProcessKeeper) -> Any:
    (question,) = (await keeper.get("/attention"))["attention"]
    return question


async def test_turns_are_counted_and_a_person_lets_it_go_on(keeper: InProcessKeeper) -> None:
    listener = await keeper.listen()
    work = Orchestrator(keeper)
    more = {"project": "shop", "ceilings": {"turns": 2}}
    for number in range(2):
        one = await work.dispatch("item", f"say: {number}", **more)
    assert (await keeper.get("/attention"))["attention"] == []
    refused = await work.dispatch("item", "say: too much", 409, project="shop")
    question = await listener.wait_for_question(one["sessionId"])
    assert refused["error"]["code"] == "ceiling_reached"
    assert question["id"] in refused["error"]["message"]
    assert (question["kind"], question["title"]) == (
        "ceiling",
        "“item” (shop) has reached its ceiling",
    )
    assert question["description"] == "It has used 2 of 2 turns. May it go on with 2 turns more?"
    assert question["input"] == {
        "key": "item",
        "project": "shop",
        "used": {"turns": 2},
        "ceilings": {"turns": 2},
        "further": {"turns": 2},
    }
    # one question, however often somebody tries
    await work.dispatch("item", "say: too much", 409, project="shop")
    assert (await open_question(keeper))["id"] == question["id"]
    assert (await work.get("item"))["attentionId"] == question["id"]
    session = (await keeper.get(f"/sessions/{one['sessionId']}?limit=1"))["session"]
    # no turn waits: a person may speak there
    assert (session["state"], session["attention"]) == ("idle", 1)

    await keeper.resolve(question, by="clarvis")
    event = await listener.wait_for_event("conversation/updated", what="allowed")
    assert event["details"] == "2 turns more, allowed by clarvis."
    for number in range(2, 4):
        answer = await work.dispatch("item", f"say: {number}", project="shop")
        assert (answer["how"], answer["sessionId"]) == ("continued", one["sessionId"])
    item = await work.get("item")
    assert item["ceilings"] == {"costUsd": None, "turns": 4, "hours": None}
    assert [each["what"] for each in item["acts"]] == ["ceiling", "allowed"]
    await work.dispatch("item", "say: too much", 409, project="shop")
    prompts = await prompts_of(keeper, one["sessionId"])
    assert prompts == [f"say: {number}" for number in range(4)]


async def test_a_person_says_how_much_further(keeper: InProcessKeeper) -> None:
    work = Orchestrator(keeper)
    await work.dispatch("item", "say: one", ceilings={"turns": 1})
    await work.dispatch("item", "say: two", 409)
    question = await open_question(keeper)
    for odd in ({"turns": 0}, {"turns": "many"}, {"costUsd": 1}, {"tokens": 1}, 5):
        await keeper.resolve(question, 400, updatedInput={"further": odd})
    await keeper.resolve(question, 400, answers={"x": "y"})
    await keeper.resolve(question, updatedInput={"further": {"turns": 3}})
    for number in range(3):
        await work.dispatch("item", f"say: {number}")
    await work.dispatch("item", "say: five", 409)


async def test_an_item_that_is_ended_stays_so(start_keeper: StartKeeper) -> None:
    keeper = await start_keeper()
    work = Orchestrator(keeper)
    uuid = new_uuid()
    await work.dispatch("item", "say: one", ceilings={"turns": 1}, uuid=uuid)
    await work.dispatch("item", "say: two", 409)
    reason = {"decision": "deny", "message": "Enough.", "by": "me"}
    await keeper.resolve(await open_question(keeper), **reason)
    assert (await work.get("item"))["acts"][-1]["details"] == "Ended by me. Enough."
    for _ in range(2):
        refused = await work.dispatch("item", "say: two", 409)
        assert refused["error"]["code"] == "conversation_ended"
        # what was done before can still be asked for
        again = await work.dispatch("item", "say: one", uuid=uuid)
        assert again["ended"]["reply"] == "one"
        assert (await work.get("item"))["state"] == "ended"
        (listed,) = (await keeper.get("/conversations?state=ended"))["conversations"]
        assert listed["key"] == "item"
        assert (await keeper.get("/conversations?state=active"))["conversations"] == []
        await keeper.stop()
        work.keeper = keeper = await start_keeper()
    await keeper.post("/conversations/item/reset", {})
    await work.dispatch("item", "say: two", 409)
    await keeper.request("DELETE", "/conversations/item")
    assert (await work.dispatch("item", "say: anew"))["how"] == "created"


async def test_the_question_is_asked_again_by_the_next_keeper(start_keeper: StartKeeper) -> None:
    keeper = await start_keeper()
    work = Orchestrator(keeper)
    one = await work.dispatch("item", "say: one", ceilings={"turns": 1})
    await work.dispatch("item", "say: two", 409)
    question = await open_question(keeper)
    for _ in range(2):
        await keeper.stop()
        work.keeper = keeper = await start_keeper()
        assert await open_question(keeper) == question
        session = (await keeper.get("/sessions"))["sessions"][0]
        assert (session["id"], session["attention"]) == (one["sessionId"], 1)
        await work.dispatch("item", "say: two", 409)
    await keeper.resolve(question)
    # the answer is written down by the time it is confirmed
    await keeper.resolve(question, 409)
    await keeper.stop()
    work.keeper = keeper = await start_keeper()
    assert (await keeper.get("/attention"))["attention"] == []
    assert (await work.dispatch("item", "say: two"))["sessionId"] == one["sessionId"]


async def test_an_answer_that_cannot_be_written_down_is_asked_for_again(
    keeper: InProcessKeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Orchestrator(keeper)
    await work.dispatch("item", "say: one", ceilings={"turns": 1})
    await work.dispatch("item", "say: two", 409)
    first = await open_question(keeper)
    store = keeper.app[CONVERSATIONS]._store

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(store, "_put", full)
        refused = await keeper.resolve(first, 507)
    assert refused["error"]["code"] == "state_unwritable"
    await keeper.resolve(await open_question(keeper))
    await work.dispatch("item", "say: two")


async def test_cost_is_counted_over_sessions_and_over_dispatches_at_once(
    keeper: InProcessKeeper,
) -> None:
    work = Orchestrator(keeper)
    first = await work.dispatch("item", "say: one")
    cost = first["ended"]["costUsd"]
    assert cost > 0
    await keeper.post("/conversations/item/reset", {})
    # one more is below it, two are not: of several at once one waits for what the others cost
    ceilings = {"costUsd": cost * 1.5}
    body = {"workdir": str(keeper.workdir), "wait": True, "ceilings": ceilings}
    statuses = await asyncio.gather(
        *(posted(keeper, {"text": f"say: at once {number}", **body}) for number in range(3))
    )
    assert sorted(statuses) == [200, 409, 409]
    question = await open_question(keeper)
    assert question["input"]["used"]["costUsd"] >= ceilings["costUsd"]
    await keeper.resolve(question, updatedInput={"further": {"costUsd": 100}})
    await work.dispatch("item", "say: on")


async def posted(keeper: InProcessKeeper, body: dict[str, Any]) -> int:
    async with keeper.client.post("/conversations/item/dispatch", json=body) as response:
        return response.status


async def test_hours_are_those_since_the_first_dispatch(start_keeper: StartKeeper) -> None:
    clock = ShiftedClock()
    keeper = await start_keeper(clock=clock)
    work = Orchestrator(keeper)
    more: dict[str, Any] = {"ceilings": {"hours": 8, "turns": 100}}
    await work.dispatch("item", "say: one", **more)
    clock.offset = 7.9 * HOUR
    await work.dispatch("item", "say: two", **more)
    clock.offset = 20 * HOUR
    await work.dispatch("item", "say: three", 409, **more)
    question = await open_question(keeper)
    assert question["description"] == "It has used 20 of 8 hours. May it go on with 8 hours more?"
    # from the answer on, however long it took
    clock.offset = 30 * HOUR
    await keeper.resolve(question)
    clock.offset = 37 * HOUR
    await work.dispatch("item", "say: three", **more)
    clock.offset = 39 * HOUR
    await work.dispatch("item", "say: four", 409, **more)


async def test_the_settings_say_the_most_and_a_dispatch_may_ask_for_less(
    start_keeper: StartKeeper,
) -> None:
    projects = {"depot": ProjectSettings(ceilings=Ceilings(turns=1))}
    settings = ConversationSettings(ceilings=Ceilings(turns=2), projects=projects)
    keeper = await start_keeper(conversations=settings)
    work = Orchestrator(keeper)
    for project, limit, most in (("depot", 9, 1), ("shop", 9, 2), ("yard", 1, 1)):
        more = {"project": project, "ceilings": {"turns": limit, "hours": 9}}
        for number in range(most):
            await work.dispatch("item", f"say: {number}", **more)
        await work.dispatch("item", "say: too much", 409, **more)
    assert len((await keeper.get("/attention"))["attention"]) == 3


async def test_a_question_outlives_the_process_of_its_session(keeper: InProcessKeeper) -> None:
    work = Orchestrator(keeper)
    one = await work.dispatch("item", "say: one", ceilings={"turns": 1})
    await work.dispatch("item", "say: two", 409)
    question = await open_question(keeper)
    await keeper.close_session(one["sessionId"])
    assert await open_question(keeper) == question
    # also when the item leaves that session
    await keeper.post("/conversations/item/reset", {})
    assert await open_question(keeper) == question
    await keeper.request("DELETE", "/conversations/item")
    assert (await keeper.get("/attention"))["attention"] == []


@pytest.mark.parametrize("odd", [{"turns": 0}, {"costUsd": -1}, {"hours": 0}, {"cost": 5}, 3])
async def test_odd_ceilings_are_refused(keeper: InProcessKeeper, odd: Any) -> None:
    await Orchestrator(keeper).dispatch("item", "say: x", 400, ceilings=odd)
    await keeper.get("/conversations/item", 404)


async def test_a_person_may_speak_in_the_session_meanwhile(keeper: InProcessKeeper) -> None:
    work = Orchestrator(keeper)
    listener = await keeper.listen()
    one = await work.dispatch("item", "say: one", ceilings={"turns": 1})
    await work.dispatch("item", "say: two", 409)
    await listener.wait_for_question(one["sessionId"])
    await keeper.send("say: by hand", one["sessionId"], uuid=(uuid := new_uuid()))
    # it works, whatever else waits for a person
    await listener.wait_for(
        lambda event: (
            event["type"] == "session/updated"
            and event["sessionId"] == one["sessionId"]
            and event["session"]["state"] == "running"
        )
    )
    await listener.wait_for_turn_end(one["sessionId"], uuid=uuid, outcome="done")
    await open_question(keeper)
    assert await prompts_of(keeper, one["sessionId"]) == ["say: one", "say: by hand"]
