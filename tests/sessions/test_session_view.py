"""What a session is to clients, from its transcript, its CLI and what people said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from claudekeeper.catalog.presence import PresenceChange
from claudekeeper.contract.errors import Fault
from claudekeeper.contract.events import SessionRemoved, SessionUpdated
from claudekeeper.contract.requests import SendRequest, SettingsChange
from claudekeeper.contract.sessions import LiveState, Presence, WorkItem
from claudekeeper.sessions.message_queue import QueuedMessage
from claudekeeper.sessions.recovery.interrupted_turn import InterruptedTurn
from claudekeeper.sessions.session_change import SessionChange
from tests.sessions.fake_cli import ManagedSessions, workdir_of
from tests.support.transcript_writer import (
    SESSION_ID,
    TranscriptWriter,
    projects_folder,
    uuid_of,
)
from tests.support.waiting import wait_until

TERMINAL = Presence(
    pid=1,
    entrypoint="cli",
    status="waiting",
    waiting_for="permission prompt",
    since=None,
    interactive=True,
)


async def write_transcript(sessions: ManagedSessions, *prompts: str) -> None:
    transcript = TranscriptWriter()
    for prompt in prompts or ("Mend the login",):
        transcript.prompt(prompt)
    transcript.write(projects_folder())
    assert await sessions.catalog.row(SESSION_ID) is not None


def interrupt(sessions: ManagedSessions, session_id: str = SESSION_ID) -> None:
    """An earlier keeper interrupted a turn there."""
    interrupted = InterruptedTurn(
        uuid_of(901),
        "2026-01-01T00:00:00Z",
        prompt=QueuedMessage(uuid_of(901), "Go on with it"),
        workdir="/code/shop",
        error=Fault("cli_crashed", "It crashed."),
    )
    live = LiveState(state="idle", origin=None, workdir="/code/shop", started=interrupted.started)
    change = SessionChange(session_id=session_id, live=live, unfinished_turn=interrupted)
    sessions.journal.handle_session_change(change)
    sessions.journal.handle_session_change(SessionChange(session_id=session_id))


async def test_a_session_is_what_its_transcript_says(sessions: ManagedSessions) -> None:
    await write_transcript(sessions, "Mend the login", "And the logout")
    session = sessions.views.session(SESSION_ID)
    assert session is not None
    assert (session.state, session.origin) == ("idle", None)
    assert (session.first_prompt, session.last_prompt) == ("Mend the login", "And the logout")
    assert (session.workdir, session.project) == ("/code/shop", "shop")


def test_what_nobody_knows_is_no_session(sessions: ManagedSessions) -> None:
    assert sessions.views.view(SESSION_ID) is None
    assert sessions.views.label_of(SESSION_ID) is None


async def test_what_people_set_is_shown(sessions: ManagedSessions) -> None:
    await write_transcript(sessions)
    await sessions.preferences.rename(SESSION_ID, "Login")
    await sessions.manager.change_settings(SESSION_ID, SettingsChange(permission_mode="plan"))
    sessions.owners.set_owners({SESSION_ID: WorkItem("A-1")})
    session = sessions.views.session(SESSION_ID)
    assert session is not None
    assert (session.name, session.permission_mode) == ("Login", "plan")
    assert session.item == WorkItem("A-1")
    assert sessions.views.label_of(SESSION_ID) == "Login"


async def test_a_session_without_a_transcript_is_what_runs(
    sessions: ManagedSessions, tmp_path: Path
) -> None:
    request = SendRequest(workdir=workdir_of(tmp_path), text="Hello", uuid=uuid_of(901))
    live = await sessions.manager.send(request)
    session = sessions.views.session(live.id)
    assert session is not None
    assert (session.state, session.title) == ("starting", "Hello")
    assert session.message_count == 0


async def test_a_terminal_that_runs_it_says_its_state(
    sessions: ManagedSessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write_transcript(sessions)
    monkeypatch.setattr(sessions.presence, "get", lambda _session_id: TERMINAL)
    session = sessions.views.session(SESSION_ID)
    assert session is not None
    assert (session.state, session.origin) == ("waiting", "terminal")
    assert session.presence == TERMINAL


async def test_an_interrupted_turn_comes_with_the_session(sessions: ManagedSessions) -> None:
    await write_transcript(sessions)
    interrupt(sessions)
    view = sessions.views.view(SESSION_ID)
    assert view is not None
    assert view.interrupted is not None
    assert view.session.error == view.interrupted.error


async def test_of_a_session_that_was_never_written_the_prompt_is_left(
    sessions: ManagedSessions,
) -> None:
    interrupt(sessions)
    session = sessions.views.session(SESSION_ID)
    assert session is not None
    assert (session.title, session.state) == ("Go on with it", "idle")


async def test_a_session_is_published_only_when_it_looks_different(
    sessions: ManagedSessions,
) -> None:
    await write_transcript(sessions)
    await sessions.catalog.wait_full_scan()
    sessions.views.publish_if_changed(SESSION_ID)
    published = len(sessions.events_of(SessionUpdated))
    sessions.views.publish_if_changed(SESSION_ID)
    sessions.views.handle_presence_change(PresenceChange(SESSION_ID, None))
    assert len(sessions.events_of(SessionUpdated)) == published
    await sessions.preferences.rename(SESSION_ID, "Login")
    sessions.views.publish_if_changed(SESSION_ID)
    assert sessions.events_of(SessionUpdated)[-1].session.name == "Login"


async def test_what_does_not_show_is_not_even_looked_at(
    sessions: ManagedSessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    monkeypatch.setattr(sessions.views, "view", lambda session_id, *_: looks.append(session_id))
    sessions.views.handle_session_change(SessionChange(session_id="a", is_visible=False))
    sessions.views.handle_session_change(SessionChange(session_id="b"))
    assert looks == ["b"]


async def test_a_session_that_is_gone_is_said_once(sessions: ManagedSessions) -> None:
    await write_transcript(sessions)
    sessions.views.publish_if_changed(SESSION_ID)
    (path,) = projects_folder().glob("*/*.jsonl")
    path.unlink()
    assert await sessions.catalog.row(SESSION_ID) is None
    await wait_until(lambda: bool(sessions.events_of(SessionRemoved)))
    sessions.views.publish_if_changed(SESSION_ID)
    assert len(sessions.events_of(SessionRemoved)) == 1
