"""The language that people type."""

from __future__ import annotations

import pytest

from claudekeeper.demo.reply_events import split_text
from claudekeeper.demo.script_language import WORDS, ScriptWord, parse
from claudekeeper.demo.steps import Call, Fail, Say, Think, Todo


def test_ordinary_words_are_not_a_script() -> None:
    assert parse("Please fix the login") == ()


def test_a_line_is_a_step() -> None:
    ((call,),) = parse("run: touch a.txt")
    assert isinstance(call, Call)
    assert (call.tool, call.input["command"]) == ("Bash", "touch a.txt")


def test_a_tool_ends_a_reply() -> None:
    first, second = parse("run: make\nsay: Done.")
    assert [type(step) for step in first] == [Call]
    assert second == (Say("Done."),)


def test_text_before_a_tool_is_in_the_same_reply() -> None:
    (reply,) = parse("think: hm\nsay: I look.\nread: a.py")
    assert [type(step) for step in reply] == [Think, Say, Call]


def test_steps_joined_by_ampersands_share_a_reply() -> None:
    (reply,) = parse("run: make && read: a.py")
    assert [step.tool for step in reply if isinstance(step, Call)] == ["Bash", "Read"]


def test_ampersands_inside_a_command_stay_in_it() -> None:
    ((call,),) = parse("run: cd web && make")
    assert isinstance(call, Call)
    assert call.input["command"] == "cd web && make"


def test_a_plus_puts_a_line_into_the_reply_before() -> None:
    (reply,) = parse("run: make\n+ read: a.py")
    assert len(reply) == 2


def test_a_line_without_a_word_goes_on_with_the_one_before() -> None:
    ((call,),) = parse("write: a.md: one\ntwo")
    assert isinstance(call, Call)
    assert call.input["content"] == "one\ntwo"


def test_backslash_n_is_a_new_line() -> None:
    ((call,),) = parse(r"write: a.md: one\ntwo")
    assert isinstance(call, Call)
    assert call.input["content"] == "one\ntwo"


def test_words_may_be_written_in_capitals() -> None:
    assert parse("Say: hello") == ((Say("hello"),),)


def test_an_edit_has_an_old_and_a_new_text() -> None:
    ((call,),) = parse("edit: a.py: x = 1 => x = 2")
    assert isinstance(call, Call)
    assert call.input == {"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}


def test_a_question_has_options_with_meanings() -> None:
    ((call,),) = parse("ask: Which database? Postgres | SQLite - no server")
    assert isinstance(call, Call)
    (question,) = call.input["questions"]
    assert question["question"] == "Which database?"
    assert question["multiSelect"] is False
    assert question["options"] == [
        {"label": "Postgres", "description": "Postgres"},
        {"label": "SQLite", "description": "no server"},
    ]


def test_ask_many_takes_several_answers() -> None:
    ((call,),) = parse("ask many: Which checks? Lint | Types | Tests")
    assert isinstance(call, Call)
    assert call.input["questions"][0]["multiSelect"] is True


def test_a_plan_numbers_its_steps() -> None:
    ((call,),) = parse("plan: read; change")
    assert isinstance(call, Call)
    assert call.input["plan"].endswith("1. read\n2. change")


def test_a_task_list_knows_what_is_done() -> None:
    ((todo,),) = parse("todo: [x] read; [>] change; test")
    assert todo == Todo((("read", "completed"), ("change", "in_progress"), ("test", "pending")))


def test_any_tool_can_be_called_by_name() -> None:
    assert parse('call: WebFetch {"url": "x"}') == ((Call("WebFetch", {"url": "x"}),),)


@pytest.mark.parametrize(
    ("written", "step"),
    [
        ("error: 429", Fail(429)),
        ("error: drop", Fail("drop")),
        ("error: stream", Fail("stream")),
        ("error: 529 once", Fail(529, 1)),
        ("error: 500 twice", Fail(500, 2)),
    ],
)
def test_errors(written: str, step: Fail) -> None:
    assert parse(written) == ((step,),)


def test_long_has_so_many_words() -> None:
    ((say,),) = parse("long: 400")
    assert isinstance(say, Say)
    assert len(say.text.split()) == 400


def test_count_has_so_many_deltas() -> None:
    ((say,),) = parse("count: 20000")
    assert isinstance(say, Say)
    assert len(split_text(say.text)) == 20_000


def test_slow_takes_so_many_seconds() -> None:
    ((say,),) = parse("slow: 5")
    assert isinstance(say, Say)
    assert say.seconds == 5


def test_huge_has_so_many_bytes() -> None:
    ((say,),) = parse("huge: 2")
    assert isinstance(say, Say)
    assert len(say.text) == 2_000_000


@pytest.mark.parametrize("word", WORDS.values(), ids=lambda word: word.name)
def test_every_example_can_be_played(word: ScriptWord) -> None:
    script = parse(word.example)
    assert script
    assert "did not understand" not in repr(script)


@pytest.mark.parametrize(
    "written",
    [
        "edit: a.py",
        "ask: Which?",
        "ask: Which? one",
        "write: a.md",
        "error: 200",
        "long: many",
        "slow: soon",
        "run:",
        "call: Bash {",
    ],
)
def test_an_unclear_step_shows_its_example(written: str) -> None:
    ((say,),) = parse(written)
    assert isinstance(say, Say)
    assert WORDS[written.partition(":")[0]].example in say.text
