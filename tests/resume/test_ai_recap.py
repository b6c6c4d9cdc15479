"""What is sent to Claude for a recap stays within its budgets."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from claudekeeper.analysis.last_turns import LastTurn
from claudekeeper.coverage.checklist import parse_checklist
from claudekeeper.coverage.discussion import Discussion, Evidence
from claudekeeper.coverage.readiness import coverage_of
from claudekeeper.resume.ai_recap import (
    BYTES_PER_TOKEN,
    FACTS_TOKENS,
    MAX_CLIS,
    TASK_TOKENS,
    TURNS_TOKENS,
    AiRecap,
    render_prompt,
    truncate,
)
from claudekeeper.resume.types import NextAction, RecapText, ResumeReport, WorkCost


def resume(detailed: str, reply: str) -> ResumeReport:
    return ResumeReport(
        session_id="s",
        last=None,
        idle_seconds=0,
        turns=[LastTurn("ask", "u", None, reply)],
        question=None,
        next=NextAction("done", "Nothing."),
        progress=None,
        coverage=None,
        decisions=[],
        work=None,
        cost=WorkCost(None, None, None, None),
        warnings=[],
        choices=["resume"],
        complete=True,
        recap=RecapText("q", detailed),
    )


def test_a_long_session_sends_no_more_than_a_short_one_may() -> None:
    prompt = render_prompt(resume("é" * 100_000, "the end: " + "ü" * 100_000))
    marks = len("<facts>\n\n</facts>\n\n<turns>\n\n</turns>\n\n")
    assert (
        len(prompt.encode())
        <= (FACTS_TOKENS + TURNS_TOKENS + TASK_TOKENS) * BYTES_PER_TOKEN + marks
    )


@given(st.text(), st.integers(1, 20))
def test_what_is_cut_at_the_end_is_its_beginning(text: str, tokens: int) -> None:
    beginning = truncate(text, tokens, end=False)
    assert len(beginning.encode()) <= tokens * BYTES_PER_TOKEN
    assert text.startswith(beginning)


@given(st.text(), st.integers(1, 20))
def test_what_is_cut_at_the_beginning_is_its_end(text: str, tokens: int) -> None:
    end = truncate(text, tokens, end=True)
    assert len(end.encode()) <= tokens * BYTES_PER_TOKEN
    assert text.endswith(end)


async def test_however_many_sessions_are_retold_few_are_asked_about_at_once() -> None:
    running, most = 0, 0

    async def ask(_system: str, _prompt: str, schema: dict[str, Any]) -> dict[str, Any]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return dict.fromkeys(schema["properties"], "words")

    retelling = AiRecap(ask)
    one = resume("d", "r")
    many = [msgspec.structs.replace(one, session_id=f"s{number}") for number in range(50)]
    recaps = await asyncio.gather(*(retelling.write(each) for each in [*many, *many]))
    assert len(recaps) == 100
    assert most == MAX_CLIS


def checked(*categories: tuple[str, list[str]], covered: int = 0) -> ResumeReport:
    checklist = parse_checklist("c.yml", dict(categories))
    evidence = Evidence("said", "w", "u", "", 1.0, "")
    discussion = Discussion(dict.fromkeys(range(covered), evidence))
    return msgspec.structs.replace(resume("d", "r"), coverage=coverage_of(checklist, discussion))


def test_claude_is_given_the_categories_and_what_the_three_most_lacking_miss() -> None:
    many = [f"item {at}" for at in range(20)]
    prompt = render_prompt(
        checked(
            ("first", ["done", "open one"]), ("a", ["a1"]), ("b_c", many), ("d", ["d1"]), covered=1
        )
    )
    assert "- b c: 0 of 20 covered (0 %)" in prompt
    assert "- first: 1 of 2 covered (50 %)" in prompt
    for missing in ("Missing in a:\n- a1", "Missing in d:\n- d1", "- item 18\n- item 19\n"):
        assert missing in prompt
    # three are more lacking than this one
    assert "open one" not in prompt


def test_what_does_not_fit_is_counted_and_each_of_the_three_has_its_share() -> None:
    long = [f"{at} {'x' * 80}" for at in range(30)]
    prompt = render_prompt(checked(("a", long), ("b", [*long[:2], "short"]), ("c", long)))
    (_, a, b, c) = prompt.partition("Categories:")[0].split("Missing in ")
    assert b.startswith("b:\n- 0 x")
    assert b.endswith("- short\n")
    for part in (a, c):
        listed = part.count("- ") - 1
        assert f"- and {30 - listed} more" in part
        assert 15 < listed < 30


def test_long_items_leave_room_for_every_category() -> None:
    wide = [(f"category {at}", ["x" * 290 + str(more) for more in range(9)]) for at in range(20)]
    prompt = render_prompt(checked(*wide))
    assert "- category 19: 0 of 9 covered" in prompt


def broken() -> ResumeReport:
    return msgspec.structs.replace(
        resume("d", "r"), coverage=coverage_of(parse_checklist("c.yml", "It is empty."))
    )


async def test_another_state_of_the_checklist_is_told_anew() -> None:
    running = 0

    async def ask(_system: str, _prompt: str, schema: dict[str, Any]) -> dict[str, Any]:
        nonlocal running
        running += 1
        return dict.fromkeys(schema["properties"], "words")

    retelling = AiRecap(ask)
    one, more = ("a", ["x", "y"]), ("b", ["z"])
    for state, times in (
        (checked(one), 1),
        (checked(one), 1),
        (checked(one, covered=1), 2),
        (checked(one, more, covered=1), 3),
        (resume("d", "r"), 4),
        (checked(one), 4),
        # another wording of what is covered already, and a file that cannot be read any more
        (checked(("a", ["w", "y"]), covered=1), 5),
        (broken(), 6),
    ):
        await retelling.write(state)
        assert running == times
