"""A folder is a capability with a few files, and a file a role in it."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.architecture.sources import BENCHMARKS, KEEPER, PAGE, ROOT, SHIPPED, name_of

MAX_FILES = 20
PAGE_FILES = [path for path in PAGE.rglob("*") if path.suffix in (".ts", ".tsx", ".css")]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
# a noun or a role; these are the nouns among the words that end like a deed
NOUNS = {"routing", "settings", "listing", "string"}
ENDINGS = ("ing", "told", "kept", "held", "said", "known", "given", "heard", "shown", "asked")


@pytest.mark.parametrize(
    "files",
    [SHIPPED, BENCHMARKS, PAGE_FILES, TESTS],
    ids=["shipped", "benchmarks", "page", "tests"],
)
def test_a_folder_has_at_most_twenty_files(files: list[Path]) -> None:
    sizes = Counter(path.parent for path in files)
    assert not {name_of(folder): size for folder, size in sizes.items() if size > MAX_FILES}


def test_two_packages_stand_at_the_top() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages - {"benchmarks"} == {"claudekeeper", "clarvis_ui"}


def test_every_package_says_what_it_is() -> None:
    silent = [
        name_of(source)
        for source in KEEPER
        if source.name == "__init__.py" and not ast.get_docstring(ast.parse(source.read_text()))
    ]
    assert not silent


@pytest.mark.parametrize("files", [SHIPPED, PAGE_FILES], ids=["shipped", "page"])
def test_a_file_is_named_by_a_noun(files: list[Path]) -> None:
    words = {path: path.stem.replace("-", "_").split("_")[-1].lower() for path in files}
    assert not [
        name_of(path)
        for path, word in words.items()
        if word.endswith(ENDINGS) and word not in NOUNS
    ]


def test_a_public_class_has_its_name_alone() -> None:
    names = Counter(
        node.name
        for source in SHIPPED
        for node in ast.parse(source.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert not [name for name, times in names.items() if times > 1]
