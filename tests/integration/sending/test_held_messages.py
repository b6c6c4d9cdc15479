"""What waits behind a turn that a person stops is held and offered, not said at once."""

from __future__ import annotations

from typing import Any

import pytest

from claudekeeper.core.limits import Limits
from claudekeeper.server.app_keys import SHUTDOWN
from tests.integration.conftest import StartKeeper
from tests.integration.sending.test_message_queue import png_block, prompts
from tests.support.keeper_in_process import InProcessKeeper, SocketListener, new_uuid
from tests.support.waiting import wait_for


async def stop(keeper: InProcessKeeper, session: str) -> Any:
    """Stop the turn that runs, as Esc does it."""
    return await keeper.post(f"/sessions/{session}/interrupt", {"hold": True}, 202)


async def queue_of(keeper: InProcessKeeper, session: str) -> list[tuple[str, str]]:
    queue = (await keeper.get(f"/sessions/{session}"))["queue"]
    return [(each["text"], each["state"]) for each in queue]


async def send_on(keeper: InProcessKeeper, session: str) -> list[str]:
    """Send on what is held."""
    answer = await keeper.post(f"/sessions/{session}/queue/send", {}, 202)
    assert answer["sessionId"] == session
    return list(answer["uuids"])


async def waiting(keeper: InProcessKeeper, session: str, query: str = "") -> list[tuple[str, str]]:
    """What waits there, as it was sent."""
    messages = (await keeper.get(f"/sessions/{session}/queue{query}"))["messages"]
    return [(each["uuid"], each["state"]) for each in messages]


async def end(keeper: InProcessKeeper) -> None:
    """As SIGTERM does it."""
    await keeper.app[SHUTDOWN].drain(0)
    await keeper.stop()


async def held_two(keeper: InProcessKeeper, listener: SocketListener) -> tuple[str, list[str]]:
    """A session whose turn was stopped while two messages waited."""
    session = (await keeper.send("run: touch gate"))["sessionId"]
    await listener.wait_for_question(session)
    sent = [(await keeper.send(f"say: {n}", session))["uuid"] for n in ("one", "two")]
    assert await stop(keeper, session) == {"interrupted": True, "held": 2}
    await listener.wait_for_turn_end(session, outcome="interrupted")
    return session, sent


async def test_what_waits_is_held_and_sent_on_in_its_order(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session, sent = await held_two(keeper, listener)
    page = await keeper.get(f"/sessions/{session}")
    assert [(each["uuid"], each["state"]) for each in page["queue"]] == [
        (uuid, "held") for uuid in sent
    ]
    # nothing runs, and nothing went wrong
    assert (page["session"]["state"], page["session"]["error"]) == ("idle", None)
    assert page["interrupted"] is None
    items = listener.events_of("queue/updated", session)[-1]["queue"]
    assert [each["state"] for each in items] == ["held", "held"]
    assert await send_on(keeper, session) == sent
    for uuid in sent:
        await listener.wait_for_turn_end(session, outcome="done", uuid=uuid)
    history = await keeper.history(session)
    assert prompts(history) == ["run: touch gate", "say: one", "say: two"]
    assert await queue_of(keeper, session) == []
    # said once: in a second tab somebody may press it too
    assert await send_on(keeper, session) == []


async def test_one_of_them_is_sent_on(keeper: InProcessKeeper, listener: SocketListener) -> None:
    session, sent = await held_two(keeper, listener)
    address = f"/sessions/{session}/queue/send"
    only = {"uuids": [sent[1].upper(), new_uuid()]}
    assert (await keeper.post(address, only, 202))["uuids"] == [sent[1]]
    await listener.wait_for_turn_end(session, outcome="done", uuid=sent[1])
    assert await waiting(keeper, session, "?state=held") == [(sent[0], "held")]
    assert await waiting(keeper, session, "?state=queued") == []
    assert (await keeper.post(address, {"uuids": []}, 202))["uuids"] == []
    await keeper.post(address, {"uuids": ["no uuid"]}, 400)


async def test_who_interrupts_without_hold_has_the_queue_go_on(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("slow: 60"))["sessionId"]
    await listener.wait_for_event("message/delta", session)
    waiting = (await keeper.send("say: next", session))["uuid"]
    answer = await keeper.post(f"/sessions/{session}/interrupt", None, 202)
    assert answer == {"interrupted": True, "held": 0}
    await listener.wait_for_turn_end(session, outcome="done", uuid=waiting)


async def test_a_body_that_is_no_json_is_not_looked_at(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = await keeper.start_session("say: one", listener)
    address = f"/sessions/{session}/interrupt"
    async with keeper.client.post(address, data=b"anything") as response:
        assert response.status == 202
    refused = await keeper.post(address, {"hlod": True}, 400)
    assert "hlod" in refused["error"]["message"]


async def test_a_new_message_goes_at_once_and_the_held_ones_stay(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session, _ = await held_two(keeper, listener)
    new = (await keeper.send("say: new", session))["uuid"]
    await listener.wait_for_turn_end(session, outcome="done", uuid=new)
    assert await queue_of(keeper, session) == [("say: one", "held"), ("say: two", "held")]
    last = (await send_on(keeper, session))[-1]
    await listener.wait_for_turn_end(session, outcome="done", uuid=last)
    history_prompts = prompts(await keeper.history(session))
    assert history_prompts == ["run: touch gate", "say: new", "say: one", "say: two"]


async def test_one_sent_while_the_turn_is_being_stopped_is_not_held(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("run: touch gate"))["sessionId"]
    await listener.wait_for_question(session)
    await keeper.send("say: before", session)
    await stop(keeper, session)
    after = (await keeper.send("say: after", session))["uuid"]
    await listener.wait_for_turn_end(session, outcome="done", uuid=after)
    assert await queue_of(keeper, session) == [("say: before", "held")]


async def test_one_or_all_are_discarded_and_their_words_come_back(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session, sent = await held_two(keeper, listener)
    picture = png_block()
    body = {"sessionId": session, "content": [{"type": "text", "text": "look"}, picture]}
    await keeper.send("run: touch other", session)
    await listener.wait_for_question(session)
    uuid = (await keeper.post("/send", body, 202))["uuid"]
    later = (await keeper.send("say: waiting", session))["uuid"]
    address = f"/sessions/{session}/queue"
    await keeper.request("DELETE", f"{address}/{sent[0]}")
    assert (await stop(keeper, session))["held"] == 3
    await listener.wait_for_turn_end(session, outcome="interrupted")
    read = (await keeper.get(address))["messages"]
    assert [each["uuid"] for each in read] == [sent[1], uuid, later]
    assert read[1] == {"uuid": uuid, "state": "held", "content": body["content"]}
    assert await keeper.request("DELETE", f"{address}?state=queued") == {
        "sessionId": session,
        "messages": [],
    }
    taken = await keeper.request("DELETE", f"{address}?state=held")
    assert [each["uuid"] for each in taken["messages"]] == [sent[1], uuid, later]
    assert taken["messages"][0]["content"] == [{"type": "text", "text": "say: two"}]
    assert taken["messages"][1]["content"] == body["content"]
    assert await queue_of(keeper, session) == []
    items = [
        each for event in listener.events_of("queue/updated", session) for each in event["queue"]
    ]
    assert {each["uuid"] for each in items if each["state"] == "cancelled"} == {sent[0]}
    await keeper.request("DELETE", f"{address}?state=nonsense", status=400)
    # what was taken back can be sent after all
    await keeper.send("say: two", session, uuid=sent[1])
    await listener.wait_for_turn_end(session, outcome="done", uuid=sent[1])


async def test_the_same_message_again_stays_held(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    """A client that had no answer sends again what it sent: that is nobody's wish to go on."""
    session, sent = await held_two(keeper, listener)
    await keeper.send("say: one", session, uuid=sent[0])
    assert await queue_of(keeper, session) == [("say: one", "held"), ("say: two", "held")]


async def test_what_waits_for_a_place_is_held_too(start_keeper: StartKeeper) -> None:
    keeper = await start_keeper(Limits(live_sessions=1))
    listener = await keeper.listen()
    other = (await keeper.send("run: touch gate"))["sessionId"]
    question = await listener.wait_for_question(other)
    session = (await keeper.send("say: later", wait=True))["sessionId"]
    assert await stop(keeper, session) == {"interrupted": False, "held": 1}
    assert await keeper.state_of(session) == "idle"
    await keeper.resolve(question)
    await listener.wait_for_turn_end(other, outcome="done")
    assert await queue_of(keeper, session) == [("say: later", "held")]
    (uuid,) = await send_on(keeper, session)
    await listener.wait_for_turn_end(session, outcome="done", uuid=uuid)


async def test_they_are_held_for_longer_than_a_process_lives(start_keeper: StartKeeper) -> None:
    keeper = await start_keeper(Limits(idle_seconds=0.05))
    listener = await keeper.listen()
    session, sent = await held_two(keeper, listener)
    await wait_for(lambda: keeper.get("/health"), lambda health: not health["live"])
    assert await queue_of(keeper, session) == [("say: one", "held"), ("say: two", "held")]
    assert await send_on(keeper, session) == sent
    await listener.wait_for_turn_end(session, outcome="done", uuid=sent[-1])
    # nothing keeps it any more
    await wait_for(
        lambda: keeper.get("/health"),
        lambda health: not health["live"] and not keeper.is_live(session),
    )


async def test_a_restart_changes_nothing(start_keeper: StartKeeper) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    session, sent = await held_two(keeper, listener)
    await end(keeper)
    keeper = await start_keeper()
    listener = await keeper.listen()
    page = await keeper.get(f"/sessions/{session}")
    assert [(each["uuid"], each["state"]) for each in page["queue"]] == [
        (uuid, "held") for uuid in sent
    ]
    assert (page["session"]["error"], page["interrupted"]) == (None, None)
    whole = await keeper.get(f"/sessions/{session}?limit=all")
    assert whole["queue"] == page["queue"]
    # there is no turn to go on with
    await keeper.post(f"/sessions/{session}/continue", {}, 409)
    taken = await keeper.request("DELETE", f"/sessions/{session}/queue/{sent[0]}")
    assert taken == {"uuid": sent[0], "state": "cancelled"}
    # who is told that one has gone is told what is left
    event = await listener.wait_for_event("queue/updated", session)
    assert [(each["uuid"], each["state"]) for each in event["queue"]] == [
        (sent[0], "cancelled"),
        (sent[1], "held"),
    ]
    assert await waiting(keeper, session) == [(sent[1], "held")]
    # a new message goes at once here too
    new = (await keeper.send("say: new", session))["uuid"]
    await listener.wait_for_turn_end(session, outcome="done", uuid=new)
    assert await queue_of(keeper, session) == [("say: two", "held")]
    assert await send_on(keeper, session) == sent[1:]
    await listener.wait_for_turn_end(session, outcome="done", uuid=sent[1])
    history_prompts = prompts(await keeper.history(session))
    assert history_prompts == ["run: touch gate", "say: new", "say: two"]


async def test_after_a_restart_they_are_sent_on_or_discarded(start_keeper: StartKeeper) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    one, sent = await held_two(keeper, listener)
    other, _ = await held_two(keeper, listener)
    await end(keeper)
    keeper = await start_keeper()
    listener = await keeper.listen()
    assert await send_on(keeper, one) == sent
    await listener.wait_for_turn_end(one, outcome="done", uuid=sent[-1])
    taken = await keeper.request("DELETE", f"/sessions/{other}/queue?state=held")
    assert len(taken["messages"]) == 2
    await end(keeper)
    keeper = await start_keeper()
    for session in (one, other):
        assert await queue_of(keeper, session) == []


async def test_a_session_that_is_one_held_message_can_be_discarded(
    start_keeper: StartKeeper,
) -> None:
    keeper = await start_keeper(Limits(live_sessions=1))
    listener = await keeper.listen()
    await listener.wait_for_question((await keeper.send("run: touch gate"))["sessionId"])
    session = (await keeper.send("say: later", wait=True))["sessionId"]
    await stop(keeper, session)
    await end(keeper)
    keeper = await start_keeper()
    listener = await keeper.listen()
    session_row = (await keeper.get(f"/sessions/{session}"))["session"]
    assert (session_row["firstPrompt"], session_row["error"]) == ("say: later", None)
    assert await queue_of(keeper, session) == [("say: later", "held")]
    await keeper.request("DELETE", f"/sessions/{session}/queue?state=held")
    await listener.wait_for_event("session/removed", session)
    await keeper.get(f"/sessions/{session}", 404)


async def test_a_denial_that_stops_holds_them_too(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("run: touch gate"))["sessionId"]
    question = await listener.wait_for_question(session)
    await keeper.send("say: one", session)
    await keeper.resolve(question, decision="deny", interrupt=True, hold=True)
    await listener.wait_for_turn_end(session, outcome="interrupted")
    assert await queue_of(keeper, session) == [("say: one", "held")]


async def test_who_closes_the_session_discards_them(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session, _ = await held_two(keeper, listener)
    await keeper.close_session(session)
    assert await queue_of(keeper, session) == []


@pytest.mark.parametrize("address", ["queue/send", "interrupt"])
async def test_of_a_session_that_is_not_there(keeper: InProcessKeeper, address: str) -> None:
    await keeper.post(f"/sessions/{new_uuid()}/{address}", {}, 404)
