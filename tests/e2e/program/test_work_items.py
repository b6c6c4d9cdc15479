"""Items of work in a real browser: which session is whose, and one that has used what it may."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page, expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import PHONE, OpenPage
from tests.support.page_measures import small_targets
from tests.support.stage import RestartableKeeper, attention_card, replies, save_screenshot

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def reach_the_ceiling(stage: RestartableKeeper, key: str, **ceilings: Any) -> str:
    """An item of which a person is asked; its session."""
    body = {
        "text": "say: done so far",
        "workdir": str(stage.workdir),
        "project": "shop",
        "ceilings": ceilings,
        "wait": True,
    }
    address = f"/conversations/{key}/dispatch"
    session = str((await stage.request("POST", address, body))["sessionId"])
    with pytest.raises(AssertionError, match="ceiling_reached"):
        await stage.request("POST", address, body)
    return session


def go_on(page: Page) -> Any:
    return attention_card(page).get_by_role("button", name="Go on")


async def test_an_item_that_has_used_what_it_may_goes_on_by_a_person_s_word(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    session = await reach_the_ceiling(stage, "ticket-42", turns=1)
    page = await open_page()
    await page.get_by_role("link", name="1 waiting for you").click()
    await expect(attention_card(page).get_by_role("heading")).to_have_text(
        "“ticket-42” (shop) has reached its ceiling"
    )
    await expect(attention_card(page)).to_contain_text("It has used 1 of 1 turn.")
    await save_screenshot(page, "ceiling-inbox")
    # in its session too, which is not said to run
    await page.locator(".inbox-where a").click()
    await expect(replies(page)).to_have_text(["done so far"])
    amount = attention_card(page).get_by_label("Further turns")
    await expect(amount).to_have_value("1")
    await expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    await save_screenshot(page, "ceiling-session")
    await amount.fill("0")
    await expect(go_on(page)).to_be_disabled()
    await amount.fill("3")
    await page.reload()
    # what is typed stays, as in every card
    await expect(amount).to_have_value("3")
    await go_on(page).click()
    await expect(attention_card(page)).to_have_count(0)
    item = await stage.request("GET", "/conversations/ticket-42")
    assert item["ceilings"]["turns"] == 4
    assert item["sessionId"] == session
    await page.get_by_role("link", name="Nothing waits for you").click()
    await expect(page.get_by_text("Allowed to go on by you:")).to_be_visible()


async def test_it_can_be_ended_with_a_reason_also_on_a_phone(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await reach_the_ceiling(stage, "ticket-43", turns=1, costUsd=0.000001)
    page = await open_page(clarvis.login_link(session), PHONE, has_touch=True)
    await expect(attention_card(page).get_by_label("Further dollars")).to_have_value("0.000001")
    assert await small_targets(page) == []
    await attention_card(page).get_by_role("button", name="End…").tap()
    await page.keyboard.type("enough is done")
    await save_screenshot(page, "ceiling-ending")
    await attention_card(page).get_by_role("button", name="End it").tap()
    await expect(attention_card(page)).to_have_count(0)
    item = await stage.request("GET", "/conversations/ticket-43")
    assert item["state"] == "ended"
    assert item["acts"][-1]["details"].endswith("enough is done")


async def test_keys_let_it_go_on(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await reach_the_ceiling(stage, "ticket-44", hours=0.000001)
    page = await open_page(clarvis.login_link(session))
    await expect(go_on(page)).to_be_enabled()
    await page.evaluate("document.activeElement?.blur()")
    await page.keyboard.press("a")
    await expect(attention_card(page)).to_have_count(0)
    acts = (await stage.request("GET", "/conversations/ticket-44"))["acts"]
    assert [each["what"] for each in acts] == ["ceiling", "allowed"]


async def test_a_session_names_its_item(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    body = {"text": "say: hello", "workdir": str(stage.workdir), "project": "depot", "wait": True}
    answer = await stage.request("POST", "/conversations/bead-7/dispatch", body)
    page = await open_page(clarvis.login_link(answer["sessionId"]))
    await expect(replies(page)).to_have_text(["hello"])
    await page.get_by_role("button", name="Details").click()
    fact = page.locator(".facts > div", has_text="Item of work")
    await expect(fact.locator("dd")).to_have_text("bead-7 in depot")
    await save_screenshot(page, "item-details")
