"""A Clarvis that may show only some directories: the others are as if they were not there."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import expect

from clarvis_ui.roots import Roots
from clarvis_ui.server import Clarvis, run_clarvis
from clarvis_ui.settings import ClarvisSettings
from tests.e2e.conftest import OpenPage, function_fixture, session_row, set_sessions
from tests.support.fake_keeper import FakeKeeper, session

pytestmark = pytest.mark.asyncio(loop_scope="module")

OUTSIDE = session(2, workdir="/elsewhere", project="elsewhere")


@function_fixture
async def clarvis(keeper: FakeKeeper) -> AsyncIterator[Clarvis]:
    set_sessions(keeper, session(1, workdir="/code/web", project="web"), OUTSIDE)
    keeper.folders = {"/code": ["web"]}
    settings = ClarvisSettings(
        keeper=keeper.url, token=lambda: keeper.token, roots=Roots.parse("/code")
    )
    async with run_clarvis(settings, port=0) as clarvis:
        yield clarvis


async def test_what_lies_outside_is_not_in_the_list_nor_under_its_address(
    open_page: OpenPage, clarvis: Clarvis
) -> None:
    page = await open_page(clarvis.login_link(OUTSIDE["id"]))
    await expect(page.get_by_text("This session is not here")).to_be_visible()
    await expect(page.locator(".tally")).to_have_text("1 session")
    await expect(session_row(page, "Session number 2")).to_have_count(0)


async def test_only_what_lies_inside_can_be_browsed(open_page: OpenPage) -> None:
    page = await open_page()
    await expect(session_row(page, "Session number 1")).to_be_visible()
    await page.keyboard.press("n")
    await page.get_by_role("button", name="Directory: /code/web").click()
    await expect(page.get_by_role("button", name="web /code/web")).to_be_visible()
    await expect(page.get_by_text("/elsewhere")).to_have_count(0)
    await page.get_by_role("button", name="Browse").click()
    await expect(page.get_by_text("Allowed directories")).to_be_visible()
    await expect(page.get_by_role("button", name="Use this")).to_be_disabled()
    await page.get_by_role("button", name="code", exact=True).click()
    await page.get_by_role("button", name="Use this").click()
    await expect(page.get_by_role("button", name="Directory: /code Change")).to_be_visible()
