"""coverage-checklist.yml: whichever way it is written, and a plain reason where it is no use."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claudekeeper.coverage.checklist import Checklist, parse_checklist
from claudekeeper.coverage.checklist_file import MAX_BYTES, read_checklist
from claudekeeper.coverage.discussion import Discussion
from claudekeeper.coverage.item_coverage import CoverageFold
from claudekeeper.coverage.readiness import Coverage, coverage_of

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
BELOW_COVERAGE = """
coverage:
  business_requirements:
    required_questions: ["Who pays?", "How much?"]
    subtopics: [pricing]
  security:
    required_questions: ["Who may log in?"]
    subtopics: [tokens, auditing]
"""


def read(folder: Path, text: str | bytes) -> Checklist:
    content = text if isinstance(text, bytes) else text.encode()
    (folder / "coverage-checklist.yml").write_bytes(content)
    checklist = read_checklist(str(folder))
    assert checklist is not None
    return checklist


def coverage(folder: Path, text: str | bytes, *prompts: str) -> Coverage:
    checklist = read(folder, text)
    covering = CoverageFold(checklist.items, Discussion())
    for words in prompts:
        covering.add_prompt(words, "u", "2026-01-01T00:00:00Z")
    return coverage_of(checklist, covering.discussion)


def shape(folder: Path, text: str) -> dict[str, list[str]]:
    checklist = read(folder, text)
    assert checklist.error is None
    return {each.name: [item.label for item in each.items] for each in checklist.categories}


def test_what_was_said_or_marked_is_covered(tmp_path: Path) -> None:
    report = coverage(tmp_path, LIST, "Who is it that may log in? Only admins.", "auditing is off")
    (security,) = report.categories
    assert (security.name, security.items, security.done) == ("Security", 4, 3)
    assert security.missing == ["encryption at rest"]
    assert (report.percent, report.error) == (75, None)


def test_categories_may_be_a_mapping(tmp_path: Path) -> None:
    report = coverage(tmp_path, MAPPING)
    assert [(each.name, each.done, each.missing) for each in report.categories] == [
        ("security", 1, ["Who may log in?", "tokens"]),
        ("operations", 0, ["backups"]),
    ]


def test_categories_may_stand_below_coverage(tmp_path: Path) -> None:
    report = coverage(tmp_path, BELOW_COVERAGE)
    assert [(each.name, each.missing) for each in report.categories] == [
        ("business_requirements", ["Who pays?", "How much?", "pricing"]),
        ("security", ["Who may log in?", "tokens", "auditing"]),
    ]


SHAPES = {
    "a list of strings": (
        "- Who may log in?\n- backups",
        {"Checklist": ["Who may log in?", "backups"]},
    ),
    "strings below coverage": ("coverage: [a, b]", {"Checklist": ["a", "b"]}),
    "coverage is one category": (
        "coverage:\n  required_questions: [one]\n  subtopics: [two]",
        {"coverage": ["one", "two"]},
    ),
    "categories below coverage": ("coverage: {categories: [{name: A, topics: [b]}]}", {"A": ["b"]}),
    "a list below coverage": ("coverage: [{title: A, key_points: [b]}]", {"A": ["b"]}),
    "a project's name above": (
        "shop:\n  a: {required_questions: [x]}\n  b: {topics: [y]}",
        {"a": ["x"], "b": ["y"]},
    ),
    "titles": ("coverage: {a: {title: Security, subtopics: [b]}}", {"Security": ["b"]}),
    "metadata beside": ("title: My app\nversion: 2\ncoverage: {a: [b]}", {"a": ["b"]}),
    "names as keys of a list": (
        "categories:\n- Security: [a, b]\n- ops: [c]",
        {"Security": ["a", "b"], "ops": ["c"]},
    ),
    "rows with a category": (
        "- {category: A, question: x}\n- {category: A, question: y}\n- {category: B, topic: z}",
        {"A": ["x", "y"], "B": ["z"]},
    ),
    "nested subtopics": (
        "a: {subtopics: {login: [mfa, sso], tokens: null}}",
        {"a": ["login: mfa", "login: sso", "tokens"]},
    ),
    "nested subtopics in a list": (
        "a: {subtopics: [{name: login, subtopics: [mfa, sso]}, tokens]}",
        {"a": ["login: mfa", "login: sso", "tokens"]},
    ),
    "groups": (
        "a: {login: [mfa], tokens: {subtopics: [b]}}\nc: [d]",
        {"a": ["login: mfa", "tokens: b"], "c": ["d"]},
    ),
    "points and checks": (
        "a: {key_points: [x], keyPoints: [y], checks: [z]}",
        {"a": ["x", "y", "z"]},
    ),
    "camels": ("a: {requiredQuestions: [x], subTopics: [y]}", {"a": ["x", "y"]}),
    "questions by id": (
        "a: {questions: {q1: Who pays?, q2: {text: Why?}}}",
        {"a": ["Who pays?", "Why?"]},
    ),
    "questions with answers": ("a: {questions: {Who pays?: shops}}", {"a": ["Who pays?"]}),
    "coverage below a project": (
        "shop: {about: boots, coverage: {a: {required_questions: [x]}, b: {topics: [y]}}}",
        {"a": ["x"], "b": ["y"]},
    ),
    "capitals": ("Version: 2\nCoverage: {A: {Required_Questions: [x]}}", {"A": ["x"]}),
    "coverage_checklist": ("version: 2\ncoverage_checklist: {a: {questions: [x]}}", {"a": ["x"]}),
    "a colon within": ("a: [{Rotation: how often?}]", {"a": ["Rotation: how often?"]}),
    "what is optional": ("a: {questions: [x], optional_questions: [y]}", {"a": ["x"]}),
    "goals of a category": (
        "coverage: {business: {goals: {questions: [x]}, users: {questions: [y]}}}",
        {"business": ["goals: x", "users: y"]},
    ),
    "topics above": ("topics: [{name: Auth, questions: [x]}]", {"Auth": ["x"]}),
    "what must be": ("a: {must_cover: [w], required: [x], checklist: [y]}", {"a": ["w", "x", "y"]}),
    "an item that is required": (
        "a: {questions: [{text: x, required: true}, {text: y, required: false}]}",
        {"a": ["x", "y"]},
    ),
    "an ampersand": ("R&D: [x &y]", {"R&D": ["x &y"]}),
    "numbers": ("a: [1, 2.5, 2026-01-01]", {"a": ["1", "2.5", "2026-01-01"]}),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_read(tmp_path: Path, name: str) -> None:
    text, expected = SHAPES[name]
    assert shape(tmp_path, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a: {done: true, topics: [b, c]}",
        "a: {status: complete, topics: [b, c]}",
        "a: [{name: b, done: true}, {question: c, answer: because}]",
        "a: {topics: [b, c], covered: [b, c]}",
        'a: ["[x] b", "[X] c"]',
        "a: {topics: {b: true, c: done}}",
    ],
)
def test_what_the_file_marks_is_covered(tmp_path: Path, text: str) -> None:
    report = coverage(tmp_path, text)
    assert (report.items, report.done) == (2, 2)
    assert {each.how for each in report.categories[0].entries} == {"marked"}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"just words",
        b"a: [",
        b"\xff\xfe\x00",
        b"a: &x [1]\nb: *x",
        b"categories: 5",
        b"coverage:",
        b"coverage: words",
        b"coverage: {a: {}}",
        b"!!python/object/apply:os.system ['true']",
        b"[" * 5_000,
        b"a:\n" + b"  - {b: [\n" * 2_000,
        b"- " * 60_000 + b"x",
        b"# " + b"x" * MAX_BYTES,
    ],
)
def test_what_cannot_be_used_says_so(tmp_path: Path, text: bytes) -> None:
    report = coverage(tmp_path, text)
    assert report.error
    assert report.categories == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("coverage: 5", "Its “coverage” holds a single value, not categories."),
        ("coverage:", "Its “coverage” holds nothing, not categories."),
        ("a: b\nc: ]\nd: e", "It is not valid YAML (line 2)."),
        ("a: [x]\n---\nb: [y]", "It holds more than one YAML document."),
        ("a: &x [y]\nb: *x", "It uses YAML references (*name), which are not read."),
        ("just words", "It holds a single value, not categories."),
        ("# nothing", "It is empty."),
        ("{}", "It has no categories."),
        ("a: {}", "It has no categories with questions or subtopics."),
    ],
)
def test_the_reason_is_a_plain_one(tmp_path: Path, text: str, reason: str) -> None:
    assert read(tmp_path, text).error == reason


def test_a_checklist_that_changed_is_read_again(tmp_path: Path) -> None:
    assert coverage(tmp_path, "a: [one]").items == 1
    assert coverage(tmp_path, "a: [one, two]").items == 2
    report = coverage(tmp_path, "a: [one]", "one is what we want")
    assert (report.items, report.done) == (1, 1)


def test_no_file_is_no_coverage(tmp_path: Path) -> None:
    (tmp_path / "coverage-checklist.yml").mkdir()
    assert read_checklist(str(tmp_path)) is None


KEYS = ["coverage", "categories", "name", "subtopics", "questions", "done", "covered", "answer"]


# an empty file has no shape
ANY_SHAPE = st.recursive(
    st.none() | st.booleans() | st.text() | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(KEYS) | st.text(), inner),
).filter(lambda shape: shape is not None)


@given(ANY_SHAPE)
def test_any_shape_is_read(shape: object) -> None:
    checklist = parse_checklist("coverage-checklist.yml", shape)
    covering = CoverageFold(checklist.items, Discussion())
    covering.add_prompt("a b c", "u", "")
    answer = coverage_of(checklist, covering.discussion)
    assert answer.items == answer.done + sum(len(each.missing) for each in answer.categories)
    assert (answer.error is None) == bool(answer.categories)
