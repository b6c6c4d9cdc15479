"""Which path is whose transcript, and which files there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from claudekeeper.transcripts.layout import (
    TranscriptPath,
    all_transcripts,
    main_transcript_of,
    owner_of,
    parse_transcript_path,
    usage_files,
    with_subagent_usage_files,
)
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder

PROJECTS = Path("/home/me/.claude/projects")
SHOUTED = SESSION_ID.upper()


@pytest.mark.parametrize(
    ("below", "session", "agent"),
    [
        (f"-code/{SESSION_ID}.jsonl", SESSION_ID, None),
        (f"-code/{SHOUTED}.jsonl", SESSION_ID, None),
        ("-code/agent-a1.jsonl", "", "a1"),
        (f"-code/{SESSION_ID}/subagents/agent-a1.jsonl", SESSION_ID, "a1"),
        (f"-code/{SHOUTED}/subagents/workflows/w1/agent-a1.jsonl", SESSION_ID, "a1"),
    ],
)
def test_a_path_says_whose_transcript_it_is(below: str, session: str, agent: str | None) -> None:
    path = f"{PROJECTS}/{below}"
    assert parse_transcript_path(path, PROJECTS) == TranscriptPath(path, session, agent)


@pytest.mark.parametrize(
    "path",
    [
        f"{PROJECTS}/{SESSION_ID}.jsonl",
        f"{PROJECTS}/-code/{SESSION_ID}.json",
        f"{PROJECTS}/-code/notes.jsonl",
        f"{PROJECTS}/-code/agent-acompact-1.jsonl",
        f"{PROJECTS}/-code/{SESSION_ID}/agent-a1.jsonl",
        f"{PROJECTS}/-code/{SESSION_ID}/subagents/other.jsonl",
        f"{PROJECTS}/-code/no-session/subagents/agent-a1.jsonl",
        f"{PROJECTS}-of-another/-code/{SESSION_ID}.jsonl",
    ],
)
def test_any_other_path_is_no_transcript(path: str) -> None:
    assert parse_transcript_path(path, PROJECTS) is None


def write_nested(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    transcript = TranscriptWriter()
    transcript.prompt("count the hats")
    path.write_bytes(transcript.lines[0] + b"\n")
    return path


def test_every_transcript_is_listed_with_its_session() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("sell hats")
    main = transcript.write(projects_folder())
    beside = write_nested(main.with_name("agent-old.jsonl"))
    below = write_nested(main.with_suffix("") / "subagents" / "agent-new.jsonl")
    main.with_name("agent-linked.jsonl").symlink_to(beside)
    expected = {
        TranscriptPath(str(main), SESSION_ID),
        TranscriptPath(str(beside), SESSION_ID, "old"),
        TranscriptPath(str(below), SESSION_ID, "new"),
    }
    listed = set(all_transcripts([projects_folder()]))
    assert listed == expected
    subagents = listed - {TranscriptPath(str(main), SESSION_ID)}
    assert {main_transcript_of(each) for each in subagents} == {str(main)}
    assert {owner_of(each.path) for each in listed} == {SESSION_ID}


def test_what_claude_code_runs_for_itself_counts_for_usage_only() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("sell hats")
    main = transcript.write(projects_folder())
    internal = write_nested(main.with_suffix("") / "subagents" / "agent-acompact-1.jsonl")
    assert [each.path for each in all_transcripts([projects_folder()])] == [str(main)]
    assert usage_files(projects_folder()) == {str(main), str(internal)}
    assert with_subagent_usage_files([str(main)]) == {str(main), str(internal)}
