"""Commands without a session, routed to conversations that the real CLI wrote."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from claudekeeper.demo.cli_driver import open_conversation
from tests.integration.conftest import Meanwhile, StartKeeper, nothing_happens, restart
from tests.support.keeper_in_process import InProcessKeeper, SocketListener, new_uuid, text_of
from tests.support.waiting import wait_for


async def say(keeper: InProcessKeeper, text: str, **more: Any) -> Any:
    body = {"workdir": str(keeper.workdir), "text": text, "route": True, **more}
    return await keeper.post("/send", body, 202)


async def test_follow_ups_find_their_conversation_also_after_a_restart(
    start_keeper: StartKeeper,
) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    first = await say(keeper, "say: the auth bug in session.py is fixed")
    assert first["routing"]["action"] == "new"
    auth = first["sessionId"]
    await listener.wait_for_turn_end(auth, outcome="done")
    uuid = new_uuid()
    second = await say(keeper, "also add a test for that", uuid=uuid)
    assert (second["sessionId"], second["routing"]["confidence"]) == (auth, 0.85)
    await listener.wait_for_turn_end(auth, uuid=uuid, outcome="done")
    # the answer was lost on the way: the same message is the same message
    again = await say(keeper, "also add a test for that", uuid=uuid)
    assert (again["sessionId"], again["routing"]) == (auth, second["routing"])
    other = await say(keeper, "write a haiku generator in go with three verses")
    assert other["routing"]["action"] == "new"
    assert other["sessionId"] != auth
    await listener.wait_for_turn_end(other["sessionId"], outcome="done")
    await keeper.stop()

    keeper = await start_keeper()
    listener = await keeper.listen()
    third = await say(keeper, "is session.py covered now?")
    assert third["sessionId"] == auth
    await listener.wait_for_turn_end(auth, outcome="done")
    history = await keeper.history(auth)
    assert [text_of(message) for message in history if message["kind"] == "prompt"] == [
        "say: the auth bug in session.py is fixed",
        "also add a test for that",
        "is session.py covered now?",
    ]


async def test_the_worked_examples_come_out_so(start_keeper: StartKeeper) -> None:
    ahead = 0.0
    keeper = await start_keeper(clock=lambda: time.time() + ahead)
    session = await keeper.start_session("fix login validation errors", await keeper.listen())

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
    listener = await keeper.listen()
    begun = await keeper.start_session("say: the exporter is written", listener)
    answers = await asyncio.gather(
        *(say(keeper, "also this:\nrun: touch gate", wait=True) for _ in range(3))
    )
    sessions = [answer["sessionId"] for answer in answers]
    assert len(set(sessions)) == 3
    assert sessions.count(begun) == 1
    asking = {(await listener.wait_for_event("attention/raised"))["sessionId"] for _ in sessions}
    assert asking == set(sessions)
    # all of them wait for an answer: nobody is free
    routing = await keeper.post("/route", {"text": "also add a test for that"})
    assert (routing["action"], routing["candidates"]) == ("new", [])


async def test_a_plan_is_implemented_in_the_conversation_in_which_it_was_made(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    planned = await say(keeper, "plan: read the parser; change it", permissionMode="plan")
    session = planned["sessionId"]
    question = (await listener.wait_for_event("attention/raised", session))["attention"]
    # it waits for an answer: nobody else's turn
    assert (await keeper.post("/route", {"text": "now implement it"}))["candidates"] == []
    await keeper.resolve(question)
    await listener.wait_for_turn_end(session, outcome="done")
    for scorer in ("plain", "improved"):
        routing = await keeper.post("/route", {"text": "now implement it", "scorer": scorer})
        assert [each["sessionId"] for each in routing["candidates"]] == [session]
    assert (await say(keeper, "now implement it"))["sessionId"] == session
    await listener.wait_for_turn_end(session, outcome="done")
    # and one that runs is left alone
    await say(keeper, "also this:\nslow: 600", wait=True)
    await listener.wait_for_event("turn/started", session)
    assert (await keeper.post("/route", {"text": "also add a test"}))["candidates"] == []
    await keeper.interrupt(session)


async def at_rest(keeper: InProcessKeeper, session: str) -> None:
    """Returns once the keeper knows that somebody else's session has been answered."""

    def is_at_rest(page: Any) -> bool:
        row = next((row for row in page["sessions"] if row["id"] == session), None)
        if row is None or row["presence"] is None:
            return False
        return row["presence"]["status"] == "idle" and bool(row["lastPrompt"])

    await wait_for(lambda: keeper.get("/sessions"), is_at_rest)


async def test_what_was_said_in_a_terminal_just_now_is_known(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    async with open_conversation({}, keeper.workdir) as terminal:
        await terminal.run_turn("say: the csv exporter in export.py is written")
        await at_rest(keeper, terminal.session_id)
        decision = await keeper.post(
            "/route", {"text": "also add a test for that", "scorer": "plain"}
        )
        assert (decision["action"], decision["confidence"]) == ("resume", 0.85)
        session = decision["sessionId"]
        assert session == terminal.session_id
        # somebody has it open: one writer each, so it goes on in a copy
        copy = (await say(keeper, "also add a test for that"))["sessionId"]
        await listener.wait_for_turn_end(copy, outcome="done")
        assert copy != session
    later = await keeper.post("/route", {"text": "does export.py quote its fields?"})
    assert later["sessionId"] in (session, copy)


async def test_a_failed_session_is_left_alone(start_keeper: StartKeeper) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = (await keeper.send("error: 401"))["sessionId"]
    await listener.wait_for_turn_end(session, outcome="failed")
    routing = await keeper.post("/route", {"text": "also error handling: 401"})
    assert (routing["action"], routing["candidates"]) == ("new", [])


async def routings(keeper: InProcessKeeper, session: str) -> Any:
    return (await keeper.get(f"/sessions/{session}/routings"))["routings"]


async def metrics(keeper: InProcessKeeper) -> str:
    async with keeper.client.get("/metrics") as answer:
        return await answer.text()


async def test_why_a_message_went_there_is_kept_logged_and_counted(
    start_keeper: StartKeeper, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    keeper = await start_keeper()
    listener = await keeper.listen()
    first = await say(keeper, "say: the auth bug in session.py is fixed")
    auth = first["sessionId"]
    await listener.wait_for_turn_end(auth, outcome="done")
    second = await say(keeper, "also add a test for zebras")
    await listener.wait_for_turn_end(auth, uuid=second["uuid"], outcome="done")

    routings_of_session = await routings(keeper, auth)
    assert [each["uuid"] for each in routings_of_session] == [first["uuid"], second["uuid"]]
    assert [each["routing"]["action"] for each in routings_of_session] == ["new", "resume"]
    assert routings_of_session[1]["routing"] == second["routing"]
    routing = routings_of_session[1]["routing"]
    assert (routing["scorer"], routing["cause"], routing["confidence"]) == (
        "improved",
        "fits",
        0.85,
    )
    assert [each["sessionId"] for each in routing["candidates"]] == [auth]
    assert routings_of_session[1]["followed"] is True

    (logged,) = [each.routing for each in caplog.records if getattr(each, "routing", None)][1:]
    assert logged["uuid"] == second["uuid"]
    assert (logged["action"], logged["reason"], logged["scorer"]) == ("resume", "fits", "improved")
    assert logged["candidates"] == [{"sessionId": auth, "score": 0.85}]
    # what was said is nobody's who reads the log
    assert "zebras" not in caplog.text
    assert "zebras" not in str(logged)

    counted = await metrics(keeper)
    assert 'claudekeeper_routings_total{action="resume",scorer="improved"} 1' in counted
    assert 'claudekeeper_routings_total{action="new",scorer="improved"} 1' in counted
    assert 'claudekeeper_routings_total{action="new",scorer="plain"} 0' in counted
    await keeper.stop()

    keeper = await start_keeper()
    assert await routings(keeper, auth) == routings_of_session
    # the same message again is neither sent nor counted again
    again = await say(keeper, "also add a test for zebras", uuid=second["uuid"])
    assert (again["sessionId"], again["routing"]) == (auth, second["routing"])
    assert await routings(keeper, auth) == routings_of_session


async def test_the_way_that_a_person_chose_is_kept_with_what_was_decided(
    start_keeper: StartKeeper,
) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    auth = await keeper.start_session("say: the auth bug in session.py is fixed", listener)
    words = "also add a test for that"
    decision = await keeper.post("/route", {"text": words})
    other = await keeper.send("say: something else", None, routing=decision["id"])
    await listener.wait_for_turn_end(other["sessionId"], outcome="done")
    sent = await keeper.send(words, auth, routing=decision["id"])
    await listener.wait_for_turn_end(auth, uuid=sent["uuid"], outcome="done")
    (overruled,) = await routings(keeper, other["sessionId"])
    assert (overruled["followed"], overruled["routing"]["sessionId"]) == (False, auth)
    (followed,) = await routings(keeper, auth)
    assert (followed["followed"], followed["routing"]) == (True, decision)
    assert "claudekeeper_routings_overruled_total 1" in await metrics(keeper)
    # an answer that nobody knows any more keeps no message from being sent
    late = await keeper.send("say: late", auth, routing=new_uuid())
    await listener.wait_for_turn_end(auth, uuid=late["uuid"], outcome="done")
    assert len(await routings(keeper, auth)) == 1


async def planning(
    keeper: InProcessKeeper, listener: SocketListener, *, before: str | None = None
) -> str:
    """A session that plans how to write a file."""
    session = await keeper.start_session("say: shall we keep done.txt?", listener)
    if before is not None:
        await keeper.post(f"/sessions/{session}/mode", {"permissionMode": before})
    await keeper.post(f"/sessions/{session}/mode", {"permissionMode": "plan"})
    sent = await keeper.send("say: the plan is to keep done.txt", session)
    await listener.wait_for_turn_end(session, uuid=sent["uuid"], outcome="done")
    return session


async def mode_of(keeper: InProcessKeeper, session: str) -> str:
    return str((await keeper.get(f"/sessions/{session}"))["session"]["permissionMode"])


NOW = "Now implement it\nwrite: done.txt: as planned"


@pytest.mark.parametrize("meanwhile", [nothing_happens, restart])
async def test_now_implement_it_leaves_plan_mode_for_the_mode_before_it(
    start_keeper: StartKeeper, meanwhile: Meanwhile
) -> None:
    keeper = await start_keeper()
    session = await planning(keeper, await keeper.listen(), before="acceptEdits")
    keeper = await meanwhile(keeper, start_keeper)
    listener = await keeper.listen()
    decision = await keeper.post("/route", {"text": NOW})
    assert decision["candidates"][0]["leavesPlanFor"] == "acceptEdits"
    # to ask changes nothing
    assert await mode_of(keeper, session) == "plan"
    sent = await say(keeper, NOW)
    assert (sent["sessionId"], sent["leftPlanFor"]) == (session, "acceptEdits")
    await listener.wait_for_turn_end(session, uuid=sent["uuid"], outcome="done")
    assert (keeper.workdir / "done.txt").read_text() == "as planned"
    assert await mode_of(keeper, session) == "acceptEdits"
    assert (await routings(keeper, session))[-1]["leftPlanFor"] == "acceptEdits"


async def test_now_implement_it_leaves_a_plan_mode_that_a_terminal_chose(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    async with open_conversation({}, keeper.workdir, permission_mode="plan") as terminal:
        await terminal.run_turn("say: the till is described in till.py")
        await at_rest(keeper, terminal.session_id)
        session = terminal.session_id
    decision = await keeper.post("/route", {"text": NOW})
    (candidate,) = decision["candidates"]
    assert (candidate["sessionId"], candidate["leavesPlanFor"]) == (session, "default")
    sent = await say(keeper, NOW)
    assert sent["leftPlanFor"] == "default"
    # no plan is asked about, but the edit
    question = await listener.wait_for_question(sent["sessionId"])
    assert (question["kind"], question["tool"]) == ("permission", "Write")
    await keeper.resolve(question)
    await listener.wait_for_turn_end(sent["sessionId"], uuid=sent["uuid"], outcome="done")
    assert (keeper.workdir / "done.txt").read_text() == "as planned"


async def test_without_a_mode_before_it_every_edit_is_asked_about(
    start_keeper: StartKeeper,
) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = await planning(keeper, listener)
    decision = await keeper.post("/route", {"text": NOW})
    # the command bar sends to the session that was chosen
    sent = await keeper.send(NOW, session, routing=decision["id"])
    assert sent["leftPlanFor"] == "default"
    question = await listener.wait_for_question(session)
    assert (question["kind"], question["tool"]) == ("permission", "Write")
    assert not (keeper.workdir / "done.txt").exists()
    await keeper.resolve(question)
    await listener.wait_for_turn_end(session, uuid=sent["uuid"], outcome="done")
    assert (keeper.workdir / "done.txt").exists()


@pytest.mark.parametrize(
    "words", ["say: don't implement it yet", "say: implement it in the plan", "say: should we?"]
)
async def test_other_words_leave_the_plan_mode_as_it_is(
    start_keeper: StartKeeper, words: str
) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = await planning(keeper, listener)
    decision = await keeper.post("/route", {"text": words})
    assert all(each["leavesPlanFor"] is None for each in decision["candidates"])
    sent = await keeper.send(words, session, routing=decision["id"])
    assert "leftPlanFor" not in sent
    await listener.wait_for_turn_end(session, uuid=sent["uuid"], outcome="done")
    assert await mode_of(keeper, session) == "plan"


async def test_words_that_were_not_routed_and_modes_that_were_chosen_stay(
    start_keeper: StartKeeper,
) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = await planning(keeper, listener, before="acceptEdits")
    sent = await keeper.send("Now implement it", session)
    await listener.wait_for_turn_end(session, uuid=sent["uuid"], outcome="done")
    assert await mode_of(keeper, session) == "plan"
    sent = await say(keeper, "Now implement it", permissionMode="plan")
    assert sent["sessionId"] == session
    assert "leftPlanFor" not in sent
    await listener.wait_for_turn_end(session, uuid=sent["uuid"], outcome="done")
    assert await mode_of(keeper, session) == "plan"


async def test_a_plan_that_waits_in_its_card_is_approved_there_only(
    start_keeper: StartKeeper,
) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = await planning(keeper, listener, before="acceptEdits")
    answer = await keeper.post("/route", {"text": NOW})
    await keeper.send("plan: write done.txt", session)
    question = await listener.wait_for_question(session)
    # it is no candidate any more, and who sends it there all the same stands in line
    elsewhere = await keeper.post("/route", {"text": NOW})
    assert elsewhere["candidates"] == []
    sent = await keeper.send("say: go ahead", session, routing=answer["id"])
    assert "leftPlanFor" not in sent
    (waiting,) = (await keeper.get("/attention"))["attention"]
    assert waiting["id"] == question["id"]
    assert await mode_of(keeper, session) == "plan"
    await keeper.resolve(question, decision="deny", message="another way")
    await listener.wait_for_turn_end(session, uuid=sent["uuid"], outcome="done")
    assert await mode_of(keeper, session) == "plan"
