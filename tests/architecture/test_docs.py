"""What the documents promise is held by tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
THREATS = 26


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_tests_that_are_named_exist(document: Path) -> None:
    named = set(re.findall(r"`(tests/[\w/]+\.py)`", document.read_text()))
    assert not [path for path in named if not (ROOT / path).is_file()]


@pytest.mark.parametrize("document", ["security.md", "operations.md"])
def test_every_promise_has_its_test(document: str) -> None:
    rows = [
        line
        for line in (ROOT / "docs" / document).read_text().splitlines()
        if line.startswith("| ") and not line.startswith(("| ---", "| promise", "| |"))
    ]
    assert rows
    assert not [row for row in rows if "tests/" not in row and "the same" not in row]


def test_every_threat_has_its_test() -> None:
    text = (ROOT / "docs" / "security.md").read_text()
    assert [int(number) for number in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)] == list(
        range(1, THREATS + 1)
    )
