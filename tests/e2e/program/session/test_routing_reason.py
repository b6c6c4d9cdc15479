"""A message says why it is where it is, and a word ends the planning."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Page, expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import PHONE, OpenPage, session_row
from tests.e2e.program.test_command_bar import bar, chosen, decided, on_its_way
from tests.support.stage import RestartableKeeper, attention_card, prompt_texts, save_screenshot

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOW = "Now implement it\nwrite: done.txt: as planned"


async def planning(stage: RestartableKeeper) -> str:
    """A session that plans, and did something else before."""
    session = await stage.start_session("say: the till is described in till.py")
    await stage.request("POST", f"/sessions/{session}/mode", {"permissionMode": "acceptEdits"})
    await stage.request("POST", f"/sessions/{session}/mode", {"permissionMode": "plan"})
    return session


async def rested(page: Page) -> None:
    dot = session_row(page, "say: the till").locator(".dot")
    await expect(dot).not_to_have_attribute("data-tone", "running")


async def test_now_implement_it_leaves_plan_mode_and_says_so(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    session = await planning(stage)
    page = await open_page()
    await rested(page)
    await page.keyboard.press("Control+k")
    await decided(page, "how would you implement it in till.py?")
    await expect(chosen(page)).not_to_contain_text("plan mode")
    await decided(page, NOW)
    await expect(chosen(page)).to_contain_text("leaving plan mode for “accept edits”")
    await save_screenshot(page, "why-bar")
    await bar(page).focus()
    await page.keyboard.press("Enter")
    await expect(on_its_way(page)).to_contain_text("leaves plan mode")
    await on_its_way(page).get_by_role("button", name="Send now").click()
    await expect(page).to_have_url(re.compile(f"#session={session}$"))
    reason = page.locator(".you-why")
    await expect(reason).to_contain_text(
        "Left plan mode, now “accept edits”. Sent on to this session."
    )
    await expect(page.locator("[data-working=true]")).to_have_count(0)
    await page.get_by_role("button", name="Why it is here").click()
    await expect(reason).to_contain_text("sure, by the improved scorer")
    await expect(reason.get_by_role("listitem")).to_contain_text(["This session"])
    assert stage.file_exists("done.txt")
    # nobody was asked: edits were accepted before the planning
    await expect(attention_card(page)).to_have_count(0)
    await save_screenshot(page, "why-here")
    await page.reload()
    await expect(reason).to_contain_text("Left plan mode")
    await expect(prompt_texts(page)).to_have_count(2)


async def test_another_way_than_the_one_decided_is_kept_as_such(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    one = await stage.start_session("say: the exporter in export.py writes its rows")
    page = await open_page(clarvis.login_link(one), viewport=PHONE, has_touch=True)
    await page.keyboard.press("Control+k")
    await decided(page, "also say: what export.py does")
    await expect(chosen(page)).to_contain_text("Resume")
    await page.get_by_role("option").filter(has_text="New in scratch").click()
    await on_its_way(page).get_by_role("button", name="Send now").click()
    await on_its_way(page).get_by_role("link").click()
    reason = page.locator(".you-why")
    await expect(reason).to_contain_text("You chose this session.")
    await page.get_by_role("button", name="Why it is here").tap()
    await expect(reason).to_contain_text("The keeper would have chosen to resume “")
    await save_screenshot(page, "why-phone")


async def test_a_plan_in_its_card_is_approved_there(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await planning(stage)
    body = {"sessionId": session, "text": "plan: count coins"}
    await stage.request("POST", "/send", body)
    page = await open_page(clarvis.login_link(session))
    await expect(attention_card(page)).to_be_visible()
    await page.keyboard.press("Control+k")
    await decided(page, "Now implement it")
    decision = await stage.request("POST", "/route", {"text": "Now implement it"})
    assert session not in [each["sessionId"] for each in decision["candidates"]]
    await bar(page).press("Escape")
    approve = attention_card(page).get_by_role("button", name="Approve, ask before edits")
    await expect(approve).to_be_visible()
    assert len((await stage.request("GET", "/attention"))["attention"]) == 1
