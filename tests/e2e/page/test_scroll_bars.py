"""Where scroll bars take room, as on most desks: nothing stands askew, and none is glaring."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.e2e.conftest import OpenPage, set_sessions
from tests.support.contract_messages import reply
from tests.support.fake_keeper import FakeKeeper, session
from tests.support.scrolling import messages_region

pytestmark = pytest.mark.asyncio(loop_scope="module")

SHOWS_BARS = True
ONE = session(1)


async def opened(open_page: OpenPage, keeper: FakeKeeper, lines: int) -> Page:
    set_sessions(keeper, ONE)
    keeper.messages[ONE["id"]] = [reply("\n\n".join(["words"] * lines))]
    page = await open_page()
    await page.evaluate("id => { location.hash = `#session=${id}` }", ONE["id"])
    await expect(messages_region(page).get_by_text("words").last).to_be_visible()
    return page


@pytest.mark.parametrize("lines", [1, 200])
async def test_a_conversation_stands_above_its_field(
    open_page: OpenPage, keeper: FakeKeeper, lines: int
) -> None:
    page = await opened(open_page, keeper, lines)
    has_bar = "log => log.offsetWidth > log.clientWidth"
    assert await messages_region(page).evaluate(has_bar)
    column = await page.locator(".column").first.bounding_box()
    field = await page.locator(".composer").bounding_box()
    assert column is not None
    assert field is not None
    assert (column["x"], column["width"]) == (field["x"], field["width"])


async def test_bars_are_of_our_colours(open_page: OpenPage, keeper: FakeKeeper) -> None:
    page = await opened(open_page, keeper, 200)
    colours = """() => [...document.querySelectorAll('*')]
      .filter((one) => ['auto', 'scroll'].includes(getComputedStyle(one).overflowY))
      .map((one) => getComputedStyle(one).scrollbarColor)"""
    bar_colours = set(await page.evaluate(colours))
    assert bar_colours
    assert "auto" not in bar_colours
