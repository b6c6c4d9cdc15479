"""Every view in a real browser, with the eyes and hands of everybody: contrast, names, targets."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page, expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import DESKTOP, PHONE, OpenPage, module_fixture
from tests.e2e.program.attention.test_cards import FORM
from tests.support.page_measures import (
    accessibility_faults,
    low_contrast_texts,
    small_targets,
    zoomed_fields,
)
from tests.support.stage import (
    RestartableKeeper,
    allow_button,
    attention_card,
    message_field,
    replies,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

MARKDOWN = (
    r"say: # A title\n\nWith `code`, [a link](https://example.org) and\n\n> a quote\n\n- [x] done"
    r"\n- [ ] open\n\n```python\n# why\ndef f(x):\n    return 'a' + str(1)\n```\n\n| a | b |\n|-|-|"
    r"\n| 1 | 2 |"
)


@module_fixture
async def talks(stage: RestartableKeeper) -> AsyncIterator[dict[str, str]]:
    """Sessions by what they show; those with questions wait for as long as one looks."""
    yield {
        "form": await stage.start_session(FORM),
        "command": await stage.start_session("run: touch looked-at.txt"),
        "write": await stage.start_session(r"write: looked-at.md: one\ntwo"),
        "plan": await stage.start_session("plan: read; write", permissionMode="plan"),
        "text": await stage.start_session(f"think: hm\n+ {MARKDOWN}"),
        "lines": await stage.start_session("todo: [x] read; [>] write; test\nerror: 400"),
    }


async def fits(page: Page, what: str) -> None:
    """Whether what is seen now can be seen, named and touched."""
    wrong = {
        "too pale": await low_contrast_texts(page),
        "unheard": await accessibility_faults(page),
    }
    if page.viewport_size == PHONE:
        wrong["too small"] = await small_targets(page)
        wrong["zoomed"] = await zoomed_fields(page)
    assert {name: faults for name, faults in wrong.items() if faults} == {}, what


async def visit(page: Page, fragment: str) -> None:
    await page.evaluate("fragment => { location.hash = fragment }", fragment)


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desk", "phone"])
async def test_cards(open_page: OpenPage, talks: dict[str, str], viewport: dict[str, int]) -> None:
    touch = viewport == PHONE
    page = await open_page(viewport=viewport, has_touch=touch, is_mobile=touch)
    await expect(page.get_by_role("link", name="4 waiting for you")).to_be_visible()
    await fits(page, "the list")
    for kind in ("form", "write", "plan", "command"):
        await visit(page, f"session={talks[kind]}")
        await expect(page.locator(f"[data-session='{talks[kind]}'] .card")).to_be_visible()
        await fits(page, kind)
    await expect(allow_button(page)).to_be_enabled()
    await attention_card(page).get_by_role("button", name="Deny…").click()
    await expect(attention_card(page).get_by_label("Why not?")).to_be_visible()
    await fits(page, "a reason")
    await page.keyboard.press("Escape")
    await attention_card(page).get_by_role("button", name="Change…").click()
    await expect(attention_card(page).get_by_label("Do this instead")).to_be_visible()
    await fits(page, "a change")
    await visit(page, "inbox")
    await expect(attention_card(page)).to_have_count(4)
    await fits(page, "the inbox")


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desk", "phone"])
async def test_a_conversation_and_all_that_opens_over_it(
    open_page: OpenPage, talks: dict[str, str], clarvis: Clarvis, viewport: dict[str, int]
) -> None:
    touch = viewport == PHONE
    page = await open_page(
        clarvis.login_link(talks["lines"]), viewport=viewport, has_touch=touch, is_mobile=touch
    )
    await page.get_by_role("button", name="Updated the list write 1 of 3 done").last.click()
    await expect(page.locator(".todos")).to_contain_text("in progress: write")
    await expect(page.get_by_text("API Error: 400")).to_be_visible()
    await fits(page, "a list and an error")
    await visit(page, f"session={talks['text']}")
    await expect(replies(page)).to_have_count(1)
    await page.get_by_role("button", name="Thought").click()
    await expect(page.locator(".hljs-string")).to_be_visible()
    await fits(page, "a conversation")
    await page.get_by_role("button", name="Details").click()
    await expect(page.get_by_text("Go on in a terminal")).to_be_visible()
    await fits(page, "details")
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Permission mode:").locator("visible=true").click()
    await expect(page.get_by_role("menuitemradio").first).to_be_visible()
    await fits(page, "modes")
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="What to do with this message").first.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("menuitem", name="Copy link")).to_be_visible()
    await fits(page, "a menu")
    await page.keyboard.press("Escape")
    await page.keyboard.press("Control+f")
    await page.keyboard.type("quote")
    await expect(page.get_by_role("search").get_by_role("status")).to_contain_text(" of 2")
    await fits(page, "find")
    await page.keyboard.press("Escape")
    await message_field(page).fill("/")
    await expect(page.get_by_role("option").first).to_be_visible()
    await fits(page, "commands")
    await message_field(page).fill("")
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("option").first).to_be_visible()
    await fits(page, "the command bar")


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desk", "phone"])
async def test_pages(open_page: OpenPage, talks: dict[str, str], viewport: dict[str, int]) -> None:
    touch = viewport == PHONE
    page = await open_page(viewport=viewport, has_touch=touch, is_mobile=touch)
    text = talks["text"]
    for fragment, sign in (
        ("usage", page.get_by_role("slider", name="Cost by day")),
        ("search=quote", page.locator(".search-hits a").first),
        ("timeline", page.get_by_text("As a table")),
        ("archive", page.get_by_role("region", name="What is kept")),
        (f"session={text}&branches", page.locator(".limb").first),
    ):
        await visit(page, fragment)
        await expect(sign).to_be_visible()
        await fits(page, fragment)
    await visit(page, "")
    await page.keyboard.press("n")
    dialog = page.get_by_role("dialog", name="New session")
    await expect(dialog.get_by_role("option", name="ask first")).to_be_attached()
    await fits(page, "a new session")
    await dialog.get_by_role("button", name="Directory:").click()
    await expect(dialog.get_by_label("Filter directories")).to_be_visible()
    await fits(page, "directories")


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desk", "phone"])
async def test_what_waits_and_the_system_prompt(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis, viewport: dict[str, int]
) -> None:
    touch = viewport == PHONE
    session = await stage.start_session("slow: 600", systemPrompt="You are Ada.")
    page = await open_page(
        clarvis.login_link(session), viewport=viewport, has_touch=touch, is_mobile=touch
    )
    stop = page.get_by_role("button", name="Stop", exact=touch)
    await expect(stop).to_be_visible()
    waiting = page.get_by_role("list", name="Waiting in line").get_by_role("listitem")
    for count, words in enumerate(("say: one", "say: two"), 1):
        await message_field(page).fill(words)
        await page.get_by_role("button", name="Send").click()
        await expect(waiting).to_have_count(count)
    await message_field(page).fill("say: instead")
    await expect(page.get_by_role("button", name="Stop and say this")).to_be_visible()
    await fits(page, "two ways to send")
    await message_field(page).fill("")
    await stop.click()
    held = page.get_by_role("region", name="Held messages")
    await expect(held).to_contain_text("2 messages held.")
    await fits(page, "held messages")
    await held.get_by_role("button", name="Discard").click()
    await expect(held).to_contain_text("Discard 2 messages?")
    await fits(page, "discarding")
    await held.get_by_role("button", name="Discard").click()
    await expect(held).to_have_count(0)
    await page.get_by_role("button", name="Details").click()
    prompt = page.get_by_role("region", name="System prompt")
    await expect(prompt.get_by_text("You are Ada.")).to_be_visible()
    await fits(page, "a system prompt")
    await prompt.get_by_role("button", name="Change").click()
    await fits(page, "a system prompt that is changed")
