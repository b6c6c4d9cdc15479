"""One bar to say anything: it finds the conversation, can be undone, and loses nothing."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Locator, Page, expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import OpenPage, session_row
from tests.support.stage import RestartableKeeper, prompt_texts, replies

pytestmark = pytest.mark.asyncio(loop_scope="module")

# a browser that hears what a test says, and says what a test can read
VOICE = """
class Ears {
  start() { window.ears = this; }
  stop() { this.onend(); }
}
window.SpeechRecognition = Ears;
window.hear = (words) => window.ears.onresult({ results: [[{ transcript: words }]] });
window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
Object.defineProperty(window, 'speechSynthesis', { value: {
  getVoices: () => [], cancel() {},
  speak: ({ text }) => document.documentElement.setAttribute('data-spoken', text),
} });
"""


def bar(page: Page) -> Locator:
    return page.get_by_label("Say what you want", exact=True).and_(page.locator("textarea"))


def chosen(page: Page) -> Locator:
    return page.locator(".say-option[aria-selected=true]")


async def tab_to_option(page: Page, words: str) -> None:
    while words not in await chosen(page).inner_text():
        await page.keyboard.press("Tab")


def on_its_way(page: Page) -> Locator:
    return page.get_by_role("list", name="On its way")


async def decided(page: Page, text: str) -> None:
    """The answer for what stands there now."""
    await bar(page).fill(text)
    await expect(page.locator(".say-options")).to_have_attribute("aria-busy", "false")


async def prompts_of(stage: RestartableKeeper, session: str) -> list[str]:
    page = await stage.request("GET", f"/sessions/{session}?limit=100")
    return [
        "".join(block.get("text", "") for block in message["content"])
        for message in page["messages"]
        if message["kind"] == "prompt"
    ]


async def test_a_command_finds_its_conversation_and_can_be_undone(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    session = await stage.start_session("say: the exporter in export.py writes its rows")
    page = await open_page()
    await expect(session_row(page, "say: the exporter")).to_be_visible()
    await expect(page.get_by_role("heading", name="What should Claude do?")).to_be_visible()
    await page.keyboard.press("Control+k")
    await expect(bar(page)).to_be_focused()
    await expect(session_row(page, "say: the exporter").locator(".dot")).not_to_have_attribute(
        "data-tone", "running"
    )
    await decided(page, "also say: what export.py does")
    await expect(chosen(page)).to_have_text(
        re.compile("^Resume say: the exporter in export.py writes its rowsbecause .*also")
    )
    # one key to change one's mind, and back
    await page.keyboard.press("Tab")
    await expect(chosen(page)).to_contain_text("New in scratch")
    await page.keyboard.press("Shift+Tab")
    await expect(chosen(page)).to_contain_text("Resume")

    await page.keyboard.press("Enter")
    await expect(on_its_way(page)).to_contain_text("Continues: say: the exporter")
    await on_its_way(page).get_by_role("button", name="Undo").click()
    await expect(on_its_way(page).get_by_role("listitem")).to_have_count(0)
    await expect(bar(page)).to_have_value("also say: what export.py does")
    await expect(bar(page)).to_be_focused()
    assert await prompts_of(stage, session) == ["say: the exporter in export.py writes its rows"]

    # and by itself, once the seconds are over; the page goes along
    await expect(page.locator(".say-options")).to_have_attribute("aria-busy", "false")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile(f"#session={session}$"))
    await expect(on_its_way(page)).to_contain_text("Continuing: say: the exporter")
    await expect(prompt_texts(page)).to_have_text(
        ["say: the exporter in export.py writes its rows", "also say: what export.py does"]
    )
    await expect(replies(page)).to_have_count(2)


async def test_from_anywhere_a_session_is_opened_or_begun_and_a_refresh_sends_once(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    one = await stage.start_session("say: zebras have stripes")
    other = await stage.start_session("say: giraffes have necks")
    page = await open_page(clarvis.login_link(one))
    await expect(replies(page)).to_have_text(["zebras have stripes"])
    await page.get_by_label("Message", exact=True).fill("a draft")
    await page.keyboard.press("Control+k")
    await expect(bar(page)).to_be_focused()
    await decided(page, "giraffes necks")
    await page.keyboard.press("Control+Enter")
    await expect(page).to_have_url(re.compile(f"#session={other}$"))
    await expect(page.get_by_role("dialog")).to_have_count(0)
    # what was typed is kept; closing and coming back loses nothing
    await page.keyboard.press("Control+k")
    await expect(bar(page)).to_have_value("giraffes necks")

    # new, in another directory
    stage.home.project("barn")
    await bar(page).fill("say: begun from the bar")
    await page.keyboard.press("Alt+ArrowDown")
    await page.get_by_role("button", name="Browse").click()
    await page.get_by_role("button", name="One directory up").click()
    await page.get_by_role("button", name="barn", exact=True).click()
    await expect(page.get_by_text("There is no directory inside this one.")).to_be_visible()
    await page.get_by_role("button", name="Use this").click()
    await expect(chosen(page)).to_contain_text("New in barn")
    await page.keyboard.press("Enter")
    await expect(on_its_way(page)).to_contain_text("Starts: say: begun from the bar")
    await page.reload()
    started = on_its_way(page).get_by_role("link", name="say: begun from the bar")
    await started.click()
    await expect(replies(page)).to_have_text(["begun from the bar"])
    await expect(prompt_texts(page)).to_have_count(1)
    await expect(session_row(page, "say: begun from the bar")).to_have_count(1)


async def test_without_a_keeper_nothing_is_lost(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    await stage.start_session("say: hello")
    page = await open_page()
    await expect(session_row(page, "say: hello")).to_be_visible()
    await decided(page, "say: while it was away")
    await page.keyboard.press("Tab")
    await tab_to_option(page, "New in")
    await stage.kill()
    await page.keyboard.press("Enter")
    await on_its_way(page).get_by_role("button", name="Send now").click()
    await expect(on_its_way(page)).to_contain_text("Not sent.")
    await page.reload()
    await expect(on_its_way(page)).to_contain_text("say: while it was away")
    await stage.start()
    await expect(page.locator(".banner")).to_have_count(0)
    await on_its_way(page).get_by_role("button", name="Send again").click()
    await expect(on_its_way(page)).to_contain_text("Started: say: while it was away")


async def test_one_dictates_and_short_replies_are_read_aloud(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    await stage.start_session("say: penguins swim")
    page = await open_page()
    await expect(session_row(page, "say: penguins swim")).to_be_visible()
    await page.context.add_init_script(VOICE)
    await page.reload()
    aloud = page.get_by_role("button", name="Read replies aloud")
    await expect(aloud).to_have_attribute("aria-pressed", "false")
    await aloud.click()
    await page.get_by_role("button", name="Dictate").click()
    for words in ("say", "say: all **41**", "say: all **41** tests pass"):
        await page.evaluate("words => hear(words)", words)
    await expect(bar(page)).to_have_value("say: all **41** tests pass")
    await page.get_by_role("button", name="Stop listening").click()
    await expect(page.get_by_role("button", name="Dictate")).to_be_visible()
    # what is spoken is routed like what is typed
    await expect(page.locator(".say-options")).to_have_attribute("aria-busy", "false")
    await expect(chosen(page)).to_contain_text(re.compile("Resume|New in"))
    await bar(page).press("Enter")
    await on_its_way(page).get_by_role("button", name="Send now").click()
    await expect(page.locator("html")).to_have_attribute("data-spoken", "all 41 tests pass")
