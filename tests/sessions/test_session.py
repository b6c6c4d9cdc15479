"""A live session: its states, its queue, and what is left of a turn that breaks off."""

from __future__ import annotations

from pathlib import Path

from claudekeeper.contract.events import QueueUpdated, Resync, TurnFinished, TurnStarted
from claudekeeper.contract.requests import SendRequest
from claudekeeper.contract.sessions import Presence
from claudekeeper.sessions.session import LiveSession
from tests.sessions.fake_cli import ManagedSessions, managed_sessions, workdir_of
from tests.support.transcript_writer import projects_folder, uuid_of
from tests.support.waiting import wait_until


async def begin(sessions: ManagedSessions, home: Path) -> LiveSession:
    """A session whose first turn runs."""
    request = SendRequest(workdir=workdir_of(home), text="Hello", uuid=uuid_of(1))
    session = await sessions.manager.send(request)
    await wait_until(lambda: bool(sessions.clis and sessions.cli.prompts))
    sessions.cli.begin()
    return session


async def send(sessions: ManagedSessions, session: LiveSession, number: int) -> None:
    await sessions.manager.send(
        SendRequest(session_id=session.id, text=f"message {number}", uuid=uuid_of(number))
    )


async def test_a_turn_runs_from_its_prompt_to_its_result(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    session = await begin(sessions, tmp_path)
    assert session.state == "running"
    sessions.cli.reply("Done.")
    sessions.cli.finish()
    assert session.state == "idle"
    assert session.unfinished_turn is None
    assert [event.uuid for event in sessions.events_of(TurnStarted)] == [uuid_of(1)]
    assert [event.outcome for event in sessions.events_of(TurnFinished)] == ["done"]


async def test_messages_wait_for_their_turns_in_order(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    session = await begin(sessions, tmp_path)
    await send(sessions, session, 2)
    await send(sessions, session, 3)
    assert [prompt.text for prompt in session.queued_prompts] == ["message 2", "message 3"]
    sessions.cli.finish()
    await wait_until(lambda: len(sessions.cli.prompts) == 2)
    sessions.cli.begin()
    sessions.cli.finish()
    await wait_until(lambda: len(sessions.cli.prompts) == 3)
    assert [prompt.text for prompt in sessions.cli.prompts] == ["Hello", "message 2", "message 3"]
    assert len(sessions.clis) == 1


async def test_held_messages_wait_for_a_person(sessions: ManagedSessions, tmp_path: Path) -> None:
    session = await begin(sessions, tmp_path)
    await send(sessions, session, 2)
    assert session.interrupt(hold=True)
    await wait_until(lambda: sessions.cli.calls == ["interrupt"])
    sessions.cli.say(type="result", subtype="error_during_execution", is_error=True)
    assert session.state == "idle"
    assert session.unfinished_turn is not None
    assert [message.uuid for message in session.unfinished_turn.held_messages] == [uuid_of(2)]
    assert session.release_held() == [uuid_of(2)]
    await wait_until(lambda: len(sessions.cli.prompts) == 2)


async def test_what_a_turn_would_leave_has_its_prompt_until_that_is_written(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    request = SendRequest(workdir=workdir_of(tmp_path), text="Hello", uuid=uuid_of(1))
    session = await sessions.manager.send(request)
    await wait_until(lambda: bool(sessions.clis and sessions.cli.prompts))
    assert session.unfinished_turn is not None
    assert session.unfinished_turn.prompt is not None
    sessions.cli.begin()
    assert session.unfinished_turn.begun
    assert session.unfinished_turn.prompt is None


async def test_a_cli_that_ends_in_mid_turn_fails_the_turn(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    session = await begin(sessions, tmp_path)
    sessions.cli.listener.handle_exit(RuntimeError("exit code 3"))
    (finished,) = sessions.events_of(TurnFinished)
    assert (finished.outcome, finished.error.code) == ("failed", "cli_crashed")
    assert "exit code 3" in finished.error.message
    assert sessions.events_of(Resync)
    assert session.live_state.error == finished.error
    assert session.unfinished_turn is not None
    assert session.unfinished_turn.error == finished.error
    # the next message begins anew, with another process
    await send(sessions, session, 2)
    await wait_until(lambda: len(sessions.clis) == 2 and bool(sessions.cli.prompts))
    assert session.live_state.error is None


async def test_a_cli_that_died_before_it_had_the_prompt_is_replaced_in_silence(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    session = await begin(sessions, tmp_path)
    sessions.cli.finish()
    sessions.cli.send_error = BrokenPipeError()
    await send(sessions, session, 2)
    await wait_until(lambda: len(sessions.clis) == 2 and bool(sessions.cli.prompts))
    sessions.cli.begin()
    sessions.cli.finish()
    assert [event.outcome for event in sessions.events_of(TurnFinished)] == ["done", "done"]
    assert session.state == "idle"


async def test_a_turn_that_nobody_asked_for_is_one_too(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    session = await begin(sessions, tmp_path)
    sessions.cli.finish()
    sessions.cli.say(type="system", subtype="init", permissionMode="default")
    assert session.state == "running"
    assert sessions.events_of(TurnStarted)[-1].uuid is None
    sessions.cli.finish()
    assert session.state == "idle"


async def test_it_yields_to_whoever_resumes_the_session_after_the_turn(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    session = await begin(sessions, tmp_path)
    presence = Presence(
        pid=1, entrypoint="cli", status="busy", waiting_for=None, since=None, interactive=True
    )
    session.yield_to(presence)
    assert session.runner.holds_slot
    sessions.cli.finish()
    await wait_until(lambda: not session.runner.holds_slot)


async def test_without_work_the_cli_ends_and_the_session_with_it(tmp_path: Path) -> None:
    async with managed_sessions(tmp_path, projects_folder(), idle_seconds=1) as sessions:
        session = await begin(sessions, tmp_path)
        sessions.cli.finish()
        await session.closed.wait()
        assert sessions.cli.calls == ["close"]
        assert sessions.manager.get(session.id) is None


async def test_the_queue_is_told_where_a_message_was_taken(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    session = await begin(sessions, tmp_path)
    await send(sessions, session, 2)
    states = [
        (prompt.uuid, prompt.state)
        for event in sessions.events_of(QueueUpdated)
        for prompt in event.queue
    ]
    assert (uuid_of(2), "queued") in states
