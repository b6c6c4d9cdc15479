"""What of a checklist is covered: by what a person said, and by nothing else.

labelled_conversations.jsonl has labelled conversations about more checklists, each set written
before anybody looked how the rules do on it; docs/returning.md says how many were read at first
sight as a person reads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from claudekeeper.coverage.checklist import parse_checklist
from claudekeeper.coverage.discussion import Discussion
from claudekeeper.coverage.item_coverage import CoverageFold
from tests.coverage.labelled_conversations import ITEMS, VARIANTS

CONVERSATIONS = Path(__file__).with_name("labelled_conversations.jsonl")
# read otherwise than a person does, and known to be
MISREAD = {
    "answers in prose",
    "users mention bug",
    "retention asked, days",
    # said in other words than the checklist has, or in too few of them
    "long first prompt",
    "rollout told by steps",
    "compound sentence",
    "rate limits by number",
    "correction of claude",
    "told 10: refunds are processed by the support team within five days",
    # told in other words than the question, or after a while
    "person asks, claude tells",
    "keys rotation told later",
    "quote of someone",
    # one of several that were asked at once
    "two asked, one answered by content",
    "card-like choice",
    # put off, left to Claude, or left out, in words that nobody knew
    "tbd list",
    "you decide",
    "put off 10: my head hurts from billing, something else please",
    "put off 3: before localisation I want to see the reports page",
    "told 11: no moderation, everybody is trusted",
}


def covered(items: list[str], talk: list[str]) -> list[str]:
    checklist = parse_checklist("c.yml", {"all": items})
    covering = CoverageFold(checklist.items, Discussion())
    for number, line in enumerate(talk):
        who, _, words = line.partition(": ")
        if who == "P":
            covering.add_prompt(words, f"u{number}", f"2026-01-01T00:00:{number % 60:02}Z")
        else:
            covering.add_reply(words, f"u{number}", f"2026-01-01T00:00:{number % 60:02}Z")
    evidence = covering.discussion.covered
    return [each for number, each in enumerate(items) if number in evidence]


@pytest.mark.parametrize(("name", "talk", "expected"), VARIANTS, ids=[each[0] for each in VARIANTS])
def test_a_variant_is_read_as_a_person_reads_it(
    name: str, talk: list[str], expected: list[str]
) -> None:
    assert covered(ITEMS, talk) == [each for each in ITEMS if each in expected], name


def labelled_talks() -> Iterator[tuple[list[str], Any]]:
    """Each conversation with its checklist, which stands on a line before it."""
    items: list[str] = []
    for line in map(orjson.loads, CONVERSATIONS.read_bytes().splitlines()):
        items = line.get("items", items)
        if "talk" in line:
            yield items, line


def test_conversations_about_other_checklists_are_read_as_a_person_does() -> None:
    wrong = {
        line["name"]
        for items, line in labelled_talks()
        if set(covered(items, line["talk"])) != set(line["covered"])
    }
    assert wrong == MISREAD


@pytest.mark.parametrize("odd", [" ", " _*", "a/", "no ", "maybe ", "1. ", "a: ", "? ", "*", "("])
def test_a_long_run_of_anything_is_read_to_its_end(odd: str) -> None:
    # what looks at each rest anew does not come back from these
    assert covered(["backups"], [f"P: Backups run nightly.\n{odd * 60_000}"]) == ["backups"]


def test_what_claude_proposed_and_the_person_refused_is_not_covered() -> None:
    proposal = "C: I propose nightly runs for backups. OK?"
    assert covered(["backups"], ["P: go", proposal, "P: no thanks"]) == []
    assert covered(["backups"], ["P: go", proposal, "P: no, weekly"]) == ["backups"]
    assert covered(["backups"], ["P: go", proposal, "P: yes"]) == ["backups"]


def test_a_proposal_in_the_paragraph_before_the_question_is_what_is_agreed_to() -> None:
    talk = ["P: go", "C: For backups I would run a job every night.\n\nIs that fine?", "P: yes"]
    assert covered(["backups", "auditing"], talk) == ["backups"]


def test_of_two_questions_in_one_sentence_the_one_that_is_put_off_stays_open() -> None:
    talk = ["P: go", "C: What is the budget, and when is the deadline?"]
    items = ["What is the budget?", "When is the deadline?"]
    assert covered(items, [*talk, "P: the budget is 20k. No idea about the deadline"]) == items[:1]
    assert covered(items, [*talk, "P: 20k, end of March"]) == items
