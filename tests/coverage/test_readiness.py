"""How far a checklist is: by category and over all, and what comes next of it."""

from __future__ import annotations

import pytest

from claudekeeper.analysis.last_turns import SessionEnd
from claudekeeper.analysis.task_lists import Task
from claudekeeper.coverage.checklist import Checklist, parse_checklist
from claudekeeper.coverage.discussion import AskedQuestion, Discussion, Evidence
from claudekeeper.coverage.item_coverage import CoverageFold
from claudekeeper.coverage.readiness import (
    Coverage,
    coverage_of,
    covered_times,
    least_covered,
    session_progress,
    status_of,
)
from claudekeeper.resume.types import WRITE_SPECIFICATION_PROMPT, next_action, outcome_of

TEN = {"business_rules": [f"b{at}" for at in range(10)], "security": ["s0", "s1"]}


def evidence(at: str = "2026-01-01", confidence: float = 1.0) -> Evidence:
    return Evidence("said", f"words of {at}", "u", at, confidence, at)


def report(*covered: int, confidence: float = 1.0, shape: object = None) -> Coverage:
    checklist = parse_checklist("c.yml", TEN if shape is None else shape)
    discussion = Discussion({index: evidence(confidence=confidence) for index in covered})
    return coverage_of(checklist, discussion)


@pytest.mark.parametrize(
    ("share", "status"),
    [
        (0, "not_started"),
        (69, "not_started"),
        (70, "in_progress"),
        (89, "in_progress"),
        (90, "complete"),
        (100, "complete"),
    ],
)
def test_the_status_goes_by_percents(share: int, status: str) -> None:
    assert status_of(share) == status


def test_the_score_is_of_items_categories_and_confidence() -> None:
    assert report().readiness == 0
    assert report(*range(12)).readiness == 100
    # 9 of 12 items, 1 of 2 categories, and 9 of 12 at half: 37.5 + 15 + 7.5
    assert report(*range(9), confidence=0.5).readiness == 60
    assert report(shape={"a": [{"name": "x", "done": True}]}).readiness == 100


def test_what_is_begun_goes_on_and_then_the_next_one_begins() -> None:
    begun = report(10)
    assert begun.next is not None
    assert (begun.next.category, begun.next.item, begun.next.begun) == ("security", "s1", True)
    assert begun.next.prompt == "Let’s continue with security: s1"
    fresh = report()
    assert fresh.next is not None
    assert fresh.next.prompt == "Let’s start with business rules: b0"
    # at 90 percent a category is complete, and no longer gone on with
    nearly = report(*range(9))
    assert nearly.next is not None
    assert (nearly.next.category, nearly.next.begun) == ("security", False)
    assert report(*range(9), 10, 11).next is None


def test_of_two_that_are_begun_the_one_that_is_further_goes_on() -> None:
    shape = {"a": ["1", "2", "3", "4"], "b": ["1", "2"]}
    coverage = report(0, 1, 2, 4, shape=shape)
    assert coverage.next is not None
    assert coverage.next.category == "a"


def test_a_category_says_what_was_said_asked_and_when() -> None:
    discussion = Discussion(
        {0: evidence("2026-01-02", 0.5), 1: evidence("2026-01-01")},
        {
            0: AskedQuestion("First?", "u1", "2026-01-01"),
            2: AskedQuestion("Then?", "u2", "2026-01-03"),
        },
        {0: "2026-01-02", 1: "2026-01-04"},
    )
    category = coverage_of(parse_checklist("c.yml", TEN), discussion).categories[0]
    assert category.confidence == 0.75
    assert [each.text for each in category.key_points] == [
        "words of 2026-01-01",
        "words of 2026-01-02",
    ]
    assert category.asked is not None
    assert (category.asked.text, category.asked.uuid) == ("Then?", "u2")
    assert category.discussed == "2026-01-04"
    assert coverage_of(parse_checklist("c.yml", TEN)).categories[0].confidence is None


def test_the_most_lacking_are_those_of_which_most_is_missing() -> None:
    shape = {"a": ["1", "2"], "b": ["1"], "c": ["1", "2", "3"], "d": ["1"]}
    assert [each.name for each in least_covered(report(0, 2, shape=shape), 3)] == ["c", "d", "a"]


def test_what_was_covered_when_is_told_in_order() -> None:
    checklist = parse_checklist("c.yml", {"a": ["x", "y", {"name": "z", "done": True}]})
    discussion = Discussion({0: evidence("2026-01-02"), 1: evidence("2026-01-01")})
    assert covered_times(checklist, discussion) == ["", "2026-01-01", "2026-01-02"]


def test_a_session_that_covers_nothing_has_no_progress() -> None:
    assert session_progress(report()) is None
    assert session_progress(coverage_of(Checklist("c.yml", error="It is empty."))) is None
    progress = session_progress(report(0, 1, 2))
    assert progress is not None
    assert (progress.of, progress.items, progress.done, progress.percent) == (
        "checklist",
        12,
        3,
        25,
    )


# ---- what to do next, and how it ended ----

ANSWERED = SessionEnd([], "answered")
DONE = [Task("1", "paint", "completed")]


def test_task_lists_come_before_the_checklist() -> None:
    waiting = [*DONE, Task("2", "sand", "pending")]
    action = next_action(ANSWERED, waiting, working=False, coverage=report(0))
    assert (action.kind, action.text) == ("start", "sand")
    action = next_action(ANSWERED, DONE, working=False, coverage=report(0))
    assert (action.kind, action.text) == ("continue", "business rules: b1")


def test_when_all_is_covered_the_specification_is_offered_until_it_is_there() -> None:
    complete = report(*range(12))
    action = next_action(ANSWERED, DONE, working=False, coverage=complete)
    assert (action.kind, action.prompt) == ("start", WRITE_SPECIFICATION_PROMPT)
    assert outcome_of(action, DONE, complete, is_given_up=False) is None
    action = next_action(ANSWERED, DONE, working=False, coverage=complete, specification="SPEC.md")
    assert (action.kind, action.prompt) == ("done", None)
    assert "SPEC.md" in action.text
    assert outcome_of(action, DONE, complete, is_given_up=False) == "complete"
    assert outcome_of(action, DONE, complete, is_given_up=True) == "givenUp"


def test_without_tasks_and_a_checklist_nothing_is_complete() -> None:
    action = next_action(ANSWERED, [], working=False)
    assert outcome_of(action, [], None, is_given_up=False) is None
    action = next_action(ANSWERED, DONE, working=False)
    assert outcome_of(action, DONE, None, is_given_up=False) == "complete"


def test_a_checklist_that_cannot_be_used_changes_nothing() -> None:
    broken = coverage_of(Checklist("c.yml", error="It is empty."))
    action = next_action(ANSWERED, DONE, working=False, coverage=broken)
    assert (action.kind, action.text) == ("done", "All 1 tasks are done.")


def test_two_items_of_the_same_words_are_covered_together() -> None:
    checklist = parse_checklist("c.yml", {"a": ["backups"], "b": ["backups"]})
    covering = CoverageFold(checklist.items, Discussion())
    covering.add_prompt("Backups run nightly.", "u", "2026-01-01")
    assert coverage_of(checklist, covering.discussion).complete
