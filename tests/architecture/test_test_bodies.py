"""Tests read as statements: no branch in a body, and no waiting by time."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT

Function = ast.FunctionDef | ast.AsyncFunctionDef
BRANCHES = (ast.If, ast.IfExp, ast.While, ast.Match, ast.Try, ast.TryStar)
TEST_FILES = sorted((ROOT / "tests").rglob("*.py"))


def functions_of(path: Path) -> Iterator[Function]:
    nodes = ast.walk(ast.parse(path.read_text()))
    return (node for node in nodes if isinstance(node, Function))


def branches_of(path: Path) -> list[str]:
    """The lines at which the body of a test branches."""
    tests = [each for each in functions_of(path) if each.name.startswith("test_")]
    nodes = chain.from_iterable(ast.walk(statement) for test in tests for statement in test.body)
    return [f"{path.name}:{node.lineno}" for node in nodes if isinstance(node, BRANCHES)]


def test_no_test_body_branches() -> None:
    """What two cases have in common is a helper, and what they differ in is a parameter."""
    assert list(chain.from_iterable(map(branches_of, TEST_FILES))) == []


# where time itself passes in what is simulated, or nothing tells that something happened
SLEEPERS = {
    "support/waiting.py": "the helpers by which tests wait",
    "support/terminal.py": "a person who presses a key again",
    "support/failure_moments.py": "an API that never answers",
    "integration/recovery/test_cli_slots.py": "messages around the end of the idle time",
    "soak/test_kills.py": "kills at random moments",
    "soak/test_orchestrator.py": "a client that tries again",
    "screenshots/stage.py": "no test",
}


def sleeps(path: Path) -> bool:
    """Whether it sleeps for a time; `sleep(0)` only lets others run."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    slept = [ast.unparse(call) for call in calls if ast.unparse(call.func).endswith(".sleep")]
    return any(not call.endswith(".sleep(0)") for call in slept)


def test_tests_wait_for_events_and_not_for_time() -> None:
    sleepers = {path.relative_to(ROOT / "tests").as_posix() for path in TEST_FILES if sleeps(path)}
    assert sleepers == SLEEPERS.keys()


@pytest.mark.parametrize(
    "body",
    [
        "if x: pass",
        "while x: pass",
        "y = 1 if x else 2",
        "match x:\n        case 1: pass",
        "try: pass\n    finally: pass",
        "def inner():\n        return 1 if x else 2",
    ],
)
def test_a_branch_is_noticed(tmp_path: Path, body: str) -> None:
    path = tmp_path / "test_it.py"
    path.write_text(f"async def test_it(x):\n    {body}\n")
    assert len(branches_of(path)) == 1
