"""Conversations for items of work, dispatched by an orchestrator; the real CLI answers."""

from __future__ import annotations

import asyncio
from itertools import cycle
from urllib.parse import quote

import pytest

from claudekeeper.contract.conversations import ConversationSettings
from claudekeeper.demo.messages_api import ScriptedApi
from claudekeeper.dispatch.record import ConversationRecord
from claudekeeper.server.app_keys import CONVERSATIONS, MANAGER
from tests.integration.conftest import Meanwhile, StartKeeper, nothing_happens, restart
from tests.support.keeper_in_process import InProcessKeeper, new_uuid, text_of
from tests.support.orchestrator import Orchestrator, ShiftedClock, prompts_of
from tests.support.transcript_writer import projects_folder
from tests.support.whole_history import read_pages

DAY = 24 * 3600.0
# a dozen processes of the real CLI, one after another, on whatever machine
pytestmark = pytest.mark.timeout(400)


async def test_each_item_has_exactly_its_own_thread(start_keeper: StartKeeper) -> None:
    clock = ShiftedClock()
    keeper = await start_keeper(clock=clock)
    work = Orchestrator(keeper)
    items = ["bead/1 ä", "ticket-3"]
    sessions: dict[str, str] = {}
    for number, how in enumerate(("created", "continued")):
        answers = await asyncio.gather(
            *(
                work.dispatch(key, f"say: {key} {number}", project="shop", metadata={"n": number})
                for key in items
            )
        )
        for key, answer in zip(items, answers, strict=True):
            assert answer["ended"]["reply"] == f"{key} {number}"
            assert answer["ended"]["usage"]["output_tokens"] > 0
            assert answer["how"] == how
            assert sessions.setdefault(key, answer["sessionId"]) == answer["sessionId"]
            assert (await work.get(key))["messages"] == 2 * (number + 1)
    assert len(set(sessions.values())) == len(items)

    # several at once on one key, old and new: one after the other, in one session
    first = items[0]
    answers = await asyncio.gather(*(work.dispatch(first, f"say: at once {n}") for n in range(3)))
    assert {answer["sessionId"] for answer in answers} == {sessions[first]}
    assert {answer["ended"]["reply"] for answer in answers} == {f"at once {n}" for n in range(3)}
    answers = await asyncio.gather(*(work.dispatch("new", f"say: new {n}") for n in range(3)))
    assert sorted(answer["how"] for answer in answers) == ["continued", "continued", "created"]
    assert len({answer["sessionId"] for answer in answers}) == 1
    items.append("new")

    # a turn that fails is the item's own affair
    failed = await work.dispatch("ticket-3", "error: 401")
    assert failed["ended"]["outcome"] == "failed"
    assert failed["ended"]["error"]["code"] == "authentication_failed"
    assert (await work.dispatch("ticket-3", "say: on"))["sessionId"] == sessions["ticket-3"]

    # nobody else's words are routed into an item's thread
    routing = await keeper.post("/route", {"text": "also say that again", "workdir": None})
    assert routing["candidates"] == []

    await keeper.stop()
    keeper = work.keeper = await start_keeper(clock=clock)
    answers = await asyncio.gather(*(work.dispatch(key, "say: restarted") for key in items))
    assert {answer["how"] for answer in answers} == {"continued"}
    sessions["new"] = answers[-1]["sessionId"]
    assert [answer["sessionId"] for answer in answers] == [sessions[key] for key in items]

    # used today, forgotten tomorrow, and begun afresh with its ancestry
    clock.offset = 0.9 * DAY
    await work.dispatch("new", "say: still there")
    clock.offset = 1.5 * DAY
    await keeper.app[CONVERSATIONS].sweep()
    listed = (await keeper.get("/conversations"))["conversations"]
    assert {each["key"]: each["state"] for each in listed} == {
        "new": "active",
        **dict.fromkeys(items[:2], "expired"),
    }
    assert len((await keeper.get("/conversations?project=shop&state=active"))["conversations"]) == 0
    renewed = await work.dispatch(first, "say: afresh")
    assert renewed["how"] == "renewed"
    assert renewed["sessionId"] != sessions[first]
    item = await work.get(first)
    assert [(each["sessionId"], each["why"]) for each in item["earlier"]] == [
        (sessions[first], "expired")
    ]
    assert item["metadata"] == {"n": 1}
    assert item["tokens"] > 0

    for key in items:
        assert sorted(await work.all_prompts(key)) == sorted(work.prompts[key])
        log = (await work.get(key))["log"]
        assert sorted(each["text"] for each in log) == sorted(work.prompts[key])
        assert {each["outcome"] for each in log} <= {"done", "failed"}


async def test_a_full_window_is_followed_by_a_successor_that_knows_the_last_words(
    start_keeper: StartKeeper,
    scripted_api: ScriptedApi,
) -> None:
    settings = ConversationSettings(strategy="window", window_tokens=10)
    keeper = await start_keeper(conversations=settings)
    listener = await keeper.listen()
    work = Orchestrator(keeper)
    one = await work.dispatch("item", "say: one", systemPrompt="You are Ada, a reviewer.")
    event = await listener.wait_for_event("conversation/updated", what="window")
    assert event["key"] == "item"
    two = await work.dispatch("item", "say: two")
    assert two["how"] == "continued"
    assert two["sessionId"] != one["sessionId"]
    seen = [each for each in scripted_api.requests if each.model_request.prompt == "say: two"]
    system = seen[-1].model_request.system_text
    assert "You are Ada, a reviewer." in system
    assert "Claude: one" in system
    assert "User: say: one" not in system
    await listener.wait_for_event("conversation/updated", what="window")
    item = await work.get("item")
    assert [each["why"] for each in item["earlier"]] == ["window", "window"]
    assert "messages left out: 1" in item["acts"][0]["details"]
    # of all that was said, not only of what was said since the last time
    assert "messages left out: 3" in item["acts"][1]["details"]
    assert await work.all_prompts("item") == ["say: one", "say: two"]


async def test_a_short_successor_hands_on_what_it_was_told(
    start_keeper: StartKeeper, scripted_api: ScriptedApi
) -> None:
    settings = ConversationSettings(strategy="window", window_tokens=35)
    keeper = await start_keeper(conversations=settings)
    listener = await keeper.listen()
    work = Orchestrator(keeper)
    for words in ("one", "two", "three"):
        await work.dispatch("item", f"say: {words}")
        await listener.wait_for_event("conversation/updated", what="window")
    seen = [each for each in scripted_api.requests if each.model_request.prompt == "say: three"]
    system = seen[-1].model_request.system_text
    lines = ["Claude: one", "User: say: two", "Claude: two"]
    assert sorted(lines, key=system.index) == lines
    assert "User: say: one" not in system
    assert "the 1 before them" in system


async def test_a_full_window_is_summarised_and_a_thread_can_be_reset_and_forgotten(
    start_keeper: StartKeeper,
) -> None:
    settings = ConversationSettings(strategy="summary", window_tokens=10)
    keeper = await start_keeper(conversations=settings)
    listener = await keeper.listen()
    work = Orchestrator(keeper)
    one = await work.dispatch("item", "say: one", systemPrompt="You are Ada.")
    event = await listener.wait_for_event("conversation/updated", what="summary")
    assert event["sessionId"] == one["sessionId"]
    two = await work.dispatch("item", "say: two")
    assert two["sessionId"] == one["sessionId"]
    assert two["ended"]["reply"] == "two"
    await listener.wait_for_event("conversation/updated", what="summary")
    kinds = {message["kind"] for message in await keeper.history(one["sessionId"])}
    assert "compaction" in kinds
    assert (await work.get("item"))["acts"][0]["what"] == "summary"

    answer = await keeper.post("/conversations/item/reset", {})
    assert (answer["state"], answer["systemPrompt"]) == ("reset", "You are Ada.")
    reset = await keeper.post("/conversations/item/reset", {"keepSystemPrompt": False})
    assert (reset["state"], reset["sessionId"], reset["systemPrompt"]) == ("reset", None, None)
    three = await work.dispatch("item", "say: three")
    assert three["how"] == "renewed"
    assert (await work.get("item"))["earlier"][0]["why"] == "reset"
    # while it is summarised its process is another one
    await listener.wait_for_event("conversation/updated", what="summary")
    assert (await keeper.get("/health"))["live"] == 1
    assert await keeper.request("DELETE", "/conversations/item") == {"key": "item"}
    assert (await keeper.get("/health"))["live"] == 0
    await keeper.get("/conversations/item", 404)
    # transcripts stay
    assert text_of((await keeper.history(three["sessionId"]))[0]) == "say: three"


@pytest.mark.parametrize("key", ["a\nb", "x" * 201, " ", "\x1b[31m"])
async def test_a_key_is_short_and_printable(keeper: InProcessKeeper, key: str) -> None:
    address = f"/conversations/{quote(key, safe='')}"
    await keeper.get(address, 400)
    body = {"text": "say: x", "workdir": str(keeper.workdir)}
    await keeper.post(f"{address}/dispatch", body, 400)


async def test_what_is_refused_leaves_nothing_behind(keeper: InProcessKeeper) -> None:
    await keeper.post("/conversations/item/dispatch", {"text": "say: x"}, 400)
    await keeper.post(
        "/conversations/item/dispatch", {"text": "say: x", "workdir": "/not/here"}, 400
    )
    body = {"text": "/clear", "workdir": str(keeper.workdir)}
    await keeper.post("/conversations/item/dispatch", body, 400)
    await keeper.get("/conversations/item", 404)
    await keeper.request("DELETE", "/conversations/item", status=404)
    await keeper.post("/conversations/item/reset", {}, 404)
    assert (await keeper.get("/conversations"))["conversations"] == []


async def test_a_dispatch_made_again_is_said_once(
    start_keeper: StartKeeper, scripted_api: ScriptedApi
) -> None:
    keeper = await start_keeper()
    work = Orchestrator(keeper)
    uuid = new_uuid()
    # twice at once, as after a broken connection; and once more when it is over
    first, second = await asyncio.gather(
        *(work.dispatch("item", "say: one", uuid=uuid, systemPrompt="You are Ada.") for _ in "12")
    )
    third = await work.dispatch("item", "say: one", uuid=uuid.upper())
    for answer in (first, second, third):
        assert (answer["uuid"], answer["how"]) == (uuid, "created")
        assert answer["sessionId"] == first["sessionId"]
        assert (answer["ended"]["outcome"], answer["ended"]["reply"]) == ("done", "one")
    await work.dispatch("item", "say: two", uuid=new_uuid(), systemPrompt="You are Bob.")

    await keeper.stop()
    work.keeper = await start_keeper()
    again = await work.dispatch("item", "say: one", uuid=uuid)
    assert (again["ended"]["outcome"], again["ended"]["reply"]) == ("done", "one")
    assert await work.all_prompts("item") == ["say: one", "say: two"]
    # it stays who it is, also after a restart, for as long as it lives
    for text, persona in (("say: as ever", "You are Ada."), ("say: afresh", "You are Bob.")):
        await work.dispatch("item", text)
        seen = [each for each in scripted_api.requests if each.model_request.prompt == text]
        assert persona in seen[-1].model_request.system_text
        await work.keeper.post("/conversations/item/reset", {})
    other = await work.dispatch("item", "say: once more")
    # another item is another matter, and a message of another session too
    listener = await work.keeper.listen()
    uuid_at_first = new_uuid()
    await work.keeper.start_session("say: by hand", listener, uuid=uuid_at_first)
    await work.keeper.send("say: to the item", other["sessionId"], uuid=(other_uuid := new_uuid()))
    await listener.wait_for_turn_end(other["sessionId"], uuid=other_uuid)
    again = await work.dispatch("item", "say: to the item", uuid=other_uuid)
    assert again["ended"]["outcome"] == "unknown"
    for taken in (uuid, uuid_at_first):
        body = {"text": "say: one", "workdir": str(work.keeper.workdir), "uuid": taken}
        await work.keeper.post("/conversations/other/dispatch", body, 400)
    await work.keeper.get("/conversations/other", 404)


async def test_what_was_said_for_a_forgotten_item_is_not_said_again(
    keeper: InProcessKeeper,
) -> None:
    work = Orchestrator(keeper)
    uuid = new_uuid()
    first = await work.dispatch("item", "say: one", uuid=uuid)
    await keeper.request("DELETE", "/conversations/item")
    body = {"text": "say: one", "workdir": str(keeper.workdir), "uuid": uuid}
    refused = await keeper.post("/conversations/item/dispatch", body, 404)
    assert refused["error"]["code"] == "conversation_not_found"
    document = await keeper.get("/openapi.json")
    described = document["paths"]["/conversations/{key}/dispatch"]["post"]["responses"]
    assert "conversation_not_found" in described["404"]["description"]
    assert await prompts_of(keeper, first["sessionId"]) == ["say: one"]


# after a restart the next keeper knows that it was said to a session, and stands in no transcript
@pytest.mark.parametrize("meanwhile", [nothing_happens, restart])
async def test_a_dispatch_that_was_never_said_is_made_again_in_another_session(
    start_keeper: StartKeeper, monkeypatch: pytest.MonkeyPatch, meanwhile: Meanwhile
) -> None:
    clock = ShiftedClock()
    keeper = await start_keeper(clock=clock)
    work, uuid = Orchestrator(keeper), new_uuid()
    monkeypatch.setenv("CLAUDEKEEPER_CLI", "/bin/false")
    failed = await work.dispatch("item", "say: one", uuid=uuid)
    monkeypatch.delenv("CLAUDEKEEPER_CLI")
    assert failed["ended"]["outcome"] == "failed"
    work.keeper = keeper = await meanwhile(keeper, start_keeper, clock=clock)
    clock.offset += 2 * DAY
    again = await work.dispatch("item", "say: one", uuid=uuid)
    assert (again["how"], again["ended"]["reply"]) == ("renewed", "one")
    assert again["sessionId"] != failed["sessionId"]
    # nothing of it is left to be gone on with in the session that the item has left
    await keeper.get(f"/sessions/{failed['sessionId']}", 404)
    assert await prompts_of(keeper, again["sessionId"]) == ["say: one"]


async def test_an_item_whose_transcript_is_gone_begins_afresh(keeper: InProcessKeeper) -> None:
    work = Orchestrator(keeper)
    one = await work.dispatch("item", "say: one")
    await keeper.app[MANAGER].close_session(one["sessionId"])
    (transcript,) = projects_folder().glob(f"*/{one['sessionId']}.jsonl")
    transcript.unlink()
    two = await work.dispatch("item", "say: two")
    assert (two["how"], two["ended"]["reply"]) == ("renewed", "two")
    (earlier,) = (await work.get("item"))["earlier"]
    assert (earlier["sessionId"], earlier["why"]) == (one["sessionId"], "lost")


async def test_an_item_may_be_given_all_the_time_there_is(start_keeper: StartKeeper) -> None:
    """Longer than calendars go."""
    keeper = await start_keeper(conversations=ConversationSettings(expiry_hours=1e300))
    work = Orchestrator(keeper)
    assert (await work.dispatch("item", "say: one"))["ended"]["reply"] == "one"
    item = await work.get("item")
    assert (item["state"], item["expires"]) == ("active", "9999-12-31T23:59:59.000Z")


async def test_thousands_of_items_come_in_pages(keeper: InProcessKeeper) -> None:
    store = keeper.app[CONVERSATIONS]._store
    for number, project in zip(range(25), cycle([None, "shop"])):
        store.put(
            ConversationRecord(
                key=f"item:{number:02}", project=project, workdir="/w",
                session=None, prompt=None, metadata={}, created=1.0, updated=float(number // 3),
                expires=2.0, lifetime=1.0,
            )
        )  # fmt: skip
    for query, count in (("", 25), ("&project=shop", 12), ("&state=expired", 25)):
        pages = await read_pages(keeper.get, f"/conversations?limit=4{query}")
        keys = [each["key"] for page in pages for each in page["conversations"]]
        assert len(keys) == count
        assert keys == sorted(keys, reverse=True)
    assert (await keeper.get("/conversations?state=active"))["conversations"] == []
    assert (await keeper.get("/conversations?state=reset"))["conversations"] == []
    for odd in ("x", "1", "nan:x", "inf:x", ":", "1e999:x"):
        await keeper.get(f"/conversations?cursor={quote(odd)}", 400)
