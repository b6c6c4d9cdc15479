"""coverage-checklist.yml: by category, what is covered and what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claudekeeper.model.resume import Coverage
from claudekeeper.readers.checklist import LARGEST, coverage_of, read_checklist

LIST = """
categories:
  - name: Security
    required_questions:
      - Who may log in?
      - question: How are tokens rotated?
        answered: true
    subtopics: [encryption at rest, auditing]
  - name: Empty
"""
MAPPING = """
security:
  required_questions: ["Who may log in?"]
  subtopics: {auditing: true, tokens: false}
operations: [backups]
"""


def coverage(folder: Path, text: str | bytes, *said: str) -> Coverage:
    content = text if isinstance(text, bytes) else text.encode()
    (folder / "coverage-checklist.yml").write_bytes(content)
    found = read_checklist(str(folder))
    assert found is not None
    return coverage_of(*found, said)


def test_what_was_said_or_marked_is_covered(tmp_path: Path) -> None:
    told = coverage(tmp_path, LIST, "Who is it that may log in? Only admins.", "auditing is off")
    (security,) = told.categories
    assert (security.name, security.items, security.done) == ("Security", 4, 3)
    assert security.missing == ["encryption at rest"]
    assert (told.percent, told.error) == (75, None)


def test_categories_may_be_a_mapping(tmp_path: Path) -> None:
    told = coverage(tmp_path, MAPPING)
    assert [(each.name, each.done, each.missing) for each in told.categories] == [
        ("security", 1, ["Who may log in?", "tokens"]),
        ("operations", 0, ["backups"]),
    ]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"just words",
        b"a: [",
        b"\xff\xfe\x00",
        b"a: &x [1]\nb: *x",
        b"categories: 5",
        b"!!python/object/apply:os.system ['true']",
        b"[" * 5_000,
        b"a:\n" + b"  - {b: [\n" * 2_000,
        b"- " * 60_000 + b"x",
        b"# " + b"x" * LARGEST,
    ],
)
def test_what_cannot_be_used_says_so(tmp_path: Path, text: bytes) -> None:
    told = coverage(tmp_path, text)
    assert told.error
    assert told.categories == []


def test_a_checklist_that_changed_is_read_again(tmp_path: Path) -> None:
    assert coverage(tmp_path, "a: [one]").items == 1
    assert coverage(tmp_path, "a: [one, two]").items == 2
    told = coverage(tmp_path, "a: [one]", "one")
    assert (told.items, told.done) == (1, 1)


def test_no_file_is_no_coverage(tmp_path: Path) -> None:
    (tmp_path / "coverage-checklist.yml").mkdir()
    assert read_checklist(str(tmp_path)) is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["categories", "name", "subtopics", "questions", "done"])
                | st.text(),
                inner,
            )
        ),
    )
)
def test_any_shape_is_read(told: object) -> None:
    answer = coverage_of("coverage-checklist.yml", told if told is not None else {}, ["a b c"])
    assert answer.items == answer.done + sum(len(each.missing) for each in answer.categories)
