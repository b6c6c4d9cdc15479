"""What of a checklist is covered: by what a person said, and by nothing else."""

from __future__ import annotations

import pytest

from claudekeeper.model.checklist import ChecklistItem
from claudekeeper.model.coverage import Covering, Discussion
from tests.model.coverage_variants import ITEMS, VARIANTS


def covered(items: list[str], talk: list[str]) -> list[str]:
    covering = Covering([ChecklistItem(each) for each in items], Discussion())
    for number, line in enumerate(talk):
        who, _, words = line.partition(": ")
        if who == "P":
            covering.person(words, f"u{number}", f"2026-01-01T00:00:{number % 60:02}Z")
        else:
            covering.claude(words, f"u{number}", f"2026-01-01T00:00:{number % 60:02}Z")
    found = covering.discussion.covered
    return [each for number, each in enumerate(items) if number in found]


@pytest.mark.parametrize(("name", "talk", "expected"), VARIANTS, ids=[each[0] for each in VARIANTS])
def test_a_variant_is_read_as_a_person_reads_it(
    name: str, talk: list[str], expected: list[str]
) -> None:
    assert covered(ITEMS, talk) == [each for each in ITEMS if each in expected], name
