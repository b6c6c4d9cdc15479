"""The conversation as a reader follows it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest

from claudekeeper.contract.errors import MessageNotFound
from claudekeeper.contract.message import Message
from claudekeeper.transcripts.history import History, HistorySlice
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder
from tests.support.whole_history import read_stream


def read(transcript: TranscriptWriter, *, limit: int = 1000) -> HistorySlice:
    return History().page(transcript.write(projects_folder()), SESSION_ID, limit=limit)


def text_of(message: Message) -> str:
    return " ".join(str(block.get("text", "")) for block in json.loads(bytes(message.content)))


def kinds(page: HistorySlice) -> list[str]:
    return [message.kind for message in page.messages]


def test_a_plain_string_becomes_one_text_block() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("hello")
    (message,) = read(transcript).messages
    assert json.loads(bytes(message.content)) == [{"type": "text", "text": "hello"}]
    assert (message.role, message.kind, message.session_id) == ("user", "prompt", SESSION_ID)


def test_a_reply_keeps_what_claude_code_wrote() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("hello")
    transcript.reply("hi", message_id="msg_1", usage={"input_tokens": 3, "output_tokens": 4})
    reply = read(transcript).messages[1]
    assert (reply.kind, reply.message_id, reply.model) == ("reply", "msg_1", "claude-opus-4-8")
    assert json.loads(bytes(reply.usage)) == {"input_tokens": 3, "output_tokens": 4}


def test_a_conversation_goes_on_above_its_compaction() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("first")
    above = transcript.reply("one")
    transcript.entry(
        "system",
        parent=None,
        logicalParentUuid=above,
        subtype="compact_boundary",
        content="Conversation compacted",
    )
    transcript.prompt("This session is being continued…", isCompactSummary=True)
    transcript.prompt("second")
    page = read(transcript)
    assert kinds(page) == ["prompt", "reply", "compaction", "compaction", "prompt"]
    assert {message.branch for message in page.messages} == {None}
    assert page.branches == []


def test_it_goes_on_even_if_the_line_above_the_compaction_is_missing() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("first")
    transcript.reply("one")
    transcript.entry(
        "system",
        parent=None,
        logicalParentUuid="00000000-0000-4000-8000-0000000000ff",
        subtype="compact_boundary",
    )
    transcript.prompt("This session is being continued…", isCompactSummary=True)
    transcript.reply("two")
    assert {message.branch for message in read(transcript).messages} == {None}


def test_a_rewind_leaves_its_branch_in_reach() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("first")
    fork = transcript.reply("one")
    transcript.prompt("a wrong turn")
    tip = transcript.reply("that went wrong")
    transcript.prompt("the right turn", parent=fork)
    transcript.reply("better")
    page = read(transcript)
    assert [message.branch for message in page.messages] == [None, None, tip, tip, None, None]
    assert [(branch.id, branch.at) for branch in page.branches] == [(tip, fork)]


def test_who_did_not_want_a_call_is_told_by_pages_and_by_the_whole() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("try it")
    for number, marks in enumerate(
        (
            {},
            {"toolDenialKind": "permission-rule"},
            {"toolDenialKind": "permission-rule", "holdsPersonsWords": True},
            {"toolDenialKind": "user-rejected"},
        )
    ):
        transcript.call(f"toolu_{number}")
        transcript.result(f"toolu_{number}", "no", **marks)
    page = read(transcript)
    denials = [message.denied_by for message in page.messages if message.kind == "toolResult"]
    assert denials == [None, "rule", "person", "person"]
    sent, _ = read_stream(transcript.write(projects_folder()), SESSION_ID)
    assert [bytes(each) for each in sent] == [msgspec.json.encode(each) for each in page.messages]


def test_bytes_that_are_no_text_are_told_alike_by_pages_and_by_the_whole() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("caf?")
    transcript.reply("d?j? vu", usage={"service_tier": "st?ndard", "output_tokens": 4})
    transcript.prompt("a good one: déjà vu", entrypoint="cl?", timestamp="2026-01-01T00:00:00?")
    path = transcript.write(projects_folder())
    path.write_bytes(path.read_bytes().replace(b"?", b"\xff"))
    page = History().page(path, SESSION_ID, limit=10)
    assert [text_of(message) for message in page.messages] == [
        "caf\ufffd",
        "d\ufffdj\ufffd vu",
        "a good one: déjà vu",
    ]
    sent, _ = read_stream(path, SESSION_ID)
    assert [bytes(each) for each in sent] == [msgspec.json.encode(each) for each in page.messages]


def test_parallel_tools_are_no_branches() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("look at both")
    first = transcript.call("toolu_1", message_id="msg_1")
    second = transcript.call("toolu_2", message_id="msg_1")
    transcript.result("toolu_1", parent=first)
    transcript.result("toolu_2", parent=second)
    transcript.reply("both fine")
    page = read(transcript)
    assert kinds(page) == ["prompt", "reply", "reply", "toolResult", "toolResult", "reply"]
    assert {message.branch for message in page.messages} == {None}


def test_parallel_tools_are_no_branches_when_the_first_result_goes_on() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("look at both")
    first = transcript.call("toolu_1", message_id="msg_1")
    second = transcript.call("toolu_2", message_id="msg_1")
    transcript.result("toolu_2", parent=second)
    onward = transcript.result("toolu_1", parent=first)
    transcript.reply("both fine", parent=onward)
    assert {message.branch for message in read(transcript).messages} == {None}


def test_a_result_written_before_its_call_is_read_after_it() -> None:
    transcript = TranscriptWriter()
    prompt = transcript.prompt("go")
    call = "00000000-0000-4000-8000-00000000ca11"
    result = transcript.result("toolu_1", parent=call)
    transcript.call("toolu_1", parent=prompt, uuid=call)
    transcript.reply("done", parent=result)
    page = read(transcript)
    assert kinds(page) == ["prompt", "reply", "toolResult", "reply"]
    assert {message.branch for message in page.messages} == {None}


def test_trailing_local_commands_do_not_make_the_conversation_a_branch() -> None:
    transcript = TranscriptWriter()
    root = transcript.prompt("Caveat: The messages below were generated…", isMeta=True)
    transcript.prompt("first")
    transcript.reply("one")
    transcript.prompt("<command-name>/export</command-name>", parent=root)
    transcript.prompt("<local-command-stdout>exported</local-command-stdout>")
    page = read(transcript)
    assert kinds(page) == ["prompt", "reply", "command", "command"]
    assert {message.branch for message in page.messages} == {None}


def test_a_line_written_twice_is_shown_once_with_its_last_words() -> None:
    transcript = TranscriptWriter()
    first = transcript.prompt("teh")
    transcript.prompt("the", uuid=first, parent=None)
    transcript.reply("ok")
    page = read(transcript)
    assert [text_of(message) for message in page.messages] == ["the", "ok"]


def test_lines_in_a_circle_are_all_shown() -> None:
    transcript = TranscriptWriter()
    one, two = "00000000-0000-4000-8000-000000000c01", "00000000-0000-4000-8000-000000000c02"
    transcript.prompt("one", uuid=one, parent=two)
    transcript.prompt("two", uuid=two, parent=one)
    assert [message.uuid for message in read(transcript).messages] == [one, two]


def test_hidden_lines_stay_hidden() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("shown")
    transcript.prompt("meta", isMeta=True)
    transcript.prompt("sidechain", isSidechain=True)
    transcript.entry("progress", data={"type": "hook_progress"})
    transcript.entry("attachment", attachment={"type": "skill_listing", "content": "…"})
    transcript.raw_entry(type="file-history-snapshot", snapshot={})
    assert kinds(read(transcript)) == ["prompt"]


def test_lines_of_a_team_are_shown() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("lead them", teamName="crew")
    transcript.reply("leading", teamName="crew")
    assert kinds(read(transcript)) == ["prompt", "reply"]


def test_a_prompt_given_in_mid_turn_is_a_prompt() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("build it")
    transcript.raw_entry(type="queue-operation", operation="enqueue", content="and test it")
    transcript.call("toolu_1")
    transcript.raw_entry(type="queue-operation", operation="remove")
    transcript.entry("attachment", attachment={"type": "queued_command", "prompt": "and test it"})
    transcript.result("toolu_1")
    page = read(transcript)
    assert kinds(page) == ["prompt", "reply", "prompt", "toolResult"]
    assert text_of(page.messages[2]) == "and test it"
    assert page.messages[2].role == "user"


def test_a_prompt_that_stands_only_in_the_queue_is_shown() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("build it")
    transcript.raw_entry(type="queue-operation", operation="enqueue", content="draft the PR")
    transcript.raw_entry(type="queue-operation", operation="remove")
    transcript.reply("drafted")
    page = read(transcript)
    assert [text_of(message) for message in page.messages] == [
        "build it",
        "draft the PR",
        "drafted",
    ]
    assert read(transcript).messages[1].uuid == page.messages[1].uuid


@pytest.mark.parametrize(
    ("queued", "taken"),
    [
        ("go on", "go on"),
        (
            "/fast on",
            "<command-name>/fast</command-name>\n<command-args>on</command-args>",
        ),
    ],
)
def test_a_queued_prompt_that_became_a_turn_is_not_shown_twice(queued: str, taken: str) -> None:
    transcript = TranscriptWriter()
    transcript.reply("working")
    transcript.raw_entry(type="queue-operation", operation="enqueue", content=queued)
    transcript.raw_entry(type="queue-operation", operation="dequeue")
    transcript.prompt(taken)
    assert len(read(transcript).messages) == 2


def test_a_queued_command_may_run_under_another_name() -> None:
    transcript = TranscriptWriter()
    transcript.reply("working")
    transcript.raw_entry(type="queue-operation", operation="enqueue", content="/cost")
    transcript.raw_entry(type="queue-operation", operation="dequeue")
    transcript.prompt("<command-name>/usage</command-name>")
    transcript.prompt("thanks")
    texts = [text_of(message) for message in read(transcript).messages]
    assert texts == ["working", "<command-name>/usage</command-name>", "thanks"]


def test_a_queued_command_that_is_none_here_is_shown_once() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("hello")
    transcript.raw_entry(type="queue-operation", operation="enqueue", content="/help")
    transcript.raw_entry(type="queue-operation", operation="dequeue")
    transcript.entry("system", subtype="local_command", content="/help", isMeta=False)
    printed = "<local-command-stdout>/help isn't available here.</local-command-stdout>"
    transcript.entry("system", subtype="local_command", content=printed, isMeta=False)
    transcript.prompt("go on")
    texts = [text_of(message) for message in read(transcript).messages]
    assert texts == ["hello", "/help", printed, "go on"]


def test_a_command_between_the_queue_and_its_prompt_confuses_nobody() -> None:
    transcript = TranscriptWriter()
    transcript.reply("working")
    transcript.raw_entry(type="queue-operation", operation="enqueue", content="go on")
    transcript.raw_entry(type="queue-operation", operation="dequeue")
    transcript.prompt("<command-name>/model</command-name>\n<command-args>opus</command-args>")
    transcript.prompt("<local-command-stdout>Set model to opus</local-command-stdout>")
    transcript.prompt("go on")
    assert kinds(read(transcript)) == ["reply", "command", "command", "prompt"]


def test_a_prompt_beside_the_notice_of_a_task_is_a_prompt_and_shown_once() -> None:
    transcript = TranscriptWriter()
    transcript.reply("working")
    notice = "<task-notification>ended</task-notification>"
    for content in (notice, "go on"):
        transcript.raw_entry(type="queue-operation", operation="enqueue", content=content)
    for _ in range(2):
        transcript.raw_entry(type="queue-operation", operation="dequeue")
    transcript.prompt([{"type": "text", "text": text} for text in (notice, "go on")])
    assert kinds(read(transcript)) == ["reply", "prompt"]


@pytest.mark.parametrize(
    "queued",
    [
        "<task-notification>ended</task-notification>",
        "<system-reminder>a task was started</system-reminder>",
    ],
)
def test_what_the_machine_queued_does_not_stand_for_a_prompt(queued: str) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("build it")
    transcript.raw_entry(type="queue-operation", operation="enqueue", content="continue")
    transcript.raw_entry(type="queue-operation", operation="remove")
    transcript.reply("built")
    transcript.raw_entry(type="queue-operation", operation="enqueue", content=queued)
    transcript.raw_entry(type="queue-operation", operation="dequeue")
    transcript.prompt(queued)
    transcript.reply("noted")
    transcript.prompt("continue")
    texts = [text_of(message) for message in read(transcript).messages]
    assert texts == ["build it", "continue", "built", queued, "noted", "continue"]


def test_the_first_prompt_of_a_fork_waits_before_what_is_copied_and_is_shown_once() -> None:
    transcript = TranscriptWriter()
    transcript.raw_entry(type="queue-operation", operation="enqueue", content="another way")
    transcript.raw_entry(type="queue-operation", operation="dequeue")
    transcript.prompt("one way")
    transcript.reply("done")
    transcript.prompt("another way")
    texts = [text_of(message) for message in read(transcript).messages]
    assert texts == ["one way", "done", "another way"]


def test_an_older_copy_of_a_line_is_never_shown_for_it() -> None:
    transcript = TranscriptWriter()
    first = transcript.prompt("older")
    for number in range(200):
        transcript.reply(f"{number}")
    # a line that is not quite JSON is read again when it is shown
    line = transcript.lines[0].replace(b"older", b"newer").replace(b"{", b"\x00{", 1)
    transcript.raw_bytes(line)
    path = transcript.write(projects_folder())
    history = History()
    page = history.page(path, SESSION_ID, limit=300)
    assert [text_of(m) for m in page.messages if m.uuid == first] == ["newer"]


def test_an_older_copy_of_a_line_is_never_shown_for_it_on_a_later_page() -> None:
    transcript = TranscriptWriter()
    prompts = [transcript.prompt(f"{number}") for number in range(100)]
    transcript.prompt("newer", uuid=prompts[0])
    for number in range(3):
        transcript.prompt(f"last {number}")
    path = transcript.write(projects_folder())
    history = History()
    page = history.page(path, SESSION_ID, limit=3)
    page = history.page(path, SESSION_ID, limit=100, before=page.before)
    assert [text_of(m) for m in page.messages if m.uuid == prompts[0]] == ["newer"]


def test_an_absorbed_prompt_is_shown_although_its_words_are_said_again_later() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("build it")
    transcript.raw_entry(type="queue-operation", operation="enqueue", content="continue")
    transcript.raw_entry(type="queue-operation", operation="remove")
    transcript.reply("built")
    transcript.prompt("continue")
    texts = [text_of(message) for message in read(transcript).messages]
    assert texts == ["build it", "continue", "built", "continue"]


def test_a_hidden_copy_of_a_line_does_not_hide_it() -> None:
    transcript = TranscriptWriter()
    first = transcript.prompt("hello")
    transcript.reply("hi")
    transcript.entry("progress", uuid=first, data={})
    transcript.prompt("meta copy", uuid=first, isMeta=True)
    assert [text_of(message) for message in read(transcript).messages] == ["hello", "hi"]


def test_a_prompt_about_tool_results_is_a_prompt() -> None:
    transcript = TranscriptWriter()
    transcript.prompt([{"type": "text", "text": "tool_result"}])
    assert kinds(read(transcript)) == ["prompt"]


def test_a_queued_prompt_that_was_taken_back_is_not_shown() -> None:
    transcript = TranscriptWriter()
    transcript.raw_entry(type="queue-operation", operation="enqueue", content="hm")
    transcript.raw_entry(type="queue-operation", operation="popAll", content="hm")
    transcript.reply("done")
    assert kinds(read(transcript)) == ["reply"]


def test_a_prompt_still_waiting_in_the_queue_is_no_message_yet() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("build it")
    transcript.raw_entry(type="queue-operation", operation="enqueue", content="next")
    assert kinds(read(transcript)) == ["prompt"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ({"type": "system", "subtype": "api_error", "error": {"status": 529}}, ["error"]),
        ({"type": "system", "subtype": "away_summary", "content": "You were…"}, ["notice"]),
        ({"type": "system", "subtype": "turn_duration", "durationMs": 3}, []),
        ({"type": "attachment", "attachment": {"type": "edited_text_file"}}, ["notice"]),
        ({"type": "attachment", "attachment": {"type": "goal_status", "met": True}}, ["notice"]),
        (
            {
                "type": "attachment",
                "attachment": {
                    "type": "hook_blocking_error",
                    "hookName": "PostToolUse",
                    "blockingError": {"blockingError": "tsc failed"},
                },
            },
            ["notice"],
        ),
    ],
)
def test_notices_are_quiet_lines(line: dict[str, object], expected: list[str]) -> None:
    transcript = TranscriptWriter()
    transcript.entry(str(line.pop("type")), **line)
    assert kinds(read(transcript)) == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ([{"type": "text", "text": "[Request interrupted by user]"}], "interruption"),
        ("<local-command-stdout>ok</local-command-stdout>", "command"),
        ("<task-notification>ended</task-notification>", "notice"),
    ],
)
def test_user_lines_have_their_kind(text: object, kind: str) -> None:
    transcript = TranscriptWriter()
    transcript.prompt(text)
    assert kinds(read(transcript)) == [kind]


def test_a_torn_last_line_is_left_out_until_it_is_whole() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("first")
    path = transcript.write(projects_folder())
    history = History()
    line = b'{"parentUuid":null,"type":"user","uuid":"t1","message":{"content":"later"}}\n'
    with path.open("ab") as file:
        file.write(line[:40])
    assert len(history.page(path, SESSION_ID, limit=10).messages) == 1
    with path.open("ab") as file:
        file.write(line[40:])
    assert len(history.page(path, SESSION_ID, limit=10).messages) == 2


def test_a_last_line_without_newline_is_shown() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("first")
    path = transcript.write(projects_folder(), final_newline=False)
    assert len(History().page(path, SESSION_ID, limit=10).messages) == 1


def test_a_rewritten_file_is_read_anew() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("a long first prompt")
    transcript.reply("one")
    path = transcript.write(projects_folder())
    history = History()
    assert len(history.page(path, SESSION_ID, limit=10).messages) == 2
    shorter = TranscriptWriter()
    shorter.prompt("short")
    temporary = path.with_name("x.tmp")
    temporary.write_bytes(shorter.lines[0] + b"\n")
    temporary.replace(path)
    (message,) = history.page(path, SESSION_ID, limit=10).messages
    assert text_of(message) == "short"


def test_a_line_of_thirty_megabytes_is_read_like_any_other() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("before")
    transcript.reply("x" * 30_000_000)
    transcript.prompt("after")
    path = transcript.write(projects_folder())
    page = History().page(path, SESSION_ID, limit=2)
    assert [len(text_of(message)) for message in page.messages] == [30_000_000, 5]


def test_an_unknown_cursor_is_an_error() -> None:
    transcript = TranscriptWriter()
    transcript.prompt("first")
    path = transcript.write(projects_folder())
    with pytest.raises(MessageNotFound):
        History().page(path, SESSION_ID, limit=1, before="nope")


def test_streaming_leaves_no_descriptor_open() -> None:
    transcript = TranscriptWriter()
    for number in range(50):
        transcript.prompt(f"{number}")
    path = transcript.write(projects_folder())
    before = len(list(Path("/proc/self/fd").iterdir()))
    whole = History().stream(path, SESSION_ID)
    assert whole.next_chunk()
    whole.close()
    History().stream(path, SESSION_ID).close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_pipe_with_a_transcripts_name_does_not_block() -> None:
    path = projects_folder() / "-w" / f"{SESSION_ID}.jsonl"
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    with pytest.raises(OSError, match="regular"):
        History().page(path, SESSION_ID, limit=1)
