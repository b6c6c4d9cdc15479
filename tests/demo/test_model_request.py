"""What the CLI asks is read from the request alone."""

from __future__ import annotations

from tests.demo.model_requests import (
    REMINDER,
    assistant,
    called,
    environment,
    prompt,
    request,
    result,
    text,
    user,
)


def test_the_prompt_is_what_a_person_typed() -> None:
    model_request = request(prompt("run: ls"), environment())
    assert model_request.prompt == "run: ls"


def test_reminders_are_not_prompts() -> None:
    model_request = request(prompt("run: ls"), user(text(REMINDER)))
    assert model_request.prompts == ["run: ls"]


def test_an_interruption_is_not_a_prompt() -> None:
    model_request = request(
        prompt("slow: 5"), user(text("[Request interrupted by user]"), text("say: hello"))
    )
    assert model_request.prompts == ["slow: 5", "say: hello"]


def test_the_place_of_an_image_is_not_a_prompt() -> None:
    model_request = request(user(text("what is this?"), text("[Image: source: /tmp/1.png]")))
    assert model_request.prompt == "what is this?"


def test_a_slash_command_is_not_a_prompt() -> None:
    model_request = request(
        prompt("say: before"),
        user(text("<command-name>/rename</command-name>\n<command-args>x</command-args>")),
        user(text("<local-command-stdout>Renamed</local-command-stdout>")),
    )
    assert model_request.prompt == "say: before"


def test_a_compaction_summary_is_not_a_prompt() -> None:
    model_request = request(
        user(text("This session is being continued from a previous conversation that ran out.")),
        user(text("go on")),
    )
    assert model_request.prompts == ["go on"]


def test_a_message_in_mid_turn_is_an_interjection() -> None:
    model_request = request(
        prompt("run: make"),
        assistant(called("Bash", command="make")),
        user(result("ok")),
        {
            "role": "system",
            "content": "The user sent a new message while you were working:\nsay: hurry\n\n"
            "This is how Claude Code surfaces messages.",
        },
    )
    assert model_request.prompt == "run: make"
    assert model_request.interjections == ["say: hurry"]


def test_replies_are_counted_since_the_prompt() -> None:
    model_request = request(
        prompt("run: one"),
        assistant(called("Bash", "a")),
        user(result("1", "a")),
        assistant(text("Done.")),
        user(text("run: two\nrun: three")),
        assistant(called("Bash", "b")),
        user(result("2", "b")),
    )
    assert model_request.reply_count == 1


def test_outcomes_follow_the_order_of_the_calls() -> None:
    model_request = request(
        prompt("run: one && run: two"),
        assistant(called("Bash", "a", command="one"), called("Bash", "b", command="two")),
        user(result("second", "b"), result("first", "a")),
    )
    assert [outcome.text for outcome in model_request.latest_tool_results] == ["first", "second"]


def test_a_refusal_is_told_from_a_failure() -> None:
    model_request = request(
        prompt("run: one && run: two"),
        assistant(called("Bash", "a"), called("Bash", "b")),
        user(result("Not today", "a", failed=True), result("Exit code 1", "b", failed=True)),
    )
    assert [outcome.denied for outcome in model_request.latest_tool_results] == [True, False]


def test_nested_results_are_read() -> None:
    model_request = request(
        prompt("agent: x"), assistant(called("Agent")), user(result([text("one"), text("two")]))
    )
    assert model_request.tool_results[0].text == "one\ntwo"


def test_the_working_directory_is_known() -> None:
    assert request(prompt("hello"), environment()).workdir == "/code/shop"


def test_tools_are_offered_listed_or_deferred() -> None:
    model_request = request(prompt("hello"), environment())
    assert model_request.offers_tool("Bash")
    assert model_request.offers_tool("TaskCreate")
    assert not model_request.offers_tool("TodoWrite")


def test_a_subagent_is_recognised() -> None:
    header = [{"type": "text", "text": "x-anthropic-billing-header: cc_is_subagent=true;"}]
    assert request(prompt("look"), system=header).is_from_subagent
    assert not request(prompt("look")).is_from_subagent


def test_a_finished_background_task_is_news() -> None:
    words = (
        "<system-reminder><task-notification><summary>Agent finished</summary>"
        "<result>All well</result></task-notification></system-reminder>"
    )
    model_request = request(prompt("x"), assistant(text("Wait.")), user(text(words)))
    assert model_request.task_reports == [("Agent finished", "All well")]
    assert model_request.only_task_reports


def test_news_in_mid_turn_does_not_end_the_turn() -> None:
    words = "<task-notification><summary>Agent finished</summary></task-notification>"
    model_request = request(prompt("x"), assistant(called("Bash")), user(result("ok"), text(words)))
    assert model_request.task_reports == [("Agent finished", "")]
    assert not model_request.only_task_reports


def test_unknown_blocks_and_fields_are_ignored() -> None:
    model_request = request(
        user({"type": "novelty", "shape": 1}, text("hello")), novelty=True, tools=[{"x": 1}]
    )
    assert model_request.prompt == "hello"
