"""In what every scene is shown: light and dark, on a phone and on a desk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tests.screenshots.scenes import SCENES, Scene

PHONE, DESK = 390, 1440
HEIGHTS = {PHONE: 844, DESK: 900}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@dataclass(frozen=True)
class Dress:
    scheme: Literal["light", "dark"]
    width: int

    @property
    def height(self) -> int:
        return HEIGHTS[self.width]

    @property
    def on_a_phone(self) -> bool:
        return self.width == PHONE

    def picture_of(self, scene: Scene) -> str:
        return f"{scene.name}-{self.scheme}-{self.width}.png"


DRESSES = [Dress(scheme, width) for width in HEIGHTS for scheme in SCHEMES]


def index() -> str:
    """The page that shows them all, beside the pictures."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# What Clarvis looks like"
    yield ""
    yield "Taken from the demo in a real browser; `make screenshots` takes them again."
    for scene in SCENES:
        yield ""
        yield f"## {scene.caption}"
        yield ""
        # the phone is shown as wide as it is beside the desk
        for width, visible in ((DESK, 640), (PHONE, 240)):
            for scheme in SCHEMES:
                picture = Dress(scheme, width).picture_of(scene)
                yield f'<img src="{picture}" width="{visible}" alt="{scene.caption}, {scheme}">'
