"""/proc/PID/stat is read whatever the program is called."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from claudekeeper.core import proc
from claudekeeper.core.proc import read_process_stat


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_our_own_process_has_our_parent() -> None:
    stat = read_process_stat(os.getpid())
    assert stat is not None
    assert stat.parent_pid == os.getppid()
    assert not stat.is_dead
    assert stat.started.isdigit()


@pytest.mark.parametrize("name", ["sh", "a b", "x) R 1 2 (y", ")", ""])
@pytest.mark.parametrize(("state", "is_dead"), [("S", False), ("Z", True), ("X", True)])
def test_the_name_of_the_program_can_hold_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, state: str, is_dead: bool
) -> None:
    monkeypatch.setattr(proc, "PROC", tmp_path)
    (tmp_path / "12").mkdir()
    numbers = " ".join(str(each) for each in range(7, 40))
    (tmp_path / "12" / "stat").write_text(f"12 ({name}) {state} {numbers}\n")
    stat = read_process_stat(12)
    assert stat is not None
    assert (stat.parent_pid, stat.started, stat.is_dead) == (7, "25", is_dead)


@pytest.mark.parametrize("content", ["", "12 (sh", "12 (sh) S x y", "12 (sh) S 1"])
def test_what_is_no_stat_is_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    monkeypatch.setattr(proc, "PROC", tmp_path)
    (tmp_path / "12").mkdir()
    (tmp_path / "12" / "stat").write_text(content)
    assert read_process_stat(12) is None
    assert read_process_stat(13) is None
