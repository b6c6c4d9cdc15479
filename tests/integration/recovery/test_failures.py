"""What goes wrong is said, cleaned up, and over with the next message."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

from tests.support.keeper_in_process import (
    InProcessKeeper,
    SocketListener,
    new_uuid,
    text_of,
    uuids,
)
from tests.support.waiting import wait_until


async def comes_back(keeper: InProcessKeeper, listener: SocketListener, session: str) -> None:
    assert (await keeper.get("/attention"))["attention"] == []
    await keeper.send("say: back again", session)
    await listener.wait_for_turn_end(session, outcome="done")
    history = await keeper.history(session)
    assert text_of(history[-1]) == "back again"
    assert len(set(uuids(history))) == len(history)
    page = await keeper.get(f"/sessions/{session}")
    assert (page["session"]["state"], page["session"]["error"]) == ("idle", None)


def kill(keeper: InProcessKeeper, session: str) -> None:
    os.kill(keeper.pid_of(session), signal.SIGKILL)


async def crashed(keeper: InProcessKeeper, listener: SocketListener, session: str) -> None:
    failed = await listener.wait_for_event("session/failed", session)
    assert failed["error"]["code"] == "cli_crashed"
    finished = await listener.wait_for_turn_end(session, outcome="failed")
    assert finished["error"] == failed["error"]
    page = await keeper.get(f"/sessions/{session}")
    assert (page["session"]["error"], page["turn"], page["partial"]) == (
        failed["error"],
        None,
        None,
    )


async def test_the_cli_is_killed_in_mid_reply(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("slow: 60"))["sessionId"]
    await listener.wait_for_event("message/delta", session)
    kill(keeper, session)
    await crashed(keeper, listener, session)
    await comes_back(keeper, listener, session)


async def test_the_cli_is_killed_in_a_tool_with_a_question_open_and_idle(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("run: touch begun; sleep 60"))["sessionId"]
    question = await listener.wait_for_question(session)
    kill(keeper, session)
    await listener.wait_for_event("attention/settled", session, decision="withdrawn")
    await crashed(keeper, listener, session)
    await keeper.resolve(question, status=409)
    await comes_back(keeper, listener, session)
    await keeper.send("run: touch begun; sleep 60", session)
    await keeper.resolve(await listener.wait_for_question(session))
    await wait_until((keeper.workdir / "begun").exists)
    kill(keeper, session)
    await crashed(keeper, listener, session)
    await comes_back(keeper, listener, session)
    turns = len(listener.events_of("turn/finished", session))
    kill(keeper, session)
    await listener.wait_for(
        lambda event: (
            event["type"] == "session/updated"
            and event["sessionId"] == session
            and event["session"]["origin"] is None
        )
    )
    await comes_back(keeper, listener, session)
    assert len(listener.events_of("turn/finished", session)) == turns + 1


async def test_the_cli_is_killed_idle_and_a_message_comes_at_once(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    """Whether its end was noticed before the message came or not: nobody notices."""
    session = await keeper.start_session("say: one", listener)
    for number in range(3):
        kill(keeper, session)
        for _ in range(number):
            await keeper.get("/health")
        uuid = (await keeper.send("say: two", session))["uuid"]
        assert (await listener.wait_for_turn_end(session))["uuid"] == uuid
    assert {event["outcome"] for event in listener.events_of("turn/finished", session)} == {"done"}
    assert uuids(listener.messages(session)) == uuids(await keeper.history(session))


async def test_the_cli_is_killed_while_it_starts(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("say: one"))["sessionId"]
    await wait_until(cli_pids)
    for pid in cli_pids():
        os.kill(pid, signal.SIGKILL)
    finished = await listener.wait_for_turn_end(session, outcome="failed")
    assert finished["error"]["code"] in ("cli_failed", "cli_crashed")
    assert finished["error"]["message"].endswith(("it was killed: SIGKILL", "SIGKILL)"))
    await comes_back(keeper, listener, session)


def is_claude(pid: int) -> bool:
    try:
        return b"claude" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]
    except OSError:
        return False


def cli_pids() -> list[int]:
    """The children of this process that are Claude Code, by now."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in children if is_claude(int(pid))]


async def test_the_cli_is_killed_while_it_retries_compacts_and_runs_a_subagent(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("error: 529"))["sessionId"]
    await listener.wait_for_event("turn/status", session, status="retrying")
    kill(keeper, session)
    await crashed(keeper, listener, session)
    await comes_back(keeper, listener, session)
    await keeper.send("/compact slow: 60", session)
    await listener.wait_for_event("turn/status", session, status="compacting")
    kill(keeper, session)
    await crashed(keeper, listener, session)
    await comes_back(keeper, listener, session)
    await keeper.send("agent: run: touch deep", session)
    question = await listener.wait_for_question(session)
    kill(keeper, session)
    await listener.wait_for_event("attention/settled", session, decision="withdrawn")
    await crashed(keeper, listener, session)
    await keeper.resolve(question, status=409)
    await comes_back(keeper, listener, session)
    assert not (keeper.workdir / "deep").exists()


FAILURES = {
    "error: 401": "authentication_failed",
    "error: 429": "rate_limited",
    "error: 500": "api_error",
    "error: drop": "api_error",
    "error: 413": "prompt_too_long",
}


async def test_the_api_fails(keeper: InProcessKeeper, listener: SocketListener) -> None:
    session = None
    for turn, (script, code) in enumerate(FAILURES.items()):
        uuid = new_uuid()
        session = (await keeper.send(script, session, uuid=uuid))["sessionId"]
        failed = await listener.wait_for_event("session/failed", session, uuid=uuid)
        assert failed["error"]["code"] == code
        assert failed["error"]["message"]
        finished = await listener.wait_for_turn_end(session, outcome="failed", uuid=uuid)
        assert finished["error"] == failed["error"]
        assert uuids(listener.messages(session)) == uuids(await keeper.history(session))
        await comes_back(keeper, listener, session)
        assert uuids(listener.messages(session)) == uuids(await keeper.history(session))
        assert len(listener.events_of("turn/finished", session)) == 2 * turn + 2


async def test_a_retry_that_goes_through_is_over(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("error: 529 once"))["sessionId"]
    await listener.wait_for_event("turn/status", session, status="retrying")
    await listener.wait_for_event("turn/status", session, status="working")
    await listener.wait_for_turn_end(session, outcome="done")
    assert uuids(listener.messages(session)) == uuids(await keeper.history(session))


async def test_what_is_not_there(keeper: InProcessKeeper, listener: SocketListener) -> None:
    missing = {"workdir": str(keeper.home / "nowhere"), "text": "say: x"}
    assert (await keeper.post("/send", missing, 400))["error"]["code"] == "workdir_missing"
    unknown = new_uuid()
    for path in ("interrupt", "mode", "fork", "close"):
        failure = await keeper.post(f"/sessions/{unknown}/{path}", {}, 404)
        assert failure["error"]["code"] == "session_not_found"
    await keeper.post("/send", {"sessionId": unknown, "text": "say: x"}, 404)
    session = await keeper.start_session("say: one", listener)
    keeper.workdir.rename(keeper.home / "gone")
    # the process is in the directory still; a new one finds none
    await keeper.close_session(session)
    await keeper.send("say: two", session)
    failed = await listener.wait_for_event("session/failed", session)
    assert failed["error"]["code"] == "workdir_missing"
    await listener.wait_for_turn_end(session, outcome="failed")
    (keeper.home / "gone").rename(keeper.workdir)
    await comes_back(keeper, listener, session)


async def test_a_file_that_ends_in_mid_line_is_gone_on_with(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = await keeper.start_session("say: one", listener)
    await keeper.close_session(session)
    path = keeper.transcript_path(session)
    await asyncio.to_thread(path.write_bytes, path.read_bytes() + b'{"type":"user","mess')
    await comes_back(keeper, listener, session)


async def test_what_claude_code_cannot_read_is_refused_in_words(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    whole = await keeper.start_session("say: one", listener)
    broken = keeper.transcript_path(whole).with_stem(new_uuid())
    await asyncio.to_thread(broken.write_bytes, b"")
    refused = await keeper.post("/send", {"sessionId": broken.stem, "text": "say: x"}, 422)
    assert refused["error"]["code"] == "transcript_unreadable"
    assert refused["error"]["message"].startswith("The transcript is empty.")
    assert broken.stat().st_size == 0
