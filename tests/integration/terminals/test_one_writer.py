"""Sessions that run elsewhere are seen, and nobody writes into them from here."""

from __future__ import annotations

import asyncio

import pytest

from tests.integration.conftest import StartKeeper
from tests.support.keeper_in_process import InProcessKeeper, SocketListener, new_uuid, text_of
from tests.support.transcript_people import wait_for_session_update, write_presence
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder
from tests.support.waiting import wait_until

Stranger = asyncio.subprocess.Process


@pytest.fixture
def written() -> str:
    transcript = TranscriptWriter()
    transcript.prompt("hello")
    transcript.reply("hi")
    transcript.write(projects_folder())
    return SESSION_ID


async def test_presence_is_shown_as_it_changes(
    written: str, start_keeper: StartKeeper, stranger: Stranger
) -> None:
    write_presence(stranger.pid)
    keeper = await start_keeper()
    listener = await keeper.listen()
    (session,) = (await keeper.get("/sessions"))["sessions"]
    assert (session["origin"], session["state"]) == ("terminal", "idle")
    assert session["presence"] == {
        "pid": stranger.pid,
        "entrypoint": "cli",
        "status": "idle",
        "waitingFor": None,
        "since": "2026-11-18T01:00:12.407Z",
        "interactive": True,
    }
    write_presence(stranger.pid, status="busy")
    await wait_for_session_update(listener, written, origin="terminal", state="running")
    assert len((await keeper.get("/sessions?state=running"))["sessions"]) == 1
    write_presence(stranger.pid, status="waiting", waitingFor="permission prompt")
    session = await wait_for_session_update(listener, written, state="waiting")
    assert session["presence"]["waitingFor"] == "permission prompt"
    # a kill leaves the file behind
    stranger.kill()
    session = await wait_for_session_update(listener, written, state="idle", origin=None)
    assert session["presence"] is None


async def test_a_session_that_runs_elsewhere_takes_no_message(
    written: str, keeper: InProcessKeeper, stranger: Stranger
) -> None:
    write_presence(stranger.pid)
    answer = await keeper.post("/send", {"sessionId": written, "text": "say: x"}, 409)
    assert answer["error"]["code"] == "session_elsewhere"
    assert answer["error"]["choices"] == ["watch", "fork", "wait"]
    # nor in the moment in which Claude Code writes its file anew
    path = write_presence(stranger.pid, status="busy")
    path.write_text("")
    await keeper.post("/send", {"sessionId": written, "text": "say: x"}, 409)


async def test_a_fork_goes_on_here_in_one_step(
    keeper: InProcessKeeper, listener: SocketListener, stranger: Stranger
) -> None:
    session = (await keeper.send("say: one"))["sessionId"]
    await listener.wait_for_turn_end(session)
    await keeper.post(f"/sessions/{session}/close", status=202)
    write_presence(stranger.pid, session)
    uuid = new_uuid()
    forked = (await keeper.send("say: two", session, fork=True, uuid=uuid))["sessionId"]
    assert forked != session
    # the answer was lost on the way: the same message makes no second copy
    again = await keeper.send("say: two", session, fork=True, uuid=uuid)
    assert again["sessionId"] == forked
    await listener.wait_for_turn_end(forked, outcome="done")
    words = [text_of(message) for message in await keeper.history(forked)]
    assert words == ["say: one", "one", "say: two", "two"]
    assert len(await keeper.history(session)) == 2


async def test_a_message_can_wait_until_the_other_has_ended(
    keeper: InProcessKeeper, listener: SocketListener, stranger: Stranger
) -> None:
    session = (await keeper.send("say: one"))["sessionId"]
    await listener.wait_for_turn_end(session)
    await keeper.post(f"/sessions/{session}/close", status=202)
    presence = write_presence(stranger.pid, session, status="busy")
    await keeper.send("say: two", session, wait=True)
    await wait_for_session_update(listener, session, origin="terminal", state="running")
    page = await keeper.get(f"/sessions/{session}")
    assert [item["text"] for item in page["queue"]] == ["say: two"]
    assert page["turn"] is None
    assert page["session"]["origin"] == "terminal"
    presence.unlink()
    stranger.kill()
    await listener.wait_for_turn_end(session, outcome="done")


async def test_a_session_resumed_elsewhere_is_handed_over(
    keeper: InProcessKeeper, listener: SocketListener, stranger: Stranger
) -> None:
    session = (await keeper.send("say: one"))["sessionId"]
    await listener.wait_for_turn_end(session)
    pid = keeper.pid_of(session)
    page = await keeper.get(f"/sessions/{session}")
    assert (page["session"]["origin"], page["session"]["presence"]) == ("gateway", None)
    write_presence(stranger.pid, session)
    status = await listener.wait_for_event("turn/status", session, status="elsewhere")
    assert status["details"]["pid"] == stranger.pid
    await wait_for_session_update(listener, session, origin="terminal")
    await wait_until(lambda: not _runs(pid))


async def test_a_turn_is_finished_before_the_session_is_handed_over(
    keeper: InProcessKeeper, listener: SocketListener, stranger: Stranger
) -> None:
    session = (await keeper.send("run: touch a.txt"))["sessionId"]
    question = await listener.wait_for_event("attention/raised", session)
    write_presence(stranger.pid, session)
    await listener.wait_for(
        lambda event: (
            event["type"] == "session/updated"
            and event["sessionId"] == session
            and (event["session"]["origin"], event["session"]["state"]) == ("gateway", "waiting")
            and event["session"]["presence"] is not None
        )
    )
    answer = {"attentionId": question["attention"]["id"], "decision": "allow"}
    await keeper.post("/resolve", answer)
    await listener.wait_for_turn_end(session, outcome="done")
    await wait_for_session_update(listener, session, origin="terminal")
    assert (keeper.workdir / "a.txt").exists()


def _runs(pid: int) -> bool:
    from pathlib import Path

    return Path(f"/proc/{pid}").exists()
