"""Stopping what runs, with the real CLI: to say something instead, or to hold what waits."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Locator, Page, Request, Route, expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import PHONE, OpenPage
from tests.e2e.program.session.test_new_session import hand_over
from tests.support.stage import (
    RestartableKeeper,
    allow_button,
    attention_card,
    message_field,
    prompt_texts,
    replies,
    save_screenshot,
    send_prompt,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


def held(page: Page) -> Locator:
    return page.get_by_role("region", name="Held messages")


def waiting(page: Page) -> Locator:
    return page.get_by_role("list", name="Waiting in line").get_by_role("listitem")


def now(page: Page) -> Locator:
    return page.get_by_role("button", name="Stop and say this")


async def held_two(page: Page, stage: RestartableKeeper, clarvis: Clarvis) -> str:
    """A session whose turn was stopped while two messages waited."""
    session = await stage.start_session("run: touch never.txt")
    await page.goto(f"{clarvis.url}/#session={session}")
    await expect(allow_button(page)).to_be_visible()
    for words in ("say: one", "say: two"):
        await send_prompt(page, words)
    await expect(waiting(page)).to_have_text(["queued: say: one", "queued: say: two"])
    await message_field(page).press("Escape")
    await expect(held(page)).to_contain_text("2 messages held.")
    await expect(held(page).get_by_role("listitem")).to_have_text(["say: one", "say: two"])
    await expect(attention_card(page)).to_have_count(0)
    return session


async def test_stop_and_say_this_is_one_request_and_is_said_next(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("run: touch never.txt")
    page = await open_page(clarvis.login_link(session))
    await expect(allow_button(page)).to_be_visible()
    await send_prompt(page, "say: waited")
    await expect(waiting(page)).to_have_text(["queued: say: waited"])
    # there is nothing yet to say
    await expect(now(page)).to_have_count(0)
    await message_field(page).fill("say: instead")
    await expect(now(page)).to_have_text("Stop and say this Ctrl Enter")
    await save_screenshot(page, "stop-and-say")
    # a key means one thing at a time: here it sends words that mean a button
    await message_field(page).fill("give me a quick summary")
    await expect(page.get_by_role("button", name="Ctrl Enter")).to_have_text(
        "Ctrl Enter Send to Claude"
    )
    await expect(now(page)).to_have_text("Stop and say this")
    await message_field(page).fill("say: instead")
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request))
    await message_field(page).press("Control+Enter")
    await expect(message_field(page)).to_have_value("")
    prompts = ["run: touch never.txt", "say: instead", "say: waited"]
    await expect(prompt_texts(page)).to_have_text(prompts)
    await expect(replies(page)).to_have_text(["instead", "waited"])
    posts = [each.url.rsplit("/", 1)[-1] for each in requests if each.method == "POST"]
    assert posts == ["send"]
    assert not stage.file_exists("never.txt")
    await page.reload()
    await expect(prompt_texts(page)).to_have_text(prompts)
    # where nothing runs, the same key only sends
    await message_field(page).fill("say: later")
    await expect(now(page)).to_have_count(0)
    await message_field(page).press("Control+Enter")
    await expect(replies(page)).to_have_text(["instead", "waited", "later"])


async def test_it_is_a_button_for_a_thumb(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("run: touch never.txt")
    page = await open_page(clarvis.login_link(session), PHONE, has_touch=True, is_mobile=True)
    await expect(allow_button(page)).to_be_visible()
    await message_field(page).fill("say: instead")
    box = await now(page).bounding_box()
    assert box is not None
    assert box["height"] >= 44
    assert box["width"] >= 44
    # on the smallest phone Send stays beside the switches
    await page.set_viewport_size({"width": 320, "height": 568})
    switches = await page.locator(".composer-switches").bounding_box()
    send = await page.locator(".composer").get_by_role("button", name="Send").bounding_box()
    assert switches is not None
    assert send is not None
    assert abs(send["y"] - switches["y"]) < 1
    assert send["x"] >= switches["x"] + switches["width"]
    await now(page).tap()
    await expect(replies(page)).to_have_text(["instead"])
    await expect(prompt_texts(page)).to_have_text(["run: touch never.txt", "say: instead"])


async def test_what_could_not_be_said_says_so_and_still_stops_when_it_is_repeated(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("run: touch never.txt")
    page = await open_page(clarvis.login_link(session))
    await expect(allow_button(page)).to_be_visible()
    await page.route("**/api/send", lambda route: route.abort())
    await message_field(page).fill("say: instead")
    await now(page).click()
    failed = page.locator(".you[data-state=failed]")
    await expect(failed).to_contain_text("say: instead")
    await page.reload()
    await expect(failed).to_contain_text("say: instead")
    await expect(allow_button(page)).to_be_visible()
    await page.unroute("**/api/send")
    await failed.get_by_role("button", name="Send again").click()
    await expect(replies(page)).to_have_text(["instead"])
    await expect(failed).to_have_count(0)
    assert not stage.file_exists("never.txt")


async def test_what_waits_is_held_after_esc_and_sent_when_somebody_says_so(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    page = await open_page()
    session = await held_two(page, stage, clarvis)
    await save_screenshot(page, "held")
    await expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    another = await page.context.new_page()
    await another.goto(f"{clarvis.url}/#session={session}")
    await expect(held(another)).to_contain_text("2 messages held.")
    # a new message goes at once, and these stay
    await send_prompt(page, "say: new")
    await expect(replies(page)).to_have_text(["new"])
    await stage.kill()
    await stage.start()
    await page.reload()
    await expect(held(page)).to_contain_text("2 messages held.")
    await expect(page.get_by_role("region", name="Interrupted")).to_have_count(0)
    await held(another).get_by_role("button", name="Send").click()
    for each in (page, another):
        await expect(replies(each)).to_have_text(["new", "one", "two"])
        await expect(held(each)).to_have_count(0)
    assert not stage.file_exists("never.txt")


async def test_what_was_on_its_way_when_somebody_stopped_is_held_too(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("run: touch never.txt")
    page = await open_page(clarvis.login_link(session))
    await expect(allow_button(page)).to_be_visible()
    arrives = asyncio.Event()

    async def slowly(route: Route) -> None:
        await arrives.wait()
        await route.continue_()

    await page.route("**/api/send", slowly)
    await send_prompt(page, "say: one")
    await expect(waiting(page)).to_have_text(["queued: say: one"])
    async with page.expect_response("**/interrupt"):
        await message_field(page).press("Escape")
        arrives.set()
    await expect(held(page)).to_contain_text("1 message held.")
    await expect(attention_card(page)).to_have_count(0)
    await expect(prompt_texts(page)).to_have_text(["run: touch never.txt"])


async def test_held_messages_go_back_into_the_field_behind_what_stands_there(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    page = await open_page()
    session = await stage.start_session("run: touch never.txt")
    await page.goto(f"{clarvis.url}/#session={session}")
    await expect(allow_button(page)).to_be_visible()
    await message_field(page).fill("say: one")
    await hand_over(page, "paste")
    await expect(page.locator(".pictures li")).to_have_count(1)
    await message_field(page).press("Enter")
    for words in ("say: two", "say: three"):
        await send_prompt(page, words)
    await expect(waiting(page)).to_have_count(3)
    await page.get_by_role("button", name="Stop").click()
    await expect(held(page)).to_contain_text("3 messages held.")
    await message_field(page).fill("say: typed")
    # one of them, then the others, in another browser: it knows of images only how many they are
    await held(page).get_by_role("button", name="Edit: say: two").click()
    await expect(message_field(page)).to_have_value("say: typed\n\nsay: two")
    await expect(held(page)).to_contain_text("2 messages held.")
    other = await open_page(clarvis.login_link(session))
    await expect(held(other)).to_contain_text("say: one (and an image)")
    await held(other).get_by_role("button", name="Edit", exact=True).click()
    await expect(message_field(other)).to_have_value("say: one\n\nsay: three")
    await expect(other.locator(".pictures li")).to_have_count(1)
    await expect(held(page)).to_have_count(0)
    # what the other browser took is not said to have failed here
    await page.reload()
    await expect(message_field(page)).to_have_value("say: typed\n\nsay: two")
    await expect(prompt_texts(page)).to_have_text(["run: touch never.txt"])
    assert (await stage.request("GET", f"/sessions/{session}/queue"))["messages"] == []


async def test_who_discards_held_messages_is_asked_once(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    page = await open_page()
    await held_two(page, stage, clarvis)
    await held(page).get_by_role("button", name="Discard").click()
    await expect(held(page)).to_contain_text("Discard 2 messages?")
    await expect(held(page).get_by_role("listitem")).to_have_text(["say: one", "say: two"])
    await save_screenshot(page, "discard")
    await expect(held(page).get_by_role("button", name="Keep")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(held(page)).to_contain_text("2 messages held.")
    await held(page).get_by_role("button", name="Edit: say: one").click()
    await expect(held(page)).to_contain_text("1 message held.")
    await held(page).get_by_role("button", name="Discard").click()
    await expect(held(page)).to_contain_text("Discard 1 message?")
    await held(page).get_by_role("button", name="Discard").click()
    await expect(held(page)).to_have_count(0)
    await expect(message_field(page)).to_be_focused()
    await page.reload()
    await expect(message_field(page)).to_have_value("say: one")
    await expect(prompt_texts(page)).to_have_text(["run: touch never.txt"])
    await expect(held(page)).to_have_count(0)


async def test_a_keeper_that_does_not_answer_takes_no_words(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    page = await open_page()
    session = await held_two(page, stage, clarvis)
    problem = page.locator(".session-problem")
    # the answer is lost, the message may be gone
    await page.route("**/api/sessions/*/queue/**", lambda route: route.abort())
    for button in ("Send", "Edit"):
        await held(page).get_by_role("button", name=button, exact=True).click()
        await expect(problem).to_contain_text("Clarvis does not answer.")
        await expect(held(page)).to_contain_text("2 messages held.")
    await expect(message_field(page)).to_have_value("say: one")
    await message_field(page).fill("")
    await held(page).get_by_role("button", name="Discard").click()
    await held(page).get_by_role("button", name="Discard").click()
    await expect(problem).to_contain_text("Clarvis does not answer.")
    await expect(held(page)).to_contain_text("2 messages held.")
    await page.unroute("**/api/sessions/*/queue/**")
    await held(page).get_by_role("button", name="Send").click()
    await expect(replies(page)).to_have_text(["one", "two"])
    assert (await stage.request("GET", f"/sessions/{session}/queue"))["messages"] == []


async def test_a_denial_that_stops_holds_what_waits(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("run: touch never.txt")
    page = await open_page(clarvis.login_link(session), PHONE)
    await expect(allow_button(page)).to_be_visible()
    await send_prompt(page, "say: one")
    # at once: the message may still be on its way
    await attention_card(page).get_by_role("button", name="Deny").click()
    await attention_card(page).get_by_role("button", name="Deny and stop").click()
    await expect(held(page)).to_contain_text("1 message held.")
    await expect(attention_card(page)).to_have_count(0)
    await expect(replies(page)).to_have_count(0)
    await held(page).get_by_role("button", name="Send").click()
    await expect(replies(page)).to_have_text(["one"])
