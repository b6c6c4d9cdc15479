"""What the documents promise is held by tests that exist."""

from __future__ import annotations

import re
from collections import Counter
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


def repeated(items: list[str]) -> list[str]:
    return [item for item, times in Counter(items).items() if times > 1]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_no_row_of_a_table_stands_twice(document: Path) -> None:
    rows = re.findall(r"^\| .*\|$", document.read_text(), re.MULTILINE)
    # between a table's heading and its body
    heads = re.findall(r"^(\| .*\|)\n\| ?-", document.read_text(), re.MULTILINE)
    assert repeated([row for row in rows if row not in heads and set(row) - set("|-: ")]) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_no_heading_stands_twice(document: Path) -> None:
    """Below one and the same heading; each version in the change log has its own."""
    headings: list[str] = []
    above: dict[int, str] = {}
    text = re.sub(r"^```.*?^```", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    for marks, words in re.findall(r"^(#+) (.+)$", text, re.MULTILINE):
        above = {level: each for level, each in above.items() if level < len(marks)}
        headings.append(" > ".join([*above.values(), words]))
        above[len(marks)] = words
    assert repeated(headings) == []


def test_every_threat_has_its_test() -> None:
    text = (ROOT / "docs" / "security.md").read_text()
    assert [int(number) for number in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)] == list(
        range(1, THREATS + 1)
    )


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", document.read_text())
    assert not [link for link in links if not (document.parent / link).exists()]
