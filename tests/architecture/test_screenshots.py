"""The pictures in docs/screenshots: all of them, small, and shown."""

from __future__ import annotations

import re
from pathlib import Path

from tests.screenshots.scenes import SCENES
from tests.screenshots.variants import DRESSES, index

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "screenshots"
LARGEST_TOTAL = 4_000_000


def test_every_scene_has_its_pictures_and_no_others() -> None:
    wanted = {dress.picture_of(scene) for scene in SCENES for dress in DRESSES}
    assert {path.name for path in FOLDER.glob("*.png")} == wanted


def test_the_index_shows_them() -> None:
    assert (FOLDER / "README.md").read_text() == index()


def test_the_readme_shows_pictures_that_there_are() -> None:
    shown = re.findall(r"docs/screenshots/([\w.-]+\.png)", (ROOT / "README.md").read_text())
    assert shown
    assert all((FOLDER / name).is_file() for name in shown)


def test_they_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.glob("*.png")) < LARGEST_TOTAL
