"""Every main transcript is found, whatever state it is in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from claudekeeper.analysis.summary import unpack_usage
from claudekeeper.catalog.discovery import (
    SessionRow,
    continue_fold,
    quick_scan_file,
)
from claudekeeper.catalog.row_list import RowList
from claudekeeper.transcripts.layout import TranscriptFile, list_transcripts, project_folders
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder, uuid_of


def found_in(projects: Path) -> list[TranscriptFile]:
    return [
        transcript_file
        for folder in project_folders(projects)
        for transcript_file in list_transcripts(folder)
    ]


def only_row(projects: Path) -> SessionRow:
    (transcript_file,) = found_in(projects)
    row = quick_scan_file(transcript_file)
    assert row is not None
    return row


def long_transcript() -> TranscriptWriter:
    transcript = TranscriptWriter()
    transcript.raw_entry(type="queue-operation", operation="enqueue", content="make a shop")
    transcript.prompt("make a shop")
    for number in range(60):
        transcript.call(f"toolu_{number}")
        transcript.result(f"toolu_{number}", "x" * 1000)
    transcript.raw_entry(type="custom-title", customTitle="The shop")
    for number in range(60):
        transcript.call(f"toolu_{number}b")
        transcript.result(f"toolu_{number}b", "x" * 1000)
    transcript.prompt("and now the tests")
    transcript.raw_entry(
        type="last-prompt", lastPrompt="and now the tests", leafUuid=transcript.tip
    )
    transcript.reply("all pass")
    return transcript


def test_head_and_tail_tell_what_a_list_needs() -> None:
    long_transcript().write(projects_folder())
    summary = only_row(projects_folder()).summary
    assert not summary.is_fully_scanned
    assert summary.workdir == "/code/shop"
    assert (summary.first_prompt, summary.last_prompt) == ("make a shop", "and now the tests")
    assert (summary.model, summary.git_branch) == ("claude-opus-4-8", "main")
    assert summary.created == "2026-03-01T10:00:01.000Z"


def test_the_rest_is_found_by_reading_every_line() -> None:
    long_transcript().write(projects_folder())
    folded = continue_fold(only_row(projects_folder()), None)
    assert folded is not None
    summary = folded[0].summary
    assert summary.is_fully_scanned
    assert summary.title == "The shop"
    assert summary.messages == 243


def test_growth_is_read_from_where_the_last_reading_stopped() -> None:
    transcript = long_transcript()
    path = transcript.write(projects_folder())
    first = continue_fold(only_row(projects_folder()), None)
    assert first is not None
    row, folded = first
    assert folded is not None
    more = TranscriptWriter()
    more.prompt("one more", parent=transcript.tip)
    with path.open("ab") as file:
        file.write(more.lines[0] + b"\n" + b'{"type":"user","uuid":"to')
    grown = continue_fold(row, folded)
    assert grown is not None
    assert grown[0].summary.messages == row.summary.messages + 1
    assert grown[0].summary.last_prompt == "one more"
    assert grown[1] is not None
    read_to = unpack_usage(grown[1]).offset
    assert read_to == unpack_usage(folded).offset + len(more.lines[0]) + 1


def test_what_was_remembered_of_an_earlier_reading_is_not_counted_twice() -> None:
    transcript = long_transcript()
    path = transcript.write(projects_folder())
    first = continue_fold(only_row(projects_folder()), None)
    assert first is not None
    row, remembered = first
    with path.open("ab") as file:
        file.write(transcript.lines[1].replace(b"make a shop", b"once more") + b"\n")
    grown = continue_fold(row, remembered)
    assert grown is not None
    again = continue_fold(grown[0], remembered)
    assert again is not None
    assert again[0].summary == grown[0].summary


def begin_with_prompt(transcript: TranscriptWriter) -> None:
    """Nothing stands before the first prompt."""


def begin_with_hook(transcript: TranscriptWriter) -> None:
    transcript.entry("progress", data={"type": "hook_progress", "text": "x" * 3000})


def begin_with_command(transcript: TranscriptWriter) -> None:
    transcript.prompt("Caveat: The messages below were generated…", isMeta=True)
    transcript.prompt("<command-name>/clear</command-name>")
    transcript.prompt("<local-command-stdout></local-command-stdout>")


def begin_with_picture(transcript: TranscriptWriter) -> None:
    picture = {"type": "base64", "media_type": "image/png", "data": "A" * 40_000}
    blocks = [{"type": "image", "source": picture}, {"type": "text", "text": "what is it?"}]
    transcript.prompt(blocks)


def begin_with_subagent(transcript: TranscriptWriter) -> None:
    transcript.prompt("Warmup", isSidechain=True)
    transcript.reply("ready", isSidechain=True, model="claude-haiku-4-5")


def end_with_reply(transcript: TranscriptWriter) -> None:
    transcript.reply("made")


def end_with_error(transcript: TranscriptWriter) -> None:
    transcript.reply("API error", model="<synthetic>")


def end_with_subagent(transcript: TranscriptWriter) -> None:
    transcript.reply("found", isSidechain=True, model="claude-haiku-4-5")


def end_with_long_result(transcript: TranscriptWriter) -> None:
    transcript.result("toolu_9", "x" * 8_000)


def end_with_hook(transcript: TranscriptWriter) -> None:
    transcript.entry("system", subtype="stop_hook_summary", content="x" * 2_000)


WriteLines = Callable[[TranscriptWriter], None]
BEGINNINGS: list[WriteLines] = [
    begin_with_prompt,
    begin_with_hook,
    begin_with_command,
    begin_with_picture,
    begin_with_subagent,
]
ENDINGS: list[WriteLines] = [
    end_with_reply,
    end_with_error,
    end_with_subagent,
    end_with_long_result,
    end_with_hook,
]


@pytest.mark.parametrize("end", ENDINGS)
@pytest.mark.parametrize("begin", BEGINNINGS)
def test_a_first_look_agrees_with_the_reading_of_every_line(
    begin: WriteLines, end: WriteLines
) -> None:
    transcript = TranscriptWriter()
    begin(transcript)
    transcript.prompt("make a shop")
    for number in range(20):
        transcript.call(f"toolu_{number}")
        transcript.result(f"toolu_{number}", "x" * 500)
    end(transcript)
    transcript.write(projects_folder())
    row = only_row(projects_folder())
    read = continue_fold(row, None)
    assert read is not None
    look, fold = row.summary, read[0].summary
    assert not look.is_fully_scanned
    for field in ("workdir", "created", "model", "git_branch", "first_prompt"):
        assert getattr(look, field) == getattr(fold, field), field


def test_a_file_that_was_rewritten_in_place_is_read_anew() -> None:
    transcript = long_transcript()
    path = transcript.write(projects_folder())
    result = continue_fold(only_row(projects_folder()), None)
    assert result is not None
    other = TranscriptWriter()
    for number in range(400):
        other.prompt(f"other words {number}" + "y" * 900)
    path.write_bytes(b"\n".join(other.lines) + b"\n")
    again = continue_fold(*result)
    assert again is not None
    assert again[0].summary.messages == 400


def test_a_large_first_line_is_looked_into() -> None:
    transcript = TranscriptWriter()
    transcript.entry("attachment", attachment={"type": "hook_success", "stdout": "x" * 60_000})
    transcript.prompt("after the noise " + "z" * 20_000)
    transcript.write(projects_folder())
    assert (only_row(projects_folder()).summary.first_prompt or "").startswith("after the noise")


def test_a_file_with_spaces_between_its_keys_is_looked_into_too() -> None:
    transcript = long_transcript()
    lines = [json.dumps(json.loads(line)).encode() for line in transcript.lines]
    path = transcript.write(projects_folder())
    path.write_bytes(b"\n".join(lines) + b"\n")
    summary = only_row(projects_folder()).summary
    assert (summary.first_prompt, summary.workdir) == ("make a shop", "/code/shop")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "transcript_empty"),
        (b"\x00" * 100, "transcript_unreadable"),
        (os.urandom(300).replace(b"{", b"_"), "transcript_unreadable"),
        (b"\n\n\n", "transcript_unreadable"),
    ],
)
def test_a_file_that_says_nothing_is_a_row_with_an_error(content: bytes, code: str) -> None:
    path = projects_folder() / "-w" / f"{SESSION_ID}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    fault = only_row(projects_folder()).fault
    assert fault is not None
    assert fault.code == code


def test_a_large_binary_file_is_a_row_with_an_error_once_it_is_read() -> None:
    path = projects_folder() / "-w" / f"{SESSION_ID}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\x00\xff\n" * 20_000)
    result = continue_fold(only_row(projects_folder()), None)
    assert result is not None
    fault = result[0].fault
    assert fault is not None
    assert fault.code == "transcript_unreadable"


def test_a_file_that_cannot_be_opened_is_a_row_with_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    TranscriptWriter().write(projects_folder())
    (transcript_file,) = found_in(projects_folder())

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    row = quick_scan_file(transcript_file)
    assert row is not None
    assert row.fault is not None
    assert "Permission denied" in row.fault.message


def test_a_file_that_vanished_is_no_row() -> None:
    path = TranscriptWriter().write(projects_folder())
    (transcript_file,) = found_in(projects_folder())
    path.unlink()
    assert quick_scan_file(transcript_file) is None


def test_only_files_named_by_a_session_id_are_sessions() -> None:
    folder = projects_folder() / "-w"
    folder.mkdir(parents=True)
    for name in (
        "agent-a1b2.jsonl",
        f"{SESSION_ID}.jsonl.compact.tmp.ab",
        "notes.jsonl",
        f"{SESSION_ID}.txt",
        f"x{SESSION_ID}.jsonl",
    ):
        (folder / name).write_text("{}")
    (folder / SESSION_ID / "subagents").mkdir(parents=True)
    (folder / SESSION_ID / "subagents" / "agent-x.jsonl").write_text("{}")
    assert found_in(projects_folder()) == []


def test_a_transcript_of_sidechain_lines_only_is_no_session() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("Warmup", isSidechain=True)
    transcript.reply("ready", isSidechain=True)
    transcript.write(projects_folder())
    assert not only_row(projects_folder()).is_session


def test_of_two_files_with_one_id_the_newer_is_the_session() -> None:
    old = TranscriptWriter()
    old.prompt("old")
    path = old.write(projects_folder(), "-a")
    os.utime(path, (1000, 1000))
    new = TranscriptWriter()
    new.prompt("new")
    new.write(projects_folder(), "-b")
    looks = [quick_scan_file(transcript_file) for transcript_file in found_in(projects_folder())]
    (row,) = RowList(look for look in looks if look is not None).newest_first()
    assert row.summary.title == "new"


def test_links_out_of_the_projects_folder_are_not_followed(tmp_path: Path) -> None:
    outside = TranscriptWriter()
    outside.prompt("secret")
    target = outside.write(tmp_path, "elsewhere")
    folder = projects_folder() / "-w"
    folder.mkdir(parents=True)
    (folder / f"{SESSION_ID}.jsonl").symlink_to(target)
    (projects_folder() / "-linked").symlink_to(target.parent)
    assert found_in(projects_folder()) == []


def test_without_a_projects_folder_there_are_no_sessions() -> None:
    assert found_in(projects_folder()) == []


def test_a_session_without_messages_is_still_listed() -> None:
    transcript = TranscriptWriter()
    transcript.raw_entry(type="summary", summary="Somebody else's", leafUuid="elsewhere")
    transcript.write(projects_folder())
    row = only_row(projects_folder())
    assert row.fault is None
    assert row.summary.title is None


def test_sessions_written_in_one_tick_have_an_order_all_the_same() -> None:
    for number in (2, 1, 3):
        transcript = TranscriptWriter(uuid_of(number))
        transcript.prompt("hello")
        os.utime(transcript.write(projects_folder()), (1000, 1000))
    looks = [quick_scan_file(transcript_file) for transcript_file in found_in(projects_folder())]
    rows = RowList(look for look in looks if look is not None).newest_first()
    assert [row.file.id for row in rows] == [uuid_of(number) for number in (3, 2, 1)]
