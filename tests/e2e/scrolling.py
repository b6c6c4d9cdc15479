"""Where in a conversation one is, and whether one is there again."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Locator, Page

OFFSET = "k => document.querySelector(`[data-row='${k}']`)?.getBoundingClientRect().top"


def log(page: Page) -> Locator:
    return page.get_by_role("region", name="Conversation")


async def wheel_up(page: Page, pixels: int) -> None:
    """Scrolls as a person would, and waits until it was done."""
    before = await log(page).evaluate("e => e.scrollTop")
    await log(page).hover()
    await page.mouse.wheel(0, -pixels)
    await page.wait_for_function(
        "before => document.querySelector('section.log').scrollTop < before", arg=before
    )


async def place_of(page: Page) -> tuple[str, float]:
    """The row that is kept once the wheel has come to rest, and how high it stands."""
    await page.wait_for_function(
        """() => {
          const kept = localStorage.getItem('clarvis.reading');
          const rested = kept !== null && kept === window.kept;
          window.kept = kept;
          return rested;
        }""",
        polling=400,
    )
    row = await page.evaluate("JSON.parse(localStorage.getItem('clarvis.reading'))[0][1]")
    return row, await page.evaluate(OFFSET, row)


async def is_at(page: Page, place: tuple[str, float]) -> None:
    """Returns once the same row stands where it stood."""
    given: Any = list(place)
    await page.wait_for_function(f"([k, was]) => Math.abs(({OFFSET})(k) - was) < 3", arg=given)
