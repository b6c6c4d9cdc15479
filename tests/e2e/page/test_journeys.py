"""Journeys that are no one's favourite: the very many, the very long, the very small, no mouse."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import OpenPage, session_row, set_sessions
from tests.support.contract_messages import prompt, reply, tool_call
from tests.support.fake_keeper import FakeKeeper, question, session
from tests.support.page_measures import small_targets
from tests.support.scrolling import messages_region

pytestmark = pytest.mark.asyncio(loop_scope="module")

ONE = session(1)
SMALL_PHONE = {"width": 390, "height": 700}


async def at_one(open_page: OpenPage, clarvis: Clarvis, **more: Any) -> Page:
    return await open_page(clarvis.login_link(ONE["id"]), **more)


async def no_wider_than_the_window(page: Page) -> None:
    assert page.viewport_size is not None
    width = page.viewport_size["width"]
    # what is asked for, and not what a phone makes of it: that grows with what is too wide
    assert await page.evaluate("document.documentElement.scrollWidth") == width
    # what scrolls by itself, such as wide code, may hold wider things
    too_wide = await messages_region(page).evaluate(
        """log => {
          const frame = log.getBoundingClientRect();
          return [...log.querySelectorAll('*')]
            .filter((e) => !e.parentElement.closest('pre, .diff-lines, .output-all, .table'))
            .filter((e) => e.checkVisibility())
            .filter((e) => {
              const { left, right } = e.getBoundingClientRect();
              return right > frame.right || left < frame.left;
            })
            .map((e) => e.outerHTML.slice(0, 80));
        }"""
    )
    assert too_wide == []


async def test_a_turn_that_edits_sixty_files_is_one_line_that_unfolds(
    open_page: OpenPage, keeper: FakeKeeper, clarvis: Clarvis
) -> None:
    set_sessions(keeper, ONE)
    edits = [
        tool_call("Edit", {"file_path": f"/code/f{n}.py", "old_string": "a", "new_string": "b\nc"})
        for n in range(60)
    ]
    patch = "".join(
        f"diff --git a/g{n}.py b/g{n}.py\n--- a/g{n}.py\n+++ b/g{n}.py\n@@ -1 +1 @@\n-a\n+b\n"
        for n in range(60)
    )
    keeper.messages[ONE["id"]] = [
        prompt("rename it everywhere"),
        *(each for edit in edits for each in edit),
        *tool_call("Bash", {"command": "git diff"}, patch),
        reply("Done."),
    ]
    page = await at_one(open_page, clarvis)
    gathered = messages_region(page).get_by_role("button", name="Edited 60 files")
    await expect(gathered).to_contain_text("+120 −60")
    await gathered.click()
    await expect(
        messages_region(page).get_by_role("button", name="Edited /code/f59.py")
    ).to_be_attached()
    await messages_region(page).get_by_role("button", name="Ran git diff").click()
    files = messages_region(page).get_by_role("region", name="Changes to g")
    await expect(files).to_have_count(60)
    # names first, each with its own lines behind it
    await expect(files.locator(".diff-line")).to_have_count(0)
    await files.last.get_by_role("button").click()
    await expect(files.last.locator(".diff-line.added")).to_have_text(["+b"])
    # or all at once, those of the edits too
    both = messages_region(page).get_by_role("button", name="Unfold all")
    await both.last.click()
    await expect(files.locator(".diff-line.added")).to_have_count(60)
    await messages_region(page).get_by_role("button", name="Fold all", exact=True).click()
    await expect(files.locator(".diff-line")).to_have_count(0)
    await gathered.scroll_into_view_if_needed()
    await both.first.click()
    first = messages_region(page).get_by_role("region", name="Changes to /code/f0.py")
    await expect(first.locator(".diff-line.added")).to_have_text(["+b", "+c"])
    await expect(gathered).to_be_in_viewport()


async def test_long_titles_other_directions_and_long_output_stay_in_their_place(
    open_page: OpenPage, keeper: FakeKeeper, clarvis: Clarvis
) -> None:
    long = ("a title that does not end " * 12)[:300]
    hebrew = "כותרת בעברית"
    one = {**ONE, "title": long}
    set_sessions(keeper, one, session(2, title=hebrew))
    keeper.messages[ONE["id"]] = [
        prompt("שלום, what is this?"),
        reply("זה `login.py`.\n\n- שורה\n- line"),
        *tool_call("Bash", {"command": "seq 10000"}, "\n".join(map(str, range(10_000)))),
    ]
    page = await at_one(open_page, clarvis)
    await expect(page.get_by_role("heading", level=1)).to_have_text(long)
    await no_wider_than_the_window(page)
    title = session_row(page, hebrew).locator(".row-title")
    assert await title.evaluate("e => getComputedStyle(e).direction") == "rtl"
    for words in (".reply p", ".reply ul"):
        element = messages_region(page).locator(words).first
        assert await element.evaluate("e => getComputedStyle(e).direction") == "rtl"

    await messages_region(page).get_by_role("button", name="Ran seq 10000").click()
    output = messages_region(page).get_by_role("region", name="Output")
    await expect(output).to_contain_text("9999")
    assert len((await output.inner_text()).splitlines()) < 60
    await output.get_by_role("button", name="Show all 10,000 lines").click()
    await expect(output).to_contain_text("4999")
    await no_wider_than_the_window(page)
    await page.set_viewport_size(SMALL_PHONE)
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await no_wider_than_the_window(page)


async def test_typing_into_the_filter_of_five_thousand_keeps_up(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    set_sessions(
        keeper, *(session(number, workdir=f"/code/{number % 40}") for number in range(5000))
    )
    page = await open_page()
    await expect(page.locator(".tally")).to_have_text("5,000 sessions")
    await page.keyboard.press("/")
    # letter by letter, as fast as they come
    await page.keyboard.type("session number 4321")
    await expect(page.locator(".row-title")).to_have_text(["Session number 4321"])
    await expect(page.get_by_label("Filter sessions")).to_have_value("session number 4321")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Session number 4321")).to_be_visible()


async def test_two_hundred_questions_are_one_list_that_can_be_worked_through(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    set_sessions(keeper, *(session(number, state="waiting", attention=1) for number in range(200)))
    keeper.attention = [
        question(
            number,
            session(number),
            input={"command": f"deploy {number}"},
            raised=f"2025-10-01T09:{number // 60:02d}:{number % 60:02d}Z",
        )
        for number in range(200)
    ]
    page = await open_page()
    await expect(page).to_have_title("(200) Clarvis")
    await page.get_by_role("link", name="200 waiting for you").click()
    cards = page.locator(".card")
    await expect(cards.first).to_contain_text("deploy 0")
    for number in range(3):
        first = page.locator(f"[data-attention=question-{number}]")
        await expect(first.get_by_role("button", name="Allow", exact=False).first).to_be_enabled()
        await page.keyboard.press("a")
        await expect(first).to_have_count(0)
    await expect(page).to_have_title("(197) Clarvis")
    assert keeper.attention[0]["id"] == "question-3"


async def test_a_small_phone_with_its_keyboard_open_shows_what_is_typed(
    open_page: OpenPage, keeper: FakeKeeper, clarvis: Clarvis
) -> None:
    set_sessions(keeper, {**ONE, "state": "waiting", "attention": 1, "origin": "gateway"})
    keeper.messages[ONE["id"]] = [prompt("go on"), reply("words " * 400)]
    everything = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    wide = {"type": "addDirectories", "directories": ["/a/b"], "destination": "session"}
    command = "make deploy " * 60
    keeper.attention = [
        question(1, ONE, input={"command": command}, suggestions=[everything, wide, everything])
    ]
    page = await at_one(open_page, clarvis, viewport=SMALL_PHONE, has_touch=True, is_mobile=True)
    card = page.locator(".card")
    allow = card.get_by_role("button", name="Allow", exact=True)
    deny = card.get_by_role("button", name="Deny…")
    await expect(allow).to_be_in_viewport(ratio=1)
    await expect(deny).to_be_in_viewport(ratio=1)
    assert await small_targets(page) == []
    await page.get_by_label("Message", exact=True).tap()
    # the keyboard takes the lower part
    await page.set_viewport_size({"width": 390, "height": 400})
    await expect(page.get_by_label("Message", exact=True)).to_be_in_viewport(ratio=1)
    await expect(page.get_by_role("button", name="Send")).to_be_in_viewport(ratio=1)
    # and what is asked, with the answers: nobody allows what he cannot see
    await expect(card.locator(".card-evidence")).to_be_in_viewport(ratio=1)
    assert (await card.locator(".card-evidence").bounding_box() or {"height": 0})["height"] >= 64
    await expect(allow).to_be_in_viewport(ratio=1)
    await expect(deny).to_be_in_viewport(ratio=1)


async def tab_to(page: Page, target: Locator) -> None:
    """Presses Tab until the target has the focus; whatever has it on the way shows it."""
    for _ in range(40):
        await page.keyboard.press("Tab")
        if await target.evaluate("e => e === document.activeElement"):
            return
        is_shown = await page.evaluate(
            """() => {
              const style = getComputedStyle(document.activeElement);
              return document.activeElement === document.body || style.outlineStyle !== 'none';
            }"""
        )
        assert is_shown, await page.evaluate("document.activeElement.outerHTML")


async def test_without_a_mouse_and_for_a_reader_everything_has_its_name(
    open_page: OpenPage, keeper: FakeKeeper, clarvis: Clarvis
) -> None:
    set_sessions(keeper, {**ONE, "state": "waiting", "attention": 1}, session(2))
    keeper.messages[ONE["id"]] = [
        prompt("fix it"),
        reply("I will."),
        *tool_call("Bash", {"command": "npm test"}, "3 passed"),
    ]
    keeper.attention = [question(1, ONE)]
    page = await open_page(clarvis.login_link(ONE["id"]), reduced_motion="reduce")
    await expect(page.locator(".card")).to_be_visible()
    await expect(page.locator("body")).to_match_aria_snapshot(
        """
        - navigation "Sessions":
          - search:
            - searchbox "Filter sessions"
          - link "1 waiting for you"
          - region "payments-api":
            - heading /payments-api/ [level=2]
            - list
        - main:
          - heading "Session number 1" [level=1]
          - region "Conversation":
            - article "You":
              - paragraph: fix it
            - article "Claude":
              - paragraph: I will.
            - button "Ran npm test 3 passed"
          - region "Run this command?":
            - heading "Run this command?" [level=2]
            - button "Allow a"
            - button "Change…"
            - button "Deny… d"
          - textbox "Message"
        """
    )
    # by Tab alone to the list, into a session, to its field; whatever has the focus shows it
    await page.keyboard.press("/")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await expect(session_row(page, "Session number 1")).to_be_focused()
    await page.keyboard.press("Enter")
    await tab_to(page, page.get_by_label("Message", exact=True))
    await expect(page.get_by_label("Message", exact=True)).to_be_focused()
    moving = await page.evaluate(
        "document.getAnimations().filter(a => a.effect.getTiming().duration > 0).length"
    )
    assert moving == 0


async def test_keys_alone_lead_from_the_list_to_the_field_and_say_what_they_do(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    set_sessions(keeper, ONE, session(2))
    keeper.messages[ONE["id"]] = [prompt("first"), *(reply("words. " * 90) for _ in range(30))]
    page = await open_page()
    await expect(page.locator(".tally")).to_have_text("2 sessions")
    await page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    await expect(keys).to_contain_text("write a message")
    await page.keyboard.press("Escape")
    await expect(keys).to_have_count(0)
    await page.keyboard.press("/")
    await page.keyboard.type("number 1")
    await expect(page.locator(".tally")).to_have_text("1 of 2 sessions")
    await page.keyboard.press("Enter")
    await expect(messages_region(page).locator(".reply").last).to_be_in_viewport()
    # what is pressed next is meant for the conversation
    end = await messages_region(page).evaluate("log => log.scrollTop")
    await page.keyboard.press("PageUp")
    await page.wait_for_function(
        "end => document.querySelector('section.log').scrollTop < end - 300", arg=end
    )
    await page.keyboard.press("Home")
    await expect(messages_region(page).get_by_text("first", exact=True)).to_be_in_viewport()
    await page.keyboard.press("m")
    await page.keyboard.type("hm?")
    await expect(page.get_by_label("Message", exact=True)).to_have_value("hm?")
    await expect(keys).to_have_count(0)
