"""The pictures in docs/screenshots: those that the documents show, and no others."""

from __future__ import annotations

from tests.architecture.sources import ROOT
from tests.screenshots.__main__ import shown_pictures
from tests.screenshots.scenes import SCENES
from tests.screenshots.variants import DRESSES

FOLDER = ROOT / "docs" / "screenshots"
LARGEST_TOTAL = 400_000


def test_the_documents_show_every_picture() -> None:
    assert {path.name for path in FOLDER.iterdir()} == shown_pictures()


def test_every_picture_is_one_of_a_scene() -> None:
    assert shown_pictures() <= {dress.picture_of(scene) for scene in SCENES for dress in DRESSES}


def test_they_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.glob("*.png")) < LARGEST_TOTAL
