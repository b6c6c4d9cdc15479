"""Items of work: which one is meant, what they used, and what is told of them afterwards."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from claudekeeper.contract.conversations import ConversationSettings, ProjectSettings
from claudekeeper.demo.messages_api import ScriptedApi
from claudekeeper.server.app_keys import CONVERSATIONS
from tests.integration.conftest import StartKeeper
from tests.support.keeper_in_process import InProcessKeeper, new_uuid
from tests.support.orchestrator import Orchestrator, ShiftedClock, prompts_of
from tests.support.whole_history import read_pages

DAY = 24 * 3600.0
pytestmark = pytest.mark.timeout(400)


@pytest.fixture
def depot(isolated: Path) -> str:
    (isolated / "depot").mkdir()
    return str(isolated / "depot")


# ---- which item ----


async def test_the_same_key_in_two_projects_has_two_threads(
    keeper: InProcessKeeper, depot: str
) -> None:
    work = Orchestrator(keeper)
    shop = await work.dispatch("item", "say: one", project="shop")
    other = await work.dispatch("item", "say: two", project="depot", workdir=depot)
    assert (other["how"], other["project"]) == ("created", "depot")
    assert other["sessionId"] != shop["sessionId"]
    again = await work.dispatch("item", "say: three", project="shop")
    assert (again["sessionId"], again["how"]) == (shop["sessionId"], "continued")
    assert await prompts_of(keeper, shop["sessionId"]) == ["say: one", "say: three"]
    assert await prompts_of(keeper, other["sessionId"]) == ["say: two"]
    first = await keeper.get("/conversations/item?project=shop")
    second = await keeper.get("/conversations/item?project=depot")
    assert (first["project"], first["workdir"]) == ("shop", str(keeper.workdir))
    assert (second["project"], second["workdir"]) == ("depot", depot)
    assert [each["text"] for each in second["log"]] == ["say: two"]


async def test_two_projects_at_once_do_not_meet(keeper: InProcessKeeper, depot: str) -> None:
    work = Orchestrator(keeper)
    answers = await asyncio.gather(
        *(
            work.dispatch("item", f"say: {project} {number}", project=project, workdir=workdir)
            for number in range(2)
            for project, workdir in (("shop", str(keeper.workdir)), ("depot", depot))
        )
    )
    sessions = {project: set() for project in ("shop", "depot")}  # type: ignore[var-annotated]
    for answer in answers:
        sessions[answer["project"]].add(answer["sessionId"])
        assert answer["ended"]["reply"].startswith(answer["project"])
    assert [len(each) for each in sessions.values()] == [1, 1]
    for project, (session,) in sessions.items():
        prompts = await prompts_of(keeper, session)
        assert sorted(prompts) == [f"say: {project} 0", f"say: {project} 1"]


async def test_a_key_that_stands_in_one_project_needs_none(keeper: InProcessKeeper) -> None:
    work = Orchestrator(keeper)
    first = await work.dispatch("item", "say: one", project="shop")
    second = await work.dispatch("item", "say: two")
    assert (second["sessionId"], second["project"]) == (first["sessionId"], "shop")
    assert (await keeper.get("/conversations/item"))["project"] == "shop"
    assert (await keeper.post("/conversations/item/reset", {}))["project"] == "shop"
    gone = await keeper.request("DELETE", "/conversations/item")
    assert gone == {"key": "item", "project": "shop"}


async def test_a_key_that_stands_in_several_is_refused_with_their_names(
    keeper: InProcessKeeper,
) -> None:
    work = Orchestrator(keeper)
    for project in ("shop", "depot", ""):
        await work.dispatch("item", f"say: {project}", project=project)
    body = {"text": "say: x", "workdir": str(keeper.workdir)}
    for refused in (
        await keeper.get("/conversations/item", 409),
        await keeper.request("DELETE", "/conversations/item", status=409),
        await keeper.post("/conversations/item/reset", {}, 409),
        await keeper.post("/conversations/item/dispatch", body, 409),
    ):
        assert refused["error"]["code"] == "project_needed"
        assert refused["error"]["choices"] == ["", "depot", "shop"]
        assert "depot, shop" in refused["error"]["message"]
    # the address may say it for a dispatch too, but not another one than the body
    answer = await keeper.post("/conversations/item/dispatch?project=depot", body)
    assert answer["project"] == "depot"
    body["project"] = "shop"
    await keeper.post("/conversations/item/dispatch?project=depot", body, 400)
    await keeper.request("DELETE", "/conversations/item?project=depot")
    await keeper.get("/conversations/item?project=depot", 404)
    # items without a project are a project of their own
    assert (await keeper.get("/conversations/item?project="))["project"] is None
    await keeper.request("DELETE", "/conversations/item?project=")
    assert (await keeper.get("/conversations/item"))["project"] == "shop"


async def test_a_dispatch_made_again_is_for_the_item_for_which_it_was_made(
    keeper: InProcessKeeper,
) -> None:
    work = Orchestrator(keeper)
    uuid = new_uuid()
    one = await work.dispatch("item", "say: one", uuid=uuid)
    await work.dispatch("item", "say: two", project="depot")
    again = await work.dispatch("item", "say: one", uuid=uuid)
    assert (again["sessionId"], again["project"]) == (one["sessionId"], None)
    # one uuid is one message, also for two items at once
    taken = new_uuid()
    statuses = await asyncio.gather(*(
        status_of(keeper, "item", {"text": "say: x", "uuid": taken, "project": project})
        for project in ("depot", "shop")
    ))  # fmt: skip
    assert sorted(statuses) == [200, 400]
    trail = (await keeper.get("/dispatches?key=item"))["dispatches"]
    (made,) = [each for each in trail if each["uuid"] == taken]
    assert made["outcome"] != "refused"


async def status_of(keeper: InProcessKeeper, key: str, body: dict[str, Any]) -> int:
    body = {"workdir": str(keeper.workdir), "wait": True, **body}
    async with keeper.client.post(f"/conversations/{key}/dispatch", json=body) as response:
        return response.status


async def test_pages_of_the_list_tell_the_projects_of_a_key_apart(keeper: InProcessKeeper) -> None:
    work = Orchestrator(keeper)
    wanted = [("b:1", "x:y"), ("b:1", ""), ("a", "é/1"), ("a", "depot")]
    for key, project in wanted:
        await work.dispatch(key, "say: x", project=project)
    pages = await read_pages(keeper.get, "/conversations?limit=1")
    listed = [each for page in pages for each in page["conversations"]]
    assert [(each["key"], each["project"] or "") for each in listed] == wanted[::-1]


@pytest.mark.parametrize("odd", ["a\0b", "a\nb", "a\u202eb", "x" * 201])
async def test_a_project_has_a_name_that_can_be_read(keeper: InProcessKeeper, odd: str) -> None:
    body = {"text": "say: x", "workdir": str(keeper.workdir), "project": odd}
    refused = await keeper.post("/conversations/item/dispatch", body, 400)
    assert refused["error"]["code"] == "invalid_request"
    del body["project"]
    await keeper.post(f"/conversations/item/dispatch?project={quote(odd)}", body, 400)
    assert (await keeper.get("/conversations"))["conversations"] == []


# ---- by session ----


async def test_a_session_and_its_item_name_each_other(start_keeper: StartKeeper) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    work = Orchestrator(keeper)
    first = await work.dispatch("item", "say: one", project="shop")
    await keeper.post("/conversations/item/reset", {})
    second = await work.dispatch("item", "say: two")
    other = (await keeper.send("say: by hand"))["sessionId"]
    await listener.wait_for_turn_end(other)
    # both are told as what they are, without being asked for
    for answer in (first, second):
        rows = [
            each["session"] for each in listener.events_of("session/updated", answer["sessionId"])
        ]
        assert rows[-1]["item"] == {"key": "item", "project": "shop"}
    for _ in range(2):
        for answer in (first, second):
            query = f"sessionId={answer['sessionId'].upper()}"
            (row,) = (await keeper.get(f"/conversations?{query}"))["conversations"]
            assert (row["key"], row["project"]) == ("item", "shop")
            session = (await keeper.get(f"/sessions/{answer['sessionId']}?limit=1"))["session"]
            assert session["item"] == {"key": "item", "project": "shop"}
        assert (await keeper.get(f"/conversations?sessionId={other}"))["conversations"] == []
        listed = {each["id"]: each["item"] for each in (await keeper.get("/sessions"))["sessions"]}
        assert listed[other] is None
        assert listed[first["sessionId"]]["key"] == "item"
        await keeper.stop()
        keeper = await start_keeper()
    await keeper.request("DELETE", "/conversations/item")
    session = (await keeper.get(f"/sessions/{first['sessionId']}?limit=1"))["session"]
    assert session["item"] is None


# ---- what was used ----


async def test_tokens_are_those_of_all_turns_with_the_last_window_beside(
    keeper: InProcessKeeper,
) -> None:
    work = Orchestrator(keeper)
    (keeper.workdir / "notes.md").write_text("a note")
    used = []
    for words in ("say: one", "read: notes.md", "error: 401"):
        ended = (await work.dispatch("item", words))["ended"]
        used.append(ended["tokensUsed"])
    await keeper.post("/conversations/item/reset", {})
    assert (await work.get("item"))["lastWindow"] == 0
    last = (await work.dispatch("item", "say: afresh"))["ended"]
    item = await work.get("item")
    assert item["tokens"] == sum(used) + last["tokensUsed"]
    assert item["lastWindow"] == last["tokens"]
    # a turn with a call is two requests to the model: both count, and the window is of the last
    assert used[1] > 1.5 * used[0]
    assert [each["tokensUsed"] for each in item["log"]] == [*used, last["tokensUsed"]]
    assert item["costUsd"] == pytest.approx(sum(each["costUsd"] or 0 for each in item["log"]))


async def test_a_turn_costs_what_it_costs_also_in_the_next_process(keeper: InProcessKeeper) -> None:
    work = Orchestrator(keeper)
    costs = [(await work.dispatch("item", "say: one"))["ended"]["costUsd"]]
    for words in ("say: two", "say: three", "say: four"):
        answer = await work.dispatch("item", words)
        costs.append(answer["ended"]["costUsd"])
        await keeper.close_session(answer["sessionId"])
    session = await counted(keeper, answer["sessionId"], 8)
    assert sum(costs) == pytest.approx(session["costUsd"], abs=1e-5)
    assert (await work.get("item"))["costUsd"] == pytest.approx(session["costUsd"], abs=1e-5)
    # what later turns read from the cache is cheap: none of them has the first one's cost again
    assert all(each < costs[0] / 2 for each in costs[1:])


async def test_what_a_turn_used_counts_also_if_its_keeper_was_killed(
    start_keeper: StartKeeper, isolated: Path
) -> None:
    keeper = await start_keeper()
    work = Orchestrator(keeper)
    (keeper.workdir / "notes.md").write_text("a note")
    await work.dispatch("item", "say: one")
    ended = (await work.dispatch("item", "read: notes.md"))["ended"]
    before = await work.get("item")
    await keeper.stop()
    # as a killed one leaves it: nobody saw the end of the last turn
    (path,) = isolated.rglob("conversations.db")
    with sqlite3.connect(path) as database:
        last = "(SELECT max(id) FROM dispatch)"
        nothing = "outcome = NULL, used = NULL, cost = NULL, finished = NULL"
        database.execute(f"UPDATE dispatch SET {nothing} WHERE id = {last}")
        less = (ended["tokensUsed"], ended["costUsd"])
        database.execute("UPDATE conversation SET tokens = tokens - ?, cost = cost - ?", less)
    database.close()
    work.keeper = keeper = await start_keeper()
    await keeper.app[CONVERSATIONS].sweep()
    item = await work.get("item")
    assert item["tokens"] == before["tokens"]
    assert item["costUsd"] == pytest.approx(before["costUsd"], abs=1e-5)
    assert item["log"][-1]["outcome"] == "unknown"
    assert item["log"][-1]["tokensUsed"] == ended["tokensUsed"]
    # once
    await keeper.app[CONVERSATIONS].sweep()
    await work.dispatch("item", "say: three")
    assert (await work.get("item"))["tokens"] < 2 * before["tokens"]


async def counted(keeper: InProcessKeeper, session: str, messages: int) -> Any:
    """The session, when its transcript is read to the end."""
    while True:
        row = (await keeper.get(f"/sessions/{session}?limit=1"))["session"]
        if row["messageCount"] == messages:
            return row


async def test_metrics_count_conversations_and_what_becomes_of_them(
    start_keeper: StartKeeper,
) -> None:
    clock = ShiftedClock()
    keeper = await start_keeper(clock=clock)
    work = Orchestrator(keeper)
    answers = [await work.dispatch(key, "say: x") for key in ("a", "b", "c")]
    await keeper.post("/conversations/c/reset", {})
    clock.offset = 2 * DAY
    await keeper.app[CONVERSATIONS].sweep()
    answers.append(await work.dispatch("a", "say: afresh"))
    counted = await numbers(keeper)
    assert counted['conversations{state="active"}'] == 1
    assert counted['conversations{state="expired"}'] == 2
    assert counted['conversations{state="reset"}'] == 0
    assert counted['conversations{state="ended"}'] == 0
    assert counted["conversation_dispatches_total"] == 4
    assert counted["conversation_expirations_total"] == 2
    assert counted["conversation_renewals_total"] == 1
    assert counted["conversation_tokens_total"] == sum(
        each["ended"]["tokensUsed"] for each in answers
    )


async def numbers(keeper: InProcessKeeper) -> dict[str, float]:
    async with keeper.client.get("/metrics") as response:
        lines = (await response.text()).splitlines()
    named = (line.rsplit(" ", 1) for line in lines if line.startswith("claudekeeper_conversation"))
    return {name.removeprefix("claudekeeper_"): float(value) for name, value in named}


# ---- the audit trail ----


async def test_the_trail_is_there_when_the_conversation_is_not(keeper: InProcessKeeper) -> None:
    work = Orchestrator(keeper)
    for number in range(3):
        answer = await work.dispatch("item", f"say: {number}", project="shop")
    await work.dispatch("other", "say: other")
    await keeper.request("DELETE", "/conversations/item")
    await keeper.get("/conversations/item", 404)
    pages = await read_pages(keeper.get, "/dispatches?key=item&project=shop&limit=2")
    trail = [each for page in pages for each in page["dispatches"]]
    assert [each["text"] for each in trail] == ["say: 2", "say: 1", "say: 0"]
    assert {each["outcome"] for each in trail} == {"done"}
    every = (await keeper.get("/dispatches"))["dispatches"]
    assert [(each["key"], each["project"]) for each in every] == [
        ("other", None), *[("item", "shop")] * 3,
    ]  # fmt: skip
    of_session = await keeper.get(f"/dispatches?sessionId={answer['sessionId']}")
    assert len(of_session["dispatches"]) == 3
    for odd in ("x", "-1", "1.5", "9" * 30):
        await keeper.get(f"/dispatches?cursor={odd}", 400)


async def test_the_trail_is_kept_for_as_long_as_is_set(start_keeper: StartKeeper) -> None:
    clock = ShiftedClock()
    keeper = await start_keeper(clock=clock, conversations=ConversationSettings(audit_days=30))
    work = Orchestrator(keeper)
    await work.dispatch("item", "say: one")
    clock.offset = 29 * DAY
    await work.dispatch("item", "say: two")
    await keeper.app[CONVERSATIONS].sweep()
    assert len((await keeper.get("/dispatches"))["dispatches"]) == 2
    clock.offset = 31 * DAY
    await keeper.app[CONVERSATIONS].sweep()
    (dispatch,) = (await keeper.get("/dispatches"))["dispatches"]
    assert dispatch["text"] == "say: two"


# ---- settings ----


async def test_a_project_can_be_switched_off_or_on(start_keeper: StartKeeper) -> None:
    settings = ConversationSettings(projects={"shop": ProjectSettings(enabled=False)})
    keeper = await start_keeper(conversations=settings)
    work = Orchestrator(keeper)
    refused = await work.dispatch("item", "say: x", 403, project="shop")
    assert refused["error"]["code"] == "conversations_disabled"
    assert "'shop'" in refused["error"]["message"]
    await work.dispatch("item", "say: x", project="depot")
    await keeper.stop()
    only = ConversationSettings(enabled=False, projects={"shop": ProjectSettings(enabled=True)})
    work.keeper = keeper = await start_keeper(conversations=only)
    await work.dispatch("item", "say: x", 403, project="depot")
    await work.dispatch("item", "say: x", 403, project="")
    await work.dispatch("item", "say: x", project="shop")
    # what is there can still be looked at, and taken away
    assert (await keeper.get("/conversations/item?project=depot"))["dispatches"] == 1
    await keeper.request("DELETE", "/conversations/item?project=depot")


async def test_conversations_that_expire_are_let_go_of_as_often_as_is_set(
    start_keeper: StartKeeper,
) -> None:
    keeper = await start_keeper(conversations=ConversationSettings(sweep_seconds=1))
    listener = await keeper.listen()
    answer = await Orchestrator(keeper).dispatch("item", "say: x", expiresIn=0.01)
    event = await listener.wait_for_event("conversation/updated", what="expired")
    assert (event["sessionId"], event["project"]) == (answer["sessionId"], None)


# ---- a window that is full ----


async def test_a_summary_keeps_the_last_messages_word_for_word(
    start_keeper: StartKeeper, scripted_api: ScriptedApi
) -> None:
    settings = ConversationSettings(strategy="summary", keep_messages=3, window_tokens=2_000)
    keeper = await start_keeper(conversations=settings)
    listener = await keeper.listen()
    work = Orchestrator(keeper)
    long = "say: " + "word " * 100 + "end"
    for text in ("say: first", long, "say: third"):
        await work.dispatch("item", text, systemPrompt="You are Ada.")
        done = await listener.wait_for_event("conversation/updated", what="summary")
    assert "word for word: 3." in done["details"]
    await keeper.stop()
    work.keeper = await start_keeper(conversations=settings)
    await work.dispatch("item", "say: fourth")
    seen = [each for each in scripted_api.requests if each.model_request.prompt == "say: fourth"]
    system = seen[-1].model_request.system_text
    words = ["You are Ada.", "Claude: " + long[5:], "User: say: third", "Claude: third"]
    assert sorted(words, key=system.index) == words
    assert "User: " + long not in system
    item = await work.get("item")
    assert item["earlier"] == []


async def test_a_successor_is_told_more_than_an_argument_may_hold(
    start_keeper: StartKeeper, scripted_api: ScriptedApi, isolated: Path
) -> None:
    settings = ConversationSettings(strategy="window", window_tokens=1_000_000, threshold=0.001)
    keeper = await start_keeper(conversations=settings)
    work = Orchestrator(keeper)
    listener = await keeper.listen()
    await work.dispatch("item", "say: small")
    await listener.wait_for_event("conversation/updated", what="window")
    store = keeper.app[CONVERSATIONS]._store
    (record,) = store.all(None, 1)
    record.primer = "The past: " + "ä" * 100_000 + " end of it."
    store.put(record)
    answer = await work.dispatch("item", "say: after all that")
    assert answer["ended"]["reply"] == "after all that"
    seen = [
        each for each in scripted_api.requests if each.model_request.prompt == "say: after all that"
    ]
    assert record.primer in seen[-1].model_request.system_text
    # what was said in a conversation does not lie about
    assert not list(isolated.rglob("prompt-*.txt"))
