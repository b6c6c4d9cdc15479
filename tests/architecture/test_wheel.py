"""Real wheels of a copy of this project: with the page, or without it and saying so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
NPM = """#!/bin/sh
echo "npm $*" >> "{log}"
if [ "$1" = run ]; then mkdir -p ../static && echo page > ../static/index.html; fi
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    copy = tmp_path / "project"
    for package in ("claudekeeper", "clarvis_ui", "systemd"):
        unneeded = shutil.ignore_patterns("node_modules", "static", "__pycache__")
        shutil.copytree(ROOT / package, copy / package, ignore=unneeded)
    for name in ("pyproject.toml", "hatch_build.py", ".gitignore", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    (copy / "README.md").write_text("# A copy\n")
    return copy


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """The only folder on PATH while a wheel is built."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "mkdir"):
        program = shutil.which(name)
        assert program
        (folder / name).symlink_to(program)
    return folder


def build(project: Path, programs: Path) -> tuple[set[str], str]:
    """The names in the wheel, and what was said while it was built."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "dist"],
        cwd=project,
        env={**os.environ, "PATH": str(programs)},
        check=True,
        capture_output=True,
        text=True,
    )
    (wheel,) = (project / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        return set(opened.namelist()), done.stdout + done.stderr


def test_a_built_page_is_in_the_wheel(project: Path, programs: Path) -> None:
    assets = project / "clarvis_ui" / "static" / "assets"
    assets.mkdir(parents=True)
    (assets.parent / "index.html").write_text("page")
    (assets / "index-abc.js").write_text("export {}")
    names, output = build(project, programs)
    assert {"clarvis_ui/static/index.html", "clarvis_ui/static/assets/index-abc.js"} <= names
    assert {
        "clarvis_ui/server.py",
        "claudekeeper/__init__.py",
        "claudekeeper/net/host_guard.py",
    } <= names
    assert "claudekeeper/systemd/claudekeeper.service" in names
    phrase_files = {path.relative_to(ROOT) for path in (ROOT / "claudekeeper").rglob("*.toml")}
    assert phrase_files
    assert set(map(str, phrase_files)) <= names
    assert not [name for name in names if "web/" in name or "node_modules" in name]
    assert "npm" not in output


def test_an_unbuilt_page_is_built_for_the_wheel(
    project: Path, programs: Path, tmp_path: Path
) -> None:
    npm = programs / "npm"
    npm.write_text(NPM.format(log=tmp_path / "log"))
    npm.chmod(0o755)
    names, _ = build(project, programs)
    assert "clarvis_ui/static/index.html" in names
    ran = (tmp_path / "log").read_text().splitlines()
    assert ran[0].startswith("npm ci")
    assert ran[1] == "npm run build"


def test_without_npm_the_wheel_has_no_page_and_says_so(project: Path, programs: Path) -> None:
    names, output = build(project, programs)
    assert "clarvis_ui/server.py" in names
    assert not [name for name in names if "/static/" in name]
    assert "this wheel has no page" in output
    assert "make ui" in output
