"""Answers half given, in a real browser: kept over everything, and never given by accident."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import PHONE, OpenPage
from tests.support.stage import (
    RestartableKeeper,
    allow_button,
    attention_card,
    message_field,
    replies,
    send_prompt,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")
FORM = """call: AskUserQuestion {"questions": [
 {"question": "Which database?", "header": "Database", "multiSelect": false, "options": [
  {"label": "Postgres", "description": "a server"}, {"label": "SQLite", "description": "a file"}]},
 {"question": "Which checks?", "header": "Checks", "multiSelect": true, "options": [
  {"label": "Lint", "description": "fast"}, {"label": "Types", "description": "slow"}]}
]}""".replace("\n", "")


def interrupts(page: Page) -> list[str]:
    """The addresses at which this page asked for a stop, as they come."""
    requests: list[str] = []
    page.on(
        "request",
        lambda request: requests.append(request.url) if "/interrupt" in request.url else None,
    )
    return requests


async def test_a_form_half_filled_survives_a_refresh_and_a_look_elsewhere(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    other = await stage.start_session("say: another session")
    session = await stage.start_session(FORM)
    page = await open_page(clarvis.login_link(session))
    typed = attention_card(page).get_by_placeholder("Something else…").first
    await typed.fill("a text file")
    await attention_card(page).get_by_role("checkbox", name="Lint").check()
    await page.reload()
    await expect(typed).to_have_value("a text file")
    await page.goto(f"{clarvis.url}/#session={other}")
    await expect(replies(page)).to_have_text(["another session"])
    await page.goto(f"{clarvis.url}/#session={session}")
    await expect(attention_card(page).get_by_role("checkbox", name="Lint")).to_be_checked()

    # Esc leaves the field: the question stays, and Claude is not stopped
    stops = interrupts(page)
    await typed.press("Escape")
    await expect(typed).not_to_be_focused()
    await attention_card(page).get_by_role("button", name="Answer", exact=False).first.click()
    await expect(replies(page).last).to_contain_text("You chose “a text file”")
    assert stops == []
    # what was answered leaves nothing behind
    drafts_script = "Object.keys(localStorage).filter((key) => key.includes('answer.'))"
    assert await page.evaluate(drafts_script) == []


async def test_a_form_half_filled_is_there_when_the_same_is_asked_by_the_next_keeper(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session(FORM)
    page = await open_page(clarvis.login_link(session))
    typed = attention_card(page).get_by_placeholder("Something else…").first
    await typed.fill("a text file")
    await attention_card(page).get_by_role("checkbox", name="Lint").check()
    await stage.kill()
    await stage.start()
    await expect(attention_card(page)).to_have_count(0)
    await send_prompt(page, FORM)
    await expect(typed).to_have_value("a text file")
    await expect(attention_card(page).get_by_role("checkbox", name="Lint")).to_be_checked()
    # nothing is given by itself
    questions = (await stage.request("GET", "/attention"))["attention"]
    assert session in [each["sessionId"] for each in questions]
    await attention_card(page).get_by_role("button", name="Answer", exact=False).first.click()
    await expect(replies(page).last).to_contain_text("You chose “a text file”")


async def test_a_reason_half_typed_survives_and_has_lines_on_a_phone(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("run: touch no.txt")
    phone = await open_page(
        clarvis.login_link(session), viewport=PHONE, has_touch=True, is_mobile=True
    )
    await expect(allow_button(phone)).to_be_enabled()
    await attention_card(phone).get_by_role("button", name="Deny…").tap()
    reason = attention_card(phone).get_by_label("Why not?")
    await expect(reason).to_be_focused()
    await phone.keyboard.type("Not here.")
    # the keyboard of a phone has no other key for a new line
    await phone.keyboard.press("Enter")
    await phone.keyboard.type("In the other folder.")
    await expect(reason).to_have_value("Not here.\nIn the other folder.")
    await phone.reload()
    await expect(reason).to_have_value("Not here.\nIn the other folder.")
    await attention_card(phone).get_by_role("button", name="Deny", exact=True).tap()
    await expect(replies(phone)).to_contain_text("Not here. In the other folder.")
    assert not stage.file_exists("no.txt")


async def test_a_changed_input_half_typed_survives(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("run: touch first.txt")
    page = await open_page(clarvis.login_link(session))
    await expect(allow_button(page)).to_be_enabled()
    await attention_card(page).get_by_role("button", name="Change…").click()
    await attention_card(page).get_by_label("Do this instead").fill("touch second.txt")
    await page.reload()
    await expect(attention_card(page).get_by_label("Do this instead")).to_have_value(
        "touch second.txt"
    )
    await attention_card(page).get_by_role("button", name="Allow as changed").click()
    await expect(replies(page)).to_have_count(1)
    assert stage.file_exists("second.txt")
    assert not stage.file_exists("first.txt")


async def test_a_key_pressed_twice_answers_only_the_first_of_the_inbox(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    await stage.start_session("run: touch inbox-one.txt")
    page = await open_page()
    await page.goto(f"{clarvis.url}/#inbox")
    await expect(attention_card(page)).to_have_count(1)
    second = await stage.start_session("run: touch inbox-two.txt")
    await expect(attention_card(page)).to_have_count(2)
    await expect(allow_button(page).last).to_be_enabled()
    # whose keys they are is seen
    await expect(attention_card(page).first.locator("kbd").first).to_be_visible()
    await expect(attention_card(page).last.locator("kbd").first).to_be_hidden()
    # the second press comes right after the first card has gone
    await page.evaluate(
        """() => new Promise((done) => {
          const press = () => document.body.dispatchEvent(
            new KeyboardEvent('keydown', { key: 'a', bubbles: true, cancelable: true }));
          new MutationObserver((_, looking) => {
            if (document.querySelectorAll('.card').length > 1) return;
            looking.disconnect();
            press();
            requestAnimationFrame(() => { press(); done(); });
          }).observe(document.body, { subtree: true, childList: true });
          press();
        })"""
    )
    await expect(attention_card(page)).to_have_count(1)
    await expect(attention_card(page)).to_contain_text("touch inbox-two.txt")
    await expect(allow_button(page)).to_be_enabled()
    (open_,) = (await stage.request("GET", "/attention"))["attention"]
    assert open_["sessionId"] == second
    await allow_button(page).click()
    await expect(attention_card(page)).to_have_count(0)


async def test_keys_are_shown_where_they_count(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("run: touch typed.txt")
    page = await open_page(clarvis.login_link(session))
    key = attention_card(page).locator("kbd").first
    await expect(key).to_be_visible()
    await message_field(page).press("a")
    await expect(message_field(page)).to_have_value("a")
    await expect(key).to_be_hidden()
    # one step back, and they count
    await page.keyboard.press("Shift+Tab")
    await expect(key).to_be_visible()
    await page.keyboard.press("a")
    await expect(replies(page)).to_have_count(1)
    await expect(message_field(page)).to_have_value("a")


async def test_the_enter_that_ends_a_word_of_an_input_method_sends_nothing(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: hello")
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_text(["hello"])
    await message_field(page).fill("say: こんにちは")
    # as Safari tells it: after the word, and by the number alone
    await message_field(page).evaluate(
        """(field) => field.dispatchEvent(new KeyboardEvent(
          'keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }))"""
    )
    await expect(message_field(page)).to_have_value("say: こんにちは")
    await message_field(page).press("Enter")
    await expect(replies(page)).to_have_text(["hello", "こんにちは"])


async def test_above_the_keyboard_of_a_phone_a_reason_and_its_buttons_are_seen(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("write: long.txt: " + "\\n".join(map(str, range(80))))
    phone = await open_page(
        clarvis.login_link(session), viewport=PHONE, has_touch=True, is_mobile=True
    )
    # a keyboard that lies over the page, as on an iPhone: only the visual viewport knows of it
    await phone.add_init_script(
        """Object.defineProperty(window, 'visualViewport', { value: Object.assign(
          new EventTarget(), { height: 430, width: 390, scale: 1, offsetTop: 0 }) })"""
    )
    await phone.reload()
    await expect(allow_button(phone)).to_be_enabled()
    await expect(phone.locator(".composer")).to_be_visible()
    await attention_card(phone).get_by_role("button", name="Deny…").tap()
    for seen in (
        attention_card(phone).get_by_role("heading"),
        attention_card(phone).get_by_label("Why not?"),
        attention_card(phone).get_by_role("button", name="Deny", exact=True),
        attention_card(phone).get_by_role("button", name="Back"),
    ):
        box = await seen.bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 430
    await expect(phone.locator(".composer")).to_be_hidden()
    await attention_card(phone).get_by_role("button", name="Back").tap()
    await allow_button(phone).tap()
    await expect(replies(phone)).to_have_count(1)
    await expect(phone.locator(".composer")).to_be_visible()
