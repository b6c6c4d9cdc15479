"""Which reply is played."""

from __future__ import annotations

import base64

from claudekeeper.demo.model_request import ModelRequest
from claudekeeper.demo.reply_script import choose_reply
from claudekeeper.demo.sample_image import phone_screenshot
from claudekeeper.demo.scenarios import SCENARIOS
from claudekeeper.demo.script_language import WORDS
from claudekeeper.demo.steps import Call, Fail, Say, Think
from tests.demo.model_requests import (
    assistant,
    called,
    environment,
    prompt,
    request,
    result,
    text,
    user,
)


def text_of(model_request: ModelRequest) -> str:
    return " ".join(step.text for step in choose_reply(model_request) if isinstance(step, Say))


def calls(model_request: ModelRequest) -> list[Call]:
    return [step for step in choose_reply(model_request) if isinstance(step, Call)]


def test_anything_else_is_echoed() -> None:
    assert "How are you?" in text_of(request(prompt("How are you?")))


def test_help_names_every_word_and_every_job() -> None:
    words = text_of(request(prompt("help")))
    assert all(f"`{word.example}`" in words for word in WORDS.values())
    assert all(name in words for name in SCENARIOS)


def test_paths_are_made_absolute() -> None:
    (call,) = calls(request(prompt("read: src/a.py"), environment()))
    assert call.input["file_path"] == "/code/shop/src/a.py"


def test_the_next_step_follows_the_last_reply() -> None:
    model_request = request(
        prompt("run: one\nrun: two"),
        assistant(called("Bash", command="one")),
        user(result("ok")),
    )
    assert [call.input["command"] for call in calls(model_request)] == ["two"]


def test_a_new_prompt_starts_at_its_first_step() -> None:
    model_request = request(
        prompt("run: one"),
        assistant(called("Bash", command="one")),
        user(result("ok")),
        assistant(text("Done.")),
        user(text("run: two")),
    )
    assert [call.input["command"] for call in calls(model_request)] == ["two"]


def test_what_is_typed_in_mid_turn_comes_after_the_rest() -> None:
    hurry = {
        "role": "system",
        "content": "The user sent a new message while you were working:\nsay: Hurrying.\n\n"
        "This is how Claude Code surfaces messages.",
    }
    begun = [prompt("run: one\nrun: two"), assistant(called("Bash", "a")), user(result("", "a"))]
    assert [call.input["command"] for call in calls(request(*begun, hurry))] == ["two"]
    done = [*begun, hurry, assistant(called("Bash", "b")), user(result("", "b"))]
    assert text_of(request(*done)) == "Hurrying."


def test_the_end_tells_how_it_went() -> None:
    model_request = request(
        prompt("run: ls"), assistant(called("Bash", command="ls")), user(result("a.py"))
    )
    assert text_of(model_request) == "`ls` printed “a.py”."


def test_a_failure_is_told() -> None:
    model_request = request(
        prompt("run: ls"),
        assistant(called("Bash", command="ls")),
        user(result("Exit code 2\nno such file", failed=True)),
    )
    assert text_of(model_request).startswith("That failed: Exit code 2")


def test_a_refusal_ends_the_script() -> None:
    model_request = request(
        prompt("run: rm -r x\nrun: two"),
        assistant(called("Bash", command="rm -r x")),
        user(result("Not today", failed=True)),
    )
    assert calls(model_request) == []
    assert "Not today" in text_of(model_request)


def test_an_answer_is_repeated() -> None:
    model_request = request(
        prompt("ask: Which? A | B"),
        assistant(called("AskUserQuestion")),
        user(result('Your questions have been answered: "Which?"="B". Go on.')),
    )
    assert text_of(model_request) == "Which? You chose “B”."


def test_the_report_of_an_agent_is_passed_on_without_the_book_keeping() -> None:
    handed = "[Subagent hand-back] The report follows:\n  All is well.\nagentId: a1"
    model_request = request(
        prompt("agent: x"), assistant(called("Agent")), user(result([text(handed)]))
    )
    assert text_of(model_request).split() == ["The", "agent", "reports:", "All", "is", "well."]


def test_thinking_alone_is_followed_by_words() -> None:
    reply = choose_reply(request(prompt("think: hm")))
    assert [type(step) for step in reply] == [Think, Say]


def test_an_image_is_described() -> None:
    data = base64.b64encode(phone_screenshot()).decode()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    assert "PNG, 180×320 pixels" in text_of(request(user(image, text("what is this?"))))


def test_an_image_that_is_none_is_no_surprise() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "!"}}
    assert "cannot decode" in text_of(request(user(image, text("what is this?"))))


def test_a_scenario_is_found_by_its_name() -> None:
    assert [c.tool for c in calls(request(prompt("Fix the auth bug in login!")))] == ["Read"]
    assert [c.tool for c in calls(request(prompt("scenario: auth bug")))] == ["Read"]


def test_an_unknown_scenario_lists_those_there_are() -> None:
    assert "Upgrade to Postgres 17" in text_of(request(prompt("scenario: nothing")))


def test_a_task_list_is_written_with_the_tool_there_is() -> None:
    written = "todo: [x] read; test"
    assert [call.tool for call in calls(request(prompt(written), environment()))] == [
        "TaskCreate",
        "TaskCreate",
    ]
    old = request(prompt(written), tools=[{"name": "TodoWrite"}])
    assert [call.tool for call in calls(old)] == ["TodoWrite"]


def test_tasks_are_updated_by_the_numbers_they_got() -> None:
    model_request = request(
        prompt("todo: [x] read; test"),
        environment(),
        assistant(called("TaskCreate", "a"), called("TaskCreate", "b")),
        user(result("Task #7 created", "a"), result("Task #8 created", "b")),
    )
    assert [call.input for call in calls(model_request)] == [{"taskId": "7", "status": "completed"}]


def test_a_subagent_looks_around_when_it_is_told_nothing_else() -> None:
    header = [{"type": "text", "text": "cc_is_subagent=true;"}]
    assert [call.tool for call in calls(request(prompt("look around"), system=header))] == ["Bash"]


def test_a_title_is_json() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    model_request = request(
        user(text("<session>\nFix the auth bug in login\n</session>\n\nWrite the title.")),
        output_config={"format": {"type": "json_schema", "schema": schema}},
    )
    assert text_of(model_request) == '{"title":"Auth bug in login"}'


def test_a_compaction_is_summarised() -> None:
    model_request = request(
        prompt("read: a.py"),
        assistant(called("Read", file_path="/code/a.py")),
        user(
            result("1\tx"),
            text("Your task is to create a detailed summary of the conversation so far."),
        ),
    )
    assert "<summary>" in text_of(model_request)
    assert "/code/a.py" in text_of(model_request)
    assert "- read: a.py" in text_of(model_request)


NEWS = "<task-notification><summary>Agent done</summary><result>Fine</result></task-notification>"


def test_news_of_a_background_task_is_told() -> None:
    model_request = request(prompt("agent later: x"), assistant(text("Wait.")), user(text(NEWS)))
    assert text_of(model_request) == "Agent done. Fine"


def test_news_in_mid_turn_is_told_at_its_end() -> None:
    begun = [prompt("run: a"), assistant(called("Bash", command="a"))]
    model_request = request(*begun, user(result("ok"), text(NEWS)))
    assert text_of(model_request) == "`a` printed “ok”. Agent done. Fine"


def test_a_failure_lasts_as_often_as_it_says() -> None:
    model_request = request(prompt("error: 529 once\nsay: Back."))
    assert choose_reply(model_request, attempt=0) == (Fail(529, 1), Say("Back."))
    assert choose_reply(model_request, attempt=1) == (Say("Back."),)
