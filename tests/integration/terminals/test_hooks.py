"""What hooks tell and ask, over the contract; the real ones are in `test_terminals.py`."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

from tests.integration.conftest import StartKeeper
from tests.support.keeper_in_process import HOOK_TOKEN, InProcessKeeper, SocketListener
from tests.support.transcript_people import append_lines, write_presence
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder

Stranger = asyncio.subprocess.Process
BY_HOOK = {"Authorization": f"Bearer {HOOK_TOKEN}"}
INPUT = {"command": "ls"}
ALLOW = {"decision": "allow"}
DENY = {"decision": "deny", "message": 'no: "never"'}


def call(**fields: Any) -> dict[str, Any]:
    event = {
        "hook_event_name": "PermissionRequest",
        "session_id": SESSION_ID,
        "tool_name": "Bash",
        "tool_input": INPUT,
        "something": "new",
    }
    return {"event": event, "pid": 1, "entrypoint": "cli", "again": False, **fields}


class Hook:
    """A hook that waits for an answer."""

    def __init__(self, keeper: InProcessKeeper, **fields: Any) -> None:
        self._task = asyncio.get_running_loop().create_task(self._ask(keeper, call(**fields)))

    async def _ask(self, keeper: InProcessKeeper, body: Any) -> Any:
        # a connection of its own: it outlives the keeper
        url = keeper.client.make_url("/hooks/permission")
        async with aiohttp.ClientSession(headers=BY_HOOK) as session:
            try:
                async with session.post(url, json=body) as answer:
                    return answer.status, await answer.json()
            except aiohttp.ServerDisconnectedError:
                return 503, None

    async def answer(self) -> Any:
        status, body = await asyncio.wait_for(self._task, 60)
        assert status == 200, body
        return body["output"]

    async def failure(self) -> Any:
        return await asyncio.wait_for(self._task, 60)

    async def go_away(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})


@pytest.fixture
def transcript() -> TranscriptWriter:
    transcript = TranscriptWriter()
    transcript.prompt("list them")
    transcript.call("toolu_1")
    transcript.write(projects_folder())
    return transcript


@pytest.fixture
async def waiting(
    transcript: TranscriptWriter, keeper: InProcessKeeper, stranger: Stranger
) -> InProcessKeeper:
    """A keeper beside a terminal that shows a prompt."""
    write_presence(stranger.pid, status="waiting", waitingFor="permission prompt")
    return keeper


async def raised(listener: SocketListener) -> Any:
    return (await listener.wait_for_event("attention/raised"))["attention"]


async def test_an_answer_from_here_is_what_the_hook_says(
    waiting: InProcessKeeper, listener: SocketListener
) -> None:
    hook = Hook(waiting)
    question = await raised(listener)
    assert (question["toolUseId"], question["origin"]) == ("toolu_1", "terminal")
    (session,) = (await waiting.get("/sessions"))["sessions"]
    assert (session["state"], session["attention"]) == ("waiting", 1)
    await waiting.post("/resolve", {"attentionId": question["id"], "decision": "allow"})
    output = await hook.answer()
    assert output == {
        "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {"behavior": "allow", "updatedInput": INPUT},
        }
    }


@pytest.mark.parametrize(("error", "decision"), [(False, "allow"), (True, "deny")])
async def test_the_result_in_the_transcript_settles_it(
    waiting: InProcessKeeper,
    listener: SocketListener,
    transcript: TranscriptWriter,
    error: bool,
    decision: str,
) -> None:
    hook = Hook(waiting)
    question = await raised(listener)
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": error, "content": "x"}
    transcript.entry("user", message={"role": "user", "content": [block]})
    append_lines(projects_folder() / "-code-shop" / f"{SESSION_ID}.jsonl", transcript.lines[-1])
    settled = await listener.wait_for_event(
        "attention/settled", SESSION_ID, attentionId=question["id"]
    )
    assert (settled["by"], settled["decision"]) == ("terminal", decision)
    assert await hook.answer() is None


async def test_a_call_that_is_written_late_is_told_from_an_older_one_of_the_same_words(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("list them")
    transcript.call("toolu_0")
    transcript.result("toolu_0", "a.txt")
    transcript.write(projects_folder())
    hook = Hook(keeper)
    question = await raised(listener)
    assert question["toolUseId"] is None
    transcript.call("toolu_1")
    transcript.result("toolu_1", "b.txt")
    append_lines(projects_folder() / "-code-shop" / f"{SESSION_ID}.jsonl", *transcript.lines[-2:])
    settled = await listener.wait_for_event(
        "attention/settled", SESSION_ID, attentionId=question["id"]
    )
    assert (settled["by"], settled["decision"]) == ("terminal", "allow")
    assert await hook.answer() is None


@pytest.mark.parametrize(
    ("answer", "is_error", "result", "corrections"),
    [
        (DENY, False, "it ran", ["allow"]),
        (DENY, True, "Exit code 1", ["allow"]),
        (DENY, True, 'no: "never"', []),
        (ALLOW, True, "The user doesn't want to proceed with this tool use.", ["deny"]),
        (ALLOW, True, "Exit code 1", []),
        (ALLOW, False, "it ran", []),
    ],
)
async def test_what_the_terminal_did_instead_is_told(
    waiting: InProcessKeeper,
    listener: SocketListener,
    transcript: TranscriptWriter,
    answer: dict[str, str],
    is_error: bool,
    result: str,
    corrections: list[str],
) -> None:
    hook = Hook(waiting)
    question = await raised(listener)
    await waiting.post("/resolve", {"attentionId": question["id"], **answer})
    await hook.answer()
    block = {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "is_error": is_error,
        "content": result,
    }
    transcript.entry("user", message={"role": "user", "content": [block]})
    transcript.reply("and on")
    path = projects_folder() / "-code-shop" / f"{SESSION_ID}.jsonl"
    append_lines(path, *transcript.lines[-2:])
    await listener.wait_for(
        lambda e: e["type"] == "message/added" and e["message"]["kind"] == "reply"
    )
    # whatever was to be said was said before a later word of the session
    transcript.prompt("more")
    append_lines(path, transcript.lines[-1])
    await listener.wait_for(
        lambda e: e["type"] == "message/added" and e["message"]["kind"] == "prompt"
    )
    settled = listener.events_of("attention/settled", SESSION_ID)
    assert [(event["decision"], event["by"]) for event in settled] == [
        (answer["decision"], "client"),
        *((decision, "terminal") for decision in corrections),
    ]


async def test_a_plan_is_known_though_hooks_are_given_the_one_of_its_file(
    waiting: InProcessKeeper, listener: SocketListener, transcript: TranscriptWriter
) -> None:
    path = projects_folder() / "-code-shop" / f"{SESSION_ID}.jsonl"
    plan = {"type": "tool_use", "id": "plan_1", "name": "ExitPlanMode", "input": {"plan": "a shed"}}
    transcript.block(plan, None)
    append_lines(path, transcript.lines[-1])
    event = call()["event"] | {"tool_name": "ExitPlanMode", "tool_input": {}}
    hook = Hook(waiting, event=event)
    question = await raised(listener)
    body = {"attentionId": question["id"], "decision": "deny", "message": "with a roof"}
    await waiting.post("/resolve", body)
    await hook.answer()
    # the terminal was a moment faster
    transcript.result("plan_1", "User has approved your plan.")
    append_lines(path, transcript.lines[-1])
    await listener.wait_for_event("attention/settled", SESSION_ID, decision="allow", by="terminal")


async def test_a_terminal_that_no_longer_waits_was_answered(
    waiting: InProcessKeeper, listener: SocketListener, stranger: Stranger
) -> None:
    hook = Hook(waiting)
    question = await raised(listener)
    write_presence(stranger.pid, status="busy")
    settled = await listener.wait_for_event(
        "attention/settled", SESSION_ID, attentionId=question["id"]
    )
    assert settled["by"] == "terminal"
    assert await hook.answer() is None
    # a kill is an answer too
    write_presence(stranger.pid, status="waiting")
    hook = Hook(waiting)
    question = await raised(listener)
    stranger.kill()
    await listener.wait_for_event("attention/settled", SESSION_ID, attentionId=question["id"])
    assert await hook.answer() is None


async def test_a_hook_that_goes_away_takes_its_question_with_it(
    waiting: InProcessKeeper, listener: SocketListener
) -> None:
    hook = Hook(waiting)
    question = await raised(listener)
    await hook.go_away()
    settled = await listener.wait_for_event(
        "attention/settled", SESSION_ID, attentionId=question["id"]
    )
    assert settled["decision"] == "withdrawn"


async def test_a_keeper_that_ends_sends_the_hook_to_the_next_one(
    waiting: InProcessKeeper, listener: SocketListener, start_keeper: StartKeeper
) -> None:
    hook = Hook(waiting)
    await raised(listener)
    await waiting.stop()
    assert (await hook.failure())[0] == 503
    next_one = await start_keeper()
    listener = await next_one.listen()
    hook = Hook(next_one, again=True)
    question = await raised(listener)
    await next_one.post("/resolve", {"attentionId": question["id"], "decision": "deny"})
    assert (await hook.answer())["hookSpecificOutput"]["decision"]["behavior"] == "deny"


async def test_nobody_is_asked_where_nobody_need_be(
    waiting: InProcessKeeper, listener: SocketListener, stranger: Stranger
) -> None:
    # a script: it would wait where it did not wait before
    assert await Hook(waiting, entrypoint="sdk-cli").answer() is None
    # answered while the keeper was away
    write_presence(stranger.pid, status="busy")
    assert await Hook(waiting, again=True).answer() is None
    # a session that the keeper runs asks by itself
    session = (await waiting.send("run: touch a.txt"))["sessionId"]
    await listener.wait_for_event("attention/raised", session)
    event = call()["event"] | {"session_id": session}
    assert await Hook(waiting, event=event, pid=waiting.pid_of(session)).answer() is None
    assert len(listener.events_of("attention/raised")) == 1


async def test_what_happens_in_a_terminal_is_told(
    waiting: InProcessKeeper, listener: SocketListener
) -> None:
    event = {"hook_event_name": "Notification", "session_id": SESSION_ID, "message": "look here"}
    body = {"event": event | {"notification_type": "idle_prompt"}}
    async with waiting.client.post("/hooks/event", json=body, headers=BY_HOOK) as answer:
        assert answer.status == 200
    notification = await listener.wait_for_event("session/notified", SESSION_ID)
    assert (notification["event"], notification["text"], notification["reason"]) == (
        "Notification",
        "look here",
        "idle_prompt",
    )


async def test_the_token_of_hooks_opens_nothing_else(waiting: InProcessKeeper) -> None:
    for method, path in [("GET", "/sessions"), ("GET", "/attention"), ("POST", "/resolve")]:
        async with waiting.client.request(method, path, headers=BY_HOOK) as answer:
            assert answer.status == 403, path
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await waiting.client.ws_connect("/ws", headers=BY_HOOK)
