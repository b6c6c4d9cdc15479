"""The list of sessions in a real browser: whole, quick to the hand, and alive."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import OpenPage, session_row, set_sessions, trigger_refresh
from tests.support.fake_keeper import FakeKeeper, session

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_every_session_is_listed_by_project_newest_first(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    web = {"workdir": "/code/web", "project": "web"}
    set_sessions(keeper, session(1), session(2, **web), session(3), session(4, **web))
    page = await open_page()
    await expect(page.locator(".tally")).to_have_text("4 sessions")
    await expect(page.locator("h2 > :first-child")).to_have_text(["web", "payments-api"])
    await expect(page.locator(".row-title")).to_have_text(
        [f"Session number {number}" for number in (4, 2, 3, 1)]
    )


async def test_a_row_says_what_there_is_to_know(open_page: OpenPage, keeper: FakeKeeper) -> None:
    set_sessions(keeper, session(1, state="waiting", messageCount=1843), session(2))
    page = await open_page()
    await expect(session_row(page, "Session number 1")).to_have_text(
        "Session number 1" + "1 Oct 2025" + "waiting for you"
    )
    quiet = session_row(page, "Session number 2")
    await expect(quiet).to_have_text("Session number 2" + "1 Oct 2025" + "last words of 2")
    await expect(quiet).to_have_attribute(
        "title",
        "Session number 2\n/code/payments-api · main · 12 messages · $0.42 · "
        "1 October 2025 at 00:02",
    )


async def test_the_list_can_be_in_the_order_of_time_and_stays_so(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    web = {"workdir": "/code/web", "project": "web"}
    set_sessions(keeper, session(1), session(2, **web), session(3), session(4, **web))
    page = await open_page()
    await page.get_by_role("button", name="Recent").click()
    order = [f"Session number {number}" for number in (4, 3, 2, 1)]
    await expect(page.locator(".row-title")).to_have_text(order)
    assert await page.locator("h2 > :first-child").all_text_contents() == ["October 2025"]
    await expect(session_row(page, "Session number 4")).to_contain_text("web")
    await page.reload()
    await expect(page.locator(".row-title")).to_have_text(order)


async def test_what_is_new_is_marked_until_it_is_read(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    set_sessions(keeper, session(1), session(2))
    page = await open_page()
    await expect(session_row(page, "Session number 1")).to_be_visible()
    news = {"modified": "2999-01-01T00:00:00Z", "messageCount": 99}
    set_sessions(keeper, session(1, **news), session(2))
    await trigger_refresh(page)
    await expect(session_row(page, "Session number 1")).to_contain_text("new messages")
    await session_row(page, "Session number 1").click()
    await session_row(page, "Session number 2").click()
    await expect(session_row(page, "Session number 1")).not_to_contain_text("new messages")
    await page.reload()
    await expect(session_row(page, "Session number 1")).not_to_contain_text("new messages")


async def test_a_row_is_renamed_where_it_stands(open_page: OpenPage, keeper: FakeKeeper) -> None:
    set_sessions(keeper, session(1), session(2))
    page = await open_page()
    await expect(session_row(page, "Session number 2")).to_be_visible()
    await page.keyboard.press("/")
    await page.keyboard.press("ArrowDown")
    await expect(session_row(page, "Session number 2")).to_be_focused()
    await page.keyboard.press("F2")
    field = page.get_by_label("Name of this session")
    await expect(field).to_be_focused()
    await field.fill("Given up")
    await page.keyboard.press("Escape")
    await expect(session_row(page, "Session number 2")).to_be_focused()
    await page.keyboard.press("F2")
    await field.fill("A better name")
    await page.keyboard.press("Enter")
    await expect(session_row(page, "A better name")).to_be_focused()
    assert keeper.rows[session(2)["id"]]["name"] == "A better name"


async def test_a_broken_transcript_is_a_row_that_says_so(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    error = {"code": "transcript_unreadable", "message": "The transcript cannot be read."}
    broken = {"state": "error", "error": error, "title": None, "messageCount": None}
    set_sessions(keeper, session(1, **broken, firstPrompt=None, lastPrompt=None), session(2))
    page = await open_page()
    await session_row(page, "The transcript cannot be read.").click()
    await expect(page.get_by_role("heading", name="Untitled session")).to_be_visible()
    await expect(session_row(page, "Session number 2")).to_be_visible()


async def test_the_filter_follows_what_is_typed(open_page: OpenPage, keeper: FakeKeeper) -> None:
    set_sessions(keeper, session(1), session(2, gitBranch="fix/login"), session(3))
    page = await open_page()
    await expect(session_row(page, "Session number")).to_have_count(3)
    await page.keyboard.press("/")
    await page.keyboard.type("LOGIN number")
    await expect(page.locator(".row-title")).to_have_text(["Session number 2"])
    await page.keyboard.type(" nowhere")
    await expect(page.get_by_text("Nothing matches")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(session_row(page, "Session number")).to_have_count(3)


async def test_without_the_filter_one_still_sees_where_one_is(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    far = session(700, title="far down")
    set_sessions(
        keeper, *(session(number, workdir=f"/code/{number % 9}") for number in range(900)), far
    )
    page = await open_page()
    await expect(page.locator(".tally")).to_have_text("900 sessions")
    await page.keyboard.press("/")
    await page.keyboard.type("far down")
    await expect(page.locator(".tally")).to_have_text("1 of 900 sessions")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("far down")
    await page.keyboard.press("/")
    await page.keyboard.press("Escape")
    await expect(page.locator(".tally")).to_have_text("900 sessions")
    await expect(session_row(page, "far down")).to_be_in_viewport()
    await page.get_by_role("button", name="Recent").click()
    await expect(session_row(page, "far down")).to_be_in_viewport()


async def test_keys_lead_through_the_list(open_page: OpenPage, keeper: FakeKeeper) -> None:
    set_sessions(keeper, *(session(number) for number in range(300)))
    page = await open_page()
    await expect(page.locator(".tally")).to_have_text("300 sessions")
    await page.keyboard.press("/")
    await page.keyboard.press("ArrowDown")
    await expect(session_row(page, "Session number 299")).to_be_focused()
    await page.keyboard.press("End")
    await expect(page.locator(f"[data-session='{session(0)['id']}']")).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await expect(page.locator(f"[data-session='{session(1)['id']}']")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Session number 1", exact=True)).to_be_visible()
    await page.keyboard.press("Home")
    await expect(session_row(page, "Session number 299")).to_be_focused()


async def test_focus_survives_scrolling_away(open_page: OpenPage, keeper: FakeKeeper) -> None:
    set_sessions(keeper, *(session(number) for number in range(300)))
    page = await open_page()
    await expect(page.locator(".tally")).to_have_text("300 sessions")
    await page.keyboard.press("/")
    await page.keyboard.press("ArrowDown")
    await page.locator(".list").evaluate("list => list.scrollTo(0, 9000)")
    await expect(session_row(page, "Session number 299")).to_have_count(0)
    await page.keyboard.press("ArrowDown")
    await expect(session_row(page, "Session number 298")).to_be_focused()


async def test_the_address_marks_a_row_and_scrolls_to_it(
    open_page: OpenPage, keeper: FakeKeeper, clarvis: Clarvis
) -> None:
    set_sessions(keeper, *(session(number) for number in range(500)))
    page = await open_page(clarvis.login_link(session(100)["id"]))
    marked = page.locator("[aria-current=true]")
    await expect(marked).to_contain_text("Session number 100")
    await expect(marked).to_be_in_viewport()


async def test_the_row_that_is_open_is_seen_when_it_comes_back(
    open_page: OpenPage, keeper: FakeKeeper, clarvis: Clarvis
) -> None:
    set_sessions(keeper, *(session(number) for number in range(500)))
    gone = session(100)
    page = await open_page(clarvis.login_link(gone["id"]))
    marked = page.locator("[aria-current=true]")
    await expect(marked).to_be_in_viewport()
    del keeper.rows[gone["id"]]
    await keeper.publish("session/removed", gone["id"])
    await expect(page.get_by_text("This session is not here")).to_be_visible()
    keeper.rows[gone["id"]] = session(900, id=gone["id"])
    await trigger_refresh(page)
    await expect(marked).to_contain_text("Session number 900")
    await expect(marked).to_be_in_viewport()


async def test_a_session_that_is_not_there_is_said_to_be(
    open_page: OpenPage, keeper: FakeKeeper, clarvis: Clarvis
) -> None:
    set_sessions(keeper, session(1))
    page = await open_page(clarvis.login_link(session(99)["id"]))
    await expect(page.get_by_text("This session is not here")).to_be_visible()


async def test_thousands_of_rows_are_few_elements(open_page: OpenPage, keeper: FakeKeeper) -> None:
    set_sessions(
        keeper, *(session(number, workdir=f"/code/{number % 40}") for number in range(5000))
    )
    page = await open_page()
    await expect(page.locator(".tally")).to_have_text("5,000 sessions")
    assert await page.locator(".row").count() < 50


async def test_what_is_new_appears_and_the_view_stays(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    set_sessions(keeper, *(session(number) for number in range(100)))
    page = await open_page()
    await expect(session_row(page, "Session number 99")).to_be_visible()
    await page.locator(".list").evaluate("list => list.scrollTo(0, 3000)")
    watched = session_row(page, "Session number 50")
    before = await watched.bounding_box()
    keeper.rows[session(200)["id"]] = session(200)
    await trigger_refresh(page)
    await expect(page.locator(".tally")).to_have_text("101 sessions")
    assert await watched.bounding_box() == before


async def test_counting_shows_how_far_it_is(open_page: OpenPage, keeper: FakeKeeper) -> None:
    set_sessions(keeper, session(1, messageCount=None))
    keeper.scan = {"done": 1200, "total": 5000}
    page = await open_page()
    await expect(page.get_by_text("counting… 1,200 of 5,000")).to_be_visible()
    bar = page.get_by_role("progressbar")
    await expect(bar).to_have_attribute("aria-valuenow", "1200")
    keeper.scan = {"done": 5000, "total": 5000}
    set_sessions(keeper, session(1, messageCount=7))
    await trigger_refresh(page)
    await expect(bar).to_have_count(0)
    await expect(session_row(page, "Session number 1")).to_have_attribute(
        "title", re.compile("7 messages")
    )


async def test_a_keeper_that_goes_away_comes_back_by_itself(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    set_sessions(keeper, session(1))
    page = await open_page()
    await expect(session_row(page, "Session number 1")).to_be_visible()
    await keeper.stop()
    banner = page.get_by_text("The keeper does not answer.")
    await expect(banner).to_be_visible()
    await expect(session_row(page, "Session number 1")).to_be_visible()
    set_sessions(keeper, session(1), session(2))
    await keeper.start()
    await expect(banner).to_have_count(0)
    await expect(session_row(page, "Session number 2")).to_be_visible()


async def test_a_keeper_that_was_never_there_is_waited_for(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    await keeper.stop()
    page = await open_page()
    await expect(page.get_by_text("Waiting for the keeper")).to_be_visible()
    set_sessions(keeper, session(1))
    await keeper.start()
    await expect(session_row(page, "Session number 1")).to_be_visible()


async def test_who_cannot_wait_tries_now(open_page: OpenPage, keeper: FakeKeeper) -> None:
    await keeper.stop()
    # where time stands still the page never tries by itself, so the button cannot go away
    page = await open_page(still=True)
    await expect(page.get_by_text("Waiting for the keeper")).to_be_visible()
    set_sessions(keeper, session(1))
    await keeper.start()
    await page.get_by_role("button", name="Try now").click()
    await expect(session_row(page, "Session number 1")).to_be_visible()
