"""The manager opens sessions, refuses what cannot be, and says what is new: once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from claudekeeper.contract.errors import (
    KeeperBusy,
    KeeperStopping,
    MessageTaken,
    SessionElsewhere,
    SessionNotFound,
    WorkdirMissing,
)
from claudekeeper.contract.requests import SendRequest, SettingsChange
from claudekeeper.contract.sessions import Presence
from claudekeeper.sessions.cli.client import PermissionRequest
from tests.sessions.fake_cli import ManagedSessions, managed_sessions, workdir_of
from tests.support.transcript_writer import (
    SESSION_ID,
    TranscriptWriter,
    projects_folder,
    uuid_of,
)
from tests.support.waiting import wait_until


def new_message(home: Path, number: int = 1, text: str = "Hello") -> SendRequest:
    return SendRequest(workdir=workdir_of(home), text=text, uuid=uuid_of(number))


async def begin(sessions: ManagedSessions, request: SendRequest) -> str:
    """A session whose first turn runs."""
    session = await sessions.manager.send(request)
    await wait_until(lambda: bool(sessions.clis and sessions.cli.prompts))
    sessions.cli.begin()
    return session.id


async def test_a_message_without_a_session_begins_one(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    session = await sessions.manager.send(new_message(tmp_path))
    await wait_until(lambda: bool(sessions.clis and sessions.cli.prompts))
    assert sessions.cli.options.session_id == session.id
    assert sessions.cli.options.resume is False
    assert [prompt.text for prompt in sessions.cli.prompts] == ["Hello"]


async def test_a_session_with_a_transcript_is_resumed(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    transcript = TranscriptWriter(workdir=workdir_of(tmp_path))
    transcript.prompt("earlier")
    transcript.write(projects_folder())
    request = SendRequest(session_id=SESSION_ID, text="and now", uuid=uuid_of(901))
    await sessions.manager.send(request)
    await wait_until(lambda: bool(sessions.clis and sessions.cli.prompts))
    assert sessions.cli.options.resume is True


async def test_the_same_uuid_twice_is_one_message(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    first = await sessions.manager.send(new_message(tmp_path))
    second = await sessions.manager.send(new_message(tmp_path))
    assert second is first
    await wait_until(lambda: bool(sessions.clis and sessions.cli.prompts))
    assert len(sessions.cli.prompts) == 1
    assert len(sessions.clis) == 1


async def test_an_unknown_session_and_a_missing_directory_are_refused(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    with pytest.raises(SessionNotFound):
        await sessions.manager.send(
            SendRequest(session_id=SESSION_ID, text="Hello", uuid=uuid_of(1))
        )
    with pytest.raises(WorkdirMissing):
        await sessions.manager.send(
            SendRequest(workdir=str(tmp_path / "gone"), text="Hello", uuid=uuid_of(1))
        )


async def test_a_session_that_somebody_else_runs_is_refused(
    sessions: ManagedSessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    presence = Presence(
        pid=1, entrypoint="cli", status="idle", waiting_for=None, since=None, interactive=True
    )

    async def refresh_and_get(_session_id: str) -> Presence:
        return presence

    monkeypatch.setattr(sessions.presence, "refresh_and_get", refresh_and_get)
    with pytest.raises(SessionElsewhere):
        await sessions.manager.send(
            SendRequest(session_id=SESSION_ID, text="Hello", uuid=uuid_of(1))
        )


async def test_where_every_slot_is_taken_a_new_session_is_refused(tmp_path: Path) -> None:
    async with managed_sessions(tmp_path, projects_folder(), live_sessions=1) as sessions:
        await begin(sessions, new_message(tmp_path))
        with pytest.raises(KeeperBusy):
            await sessions.manager.send(new_message(tmp_path, 2))
        # one that may wait is taken
        request = new_message(tmp_path, 3)
        request.wait = True
        waiting = await sessions.manager.send(request)
        assert waiting.state == "starting"
        assert sessions.manager.live_count == 1


async def test_a_keeper_that_stops_takes_no_new_messages(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    sessions.manager.stop_new_turns()
    with pytest.raises(KeeperStopping):
        await sessions.manager.send(new_message(tmp_path))


async def test_of_a_turn_clients_see_each_state_once(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    session_id = await begin(sessions, new_message(tmp_path))
    sessions.cli.reply("Hello yourself.")
    sessions.cli.finish()
    visible = [change.live for change in sessions.changes if change.is_visible]
    states = [live.state for live in visible if live is not None]
    # a slot is taken, the CLI names its model and its mode, the turn begins, the turn ends
    assert states == ["starting", "starting", "starting", "running", "idle"]
    assert [live.origin for live in visible if live] == [None, *["gateway"] * 4]
    assert all(change.session_id == session_id for change in sessions.changes)


async def test_nothing_new_is_not_said(sessions: ManagedSessions, tmp_path: Path) -> None:
    session_id = await begin(sessions, new_message(tmp_path))
    sessions.manager.publish_change(session_id)
    before = len(sessions.changes)
    sessions.manager.publish_change(session_id)
    assert len(sessions.changes) == before


async def test_an_open_question_is_a_change_that_shows(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    session_id = await begin(sessions, new_message(tmp_path))
    request = PermissionRequest(
        tool="Bash",
        input={"command": "ls"},
        tool_use_id="t1",
        title=None,
        description=None,
        suggestions=[],
        blocked_path=None,
        reason=None,
        agent_id=None,
    )
    question = asyncio.create_task(sessions.cli.listener.request_permission(request))
    await wait_until(lambda: sessions.attention.count(session_id) == 1)
    change = sessions.changes[-1]
    assert change.live is not None
    assert (change.live.state, change.live.attention) == ("waiting", 1)
    assert change.unfinished_turn is not None
    assert [each.tool for each in change.unfinished_turn.questions] == ["Bash"]
    question.cancel()
    await asyncio.wait([question])
    assert sessions.changes[-1].live is not None
    assert sessions.changes[-1].live.state == "running"


async def test_settings_are_stored_and_told_to_the_cli_that_runs(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    session_id = await begin(sessions, new_message(tmp_path))
    await sessions.manager.change_settings(
        session_id, SettingsChange(model="sonnet", permission_mode="plan")
    )
    assert sessions.cli.calls == ["mode plan", "model sonnet"]
    assert sessions.preferences.settings_of(session_id).model == "sonnet"
    assert sessions.changes[-1].live is not None
    assert sessions.changes[-1].live.permission_mode == "plan"


async def test_a_withdrawn_message_is_not_in_the_journal_either(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    session_id = await begin(sessions, new_message(tmp_path))
    await sessions.manager.send(SendRequest(session_id=session_id, text="later", uuid=uuid_of(2)))
    assert sessions.journal.find_by_prompt(uuid_of(2)) == session_id
    sessions.manager.withdraw(session_id, uuid_of(2))
    assert sessions.journal.find_by_prompt(uuid_of(2)) is None
    with pytest.raises(MessageTaken):
        sessions.manager.withdraw(session_id, uuid_of(2))


async def test_a_closed_session_is_gone_and_nobody_takes_its_cli_for_ours(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    session_id = await begin(sessions, new_message(tmp_path))
    assert sessions.own_processes.runs(session_id)
    await sessions.manager.close_session(session_id)
    assert sessions.manager.get(session_id) is None
    assert not sessions.own_processes.runs(session_id)
    assert sessions.changes[-1].live is None
    assert sessions.manager.live_count == 0


async def test_a_session_that_closes_stays_until_its_cli_is_gone(
    sessions: ManagedSessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = await begin(sessions, new_message(tmp_path))
    cli_ends = asyncio.Event()
    monkeypatch.setattr(sessions.cli, "close", cli_ends.wait)
    monkeypatch.setattr("claudekeeper.sessions.interrupt.STOP_SECONDS", 0)
    closing = asyncio.create_task(sessions.manager.close_session(session_id))
    session = sessions.manager.get(session_id)
    assert session is not None
    await wait_until(lambda: session.is_closing and not session.runner.holds_slot)
    # a question of the keeper's own is raised meanwhile
    sessions.manager.publish_change(session_id)
    assert sessions.manager.get(session_id) is session
    again = asyncio.create_task(
        sessions.manager.send(
            SendRequest(session_id=session_id, workdir=None, text="again", uuid=uuid_of(902))
        )
    )
    await asyncio.sleep(0)
    assert len(sessions.clis) == 1
    cli_ends.set()
    await closing
    assert sessions.manager.get(session_id) is not session
    await asyncio.gather(again, return_exceptions=True)
