"""Commands without a session, routed to conversations that the real CLI wrote."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from claudekeeper.demo.talk import talking
from tests.talking.conftest import StartKeeper
from tests.talking.keeper import Ear, Keeper, new_uuid, text_of


async def say(keeper: Keeper, text: str, **more: Any) -> Any:
    body = {"workdir": str(keeper.workdir), "text": text, "route": True, **more}
    return await keeper.post("/send", body, 202)


async def test_follow_ups_find_their_conversation_also_after_a_restart(
    start_keeper: StartKeeper,
) -> None:
    keeper = await start_keeper()
    ear = await keeper.listen()
    first = await say(keeper, "say: the auth bug in session.py is fixed")
    assert first["routing"]["action"] == "new"
    auth = first["sessionId"]
    await ear.finished(auth, outcome="done")
    uuid = new_uuid()
    second = await say(keeper, "also add a test for that", uuid=uuid)
    assert (second["sessionId"], second["routing"]["confidence"]) == (auth, 0.85)
    await ear.finished(auth, uuid=uuid, outcome="done")
    # the answer was lost on the way: the same message is the same message
    again = await say(keeper, "also add a test for that", uuid=uuid)
    assert (again["sessionId"], again["routing"]) == (auth, second["routing"])
    other = await say(keeper, "write a haiku generator in go with three verses")
    assert other["routing"]["action"] == "new"
    assert other["sessionId"] != auth
    await ear.finished(other["sessionId"], outcome="done")
    await keeper.stop()

    keeper = await start_keeper()
    ear = await keeper.listen()
    third = await say(keeper, "is session.py covered now?")
    assert third["sessionId"] == auth
    await ear.finished(auth, outcome="done")
    history = await keeper.history(auth)
    assert [text_of(message) for message in history if message["kind"] == "prompt"] == [
        "say: the auth bug in session.py is fixed",
        "also add a test for that",
        "is session.py covered now?",
    ]


async def test_the_worked_examples_come_out_so(start_keeper: StartKeeper) -> None:
    ahead = 0.0
    keeper = await start_keeper(clock=lambda: time.time() + ahead)
    session = await keeper.begin("fix login validation errors", await keeper.listen())

    async def plain(text: str) -> tuple[str, str | None, float]:
        answer = await keeper.post("/route", {"text": text, "scorer": "plain"})
        return answer["action"], answer["sessionId"], answer["confidence"]

    assert await plain("also add a test for that") == ("resume", session, 0.85)
    ahead = 120
    assert await plain("login validation messages") == ("resume", session, 0.46)
    ahead = 300
    action, _, confidence = await plain("refactor the database")
    assert (action, confidence) == ("new", pytest.approx(1 - 0.26, abs=0.005))
    ahead = 31 * 60
    assert await plain("also add a test for that") == ("new", None, 1.0)


async def test_two_commands_never_meet_in_one_session(start_keeper: StartKeeper) -> None:
    keeper = await start_keeper()
    ear = await keeper.listen()
    begun = await keeper.begin("say: the exporter is written", ear)
    answers = await asyncio.gather(
        *(say(keeper, "also this:\nrun: touch gate", wait=True) for _ in range(3))
    )
    sessions = [answer["sessionId"] for answer in answers]
    assert len(set(sessions)) == 3
    assert sessions.count(begun) == 1
    asking = {(await ear.event("attention/raised"))["sessionId"] for _ in sessions}
    assert asking == set(sessions)
    # all of them wait for an answer: nobody is free
    routing = await keeper.post("/route", {"text": "also add a test for that"})
    assert (routing["action"], routing["candidates"]) == ("new", [])


async def test_a_plan_is_implemented_in_the_conversation_in_which_it_was_made(
    keeper: Keeper, ear: Ear
) -> None:
    planned = await say(keeper, "plan: read the parser; change it", permissionMode="plan")
    session = planned["sessionId"]
    question = (await ear.event("attention/raised", session))["attention"]
    # it waits for an answer: nobody else's turn
    assert (await keeper.post("/route", {"text": "now implement it"}))["candidates"] == []
    await keeper.resolve(question)
    await ear.finished(session, outcome="done")
    for scorer in ("plain", "improved"):
        routing = await keeper.post("/route", {"text": "now implement it", "scorer": scorer})
        assert [each["sessionId"] for each in routing["candidates"]] == [session]
    assert (await say(keeper, "now implement it"))["sessionId"] == session
    await ear.finished(session, outcome="done")
    # and one that runs is left alone
    await say(keeper, "also this:\nslow: 600", wait=True)
    await ear.event("turn/started", session)
    assert (await keeper.post("/route", {"text": "also add a test"}))["candidates"] == []
    await keeper.interrupt(session)


async def at_rest(keeper: Keeper, session: str) -> None:
    """Returns once the keeper knows that somebody else's session has been answered."""
    while True:
        rows = {row["id"]: row for row in (await keeper.get("/sessions"))["sessions"]}
        presence = rows.get(session, {}).get("presence")
        if presence is not None and presence["status"] == "idle" and rows[session]["lastPrompt"]:
            return
        await asyncio.sleep(0.01)


async def test_what_was_said_in_a_terminal_just_now_is_known(keeper: Keeper, ear: Ear) -> None:
    async with talking({}, keeper.workdir) as terminal:
        await terminal.say("say: the csv exporter in export.py is written")
        await at_rest(keeper, terminal.session_id)
        told = await keeper.post("/route", {"text": "also add a test for that", "scorer": "plain"})
        assert (told["action"], told["confidence"]) == ("resume", 0.85)
        there = told["sessionId"]
        assert there == terminal.session_id
        # somebody has it open: one writer each, so it goes on in a copy
        copy = (await say(keeper, "also add a test for that"))["sessionId"]
        await ear.finished(copy, outcome="done")
        assert copy != there
    later = await keeper.post("/route", {"text": "does export.py quote its fields?"})
    assert later["sessionId"] in (there, copy)


async def test_a_failed_session_is_left_alone(start_keeper: StartKeeper) -> None:
    keeper = await start_keeper()
    ear = await keeper.listen()
    session = (await keeper.send("error: 401"))["sessionId"]
    await ear.finished(session, outcome="failed")
    routing = await keeper.post("/route", {"text": "also error handling: 401"})
    assert (routing["action"], routing["candidates"]) == ("new", [])
