"""The specification of a directory: found below it, and never elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from claudekeeper.coverage.specification_file import (
    MAX_BYTES,
    find_specification,
    read_specification,
)


@pytest.mark.parametrize("name", ["SPECIFICATION.md", "spec.md", "docs/Specification.md"])
def test_it_is_found_where_people_put_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / name).write_text("# Shop")
    assert find_specification(str(tmp_path)) == name
    specification = read_specification(str(tmp_path), name)
    assert (specification.path, specification.text, specification.cut) == (name, "# Shop", False)


def test_the_one_that_the_checklist_names_comes_first(tmp_path: Path) -> None:
    for name in ("SPEC.md", "shop.txt"):
        (tmp_path / name).write_text(name)
    assert find_specification(str(tmp_path), "shop.txt") == "shop.txt"
    assert find_specification(str(tmp_path), "gone.txt") == "SPEC.md"


def test_one_that_the_session_wrote_is_known_by_its_name(tmp_path: Path) -> None:
    for name in ("shop-spec.md", "inspector.md"):
        (tmp_path / name).write_text(name)
    written = [str(tmp_path / "inspector.md"), str(tmp_path / "shop-spec.md")]
    assert find_specification(str(tmp_path), None, written) == "shop-spec.md"
    assert find_specification(str(tmp_path)) is None


@pytest.mark.parametrize("named", ["../secret.md", "link.md", "/etc/passwd", "a\0b", "folder", ""])
def test_nothing_elsewhere_is_shown(tmp_path: Path, named: str) -> None:
    workdir = tmp_path / "shop"
    (workdir / "folder").mkdir(parents=True)
    (tmp_path / "secret.md").write_text("secret")
    (workdir / "link.md").symlink_to(tmp_path / "secret.md")
    (workdir / "SPEC.md").symlink_to(tmp_path / "secret.md")
    assert find_specification(str(workdir), named) is None


def test_a_pipe_of_that_name_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "SPEC.md")
    assert find_specification(str(tmp_path)) is None
    with pytest.raises(FileNotFoundError):
        read_specification(str(tmp_path), "SPEC.md")


def test_a_large_one_is_cut_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "SPEC.md").write_bytes(b"x" * MAX_BYTES + b"\xff")
    specification = read_specification(str(tmp_path), "SPEC.md")
    assert (len(specification.text), specification.cut, specification.size) == (
        MAX_BYTES,
        True,
        MAX_BYTES + 1,
    )
