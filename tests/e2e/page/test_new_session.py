"""A new session: where, what and how, on a desk and on a phone."""

from __future__ import annotations

import json
import re

import pytest
from playwright.async_api import Page, expect

from tests.e2e.conftest import PHONE, OpenPage, session_row, set_sessions
from tests.support.fake_keeper import FakeKeeper, session
from tests.support.page_measures import small_targets

pytestmark = pytest.mark.asyncio(loop_scope="module")

WEB = {"workdir": "/code/web", "project": "web"}


async def opened(open_page: OpenPage, keeper: FakeKeeper, **how: object) -> Page:
    set_sessions(keeper, session(1, **WEB), session(2))
    keeper.folders = {"/code": ["payments-api", "web"], "/code/web": []}
    page = await open_page(**how)
    await expect(session_row(page, "Session number 1")).to_be_visible()
    await page.get_by_role("button", name="New", exact=True).click()
    await expect(page.get_by_role("dialog", name="New session")).to_be_visible()
    return page


async def test_a_prompt_is_enough_and_the_address_is_that_of_the_session(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    page = await opened(open_page, keeper)
    await expect(page.get_by_label("First prompt")).to_be_focused()
    start = page.get_by_role("button", name="Start")
    await expect(start).to_be_disabled()
    await page.keyboard.type("fix it")
    await page.keyboard.press("Enter")
    await page.keyboard.type("and test it")
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    sent = json.loads(keeper.bodies[-1])
    assert sent["workdir"] == "/code/payments-api"
    assert sent["content"] == [{"type": "text", "text": "fix it\nand test it"}]
    assert not {"model", "permissionMode", "sessionId"} & set(sent)
    await expect(page).to_have_url(re.compile(f"#session={session(901)['id']}$"))


async def test_directory_model_and_mode_can_be_chosen(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    page = await opened(open_page, keeper)
    await page.get_by_label("First prompt").fill("fix it")
    await page.get_by_role("button", name="Directory: /code/payments-api").click()
    await page.get_by_label("Filter directories").fill("WEB")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Directory: /code/web")).to_be_visible()
    await page.get_by_label("Model").select_option(label="Haiku")
    await page.get_by_label("Permissions").select_option(label="plan first")
    await page.get_by_role("button", name="Start").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    sent = json.loads(keeper.bodies[-1])
    assert (sent["workdir"], sent["model"], sent["permissionMode"]) == (
        "/code/web",
        "haiku",
        "plan",
    )


async def test_any_directory_can_be_browsed_to(open_page: OpenPage, keeper: FakeKeeper) -> None:
    page = await opened(open_page, keeper)
    await page.get_by_role("button", name="Directory:").click()
    await page.get_by_role("button", name="Browse").click()
    await page.get_by_role("button", name="web", exact=True).click()
    await expect(page.get_by_text("There is no directory inside this one.")).to_be_visible()
    await page.get_by_role("button", name="One directory up").click()
    await expect(page.get_by_role("button", name="payments-api", exact=True)).to_be_visible()
    await page.get_by_role("button", name="web", exact=True).click()
    await expect(page.get_by_text("There is no directory inside this one.")).to_be_visible()
    await page.get_by_role("button", name="Use this").click()
    await expect(page.get_by_role("button", name="Directory: /code/web")).to_be_visible()


async def test_what_was_typed_survives_leaving_and_a_refusal(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    page = await opened(open_page, keeper)
    await page.get_by_label("First prompt").fill("half a thought")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.reload()
    await expect(session_row(page, "Session number 1")).to_be_visible()
    await page.keyboard.press("n")
    await expect(page.get_by_label("First prompt")).to_have_value("half a thought")
    await expect(page.get_by_label("First prompt")).to_be_focused()
    keeper.refusal = "All places are taken."
    await page.get_by_role("button", name="Start").click()
    await expect(page.get_by_role("alert")).to_have_text("All places are taken.")
    keeper.refusal = None
    await page.get_by_role("button", name="Start").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_on_a_phone_it_fills_the_screen(open_page: OpenPage, keeper: FakeKeeper) -> None:
    page = await opened(open_page, keeper, viewport=PHONE, has_touch=True, is_mobile=True)
    box = await page.get_by_role("dialog").bounding_box()
    assert box == {"x": 0, "y": 0, **PHONE}
    assert await small_targets(page) == []
    await page.get_by_role("button", name="Directory:").tap()
    await expect(page.get_by_label("Filter directories")).to_be_visible()
    assert await small_targets(page) == []
    await page.get_by_role("button", name="Close").tap()
    await expect(page.get_by_role("dialog")).to_have_count(0)
