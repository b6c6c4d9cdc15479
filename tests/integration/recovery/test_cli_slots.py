"""Places for processes, idle sessions, ends: nothing is lost and nothing is left."""

from __future__ import annotations

import asyncio
from pathlib import Path

from claudekeeper.core.limits import Limits
from tests.integration.conftest import StartKeeper
from tests.support.keeper_in_process import (
    Event,
    InProcessKeeper,
    SocketListener,
    new_uuid,
    text_of,
    uuids,
)
from tests.support.own_process import children, count_descriptors, is_child, task_names
from tests.support.waiting import wait_for, wait_until


async def test_places_are_given_to_those_who_work(start_keeper: StartKeeper) -> None:
    keeper = await start_keeper(Limits(live_sessions=2))
    listener = await keeper.listen()
    first = await keeper.start_session("say: one", listener)
    second = await keeper.start_session("say: two", listener)
    await keeper.send("say: one more", first)
    await listener.wait_for_turn_end(first)
    oldest = keeper.pid_of(second)
    # the one that was used least recently makes room
    third = (await keeper.send("run: touch gate3"))["sessionId"]
    in_third = await listener.wait_for_question(third)
    await wait_until(lambda: not is_child(oldest))
    assert is_child(keeper.pid_of(first))
    assert (await keeper.get("/health"))["live"] == 2
    await keeper.send("run: touch gate1", first)
    in_first = await listener.wait_for_question(first)
    # both work: others are turned away, or stand in line
    for body in ({"sessionId": second}, {"workdir": str(keeper.workdir)}):
        failure = await keeper.post("/send", {**body, "text": "say: x"}, 429)
        assert failure["error"]["code"] == "keeper_busy"
    assert len((await keeper.get("/sessions"))["sessions"]) == 3
    uuid = (await keeper.send("say: patient", second, wait=True))["uuid"]
    fourth = await keeper.send("say: also patient", wait=True)
    page = await keeper.get(f"/sessions/{second}")
    assert [(each["uuid"], each["state"]) for each in page["queue"]] == [(uuid, "queued")]
    assert page["session"]["state"] == "starting"
    # who stands in line can still go
    address = f"/sessions/{fourth['sessionId']}/queue/{fourth['uuid']}"
    assert (await keeper.request("DELETE", address))["state"] == "cancelled"
    # a message for one that works needs no place
    await keeper.send("say: queued", third)
    await keeper.resolve(in_first)
    await listener.wait_for_turn_end(second, uuid=uuid, outcome="done")
    await keeper.resolve(in_third)
    await listener.wait_for_turn_end(third, outcome="done")
    await listener.wait_for_turn_end(third, outcome="done")
    assert (await keeper.get("/health"))["live"] <= 2
    for session in (first, second, third):
        assert uuids(listener.messages(session)) == uuids(await keeper.history(session))


async def test_an_idle_session_ends_its_process_and_comes_back(
    start_keeper: StartKeeper,
) -> None:
    keeper = await start_keeper(Limits(idle_seconds=0.05))
    listener = await keeper.listen()
    session = (await keeper.send("say: 0", permissionMode="acceptEdits"))["sessionId"]
    for number in range(1, 3):
        await listener.wait_for_turn_end(session, outcome="done")
        await wait_until(lambda: not children())
        # its process is gone a moment before the session lets go of it
        page = await wait_for(
            lambda: keeper.get(f"/sessions/{session}"),
            lambda page: page["session"]["origin"] is None,
        )
        assert page["session"]["state"] == "idle"
        assert page["session"]["permissionMode"] == "acceptEdits"
        await keeper.send(f"say: {number}", session)
    await listener.wait_for_turn_end(session, outcome="done")
    history = await keeper.history(session)
    assert [text_of(each) for each in history if each["kind"] == "reply"] == ["0", "1", "2"]
    assert uuids(listener.messages(session)) == uuids(history)


async def test_messages_to_a_session_that_is_just_going_to_sleep_arrive(
    start_keeper: StartKeeper,
) -> None:
    """However close the end of the process and the next message are.

    The pauses are what is tested: moments around the end of the idle time.
    """
    keeper = await start_keeper(Limits(idle_seconds=0.01))
    listener = await keeper.listen()
    session = await keeper.start_session("say: 0", listener)
    for number in range(1, 5):
        await asyncio.sleep(0.004 * number)
        await keeper.send(f"say: {number}", session)
        await listener.wait_for_turn_end(session, outcome="done")
    history = await keeper.history(session)
    assert [text_of(each) for each in history if each["kind"] == "reply"] == list("01234")
    assert uuids(listener.messages(session)) == uuids(history)


async def insist_on_turn(
    keeper: InProcessKeeper, listener: SocketListener, session: str, uuid: str
) -> None:
    """A message that came before the session closed was taken back, and is sent again; one that
    came later has its turn."""

    def is_settled(event: Event) -> bool:
        if event["type"] == "queue/updated":
            return (uuid, "cancelled") in [(each["uuid"], each["state"]) for each in event["queue"]]
        return event["type"] == "turn/finished" and event["uuid"] == uuid

    event = await listener.wait_for(is_settled)
    if event["type"] == "queue/updated":
        await keeper.send("say: x", session, uuid=uuid)
        await listener.wait_for_turn_end(session, uuid=uuid)


async def test_closing_and_sending_at_once_loses_nothing(
    start_keeper: StartKeeper,
) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = await keeper.start_session("say: 0", listener)
    for _ in range(3):
        uuid = new_uuid()
        await asyncio.gather(
            keeper.close_session(session), keeper.send("say: x", session, uuid=uuid)
        )
        await insist_on_turn(keeper, listener, session, uuid)
    await keeper.send("say: end", session)
    await listener.wait_for_turn_end(session, outcome="done")
    assert text_of((await keeper.history(session))[-1]) == "end"


async def test_closing_at_any_moment_leaves_nothing(start_keeper: StartKeeper) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    starting = (await keeper.send("say: one"))["sessionId"]
    # before that it would only be taken back
    await listener.wait_for_event("turn/started", starting)
    await keeper.close_session(starting)
    await listener.wait_for_turn_end(starting, outcome="interrupted")
    # at the first start of all, it is also tried what this system can
    await wait_until(lambda: not children())
    asking = (await keeper.send("run: touch a"))["sessionId"]
    await listener.wait_for_question(asking)
    queued = (await keeper.send("say: never", asking))["uuid"]
    await keeper.close_session(asking)
    await listener.wait_for_event("attention/settled", asking, decision="withdrawn")
    await listener.wait_for_turn_end(asking, outcome="interrupted")
    assert not children()
    assert (await keeper.get("/attention"))["attention"] == []
    cancelled = [
        each["uuid"]
        for event in listener.events_of("queue/updated", asking)
        for each in event["queue"]
        if each["state"] == "cancelled"
    ]
    assert cancelled == [queued]
    assert await keeper.state_of(asking) == "idle"
    await keeper.send("say: again", asking)
    await listener.wait_for_turn_end(asking, outcome="done")
    assert text_of((await keeper.history(asking))[-1]) == "again"


async def test_two_messages_at_once_are_two_turns(start_keeper: StartKeeper) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = await keeper.start_session("say: 0", listener)
    await keeper.close_session(session)
    sent = await asyncio.gather(*(keeper.send(f"say: {n}", session) for n in range(1, 5)))
    twice = new_uuid()
    await asyncio.gather(*(keeper.send("say: once", session, uuid=twice) for _ in range(3)))
    for _ in range(5):
        await listener.wait_for_turn_end(session, outcome="done")
    history = await keeper.history(session)
    prompts = [each["uuid"] for each in history if each["kind"] == "prompt"]
    assert sorted(prompts[1:]) == sorted([*(each["uuid"] for each in sent), twice])
    assert uuids(listener.messages(session)) == uuids(history)


async def test_a_first_message_sent_twice_begins_one_session(start_keeper: StartKeeper) -> None:
    """Its answer was lost on the way, so the client sends it again."""
    keeper = await start_keeper()
    listener = await keeper.listen()
    uuid = new_uuid()
    one, two = await asyncio.gather(*(keeper.send("say: hi", uuid=uuid) for _ in range(2)))
    assert one["sessionId"] == two["sessionId"]
    await listener.wait_for_turn_end(one["sessionId"], outcome="done")
    again = await keeper.send("say: hi", uuid=uuid)
    assert again["sessionId"] == one["sessionId"]
    # also when nothing of it runs any more, here or at all
    await keeper.close_session(one["sessionId"])
    again = await keeper.send("say: hi", uuid=uuid)
    assert again["sessionId"] == one["sessionId"]
    # nor is it taken for the beginning of a copy
    await keeper.post(f"/sessions/{one['sessionId']}/fork", {}, 201)
    await keeper.stop()
    keeper = await start_keeper()
    again = await keeper.send("say: hi", uuid=uuid.upper())
    assert again["sessionId"] == one["sessionId"]
    assert len(await keeper.history(one["sessionId"])) == 2
    assert len((await keeper.get("/sessions"))["sessions"]) == 2


async def test_many_turns_leave_nothing_behind(start_keeper: StartKeeper, isolated: Path) -> None:
    # else they are watched from some time on only
    for name in ("projects", "sessions"):
        (isolated / ".claude" / name).mkdir()
    keeper: InProcessKeeper = await start_keeper(Limits(live_sessions=4))
    listener = await keeper.listen()
    sessions = [await keeper.start_session("say: warm", listener) for _ in range(4)]
    before = (task_names(), len(children()))
    most = count_descriptors()
    for round_ in range(6):
        for session in sessions:
            await keeper.send(f"think: hm\nsay: {round_}", session)
        for _ in sessions:
            await listener.wait_for_event("turn/finished", outcome="done")
    # a reading of the transcripts may still be under way
    await wait_until(
        lambda: (task_names(), len(children())) == before and count_descriptors() <= most
    )
    await keeper.stop()
    assert not children()
