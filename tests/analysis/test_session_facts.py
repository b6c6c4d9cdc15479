"""What was done and decided: folded line by line, in any pieces."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from claudekeeper.analysis.decisions import Decision
from claudekeeper.analysis.session_facts import SessionFacts, tasks_of
from claudekeeper.analysis.summary import FoldState, SummaryFold
from claudekeeper.resume.types import progress_of
from claudekeeper.transcripts.entries import parse_line
from tests.support.transcript_writer import TranscriptWriter

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was "
    "a file edit, the new_string was NOT written to the file). "
)
REASON = REJECTED + "To tell you how to proceed, the user said:\nuse the other file"
NO_REASON = REJECTED + "STOP what you are doing and wait for the user to tell you how to proceed."


def fold(lines: list[bytes], before: SummaryFold | None = None) -> SummaryFold:
    folding = before or SummaryFold()
    for line in lines:
        for entry in parse_line(line)[0]:
            folding.add(entry)
    return folding


def facts_of(transcript: TranscriptWriter) -> SessionFacts:
    return fold(transcript.lines).finish(0, b"")[1].facts


def use(
    transcript: TranscriptWriter,
    tool: str,
    tool_input: Any,
    outcome: Any = "ok",
    *,
    error: bool = False,
    **line: Any,
) -> str:
    """A call and its result."""
    call = f"toolu_{len(transcript.lines)}"
    transcript.block({"type": "tool_use", "id": call, "name": tool, "input": tool_input}, None)
    block = {"type": "tool_result", "tool_use_id": call, "content": outcome, "is_error": error}
    return transcript.entry("user", message={"role": "user", "content": [block]}, **line)


def test_files_that_were_changed_are_counted_and_failed_edits_are_not() -> None:
    transcript = TranscriptWriter()
    use(transcript, "Edit", {"file_path": "/code/a.py", "old_string": "x", "new_string": "y"})
    use(transcript, "Write", {"file_path": "/code/b.py", "content": "z"})
    use(transcript, "MultiEdit", {"file_path": "/code/a.py", "edits": []})
    use(transcript, "NotebookEdit", {"notebook_path": "/code/n.ipynb"})
    use(transcript, "Edit", {"file_path": "/code/c.py"}, "String to replace not found", error=True)
    use(transcript, "Edit", {"file_path": "/code/d.py"}, NO_REASON, error=True)
    assert facts_of(transcript).edits_by_file == {
        "/code/a.py": 2,
        "/code/b.py": 1,
        "/code/n.ipynb": 1,
    }


def test_commands_are_counted_and_refused_ones_are_not() -> None:
    transcript = TranscriptWriter()
    for number in range(12):
        use(transcript, "Bash", {"command": f"make step-{number}"})
    use(transcript, "Bash", {"command": "make broken"}, "Exit code 2", error=True)
    use(transcript, "Bash", {"command": "rm -rf /"}, NO_REASON, error=True)
    ruled = "Permission to use Bash has been denied."
    use(transcript, "Bash", {"command": "no"}, ruled, error=True, toolDenialKind="permission-rule")
    facts = facts_of(transcript)
    assert (facts.commands, facts.failed_commands) == (13, 1)
    assert facts.last_commands[-1] == "make broken"
    assert len(facts.last_commands) == 10
    assert facts.decisions == []


def test_a_todo_list_is_what_was_written_last() -> None:
    transcript = TranscriptWriter()
    item = {"content": "one", "status": "pending", "activeForm": "Doing one"}
    use(transcript, "TodoWrite", {"todos": [item]})
    later = [{**item, "status": "completed"}, {"content": "two", "status": "in_progress"}]
    use(transcript, "TodoWrite", {"todos": later})
    use(transcript, "TodoWrite", {"todos": []}, "no such tool", error=True)
    assert [(todo.text, todo.state) for todo in facts_of(transcript).todos] == [
        ("one", "completed"),
        ("two", "in_progress"),
    ]


def test_tasks_are_created_changed_deleted_and_listed() -> None:
    transcript = TranscriptWriter()
    for number, subject in enumerate(("Phase 1: read", "Phase 1: plan", "write"), start=1):
        made = f"Task #{number} created successfully: {subject}"
        use(transcript, "TaskCreate", {"subject": subject}, made)
    use(transcript, "TaskUpdate", {"taskId": "1", "status": "completed"}, "Updated task #1 status")
    use(transcript, "TaskUpdate", {"taskId": "3", "status": "deleted"}, "Updated task #3")
    use(transcript, "TaskUpdate", {"taskId": "2", "status": "completed"}, "failed", error=True)
    use(transcript, "TaskList", {}, "#2 [in_progress] Phase 1: plan\n#4 [pending] of a teammate")
    facts = facts_of(transcript)
    assert [(task.id, task.state) for task in facts.tasks] == [
        ("1", "completed"),
        ("2", "in_progress"),
        ("4", "pending"),
    ]
    progress = progress_of(tasks_of(facts))
    assert progress is not None
    assert (progress.items, progress.done, progress.percent) == (3, 1, 33)
    assert [(part.name, part.percent) for part in progress.groups] == [
        ("Phase 1", 50),
        ("Tasks", 0),
    ]


def test_the_tasks_of_a_team_go_with_it() -> None:
    transcript = TranscriptWriter()
    use(transcript, "TaskCreate", {"subject": "of a teammate"}, "Task #1 created successfully")
    use(transcript, "TeamDelete", {}, "Team is busy", error=True)
    use(transcript, "TeamDelete", {}, '{"success": false, "message": "3 members are active"}')
    assert len(facts_of(transcript).tasks) == 1
    use(transcript, "TeamDelete", {}, '{"success": true}')
    assert facts_of(transcript).tasks == []


def test_decisions_are_answers_plans_and_denials_with_a_reason() -> None:
    transcript = TranscriptWriter()
    question = {"question": "Which one?", "options": [{"label": "A"}, {"label": "B"}]}
    use(
        transcript,
        "AskUserQuestion",
        {"questions": [question]},
        'User has answered your questions: "Which one?"="B".',
        toolUseResult={"questions": [question], "answers": {"Which one?": "B"}},
    )
    use(transcript, "AskUserQuestion", {}, 'The user answered: "Why?"="because". Go on.')
    use(transcript, "ExitPlanMode", {"plan": "# Move it\n\nfirst …"}, "User has approved your plan")
    use(transcript, "ExitPlanMode", {"plan": "\n## Burn it"}, REASON, error=True)
    last = use(transcript, "Write", {"file_path": "/code/x"}, REASON, error=True)
    use(transcript, "Bash", {"command": "ls"}, NO_REASON, error=True)
    denied = {"toolDenialKind": "user-rejected"}
    use(transcript, "Bash", {"command": "touch a"}, "use mkdir, please", error=True, **denied)
    made = facts_of(transcript).decisions
    assert [(each.kind, each.about, each.decision, each.reason) for each in made] == [
        ("answer", "Which one?", "B", None),
        ("answer", "Why?", "because", None),
        ("plan", "Move it", "approved", None),
        ("plan", "Burn it", "rejected", "use the other file"),
        ("denial", "Write /code/x", "denied", "use the other file"),
        ("denial", "Bash touch a", "denied", "use mkdir, please"),
    ]
    assert isinstance(made[4], Decision)
    assert made[4].uuid == last


def test_the_context_is_what_the_last_reply_saw_until_a_compaction() -> None:
    transcript = TranscriptWriter()
    usage = {"input_tokens": 10, "cache_read_input_tokens": 900, "output_tokens": 90}
    transcript.reply(usage=usage)
    assert facts_of(transcript).context_tokens == 1000
    transcript.entry("assistant", message={"model": "<synthetic>", "content": [], "usage": {}})
    assert facts_of(transcript).context_tokens == 1000
    transcript.entry("system", subtype="compact_boundary")
    assert (facts_of(transcript).context_tokens, facts_of(transcript).compactions) == (0, 1)


def test_a_replayed_history_is_not_done_again() -> None:
    transcript = TranscriptWriter()
    for number in range(40):
        use(transcript, "Edit", {"file_path": f"/code/{number}"})
    once = facts_of(transcript)
    copies = [json.loads(line) for line in transcript.lines]
    for number, copy in enumerate(copies):
        copy["uuid"] = f"{number:08}-0000-4000-8000-000000000000"
        transcript.raw_entry(**copy)
    assert facts_of(transcript).edits_by_file == once.edits_by_file


def _work(draw: st.DrawFn) -> TranscriptWriter:
    transcript = TranscriptWriter()
    for kind in draw(st.lists(st.sampled_from(["prompt", "edit", "bash", "todo", "task", "ask"]))):
        bad = draw(st.booleans())
        match kind:
            case "prompt":
                transcript.prompt("what next?")
            case "edit":
                use(transcript, "Edit", {"file_path": "/code/a"}, "x", error=bad)
            case "bash":
                use(transcript, "Bash", {"command": "ls"}, REASON if bad else "x", error=bad)
            case "todo":
                use(transcript, "TodoWrite", {"todos": [{"content": "a", "status": "pending"}]})
            case "task":
                use(transcript, "TaskCreate", {"subject": "s"}, "Task #1 created", error=bad)
            case _:
                use(transcript, "AskUserQuestion", {}, '"q"="a"', error=bad)
    return transcript


@settings(deadline=None)
@given(st.composite(_work)(), st.integers(0, 60))
def test_folding_in_two_pieces_tells_the_same(transcript: TranscriptWriter, cut: int) -> None:
    whole = fold(transcript.lines).finish(0, b"")
    summary, folded = fold(transcript.lines[:cut]).finish(0, b"")
    # as it is kept in between
    fold_state = msgspec.msgpack.decode(msgspec.msgpack.encode(folded), type=FoldState)
    assert fold(transcript.lines[cut:], SummaryFold(summary, fold_state)).finish(0, b"") == whole


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "todos",
                        "content",
                        "status",
                        "subject",
                        "taskId",
                        "plan",
                        "command",
                        "questions",
                        "answers",
                        "file_path",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
    ),
    st.sampled_from(
        [
            "Edit",
            "Bash",
            "TodoWrite",
            "TaskCreate",
            "TaskUpdate",
            "TaskList",
            "AskUserQuestion",
            "ExitPlanMode",
            "Other",
        ]
    ),
    st.booleans(),
)
def test_nothing_that_a_call_may_hold_breaks_it(given_: Any, tool: str, error: bool) -> None:
    transcript = TranscriptWriter()
    use(transcript, tool, given_, given_, error=error, toolUseResult=given_)
    folded = fold(transcript.lines).finish(0, b"")[1]
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(folded), type=FoldState) == folded
