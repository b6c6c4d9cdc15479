"""Each word of the script language does in the real CLI what it says."""

from __future__ import annotations

import pytest

from claudekeeper.demo.cli_driver import SimulatedPerson
from tests.support.real_cli import FinishedTurn, RealCli

PROMPTS = {
    "hello": "hello",
    "long": "long: 300",
    "think": "think: is it safe?\nsay: It is.",
    "run": "run: touch a.txt",
    "write": "write: notes.md: hello",
    "edit": "edit: notes.md: hello => good day",
    "read": "read: notes.md",
    "ask": "ask: Which database? Postgres | SQLite",
    "ask many": "ask many: Which checks? Lint | Types | Tests",
    "two tools": "run: echo one && run: echo two",
    "steps": "run: echo first\nread: notes.md\nsay: Both done.",
    "fails": "run: ls nowhere",
    "refused": "run: touch forbidden.txt\nrun: echo after",
    "todo": "todo: [x] read; [>] change; test",
    "agent": "agent: run: echo from below",
    "big": "big: 1",
    "count": "count: 20000",
}


def refuse(_tool: str, tool_input: dict[str, object]) -> str | None:
    return "Not on a Friday." if "forbidden" in str(tool_input.get("command")) else None


@pytest.fixture(scope="module")
def played(real_cli: RealCli) -> dict[str, FinishedTurn]:
    """All of it in one session, as a process is what takes time."""
    turns = real_cli.run_turns(
        list(PROMPTS.values()), person=SimulatedPerson(refuse), include_partial_messages=True
    )
    return dict(zip(PROMPTS, turns, strict=True))


def test_words_are_echoed(played: dict[str, FinishedTurn]) -> None:
    assert "hello" in played["hello"].text
    assert not played["hello"].result.is_error


def test_a_long_text_comes_in_as_many_deltas_as_words(played: dict[str, FinishedTurn]) -> None:
    assert len(played["long"].deltas) == 300
    assert "".join(played["long"].deltas) == played["long"].text


def test_twenty_thousand_deltas_arrive(played: dict[str, FinishedTurn]) -> None:
    assert len(played["count"].deltas) == 20_000


def test_thinking_comes_before_the_words(played: dict[str, FinishedTurn]) -> None:
    assert played["think"].thinking == ["is it safe?"]
    assert played["think"].text == "It is."


def test_a_command_runs(played: dict[str, FinishedTurn], real_cli: RealCli) -> None:
    assert [call.name for call in played["run"].calls] == ["Bash"]
    assert (real_cli.workdir() / "a.txt").exists()


def test_a_file_is_written_changed_and_read(
    played: dict[str, FinishedTurn], real_cli: RealCli
) -> None:
    assert [played[word].calls[0].name for word in ("write", "edit", "read")] == [
        "Write",
        "Edit",
        "Read",
    ]
    assert (real_cli.workdir() / "notes.md").read_text() == "good day"
    assert "good day" in played["read"].text


def test_a_question_is_answered(played: dict[str, FinishedTurn]) -> None:
    assert played["ask"].text == "Which database? You chose “Postgres”."


def test_a_question_may_have_several_answers(played: dict[str, FinishedTurn]) -> None:
    (call,) = played["ask many"].calls
    assert call.input["questions"][0]["multiSelect"] is True


def test_two_tools_run_in_one_reply(played: dict[str, FinishedTurn]) -> None:
    assert played["two tools"].result.num_turns == 3
    assert [call.input["command"] for call in played["two tools"].calls] == ["echo one", "echo two"]
    assert "“one”" in played["two tools"].text
    assert "“two”" in played["two tools"].text


def test_steps_follow_each_other(played: dict[str, FinishedTurn]) -> None:
    assert [call.name for call in played["steps"].calls] == ["Bash", "Read"]
    assert played["steps"].text == "Both done."


def test_a_failing_command_is_admitted(played: dict[str, FinishedTurn]) -> None:
    assert played["fails"].results[0].is_error
    assert played["fails"].text.startswith("That failed:")


def test_a_refusal_ends_the_work(played: dict[str, FinishedTurn], real_cli: RealCli) -> None:
    assert len(played["refused"].calls) == 1
    assert "Not on a Friday." in played["refused"].text
    assert not (real_cli.workdir() / "forbidden.txt").exists()


def test_a_task_list_is_kept(played: dict[str, FinishedTurn]) -> None:
    names = {call.name for call in played["todo"].calls}
    assert names in ({"TaskCreate", "TaskUpdate"}, {"TodoWrite"})
    assert not any(result.is_error for result in played["todo"].results)


def test_a_subagent_works_and_reports(played: dict[str, FinishedTurn]) -> None:
    assert [call.name for call in played["agent"].calls] == ["Agent", "Bash"]
    assert "from below" in played["agent"].text


def test_a_large_output_is_put_aside(played: dict[str, FinishedTurn]) -> None:
    assert "persisted-output" in str(played["big"].results[0].content)


def test_usage_is_believable(played: dict[str, FinishedTurn]) -> None:
    usage = played["read"].result.usage
    assert usage is not None
    assert usage["cache_read_input_tokens"] > 10_000
    assert usage["output_tokens"] > 10
    assert (played["read"].result.total_cost_usd or 0) > 0
