"""How one gets in, stays in and gets out, in a real browser."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import OpenPage, session_row, set_sessions, trigger_refresh
from tests.support.fake_keeper import FakeKeeper, session

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_link_lets_one_in_and_leaves_no_trace_of_the_code(
    open_page: OpenPage, keeper: FakeKeeper, clarvis: Clarvis
) -> None:
    set_sessions(keeper, session(1))
    page = await open_page(clarvis.login_link(session(1)["id"]))
    await expect(session_row(page, "Session number 1")).to_be_visible()
    assert page.url == f"{clarvis.url}/#session={session(1)['id']}"
    assert await page.evaluate("history.length") <= 2
    cookies = await page.context.cookies()
    assert [(cookie["httpOnly"], cookie["sameSite"]) for cookie in cookies] == [(True, "Strict")]


async def test_a_reload_needs_no_new_code(open_page: OpenPage, keeper: FakeKeeper) -> None:
    set_sessions(keeper, session(1))
    page = await open_page()
    await expect(session_row(page, "Session number 1")).to_be_visible()
    await page.reload()
    await expect(session_row(page, "Session number 1")).to_be_visible()


async def test_a_stranger_is_told_how_to_get_in(
    open_page: OpenPage, keeper: FakeKeeper, clarvis: Clarvis
) -> None:
    set_sessions(keeper, session(1))
    page = await open_page(clarvis.url)
    await expect(page.get_by_role("heading", name="Log in to Clarvis")).to_be_visible()
    await expect(page.get_by_text("claudekeeper open")).to_be_visible()
    code = clarvis.login.codes.mint().text
    field = page.get_by_label("Or type the code")
    await field.fill("WRONG-CODE")
    await field.press("Enter")
    await expect(page.get_by_role("alert")).to_contain_text("code is wrong")
    await field.fill(code.lower().replace("-", " "))
    await page.get_by_role("button", name="Log in").click()
    await expect(session_row(page, "Session number 1")).to_be_visible()


async def test_a_used_link_says_so(open_page: OpenPage, clarvis: Clarvis) -> None:
    link = clarvis.login_link()
    await expect((await open_page(link)).get_by_text("No sessions yet")).to_be_visible()
    again = await open_page(link)
    await expect(again.get_by_role("alert")).to_contain_text("was used before")


async def test_a_link_pasted_into_an_open_page_works(
    open_page: OpenPage, keeper: FakeKeeper, clarvis: Clarvis
) -> None:
    set_sessions(keeper, session(1))
    page = await open_page(clarvis.url)
    await expect(page.get_by_role("heading", name="Log in to Clarvis")).to_be_visible()
    await page.goto(clarvis.login_link())
    await expect(session_row(page, "Session number 1")).to_be_visible()
    assert "login" not in page.url


async def test_logging_out_forgets_everything(open_page: OpenPage, keeper: FakeKeeper) -> None:
    set_sessions(keeper, session(1))
    page = await open_page()
    await expect(session_row(page, "Session number 1")).to_be_visible()
    await page.get_by_role("button", name="Log out").click()
    await expect(page.get_by_role("heading", name="Log in to Clarvis")).to_be_visible()
    assert await page.context.cookies() == []


async def test_a_new_token_leads_back_to_the_door(open_page: OpenPage, keeper: FakeKeeper) -> None:
    set_sessions(keeper, session(1))
    page = await open_page()
    await expect(session_row(page, "Session number 1")).to_be_visible()
    keeper.token = "rotated"
    await trigger_refresh(page)
    await expect(page.get_by_role("heading", name="Log in to Clarvis")).to_be_visible()
