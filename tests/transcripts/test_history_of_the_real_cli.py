"""What the real CLI writes today is read whole, and as the SDK reads it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from claude_agent_sdk import get_session_messages

from claudekeeper.catalog.discovery import (
    continue_fold,
    quick_scan_file,
)
from claudekeeper.transcripts.history import History
from claudekeeper.transcripts.layout import list_transcripts, project_folders
from claudekeeper.transcripts.subagents import list_subagents, read_subagent
from tests.support.real_cli import RealCli, real_cli, scripted_api  # noqa: F401
from tests.support.whole_history import read_all_messages

PROMPTS = [
    "run: echo one && run: echo two && run: echo three",
    "agent: look around",
    "write: notes.md: hello\nedit: notes.md: hello => goodbye",
    "/compact",
    "say: after the compaction",
]


@pytest.fixture(scope="module")
def session(real_cli: RealCli) -> str:  # noqa: F811
    turns = real_cli.run_turns(PROMPTS)
    return str(turns[0].result.session_id)


@pytest.fixture
def transcript(
    real_cli: RealCli,  # noqa: F811
    session: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(real_cli.home.config))
    return real_cli.transcript_path(session)


def test_the_context_view_is_what_the_sdk_reads(transcript: Path, session: str) -> None:
    stream = read_all_messages(transcript, session, "context")
    assert [m.uuid for m in stream] == [m.uuid for m in get_session_messages(session)]


def test_every_visible_line_is_shown_once_on_one_branch(
    transcript: Path,
    session: str,
    real_cli: RealCli,  # noqa: F811
) -> None:
    visible = [
        line["uuid"]
        for line in real_cli.transcript(session)
        if line["type"] in ("user", "assistant")
        and not line.get("isMeta")
        and not line.get("isSidechain")
    ]
    messages = read_all_messages(transcript, session)
    uuids = [message.uuid for message in messages]
    assert len(uuids) == len(set(uuids))
    assert set(visible) <= set(uuids)
    assert {message.branch for message in messages} == {None}
    assert "compaction" in {message.kind for message in messages}


def test_the_subagent_hangs_on_its_call(transcript: Path, session: str) -> None:
    (agent,) = list_subagents(transcript, session, inline=False)
    calls = b"".join(bytes(message.content) for message in read_all_messages(transcript, session))
    assert agent.tool_use_id is not None
    assert agent.tool_use_id.encode() in calls
    page = read_subagent(History(), transcript, session, agent.agent_id, limit=50, before=None)
    assert {"prompt", "reply"} <= {message.kind for message in page.messages}


def test_the_list_knows_the_session(
    transcript: Path,
    session: str,
    real_cli: RealCli,  # noqa: F811
) -> None:
    projects = real_cli.home.config / "projects"
    (transcript_file,) = [
        f for folder in project_folders(projects) for f in list_transcripts(folder)
    ]
    look = quick_scan_file(transcript_file)
    assert look is not None
    result = continue_fold(look, None)
    assert result is not None
    summary = result[0].summary
    assert summary.workdir == os.fspath(real_cli.workdir())
    assert summary.first_prompt == PROMPTS[0]
    assert summary.last_prompt == PROMPTS[-1]
    assert summary.unreadable == 0
    assert summary.cost > 0
