"""Questions: each kind, each answer, each on its own; the model sees what was decided."""

from __future__ import annotations

import asyncio
from typing import Any

from claudekeeper.demo.messages_api import ScriptedApi
from tests.support.keeper_in_process import (
    InProcessKeeper,
    SocketListener,
    new_uuid,
    text_of,
    uuids,
)


def result_of(listener: SocketListener, session: str, tool_use_id: str) -> str:
    """What the model got as the outcome of a call."""
    for message in listener.messages(session):
        for block in message["content"]:
            if block.get("tool_use_id") == tool_use_id:
                content = block["content"]
                return content if isinstance(content, str) else text_of({"content": content})
    raise AssertionError("the call has no outcome")


async def test_a_denial_is_seen_by_the_model(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("run: touch a"))["sessionId"]
    question = await listener.wait_for_question(session)
    assert (question["kind"], question["tool"], question["origin"]) == (
        "permission",
        "Bash",
        "gateway",
    )
    assert question["input"]["command"] == "touch a"
    await keeper.resolve(question, decision="deny", message="use mkdir, please")
    await listener.wait_for_turn_end(session, outcome="done")
    assert "use mkdir, please" in text_of(listener.messages(session)[-1])
    await keeper.send("run: touch a", session)
    await keeper.resolve(await listener.wait_for_question(session), decision="deny")
    await listener.wait_for_turn_end(session, outcome="done")
    assert not (keeper.workdir / "a").exists()
    # and one that stops everything
    await keeper.send("run: touch a\nrun: touch b", session)
    await keeper.resolve(await listener.wait_for_question(session), decision="deny", interrupt=True)
    await listener.wait_for_turn_end(session, outcome="interrupted")
    await keeper.send("say: still here", session)
    await listener.wait_for_turn_end(session, outcome="done")
    history = await keeper.history(session)
    assert uuids(listener.messages(session)) == uuids(history)
    # a call that was not made is not one that failed
    for published in (listener.messages(session), history):
        denied = [each["deniedBy"] for each in published if each["kind"] == "toolResult"]
        assert denied[:2] == ["person", "person"]
        assert {each["deniedBy"] for each in published if each["kind"] != "toolResult"} == {None}


async def test_a_changed_input_is_what_runs(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("run: touch a && run: touch b"))["sessionId"]
    first = await listener.wait_for_question(session)
    await keeper.resolve(first, updatedInput={**first["input"], "command": "touch changed"})
    second = await listener.wait_for_question(session)
    assert second["input"]["command"] == "touch b"
    await keeper.resolve(second, decision="deny", message="not b")
    await listener.wait_for_turn_end(session, outcome="done")
    assert (keeper.workdir / "changed").exists()
    assert not (keeper.workdir / "a").exists()
    assert not (keeper.workdir / "b").exists()
    assert "not b" in result_of(listener, session, second["toolUseId"])


async def test_what_is_always_allowed_is_not_asked_again(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    """What the CLI suggests, given back to it: rules, directories, a mode."""
    # a rule for this project, a directory and a mode, a rule for this session
    for number, step in enumerate(("run: python3 -c 1", "write: {}/out.txt: 1", "read: {}/in.txt")):
        folder, outside = keeper.home / f"inside{number}", keeper.home / f"outside{number}"
        folder.mkdir()
        outside.mkdir()
        (outside / "in.txt").touch()
        script = step.format(outside)
        session = (await keeper.send(script, workdir=str(folder)))["sessionId"]
        question = await listener.wait_for_question(session)
        assert question["suggestions"]
        await keeper.resolve(question, updatedPermissions=question["suggestions"])
        await listener.wait_for_turn_end(session, outcome="done")
        await keeper.send(script.replace("out.txt", "more.txt"), session)
        await listener.wait_for_turn_end(session, outcome="done")
        # nor by the next process of the session, whatever the scope was
        await keeper.close_session(session)
        await keeper.send(script.replace("out.txt", "again.txt"), session)
        await listener.wait_for_turn_end(session, outcome="done")
        assert len(listener.events_of("attention/raised", session)) == 1
    # for this session, and for no copy of it
    fork = (await keeper.post(f"/sessions/{session}/fork", {}, 201))["id"]
    await keeper.send(script, fork)
    await keeper.resolve(await listener.wait_for_question(fork))
    await listener.wait_for_turn_end(fork, outcome="done")


async def test_a_mode_that_an_answer_set_stays(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    mode = await keeper.start_session("say: hello", listener)
    await keeper.send("write: one.txt: 1", mode)
    question = await listener.wait_for_question(mode)
    (edits,) = [each for each in question["suggestions"] if each["type"] == "setMode"]
    await keeper.resolve(question, updatedPermissions=[edits])
    await listener.wait_for_turn_end(mode, outcome="done")
    page = await keeper.get(f"/sessions/{mode}")
    assert page["session"]["permissionMode"] == edits["mode"] == "acceptEdits"
    await keeper.send("write: two.txt: 2", mode)
    await listener.wait_for_turn_end(mode, outcome="done")
    assert len(listener.events_of("attention/raised", mode)) == 1
    # and it comes back so
    await keeper.close_session(mode)
    await keeper.send("write: three.txt: 3", mode)
    await listener.wait_for_turn_end(mode, outcome="done")
    assert len(listener.events_of("attention/raised", mode)) == 1


async def test_questions_of_one_answer_of_several_and_in_own_words(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("ask: Which database? Postgres | SQLite"))["sessionId"]
    question = await listener.wait_for_question(session)
    assert question["kind"] == "question"
    text = "Which database?"
    refused: list[dict[str, Any]] = [
        {},
        {"answers": {}},
        {"answers": {"Another?": "Postgres"}},
        {"answers": {text: "Postgres", "Another?": "x"}},
        {"answers": {text: 5}},
        {"answers": {text: ["Postgres", "SQLite"]}},
        {"answers": {text: []}},
        {"answers": {text: ""}},
        {"answers": {text: ["Postgres", 5]}},
        {"answers": "Postgres"},
    ]
    for answer in refused:
        failure = await keeper.resolve(question, status=400, **answer)
        assert failure["error"]["code"] == "invalid_request"
    assert (await keeper.get("/attention"))["attention"] == [question]
    await keeper.resolve(question, answers={text: "SQLite"})
    await listener.wait_for_turn_end(session, outcome="done")
    assert "“SQLite”" in text_of(listener.messages(session)[-1])
    await keeper.send("ask: Which database? Postgres | SQLite", session)
    await keeper.resolve(
        await listener.wait_for_question(session), answers={text: "a flat file, really"}
    )
    await listener.wait_for_turn_end(session, outcome="done")
    assert "“a flat file, really”" in text_of(listener.messages(session)[-1])
    await keeper.send("ask many: Which checks? Lint | Types | Tests", session)
    await keeper.resolve(
        await listener.wait_for_question(session), answers={"Which checks?": ["Lint", "Tests"]}
    )
    await listener.wait_for_turn_end(session, outcome="done")
    assert "“Lint, Tests”" in text_of(listener.messages(session)[-1])
    await keeper.send("ask: Which database? Postgres | SQLite", session)
    await keeper.resolve(
        await listener.wait_for_question(session), decision="deny", message="ask me later"
    )
    await listener.wait_for_turn_end(session, outcome="done")
    assert "ask me later" in text_of(listener.messages(session)[-1])
    assert uuids(listener.messages(session)) == uuids(await keeper.history(session))


async def test_a_plan_is_refused_and_then_approved(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("plan: read; change", permissionMode="plan"))["sessionId"]
    question = await listener.wait_for_question(session)
    assert question["kind"] == "plan"
    await keeper.resolve(question, decision="deny", message="more detail")
    await listener.wait_for_turn_end(session, outcome="done")
    assert "more detail" in text_of(listener.messages(session)[-1])
    page = await keeper.get(f"/sessions/{session}")
    assert page["session"]["permissionMode"] == "plan"
    await keeper.send("plan: read; change", session)
    await keeper.resolve(await listener.wait_for_question(session))
    await listener.wait_for_turn_end(session, outcome="done")
    page = await keeper.get(f"/sessions/{session}")
    assert page["session"]["permissionMode"] == "default"
    updated = listener.events_of("session/updated", session)[-1]["session"]
    assert updated["permissionMode"] == "default"
    await keeper.send("write: after.txt: x", session)
    await keeper.resolve(await listener.wait_for_question(session))
    await listener.wait_for_turn_end(session, outcome="done")
    assert (keeper.workdir / "after.txt").exists()


async def test_tools_in_parallel_ask_at_once_and_each_gets_its_own_answer(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    outside = keeper.home / "outside"
    outside.mkdir()
    names = ["one", "two", "three"]
    for name in names:
        (outside / name).write_text(f"this is {name}")
    script = " && ".join(f"read: {outside}/{name}" for name in names)
    session = (await keeper.send(script))["sessionId"]
    questions = {}
    for _ in names:
        question = await listener.wait_for_question(session)
        questions[question["input"]["file_path"].rpartition("/")[2]] = question
    assert (await keeper.get(f"/sessions/{session}"))["session"]["attention"] == 3
    await keeper.resolve(questions["three"])
    await keeper.resolve(questions["two"], decision="deny", message="not two")
    await keeper.resolve(questions["one"])
    await listener.wait_for_turn_end(session, outcome="done")
    results = {name: result_of(listener, session, questions[name]["toolUseId"]) for name in names}
    assert "this is one" in results["one"]
    assert results["two"] == "not two"
    assert "this is three" in results["three"]
    assert uuids(listener.messages(session)) == uuids(await keeper.history(session))


async def test_subagents_ask_each_for_itself(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("agent: run: touch a && agent: run: touch b"))["sessionId"]
    denied, allowed = [await listener.wait_for_question(session) for _ in range(2)]
    assert denied["agentId"] != allowed["agentId"]
    await keeper.resolve(allowed)
    await keeper.resolve(denied, decision="deny", message="not this one")
    await listener.wait_for_turn_end(session, outcome="done")
    # either of the two may have asked first
    assert {denied["input"]["command"], allowed["input"]["command"]} == {"touch a", "touch b"}
    assert (keeper.workdir / allowed["input"]["command"].removeprefix("touch ")).exists()
    assert not (keeper.workdir / denied["input"]["command"].removeprefix("touch ")).exists()
    assert uuids(listener.messages(session)) == uuids(await keeper.history(session))


async def test_a_subagent_is_told_as_it_is_written(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("agent: run: touch deep"))["sessionId"]
    question = await listener.wait_for_question(session)
    await keeper.resolve(question)
    await listener.wait_for_turn_end(session, outcome="done")
    assert (keeper.workdir / "deep").exists()
    nested = [
        event["message"]
        for event in listener.events_of("message/added", session)
        if event["message"]["parentToolUseId"] is not None
    ]
    (listed,) = (await keeper.get(f"/sessions/{session}/subagents"))["subagents"]
    assert listed["agentId"] == question["agentId"]
    read = await keeper.get(f"/sessions/{session}/subagents/{listed['agentId']}")
    assert uuids(nested) == uuids(read["messages"])
    for live, stored in zip(nested, read["messages"], strict=True):
        for field in ("agentId", "parentToolUseId", "kind", "role", "content"):
            assert live[field] == stored[field], field
    assert uuids(listener.messages(session)) == uuids(await keeper.history(session))


async def test_of_two_answers_one_wins(keeper: InProcessKeeper, listener: SocketListener) -> None:
    session = (await keeper.send("run: touch a"))["sessionId"]
    question = await listener.wait_for_question(session)
    body = {"attentionId": question["id"], "decision": "allow"}

    async def answer(by: str) -> int:
        async with keeper.client.post("/resolve", json={**body, "by": by}) as response:
            return response.status

    statuses = await asyncio.gather(*(answer(f"client {n}") for n in range(5)))
    assert sorted(statuses) == [200, 409, 409, 409, 409]
    settled = await listener.wait_for_event("attention/settled", session)
    assert settled["by"] == f"client {statuses.index(200)}"
    late = await keeper.resolve(question, 409)
    assert settled["by"] in late["error"]["message"]
    unknown = await keeper.post("/resolve", {**body, "attentionId": new_uuid()}, 404)
    assert unknown["error"]["code"] == "attention_not_found"
    await listener.wait_for_turn_end(session, outcome="done")
    assert len(listener.events_of("attention/settled", session)) == 1


ODD_ANSWERS: list[dict[str, Any]] = [
    {"decision": "maybe"},
    {"decision": None},
    {"updatedInput": []},
    {"updatedInput": "touch b"},
    {"updatedPermissions": {}},
    {"updatedPermissions": ["all"]},
    {"updatedPermissions": [{}]},
    {"updatedPermissions": [{"type": "everything"}]},
    {"updatedPermissions": [{"type": "addRules", "rules": [{}], "behavior": "allow"}]},
    {"updatedPermissions": [{"type": "addRules", "rules": "Bash", "behavior": "allow"}]},
    {"updatedPermissions": [{"type": "setMode", "mode": "chaos", "destination": "session"}]},
    {"updatedPermissions": [{"type": "addDirectories", "directories": "/"}]},
    {"answers": {"What?": "x"}},
    {"message": 5},
    {"by": 5},
    {"by": "x" * 10_000},
    {"interrupt": "yes"},
    {"unknown": 1},
]


async def test_an_odd_answer_leaves_the_question_open(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("run: touch a"))["sessionId"]
    question = await listener.wait_for_question(session)
    for odd in ODD_ANSWERS:
        body = {"attentionId": question["id"], "decision": "allow", **odd}
        async with keeper.client.post("/resolve", json=body) as response:
            failure = await response.json()
            assert response.status == 400, odd
        assert failure["error"]["code"] == "invalid_request"
        assert failure["error"]["message"].endswith(".")
        assert (await keeper.get("/attention"))["attention"] == [question]
    await keeper.resolve(question)
    await listener.wait_for_turn_end(session, outcome="done")


async def test_an_input_that_the_tool_cannot_take_is_seen_by_the_model(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("run: touch a"))["sessionId"]
    question = await listener.wait_for_question(session)
    await keeper.resolve(question, updatedInput={"nonsense": True})
    await listener.wait_for_turn_end(session)
    assert not (keeper.workdir / "a").exists()
    assert uuids(listener.messages(session)) == uuids(await keeper.history(session))


async def test_ten_sessions_ask_at_once(
    keeper: InProcessKeeper, listener: SocketListener, scripted_api: ScriptedApi
) -> None:
    sessions = [(await keeper.send(f"run: touch t{n}"))["sessionId"] for n in range(10)]
    await listener.wait_until(lambda: listener.sessions_of("attention/raised") == set(sessions))
    raised = listener.events_of("attention/raised")
    questions = {event["sessionId"]: event["attention"] for event in raised}
    assert len((await keeper.get("/attention"))["attention"]) == 10
    listed = (await keeper.get("/sessions"))["sessions"]
    assert {each["state"] for each in listed if each["id"] in sessions} == {"waiting"}
    for session in sessions:
        await keeper.resolve(questions[session])
    await listener.wait_until(lambda: listener.sessions_of("turn/finished") == set(sessions))
    assert {event["outcome"] for event in listener.events_of("turn/finished")} == {"done"}
    for n, session in enumerate(sessions):
        assert (keeper.workdir / f"t{n}").exists()
        assert uuids(listener.messages(session)) == uuids(await keeper.history(session))
    assert (await keeper.get("/attention"))["attention"] == []
