"""The command bar on a phone: a button, a sheet, and targets as large as a finger."""

from __future__ import annotations

import json

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import PHONE, OpenPage, session_row, set_sessions
from tests.support.fake_keeper import FakeKeeper, session
from tests.support.page_measures import small_targets
from tests.support.waiting import wait_until

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_button_opens_a_sheet_and_what_is_said_there_is_sent(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    set_sessions(keeper, session(1), session(2))
    one = session(1)
    fit = {"sessionId": one["id"], "title": one["title"], "workdir": one["workdir"]}
    keeper.routing = {
        "action": "resume",
        "sessionId": one["id"],
        "reason": "It says “also”.",
        "candidates": [fit],
    }
    page = await open_page(viewport=PHONE, has_touch=True, is_mobile=True)
    await expect(session_row(page, "Session number 1")).to_be_visible()
    await page.get_by_role("button", name="Say what you want").tap()
    sheet = page.get_by_role("dialog", name="Say what you want")
    await expect(sheet).to_be_visible()
    box = await sheet.bounding_box()
    assert box is not None
    assert (box["x"], box["width"], box["y"] + box["height"]) == (0, 390, 844)
    await sheet.locator("textarea").fill("also this")
    await expect(sheet.locator("[aria-selected=true]")).to_contain_text("Resume Session number 1")
    await expect(sheet.locator("[aria-selected=true]")).to_contain_text("because it says “also”")
    assert await small_targets(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    await sheet.get_by_role("button", name="Send", exact=True).tap()
    await expect(sheet).to_have_count(0)
    way = page.get_by_role("list", name="On its way")
    await expect(way.get_by_role("button", name="Undo")).to_be_visible()
    assert await small_targets(page) == []
    await way.get_by_role("button", name="Send now").tap()
    await expect(way).to_contain_text("Continuing: Session number 1")
    await wait_until(lambda: any(b"also this" in body for body in keeper.bodies[-1:]))
    sent = json.loads(keeper.bodies[-1])
    assert (sent["sessionId"], sent["wait"]) == (one["id"], False)
