"""Names are words of the field: none says only that something was found, kept or told."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import BENCHMARKS, PAGE, SHIPPED, name_of

NO_NAMES = {
    *("found", "kept", "known", "left", "given", "told", "said", "asked", "heard", "wish"),
    *("desk", "book", "place", "places", "looked", "noted", "wanted"),
}
# fields of files and answers that clients and earlier keepers wrote down so
ON_THE_WIRE = {
    ("claudekeeper/archive/archive.py", "kept"),
    ("claudekeeper/coverage/readiness.py", "asked"),
    ("claudekeeper/sessions/recovery/failed_turn.py", "said"),
}
PAGE_FILES = [path for path in PAGE.rglob("*") if path.suffix in (".ts", ".tsx")]
PAGE_NAME = re.compile(r"\b(?:const|let|function|type|interface|class) (\w+)")


def bound_names(tree: ast.AST) -> Iterator[str]:
    """Every name that a file gives to a variable, a parameter, an attribute or a function."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name


def callback_attributes(tree: ast.AST) -> Iterator[str]:
    """Attributes that hold a function, for somebody else to replace."""
    for node in ast.walk(tree):
        match node:
            case ast.AnnAssign(target=ast.Attribute() as target, annotation=annotation):
                if ast.unparse(annotation).startswith("Callable") and target.attr[0] != "_":
                    yield ast.unparse(target)
            case ast.Assign(targets=[ast.Attribute() as target], value=ast.Lambda()):
                yield ast.unparse(target)


@pytest.mark.parametrize("source", [*SHIPPED, *BENCHMARKS], ids=name_of)
def test_a_name_says_what_it_holds(source: Path) -> None:
    names = {name.strip("_") for name in bound_names(ast.parse(source.read_text()))}
    bad = {(name_of(source), name) for name in names & NO_NAMES}
    assert bad <= ON_THE_WIRE


def test_a_name_of_the_page_says_what_it_holds() -> None:
    bad = {
        (name_of(path), name)
        for path in PAGE_FILES
        for name in PAGE_NAME.findall(path.read_text())
        if name in NO_NAMES - {"wanted"}
    }
    assert not bad


@pytest.mark.parametrize("source", SHIPPED, ids=name_of)
def test_what_is_new_is_a_signal_and_no_callback(source: Path) -> None:
    assert not list(callback_attributes(ast.parse(source.read_text())))
