"""Beginning a session on the page, with the real CLI: where, how, with which words and images."""

from __future__ import annotations

import base64
import re

import pytest
from playwright.async_api import Page, expect

from clarvis_ui.server import Clarvis
from claudekeeper.demo.sample_image import phone_screenshot
from tests.e2e.conftest import OpenPage, session_row
from tests.support.stage import (
    RestartableKeeper,
    allow_button,
    message_field,
    prompt_texts,
    replies,
    send_prompt,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

# the browser gives nobody its real clipboard and no hand to drag with: the events are the same
HAND_OVER = """([kind, data]) => {
  const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  const files = new DataTransfer();
  files.items.add(new File([bytes], 'shot.png', { type: 'image/png' }));
  const field = document.querySelector('.composer-field');
  const more = { bubbles: true, cancelable: true };
  field.dispatchEvent(
    kind === 'paste'
      ? new ClipboardEvent('paste', { ...more, clipboardData: files })
      : new DragEvent('drop', { ...more, dataTransfer: files }),
  );
}"""


async def hand_over(page: Page, kind: str) -> None:
    picture = base64.b64encode(phone_screenshot()).decode()
    await page.evaluate(HAND_OVER, [kind, picture])


async def test_a_session_begins_in_a_chosen_directory_and_its_link_holds_at_once(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    inside = stage.workdir / "inside"
    inside.mkdir()
    await stage.start_session("say: so that the directory is known")
    page = await open_page()
    await expect(session_row(page, "so that the directory is known")).to_be_visible()
    await page.keyboard.press("n")
    dialog = page.get_by_role("dialog", name="New session")
    await dialog.get_by_role("button", name="Directory:").click()
    await dialog.get_by_role("button", name="Browse").click()
    await dialog.get_by_role("button", name="inside", exact=True).click()
    await expect(dialog.get_by_text("There is no directory inside this one.")).to_be_visible()
    await dialog.get_by_role("button", name="Use this").click()
    await dialog.get_by_label("Permissions").select_option(label="accept edits")
    models = dialog.get_by_label("Model").get_by_role("option")
    await dialog.get_by_label("Model").select_option(await models.last.get_attribute("value"))
    await dialog.get_by_label("First prompt").fill("run: sh -c 'date > begun.txt'")
    await dialog.get_by_role("button", name="Start").click()
    await expect(page).to_have_url(re.compile(r"#session=[0-9a-f-]{36}$"))

    # its CLI may not even run yet
    await page.reload()
    await expect(prompt_texts(page)).to_have_text(["run: sh -c 'date > begun.txt'"])
    await expect(page.get_by_role("button", name="Permission mode: accept edits")).to_be_visible()
    another = await page.context.new_page()
    await another.goto(page.url)
    await expect(prompt_texts(another)).to_have_text(["run: sh -c 'date > begun.txt'"])
    await expect(allow_button(another)).to_be_visible()
    await allow_button(page).click()
    await expect(replies(page)).to_have_count(1)
    await expect(replies(another)).to_have_count(1)
    assert (inside / "begun.txt").exists()


async def test_images_are_pasted_dropped_and_kept_and_the_mode_is_switched_in_the_header(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: hello")
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_text(["hello"])
    pictures = page.get_by_role("list", name="Images").get_by_role("img")
    await hand_over(page, "paste")
    await expect(pictures).to_have_count(1)
    await hand_over(page, "drop")
    await expect(pictures).to_have_count(2)
    await message_field(page).fill("what are these?")
    await page.reload()
    await expect(pictures).to_have_count(2)
    await expect(message_field(page)).to_have_value("what are these?")
    await message_field(page).press("Enter")
    await expect(pictures).to_have_count(0)
    await expect(replies(page).last).to_contain_text("PNG, 180×320 pixels")
    await expect(page.locator(".bubble img")).to_have_count(2)

    await page.get_by_role("button", name="Permission mode:").click()
    await page.get_by_role("menuitemradio", name="accept edits").click()
    await expect(page.get_by_role("button", name="Permission mode: accept edits")).to_be_visible()
    await send_prompt(page, "write: unasked.txt: hello")
    await expect(replies(page).last).to_have_text("I wrote unasked.txt.")
    assert stage.file_exists("unasked.txt")
    await page.get_by_role("button", name="Model:").click()
    chosen = page.get_by_role("menuitemradio", checked=False).last
    name = (await chosen.locator("b").inner_text()).strip()
    await chosen.click()
    await expect(page.get_by_role("button", name=f"Model: {name}")).to_be_visible()
