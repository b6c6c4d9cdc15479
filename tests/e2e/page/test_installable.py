"""Clarvis as an app of its own: installable, and made for hands that hold a phone."""

from __future__ import annotations

import json

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import PHONE, OpenPage, session_row, set_sessions
from tests.support.fake_keeper import FakeKeeper, session
from tests.support.page_measures import small_targets

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_browser_finds_nothing_missing_for_an_app(open_page: OpenPage) -> None:
    page = await open_page()
    await expect(page.get_by_text("No sessions yet")).to_be_visible()
    browser = await page.context.new_cdp_session(page)
    manifest = await browser.send("Page.getAppManifest")
    assert manifest["errors"] == []
    assert json.loads(manifest["data"])["name"] == "Clarvis"
    missing = (await browser.send("Page.getInstallabilityErrors"))["installabilityErrors"]
    # tests run in windows that leave no trace, which is no fault of the page
    assert [error for error in missing if error["errorId"] != "in-incognito"] == []


async def test_on_a_phone_everything_in_the_list_is_as_large_as_a_finger(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    set_sessions(keeper, session(1), session(2))
    page = await open_page(viewport=PHONE, has_touch=True, is_mobile=True)
    await expect(session_row(page, "Session number 1")).to_be_visible()
    assert await small_targets(page) == []
    await page.get_by_label("Filter sessions").fill("number")
    await expect(page.get_by_role("button", name="Clear the filter")).to_be_visible()
    assert await small_targets(page) == []


async def test_the_page_is_as_high_as_what_the_keyboard_leaves(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    set_sessions(keeper, session(1))
    page = await open_page(viewport=PHONE, has_touch=True, is_mobile=True)
    await expect(session_row(page, "Session number 1")).to_be_visible()
    await page.set_viewport_size({"width": 390, "height": 480})
    await page.wait_for_function(
        "() => document.getElementById('clarvis').getBoundingClientRect().height === 480"
    )
