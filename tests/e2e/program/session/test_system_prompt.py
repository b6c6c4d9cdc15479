"""What a person appends to the system prompt, on the page and with the real CLI."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, Page, expect

from clarvis_ui.server import Clarvis
from claudekeeper.demo.messages_api import ScriptedApi
from tests.e2e.conftest import PHONE, OpenPage, session_row
from tests.support.stage import RestartableKeeper, replies, save_screenshot, send_prompt

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADA = "You are Ada, a reviewer: —\u00a0„genau“ 語 \U0001f9ff."


def system_prompt_of(api: ScriptedApi, prompt: str) -> str:
    """The system prompt of the turn in which this was said."""
    every = (each.model_request for each in reversed(api.requests))
    return next(each.system_text for each in every if each.prompt == prompt)


async def details(page: Page) -> Locator:
    await page.get_by_role("button", name="Details").click()
    return page.get_by_role("region", name="System prompt")


async def test_a_session_begins_with_one(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis, scripted_api: ScriptedApi
) -> None:
    await stage.start_session("say: so that the directory is known")
    page = await open_page()
    await expect(session_row(page, "so that the directory is known")).to_be_visible()
    await page.keyboard.press("n")
    dialog = page.get_by_role("dialog", name="New session")
    await dialog.get_by_label("First prompt").fill("say: begun")
    await dialog.get_by_text("System prompt").click()
    await dialog.get_by_label("System prompt").fill(ADA)
    await save_screenshot(page, "new-with-system-prompt")
    # nothing of it is lost with the page
    await page.reload()
    await expect(session_row(page, "so that the directory is known")).to_be_visible()
    await page.keyboard.press("n")
    await expect(dialog.get_by_label("System prompt")).to_have_value(ADA)
    await dialog.get_by_role("button", name="Start").click()
    await expect(replies(page)).to_have_text(["begun"])
    assert ADA in system_prompt_of(scripted_api, "say: begun")
    prompt = await details(page)
    await expect(prompt).to_contain_text(f"{len(ADA)} characters appended")
    await expect(prompt).to_contain_text("Holds for this session.")
    await expect(prompt.get_by_text(ADA)).to_be_visible()
    await save_screenshot(page, "system-prompt")
    await page.keyboard.press("Escape")
    # the next session begins without
    await page.keyboard.press("n")
    await expect(dialog.get_by_label("System prompt")).to_be_hidden()


async def test_it_is_changed_and_cleared_in_the_details(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis, scripted_api: ScriptedApi
) -> None:
    session = await stage.start_session("say: one")
    page = await open_page(clarvis.login_link(session), PHONE)
    await expect(replies(page)).to_have_text(["one"])
    prompt = await details(page)
    await expect(prompt).to_contain_text("Nothing is appended.")
    await prompt.get_by_role("button", name="Append one").click()
    write = prompt.get_by_label("Appended to Claude Code’s system prompt")
    await expect(write).to_be_focused()
    await write.fill(ADA)
    # what was not saved is there again
    await page.reload()
    prompt = await details(page)
    await expect(write).to_have_value(ADA)
    await save_screenshot(page, "system-prompt-written")
    await prompt.get_by_role("button", name="Save").click()
    await expect(prompt).to_contain_text("from the session’s next process on")
    await expect(prompt.get_by_text(ADA)).to_be_visible()
    await expect(prompt.get_by_role("button", name="Change")).to_be_focused()
    # the process that runs has none
    await page.keyboard.press("Escape")
    await send_prompt(page, "say: two")
    await expect(replies(page)).to_have_text(["one", "two"])
    assert ADA not in system_prompt_of(scripted_api, "say: two")
    await stage.request("POST", f"/sessions/{session}/close")
    prompt = await details(page)
    await expect(prompt).to_contain_text("Holds for this session.")
    await page.keyboard.press("Escape")
    await send_prompt(page, "say: three")
    await expect(replies(page)).to_have_text(["one", "two", "three"])
    assert ADA in system_prompt_of(scripted_api, "say: three")

    prompt = await details(page)
    await prompt.get_by_role("button", name="Clear").click()
    await expect(prompt).to_contain_text("Cleared from the session’s next process on.")
    await prompt.get_by_role("button", name="Undo").click()
    await expect(prompt.get_by_text(ADA)).to_be_visible()
    await expect(prompt).to_contain_text("Holds for this session.")
    await prompt.get_by_role("button", name="Clear").click()
    await expect(prompt).to_contain_text("Cleared from the session’s next process on.")
    await stage.request("POST", f"/sessions/{session}/close")
    await expect(prompt).to_contain_text("Nothing is appended.")


async def test_what_cannot_be_one_is_refused_in_words_and_is_kept(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: one")
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_text(["one"])
    prompt = await details(page)
    await prompt.get_by_role("button", name="Append one").click()
    write = prompt.get_by_label("Appended to Claude Code’s system prompt")
    longest = "語" * 60_000
    await write.fill(longest + "末")
    await expect(prompt).to_contain_text("60,001 of 60,000 characters")
    await prompt.get_by_role("button", name="Save").click()
    await expect(prompt.get_by_role("alert")).to_contain_text("at most 60,000 are allowed")
    await expect(write).to_have_value(longest + "末")
    await write.fill(longest)
    await page.route("**/mode", lambda route: route.abort())
    await prompt.get_by_role("button", name="Save").click()
    await expect(prompt.get_by_role("alert")).to_contain_text("Clarvis does not answer.")
    await page.unroute("**/mode")
    await prompt.get_by_role("button", name="Save").click()
    await expect(prompt).to_contain_text("60,000 characters appended")
    settings = await stage.request("GET", f"/sessions/{session}/settings")
    assert settings["systemPrompt"] == longest
