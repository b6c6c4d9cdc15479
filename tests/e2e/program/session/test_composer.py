"""Where one types, in a real browser: two tabs, things dropped, very long words."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page, expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import OpenPage
from tests.support.stage import RestartableKeeper, allow_button, message_field, replies

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def drop(page: Page, on: str, *, words: str = "", file: str = "", kind: str = "") -> Any:
    """Whether the page took it: what it leaves alone, the browser opens in its place."""
    return await page.evaluate(
        """async ([on, words, file, kind]) => {
          const dragged = new DataTransfer();
          if (words) dragged.setData('text/plain', words);
          if (file) {
            const canvas = new OffscreenCanvas(8, 8);
            canvas.getContext('2d').fillRect(0, 0, 8, 8);
            dragged.items.add(new File([await canvas.convertToBlob()], file, { type: kind }));
          }
          const how = { dataTransfer: dragged, bubbles: true, cancelable: true };
          const at = document.querySelector(on);
          at.dispatchEvent(new DragEvent('dragover', how));
          const drop = new DragEvent('drop', how);
          at.dispatchEvent(drop);
          return drop.defaultPrevented;
        }""",
        [on, words, file, kind],
    )


async def test_a_draft_is_one_in_all_tabs_and_gone_where_it_was_sent_from_another(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: hello")
    page = await open_page(clarvis.login_link(session))
    another = await page.context.new_page()
    await another.goto(f"{clarvis.url}/#session={session}")
    await expect(replies(another)).to_have_text(["hello"])
    await message_field(page).fill("say: begun here")
    await expect(message_field(another)).to_have_value("say: begun here")
    await message_field(another).press("End")
    await another.keyboard.type(", ended there")
    await expect(message_field(page)).to_have_value("say: begun here, ended there")
    await another.keyboard.press("Enter")
    for each in (page, another):
        await expect(replies(each)).to_have_text(["hello", "begun here, ended there"])
        await expect(message_field(each)).to_have_value("")


async def test_images_can_be_dropped_anywhere_and_nothing_else_takes_the_place_of_the_page(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: hello")
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_text(["hello"])
    assert await drop(page, ".reply", file="seen.png", kind="image/png")
    await expect(page.get_by_role("list", name="Images").get_by_role("img")).to_have_count(1)
    # words that are dragged are left to the field
    assert not await drop(page, ".composer-field", words="some words")


async def test_a_file_that_is_no_image_is_named(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: hello")
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_text(["hello"])
    await page.evaluate(
        """() => {
          const dragged = new DataTransfer();
          dragged.items.add(new File(['%PDF-1.7'], 'report.pdf', { type: 'application/pdf' }));
          const how = { dataTransfer: dragged, bubbles: true, cancelable: true };
          document.querySelector('.reply').dispatchEvent(new DragEvent('drop', how));
        }"""
    )
    alert = page.locator(".composer").get_by_role("alert")
    await expect(alert).to_have_text("Claude sees only images, not report.pdf.")


async def test_each_line_goes_its_own_way_without_a_look_at_all_of_them(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: hello")
    page = await open_page(clarvis.login_link(session))
    # with dir=auto Chromium looks at all lines again for each line that is pasted: 16 s for 55,000
    await expect(message_field(page)).not_to_have_attribute("dir", "auto")
    await expect(message_field(page)).to_have_css("unicode-bidi", "plaintext")


async def test_whoever_has_clicked_goes_on_typing_where_one_types(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("run: touch by-accident.txt")
    page = await open_page(clarvis.login_link(session))
    await expect(allow_button(page)).to_be_enabled()
    await message_field(page).fill("say: first")
    await page.get_by_role("button", name="Send").click()
    # no letter of it is an answer
    await page.keyboard.type("and another")
    await expect(message_field(page)).to_have_value("and another")
    await message_field(page).fill("")
    await page.get_by_role("button", name="Take back: say: first").click()
    await expect(message_field(page)).to_be_focused()
    await expect(message_field(page)).to_have_value("say: first")
    await expect(allow_button(page)).to_be_visible()
    assert not stage.file_exists("by-accident.txt")
