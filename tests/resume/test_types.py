"""The next action, by its order; how a conversation ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claudekeeper.analysis.last_turns import (
    EndKind,
    LastTurn,
    OpenQuestion,
    SessionEnd,
    session_end_of,
)
from claudekeeper.analysis.task_lists import Task
from claudekeeper.resume.types import next_action, percent, progress_of
from claudekeeper.transcripts.history import History
from tests.analysis.test_session_facts import NO_REASON, REASON, use
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder

ASKS = {"questions": [{"question": "Red or blue?", "options": [{"label": "Red"}]}]}


def end_of(transcript: TranscriptWriter) -> SessionEnd:
    path: Path = transcript.write(projects_folder())
    page = History().page(path, SESSION_ID, limit=200)
    return session_end_of([*page.messages, *page.unanswered_prompts])


def action(transcript: TranscriptWriter, *tasks: Task) -> tuple[str, str | None]:
    chosen = next_action(end_of(transcript), tasks, working=False)
    return chosen.kind, chosen.prompt


def prompted(words: str = "paint it") -> TranscriptWriter:
    transcript = TranscriptWriter()
    transcript.prompt(words)
    return transcript


def test_a_question_of_claude_comes_first(isolated: Path) -> None:
    transcript = prompted()
    transcript.reply("I can. Which colour would you like?")
    chosen = next_action(end_of(transcript), [Task("1", "t", "in_progress")], working=False)
    assert (chosen.kind, chosen.text) == ("answer", "Which colour would you like?")
    transcript.prompt("red")
    assert action(transcript) == ("reply", "red")


def test_a_question_card_without_an_answer_is_repeated(isolated: Path) -> None:
    transcript = prompted()
    call = {"type": "tool_use", "id": "q1", "name": "AskUserQuestion", "input": ASKS}
    transcript.block(call, None)
    question = end_of(transcript).question
    assert question is not None
    assert (question.kind, question.text, question.options) == ("question", "Red or blue?", ["Red"])


def test_an_answer_to_a_card_that_got_no_reply_comes_second(isolated: Path) -> None:
    transcript = prompted()
    use(transcript, "AskUserQuestion", ASKS, '"Red or blue?"="Red"')
    assert action(transcript, Task("1", "t", "in_progress"))[0] == "reply"


def nothing_came(transcript: TranscriptWriter) -> None:
    """The prompt is the last line."""


def a_call_came(transcript: TranscriptWriter) -> None:
    transcript.call("c1")


def a_result_came(transcript: TranscriptWriter) -> None:
    transcript.call("c1")
    transcript.result("c1")


def an_interrupt_came(transcript: TranscriptWriter) -> None:
    transcript.reply("I beg")
    transcript.prompt("[Request interrupted by user]")


def an_error_came(transcript: TranscriptWriter) -> None:
    transcript.reply("You've hit your limit", isApiErrorMessage=True, model="<synthetic>")


@pytest.mark.parametrize(
    ("write_end", "expected"),
    [
        (nothing_came, "paint it"),
        (a_call_came, "Continue where you left off."),
        (a_result_came, "Continue where you left off."),
        (an_interrupt_came, "Continue where you left off."),
        (an_error_came, "paint it"),
    ],
)
def test_what_got_no_reply_comes_second(
    isolated: Path, write_end: Callable[[TranscriptWriter], None], expected: str
) -> None:
    transcript = prompted()
    write_end(transcript)
    assert action(transcript, Task("1", "t", "in_progress")) == ("reply", expected)
    words = next_action(end_of(transcript), [], working=False).text
    assert "“paint it”" in words
    assert words.endswith(".")


def test_a_rejected_plan_leaves_it_to_the_person(isolated: Path) -> None:
    transcript = prompted()
    use(transcript, "ExitPlanMode", {"plan": "# P"}, NO_REASON, error=True)
    transcript.prompt([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
    assert action(transcript) == ("reply", None)


def test_the_current_task_then_the_next_then_all_done(isolated: Path) -> None:
    transcript = prompted()
    transcript.reply("Good.")
    done, doing, waiting = (
        Task("1", "one", "completed"),
        Task("2", "two", "in_progress"),
        Task("3", "three", "pending"),
    )
    assert action(transcript, done, waiting, doing) == ("continue", "Continue with: two")
    assert action(transcript, done, waiting) == ("start", "Start with: three")
    assert action(transcript, done) == ("done", None)
    assert action(transcript) == ("done", None)


def test_a_question_card_that_was_put_away_is_repeated(isolated: Path) -> None:
    transcript = prompted()
    use(transcript, "AskUserQuestion", ASKS, NO_REASON, error=True)
    assert action(transcript)[0] == "answer"
    transcript.prompt([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
    question = end_of(transcript).question
    assert question is not None
    assert (question.text, action(transcript)[0]) == ("Red or blue?", "answer")
    transcript.prompt("neither, leave it")
    assert action(transcript) == ("reply", "neither, leave it")
    transcript.reply("As you like.")
    assert action(transcript)[0] == "done"


def test_a_question_card_answered_in_words_waits_for_claude(isolated: Path) -> None:
    transcript = prompted()
    use(transcript, "AskUserQuestion", ASKS, REASON, error=True)
    assert action(transcript) == ("reply", "Continue where you left off.")
    words = next_action(end_of(transcript), [], working=False).text
    assert words == "Your answer got no reply: “use the other file”."


def test_a_plan_that_was_rejected_with_a_reason_waits_for_claude(isolated: Path) -> None:
    transcript = prompted()
    use(transcript, "ExitPlanMode", {"plan": "# P"}, REASON, error=True)
    words = next_action(end_of(transcript), [], working=False).text
    assert words == "Your answer got no reply: “use the other file”."


def test_a_background_task_that_ends_answers_no_question(isolated: Path) -> None:
    transcript = prompted()
    transcript.reply("It runs. Shall I publish it then?")
    transcript.prompt("<task-notification><status>completed</status></task-notification>")
    transcript.reply("It is through.")
    question = end_of(transcript).question
    assert question is not None
    assert question.text == "Shall I publish it then?"
    transcript.prompt("yes")
    transcript.reply("Published.")
    assert action(transcript)[0] == "done"


def test_what_waited_in_line_when_all_ended_got_no_reply(isolated: Path) -> None:
    transcript = prompted()
    transcript.reply("Painted. Shall I hang it?")
    queued = {"type": "queue-operation", "timestamp": "2026-03-01T11:00:00.000Z"}
    transcript.raw_entry(**queued, operation="enqueue", content="frame it first")
    assert action(transcript) == ("reply", "frame it first")
    transcript.raw_entry(**queued, operation="remove")
    assert action(transcript)[0] == "answer"


def test_what_is_written_in_claudes_place_is_no_reply(isolated: Path) -> None:
    transcript = prompted()
    transcript.reply("No response requested.", model="<synthetic>")
    assert action(transcript) == ("reply", "paint it")


def test_what_an_editor_had_open_is_no_turn(isolated: Path) -> None:
    transcript = TranscriptWriter()
    transcript.prompt([{"type": "text", "text": "<ide_opened_file>a.md</ide_opened_file>"}])
    transcript.prompt("paint it")
    transcript.reply("Painted.")
    assert [turn.prompt for turn in end_of(transcript).turns] == ["paint it"]


def test_structured_output_ends_a_turn(isolated: Path) -> None:
    transcript = prompted()
    use(transcript, "StructuredOutput", {"findings": []})
    assert action(transcript)[0] == "done"


def test_what_a_rewind_left_behind_does_not_count(isolated: Path) -> None:
    transcript = prompted("first")
    fork = transcript.reply("Answered.")
    transcript.prompt("left behind")
    transcript.reply("Shall I?")
    transcript.prompt("again", parent=fork)
    transcript.reply("It is done.")
    end = end_of(transcript)
    assert [turn.prompt for turn in end.turns] == ["first", "again"]
    assert end.question is None


def test_commands_of_the_terminal_change_nothing(isolated: Path) -> None:
    transcript = prompted()
    transcript.reply("Shall I go on?")
    transcript.prompt("<command-name>/exit</command-name>")
    transcript.prompt("<local-command-stdout>See ya!</local-command-stdout>")
    assert action(transcript)[0] == "answer"


_tasks = st.lists(
    st.builds(
        Task,
        st.text(max_size=2),
        st.sampled_from(["a", "P: b", "P: c", ""]),
        st.sampled_from(["pending", "in_progress", "completed"]),
        st.none() | st.just("alice"),
    ),
    max_size=12,
)


@given(
    _tasks,
    st.sampled_from(["nothing", "asked", "said", "cut", "interrupted", "failed"]),
    st.none() | st.just(OpenQuestion("reply", "Which?")),
    st.booleans(),
)
def test_the_order_holds_for_everything(
    tasks: list[Task], standing: EndKind, question: OpenQuestion | None, working: bool
) -> None:
    end = SessionEnd([LastTurn("do it", "u", None)], standing, question)
    states = [task.state for task in tasks]
    # the first that applies
    order = [
        ("answer", question is not None),
        ("working", working),
        ("reply", standing not in ("said", "nothing")),
        ("continue", "in_progress" in states),
        ("start", "pending" in states),
        ("done", True),
    ]
    expected = next(kind for kind, applies in order if applies)
    assert next_action(end, tasks, working=working).kind == expected


def test_without_tasks_there_is_no_progress() -> None:
    assert progress_of([]) is None


@given(_tasks.filter(bool))
def test_groups_add_up(tasks: list[Task]) -> None:
    progress = progress_of(tasks)
    assert progress is not None
    assert sum(part.items for part in progress.groups) == progress.items == len(tasks)
    assert sum(part.done for part in progress.groups) == progress.done
    assert (progress.percent == 100) == (progress.done == progress.items)
    assert all(part.percent == percent(part.done, part.items) for part in progress.groups)


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner)
            | (st.dictionaries(st.sampled_from(["type", "text", "id", "name", "input"]), inner))
        ),
    )
)
def test_any_content_is_read(content: Any) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("a")
    message = {"id": "m", "role": "assistant", "content": content}
    transcript.entry("assistant", message=message)
    assert json.loads(transcript.lines[-1])
    from claudekeeper.transcripts.entries import parse_line
    from claudekeeper.transcripts.messages import kind_of, message_of

    entries = [entry for line in transcript.lines for entry in parse_line(line)[0]]
    messages = [
        message_of(entry, SESSION_ID, kind)
        for entry in entries
        if (kind := kind_of(entry)) is not None
    ]
    session_end_of(messages)


def test_a_question_stays_open_when_nothing_ran_that_could_be_stopped(isolated: Path) -> None:
    transcript = prompted()
    transcript.reply("It is ready. Shall I publish it?")
    transcript.prompt("[Request interrupted by user]")
    assert action(transcript)[0] == "answer"
    transcript.reply("As you like, I go on with")
    transcript.prompt("[Request interrupted by user]")
    assert action(transcript)[0] == "reply"
