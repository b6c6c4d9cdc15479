"""Talking to Claude in a real browser: live, kept, never doubled, never mixed up."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from clarvis_ui.server import Clarvis
from claudekeeper.demo.sample_image import phone_screenshot
from tests.e2e.conftest import OpenPage, session_row
from tests.support.scrolling import messages_region, scroll_position, scroll_up, wait_for_position
from tests.support.stage import (
    RestartableKeeper,
    allow_button,
    attention_card,
    message_field,
    prompt_texts,
    replies,
    send_prompt,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_conversation_is_live_is_kept_and_nothing_is_there_twice(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: the first answer")
    page = await open_page(clarvis.login_link(session))
    await expect(prompt_texts(page)).to_have_text(["say: the first answer"])
    await expect(replies(page)).to_have_text(["the first answer"])
    await send_prompt(page, "say: the second answer")
    await expect(prompt_texts(page)).to_have_text(
        ["say: the first answer", "say: the second answer"]
    )
    await expect(replies(page)).to_have_text(["the first answer", "the second answer"])
    await expect(message_field(page)).to_have_value("")

    # in the middle of a turn, again and again, and in another tab
    await send_prompt(page, "run: touch kept.txt")
    prompts = ["say: the first answer", "say: the second answer", "run: touch kept.txt"]
    await expect(allow_button(page)).to_be_visible()
    await page.reload()
    await expect(allow_button(page)).to_be_visible()
    await expect(prompt_texts(page)).to_have_text(prompts)
    another = await page.context.new_page()
    await another.goto(f"{clarvis.url}/#session={session}")
    await expect(prompt_texts(another)).to_have_text(prompts)
    await allow_button(another).click()
    for each in (page, another):
        await expect(replies(each)).to_have_text(
            [
                "the first answer",
                "the second answer",
                "touch kept.txt ran without a word, so it worked.",
            ]
        )
        await expect(prompt_texts(each)).to_have_text(prompts)
    assert stage.file_exists("kept.txt")

    await page.reload()
    await expect(prompt_texts(page)).to_have_text(prompts)
    await expect(replies(page)).to_have_count(3)
    await expect(session_row(page, "say: the first answer")).to_have_count(1)


async def test_messages_wait_in_line_and_are_taken_back_and_esc_stops(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    # the question holds the turn for as long as the test needs
    session = await stage.start_session("run: touch never.txt")
    page = await open_page(clarvis.login_link(session))
    await expect(allow_button(page)).to_be_visible()
    waiting = page.get_by_role("list", name="Waiting in line").get_by_role("listitem")
    await send_prompt(page, "say: this one comes")
    await send_prompt(page, "say: this one does not")
    await expect(waiting).to_have_text(
        ["queued: say: this one comes", "queued: say: this one does not"]
    )
    await page.get_by_role("button", name="Take back: say: this one does not").click()
    await expect(waiting).to_have_text(["queued: say: this one comes"])
    await expect(message_field(page)).to_have_value("say: this one does not")

    await page.reload()
    await expect(waiting).to_have_text(["queued: say: this one comes"])
    await expect(message_field(page)).to_have_value("say: this one does not")
    await expect(allow_button(page)).to_be_visible()
    # Esc closes what is nearest: here the field for the name
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    await page.get_by_role("button", name="Rename").click()
    await page.get_by_label("Name of this session").press("Escape")
    await expect(page.get_by_label("Name of this session")).to_have_count(0)
    assert not any(url.endswith("/interrupt") for url in requests)
    await message_field(page).press("Escape")
    await expect(attention_card(page)).to_have_count(0)
    await expect(waiting).to_have_count(0)
    # what waited is not said until somebody says so
    held = page.get_by_role("region", name="Held messages")
    await expect(held).to_contain_text("1 message held.")
    await held.get_by_role("button", name="Send").click()
    await expect(replies(page)).to_have_text(["this one comes"])
    await expect(held).to_have_count(0)
    await expect(prompt_texts(page)).to_have_text(["run: touch never.txt", "say: this one comes"])
    await expect(message_field(page)).to_have_value("say: this one does not")
    assert not stage.file_exists("never.txt")


async def test_each_session_has_its_own_words_however_fast_one_switches(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    one = await stage.start_session("say: answer of the one")
    other = await stage.start_session("say: answer of the other")
    page = await open_page(clarvis.login_link(one))
    await expect(replies(page)).to_have_text(["answer of the one"])
    await message_field(page).fill("a draft for the one")
    await session_row(page, "say: answer of the other").click()
    await expect(replies(page)).to_have_text(["answer of the other"])
    await expect(message_field(page)).to_have_value("")
    for turn in range(20):
        await page.evaluate("id => { location.hash = `#session=${id}` }", [one, other][turn % 2])
    await page.evaluate("id => { location.hash = `#session=${id}` }", one)
    await expect(prompt_texts(page)).to_have_text(["say: answer of the one"])
    await expect(replies(page)).to_have_text(["answer of the one"])
    await expect(message_field(page)).to_have_value("a draft for the one")
    await page.reload()
    await expect(replies(page)).to_have_text(["answer of the one"])
    await expect(message_field(page)).to_have_value("a draft for the one")


async def test_the_address_brings_back_the_same_place_and_leads_to_a_message(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    prompts = [f"say: answer {number}. {'More words of it. ' * 150}" for number in range(4)]
    session = await stage.start_session(prompts[0])
    page = await open_page(clarvis.login_link(session))
    # only what is near is drawn, so the last one tells
    for number, text in enumerate(prompts[1:]):
        await expect(replies(page).last).to_contain_text(f"answer {number}.")
        await send_prompt(page, text)
    await expect(replies(page).last).to_contain_text("answer 3.")
    await expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    await scroll_up(page, 900)
    position = await scroll_position(page)
    await page.reload()
    await wait_for_position(page, position)
    another = await page.context.new_page()
    await another.goto(page.url)
    await wait_for_position(another, position)

    # a link leads to its message, and whoever goes on from there comes back to where he went
    first = (await stage.request("GET", f"/sessions/{session}"))["messages"][0]["uuid"]
    await another.goto(f"{clarvis.url}/#session={session}&message={first}")
    await expect(prompt_texts(another).first).to_be_in_viewport()
    await another.reload()
    await expect(prompt_texts(another).first).to_be_in_viewport()
    await messages_region(another).hover()
    await another.mouse.wheel(0, 1200)
    await expect(another).to_have_url(f"{clarvis.url}/#session={session}")
    position = await scroll_position(another)
    await another.reload()
    await wait_for_position(another, position)


async def test_the_field_knows_commands_what_was_said_and_images(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: hello")
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_text(["hello"])
    await message_field(page).press("ArrowUp")
    await expect(message_field(page)).to_have_value("say: hello")
    await message_field(page).press("ArrowDown")
    await expect(message_field(page)).to_have_value("")

    await message_field(page).press_sequentially("/comp")
    option = page.get_by_role("option").first
    await expect(option).to_contain_text("/compact")
    await message_field(page).press("Tab")
    await expect(message_field(page)).to_have_value("/compact ")
    await message_field(page).fill("")

    await page.locator("input[type=file]").set_input_files(
        {"name": "dot.png", "mimeType": "image/png", "buffer": phone_screenshot()}
    )
    await expect(page.get_by_role("list", name="Images").get_by_role("img")).to_be_visible()
    await send_prompt(page, "what is this?")
    await expect(replies(page).last).to_contain_text("I see an image: PNG, 180×320 pixels")
    await expect(page.get_by_role("list", name="Images")).to_have_count(0)


async def test_retries_compactions_and_interruptions_are_quiet_lines(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("error: 529 twice")
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_text(["The API is back: attempt 3 went through."])
    failed = messages_region(page).get_by_text("API error: 529 Overloaded · tried again 2 times")
    await expect(failed).to_be_visible()
    await send_prompt(page, "/compact")
    await expect(messages_region(page).get_by_role("button", name="Compacted here")).to_be_visible()
    await send_prompt(page, "slow: 600")
    await expect(page.locator(".reply[aria-busy=true]")).to_contain_text("The queue keeps")
    await page.keyboard.press("Escape")
    await expect(messages_region(page).get_by_text("Interrupted", exact=True)).to_be_visible()
    await page.reload()
    for line in (failed, messages_region(page).get_by_text("Interrupted", exact=True)):
        await expect(line).to_have_count(1)


async def test_a_conversation_is_saved_as_markdown_from_its_beginning(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: the **first** word")
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_count(1)
    await send_prompt(page, "run: echo done")
    await expect(replies(page)).to_have_count(2)
    await page.get_by_role("button", name="Details").click()
    async with page.expect_download() as saving:
        await page.get_by_role("button", name="Save as Markdown").click()
    saved = await saving.value
    assert saved.suggested_filename == "say-the-first-word.md"
    text = (await saved.path()).read_text()
    assert text.startswith("# say: the **first** word\n\n**You**")
    assert "> say: the **first** word\n\nthe **first** word\n" in text
    assert "- Ran `echo done`: " in text
