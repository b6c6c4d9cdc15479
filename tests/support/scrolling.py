"""Where in a conversation one is, and whether one is there again."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Locator, Page

ROW_TOP_SCRIPT = "k => document.querySelector(`[data-row='${k}']`)?.getBoundingClientRect().top"


def messages_region(page: Page) -> Locator:
    return page.get_by_role("region", name="Conversation")


async def scroll_up(page: Page, pixels: int) -> None:
    """Scrolls as a person would, and waits until it was done."""
    before = await messages_region(page).evaluate("e => e.scrollTop")
    await messages_region(page).hover()
    await page.mouse.wheel(0, -pixels)
    await page.wait_for_function(
        "before => document.querySelector('section.log').scrollTop < before", arg=before
    )


async def scroll_up_to(page: Page, target: Locator) -> None:
    """Scrolls until the target is drawn, over many pages of messages."""
    await messages_region(page).hover()
    for _ in range(600):
        if await target.count():
            return
        await page.mouse.wheel(0, -1500)
        await page.evaluate("new Promise(requestAnimationFrame)")


async def scroll_position(page: Page) -> tuple[str, float]:
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
    return row, await page.evaluate(ROW_TOP_SCRIPT, row)


async def wait_for_position(page: Page, position: tuple[str, float]) -> None:
    """Returns once the same row stands where it stood."""
    argument: Any = list(position)
    await page.wait_for_function(
        f"([k, was]) => Math.abs(({ROW_TOP_SCRIPT})(k) - was) < 3", arg=argument
    )
