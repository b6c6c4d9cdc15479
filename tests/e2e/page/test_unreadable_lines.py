"""A conversation of which some lines cannot be read says so, and shows the rest."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import DESKTOP, PHONE, OpenPage, set_sessions
from tests.support.contract_messages import prompt, reply
from tests.support.fake_keeper import FakeKeeper, session

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desk", "phone"])
async def test_what_cannot_be_read_is_said(
    open_page: OpenPage, keeper: FakeKeeper, viewport: dict[str, int]
) -> None:
    one = {**session(1), "unreadable": 3}
    set_sessions(keeper, one, session(2))
    keeper.messages[one["id"]] = [prompt("begin"), reply("Begun.")]
    keeper.messages[session(2)["id"]] = [prompt("another"), reply("Yes.")]
    page = await open_page(viewport=viewport)
    await page.evaluate("id => { location.hash = 'session=' + id }", one["id"])
    note = page.get_by_text("3 lines of the transcript cannot be read: what they say is not shown.")
    await expect(note).to_be_visible()
    await expect(page.get_by_text("Begun.")).to_be_visible()
    await page.evaluate("id => { location.hash = 'session=' + id }", session(2)["id"])
    await expect(page.get_by_text("Yes.")).to_be_visible()
    await expect(note).to_have_count(0)
