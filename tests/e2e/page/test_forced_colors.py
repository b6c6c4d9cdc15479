"""Where the system chooses the colours: what is chosen, what waits and who spoke can be seen."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, expect

from tests.e2e.conftest import OpenPage, session_row, set_sessions
from tests.support.contract_messages import prompt, reply
from tests.support.fake_keeper import FakeKeeper, session
from tests.support.scrolling import messages_region

pytestmark = pytest.mark.asyncio(loop_scope="module")

ONE = session(1, state="running", title="The first")
OTHER = session(2, title="The second")


async def style(element: Locator, name: str) -> str:
    return str(await element.evaluate("(e, name) => getComputedStyle(e)[name]", name))


async def test_what_only_a_background_said_is_said_by_an_edge(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    set_sessions(keeper, ONE, OTHER)
    keeper.messages[ONE["id"]] = [prompt("go"), reply("gone")]
    page = await open_page(forced_colors="active")
    await page.evaluate("id => { location.hash = `#session=${id}` }", ONE["id"])
    await expect(messages_region(page).get_by_text("gone")).to_be_visible()
    assert await style(session_row(page, "The first"), "outlineStyle") == "solid"
    assert await style(session_row(page, "The second"), "outlineStyle") == "none"
    assert await style(page.get_by_role("button", name="By project"), "outlineStyle") == "solid"
    assert await style(page.get_by_role("button", name="Recent"), "outlineStyle") == "none"
    assert await style(messages_region(page).locator(".bubble"), "borderTopStyle") == "solid"
    canvas = await style(page.locator("body"), "backgroundColor")
    dot = session_row(page, "The first").locator(".dot")
    assert await style(dot, "backgroundColor") not in {canvas, "rgba(0, 0, 0, 0)"}
    await page.keyboard.press("Control+k")
    chosen = page.get_by_role("option", selected=True)
    assert await style(chosen.first, "outlineStyle") == "solid"
