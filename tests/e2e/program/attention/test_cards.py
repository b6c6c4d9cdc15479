"""Answering Claude in a real browser: permissions, questions and plans, on every screen."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Page, expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import PHONE, OpenPage
from tests.support.page_measures import small_targets
from tests.support.stage import (
    RestartableKeeper,
    allow_button,
    attention_card,
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
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15"


async def press(page: Page, *keys: str) -> None:
    """Keys that are meant for the card: nobody is typing."""
    await page.evaluate("document.activeElement?.blur()")
    for key in keys:
        await page.keyboard.press(key)


async def test_what_waits_is_seen_everywhere_and_a_key_allows_it(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    page = await open_page()
    await stage.start_session("run: touch allowed.txt")
    await expect(page).to_have_title("(1) Clarvis")
    # the icon has the number too
    icon = page.locator("link[rel=icon]")
    await expect(icon).to_have_attribute("href", re.compile("^data:image/svg.*%3E1%3C%2Ftext"))
    await page.get_by_role("link", name="1 waiting for you").click()
    await expect(attention_card(page)).to_contain_text("touch allowed.txt")
    await page.locator(".inbox-where a").click()
    await expect(attention_card(page).get_by_role("heading")).to_have_text("Run this command?")
    await expect(allow_button(page)).to_be_enabled()
    # said once, and nothing counts the seconds of a person who thinks
    log = page.get_by_role("region", name="Conversation")
    await expect(log.get_by_role("button", name="Wants to run touch")).to_contain_text(
        "waits for you"
    )
    await expect(log.locator(".turn")).to_have_count(0)
    await press(page, "a")
    await expect(replies(page)).to_have_text("touch allowed.txt ran without a word, so it worked.")
    await expect(page).to_have_title(re.compile(r"^(?!\()"))
    await expect(icon).to_have_attribute("href", "/favicon.svg")
    assert stage.file_exists("allowed.txt")


async def test_from_anywhere_two_keys_allow_what_waits(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    reading = await stage.start_session("say: something to read")
    page = await open_page(clarvis.login_link(reading))
    await expect(replies(page)).to_have_text(["something to read"])
    await stage.start_session("run: touch by-two-keys.txt")
    await expect(page.get_by_role("link", name="1 waiting for you")).to_be_visible()
    await press(page, "i")
    await expect(allow_button(page)).to_be_enabled()
    await press(page, "a")
    await expect(page.get_by_text("Allowed by you")).to_be_visible()


async def test_on_a_phone_what_waits_elsewhere_is_seen_over_a_conversation(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    reading = await stage.start_session("say: something to read")
    page = await open_page(clarvis.login_link(reading), PHONE, has_touch=True)
    await expect(replies(page)).to_have_text(["something to read"])
    waiting = page.get_by_role("main").get_by_role("link", name="1 waiting for you")
    await expect(waiting).to_have_count(0)
    asking = await stage.start_session("run: touch by-two-taps.txt")
    await expect(waiting).to_be_visible()
    assert await small_targets(page) == []
    # in words too, for whoever does not see it
    spoken = page.locator("[aria-live]").filter(has_text="1 waiting for you")
    await expect(spoken).to_have_css("visibility", "visible")
    # the session that asks has the question itself; the pages about it have not
    await page.evaluate(f"location.hash = '#session={asking}'")
    await expect(allow_button(page)).to_be_enabled()
    await expect(waiting).to_have_count(0)
    await page.evaluate(f"location.hash = '#session={asking}&branches'")
    await waiting.tap()
    await allow_button(page).tap()
    await expect(page.get_by_text("Allowed by you")).to_be_visible()
    await expect(waiting).to_have_count(0)


async def test_a_denial_has_a_reason_and_an_input_can_be_changed(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("run: touch denied.txt")
    page = await open_page(clarvis.login_link(session))
    await expect(allow_button(page)).to_be_enabled()
    await press(page, "d")
    await expect(attention_card(page).get_by_label("Why not?")).to_be_focused()
    await page.keyboard.type("not in this folder")
    await page.keyboard.press("Enter")
    await expect(replies(page).last).to_contain_text("not in this folder")
    denied = page.get_by_role("button", name="Wanted to run touch denied.txt denied")
    await denied.click()
    await expect(page.locator(".tool-prose")).to_have_text("not in this folder")

    await send_prompt(page, "run: touch first-idea.txt")
    await expect(allow_button(page)).to_be_enabled()
    await attention_card(page).get_by_role("button", name="Change…").click()
    await attention_card(page).get_by_label("Do this instead").fill("touch better-idea.txt")
    await attention_card(page).get_by_role("button", name="Allow as changed").click()
    await expect(replies(page)).to_have_count(2)
    assert stage.file_exists("better-idea.txt")
    assert not stage.file_exists("first-idea.txt")
    assert not stage.file_exists("denied.txt")


async def test_always_says_its_scope_and_holds(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("write: one.txt: hello")
    page = await open_page(clarvis.login_link(session))
    # each has its number, which is its key
    always = attention_card(page).get_by_role("button", name="Allow all edits in this session 1")
    await expect(always).to_be_enabled()
    await press(page, "1")
    await expect(replies(page)).to_have_text(["I wrote one.txt."])
    await send_prompt(page, "write: two.txt: hello")
    await expect(replies(page)).to_have_text(["I wrote one.txt.", "I wrote two.txt."])
    await expect(
        page.get_by_role("button", name="Permission mode: accept edits").first
    ).to_be_visible()


async def test_questions_are_forms_for_the_hand_and_for_the_keys(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("ask: Which database? Postgres | SQLite - no server")
    page = await open_page(clarvis.login_link(session))
    await expect(attention_card(page)).to_contain_text("Which database?")
    await press(page, "2")
    await expect(attention_card(page).get_by_role("radio", name="SQLite")).to_be_checked()
    await press(page, "Enter")
    await expect(replies(page)).to_contain_text(["You chose “SQLite”"])

    await send_prompt(page, "ask many: Which checks? Lint | Types | Tests")
    await expect(attention_card(page)).to_contain_text("Which checks?")
    answer = attention_card(page).get_by_role("button", name="Answer", exact=False).first
    await expect(answer).to_be_disabled()
    await attention_card(page).get_by_role("checkbox", name="Lint").check()
    await attention_card(page).get_by_role("checkbox", name="Tests").check()
    await attention_card(page).get_by_placeholder("Something else…").fill("Spelling")
    await answer.click()
    await expect(replies(page).last).to_contain_text("You chose “Lint, Tests, Spelling”")


async def test_several_questions_are_one_form_that_keys_lead_through(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session(FORM)
    page = await open_page(clarvis.login_link(session))
    await expect(
        attention_card(page).get_by_role("heading", name="2 questions for you")
    ).to_be_visible()
    answer = attention_card(page).get_by_role("button", name="Answer", exact=False).first
    await press(page, "2")
    await expect(attention_card(page).get_by_role("radio", name="SQLite")).to_be_checked()
    # half of it is no answer
    await expect(answer).to_be_disabled()
    # the numbers are now those of the next one
    await press(page, "1", "2")
    for name in ("Lint", "Types"):
        await expect(attention_card(page).get_by_role("checkbox", name=name)).to_be_checked()
    await attention_card(page).get_by_role("radio", name="Another answer").check()
    await attention_card(page).get_by_placeholder("Something else…").first.fill("a text file")
    await answer.click()
    await expect(replies(page).last).to_contain_text("Which database? You chose “a text file”")
    await expect(replies(page).last).to_contain_text("Which checks? You chose “Lint, Types”")


async def test_who_looks_elsewhere_is_told_what_is_wanted(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    page = await open_page(permissions=["notifications"])
    # the browser shows them where no test can look, and a window of its own always has the focus
    await page.add_init_script(
        """
        window.told = [];
        document.hasFocus = () => false;
        class Told extends EventTarget {
          static permission = 'granted';
          static requestPermission = async () => 'granted';
          constructor(title, { body }) {
            super();
            this.words = [title, body];
            window.told.push(this);
          }
          close() { this.closed = true; }
        }
        window.Notification = Told;
        """
    )
    await page.goto(f"{clarvis.url}/#inbox")
    await page.reload()
    await page.get_by_role("button", name="Notify me").click()
    await expect(page.get_by_role("button", name="Notifications are on")).to_be_visible()
    session = await stage.start_session("run: touch told.txt")
    await page.wait_for_function("() => window.told.length === 1")
    assert await page.evaluate("window.told[0].words") == [
        "run: touch told.txt",
        "Claude wants to run touch told.txt",
    ]
    await page.evaluate("window.told[0].onclick()")
    await expect(page).to_have_url(f"{clarvis.url}/#session={session}")
    # one that was answered says nothing any more
    await stage.start_session("run: touch told-too.txt")
    await page.wait_for_function("() => window.told.length === 2")
    for question in (await stage.request("GET", "/attention"))["attention"]:
        answer = {"attentionId": question["id"], "decision": "deny"}
        await stage.request("POST", "/resolve", answer)
    await page.wait_for_function("() => window.told[1].closed")


async def test_a_plan_is_sent_back_and_then_approved(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("plan: read the code; change it", permissionMode="plan")
    page = await open_page(clarvis.login_link(session))
    await expect(
        page.get_by_role("button", name="Permission mode: plan first").first
    ).to_be_visible()
    await expect(attention_card(page).get_by_role("listitem")).to_have_text(
        ["read the code", "change it"]
    )
    await attention_card(page).get_by_role("button", name="Send back…").click()
    await attention_card(page).get_by_label("What should be different?").fill("test it as well")
    await attention_card(page).get_by_role("button", name="Send back").click()
    await expect(replies(page).last).to_contain_text("test it as well")

    await send_prompt(page, "plan: read the code; change it; test it")
    await expect(attention_card(page).get_by_role("listitem")).to_have_count(3)
    await attention_card(page).get_by_role("button", name="Approve, ask before edits").click()
    await expect(replies(page).last).to_contain_text("The plan is approved")


async def test_answered_elsewhere_the_card_settles_and_says_by_whom(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("run: touch from-the-phone.txt")
    page = await open_page(clarvis.login_link(session))
    phone = await open_page(
        clarvis.login_link(session),
        viewport=PHONE,
        has_touch=True,
        is_mobile=True,
        user_agent=IPHONE,
    )
    await expect(allow_button(page)).to_be_visible()
    # the answers are in reach of the thumb, above the field and inside of the screen
    await expect(attention_card(phone).get_by_role("button", name="Deny…")).to_be_in_viewport(
        ratio=1
    )
    await expect(allow_button(phone)).to_be_in_viewport(ratio=1)
    actions = await attention_card(phone).locator(".card-actions").bounding_box()
    composer = await phone.locator(".composer").bounding_box()
    assert actions is not None
    assert composer is not None
    assert actions["y"] + actions["height"] <= composer["y"]
    assert composer["y"] + composer["height"] <= PHONE["height"]
    assert await phone.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    await allow_button(phone).tap()
    await expect(page.locator(".settled")).to_contain_text("Allowed by Clarvis on iPhone")
    await expect(attention_card(page)).to_have_count(0)
    await expect(replies(page)).to_have_count(1)


async def test_a_double_click_answers_only_what_it_was_meant_for(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("run: touch meant.txt && run: touch not-meant.txt")
    page = await open_page(clarvis.login_link(session))
    await expect(attention_card(page)).to_contain_text("touch meant.txt")
    await expect(allow_button(page)).to_be_enabled()
    await allow_button(page).dblclick()
    await expect(attention_card(page)).to_contain_text("touch not-meant.txt")
    await expect(allow_button(page)).to_be_enabled()
    assert not stage.file_exists("not-meant.txt")
    await attention_card(page).get_by_role("button", name="Deny…").click()
    await attention_card(page).get_by_role("button", name="Deny", exact=True).click()
    await expect(attention_card(page)).to_have_count(0)
    await expect(replies(page)).to_have_count(1)
    assert stage.file_exists("meant.txt")
    assert not stage.file_exists("not-meant.txt")
