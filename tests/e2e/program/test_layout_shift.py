"""Nothing moves by itself in a real browser: as the page loads, and as cards come and go."""

from __future__ import annotations

import asyncio
import os
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import DESKTOP, PHONE, OpenPage
from tests.support.scrolling import scroll_position, scroll_up, wait_for_position
from tests.support.stage import RestartableKeeper, allow_button, attention_card, replies

pytestmark = pytest.mark.asyncio(loop_scope="module")

# what the browser itself counts as moved, whoever was the cause; a tenth is where it is felt
COUNT_MOVES = """
  window.moved = [];
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries()) {
      window.moved.push([value, ...sources.map(({ node }) => node?.className ?? '')]);
    }
  }).observe({ type: 'layout-shift', buffered: true });
"""
HARDLY = 0.01


async def moves(page: Page) -> list[list[object]]:
    """All that moved by more than a hair, once what was drawn last has been counted."""
    await page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 100)))")
    return [
        move for move in await page.evaluate("window.moved.splice(0)") if float(move[0]) > HARDLY
    ]


def is_old(page: Any) -> bool:
    """Whether the keeper has seen that nobody was there for hours."""
    modified = datetime.fromisoformat(page["session"]["modified"])
    return datetime.now(UTC) - modified > timedelta(hours=1)


async def leave_for_hours(stage: RestartableKeeper, session: str) -> None:
    await stage.request("POST", f"/sessions/{session}/close", {})
    (transcript,) = stage.transcripts.glob(f"*/{session}.jsonl")
    old = time.time() - 6 * 3_600
    os.utime(transcript, (old, old))
    await stage.wait_for(f"/sessions/{session}?limit=1", is_old)


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desk", "phone"])
async def test_a_session_is_there_with_what_stands_below_it(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis, viewport: dict[str, int]
) -> None:
    session = await stage.start_session("say: Shall I paint it blue?")
    page = await open_page(clarvis.login_link(session), viewport=viewport)
    await expect(replies(page)).to_have_text(["Shall I paint it blue?"])
    await leave_for_hours(stage, session)

    # where one was is asked for beside the conversation, not after it
    async with page.expect_response(lambda answer: answer.url.endswith("/resume")) as resume:

        async def hold(route: Route) -> None:
            await resume.value
            await route.continue_()

        await page.route(f"**/api/sessions/{session}?*", hold)
        await page.add_init_script(COUNT_MOVES)
        await page.reload()
    await expect(page.get_by_role("region", name="Where were we")).to_be_visible()
    await expect(replies(page)).to_have_text(["Shall I paint it blue?"])
    assert await moves(page) == []


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desk", "phone"])
async def test_what_comes_late_pushes_nothing_away(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis, viewport: dict[str, int]
) -> None:
    session = await stage.start_session("count: 3000")
    page = await open_page(clarvis.login_link(session), viewport=viewport)
    await expect(replies(page)).to_have_count(1)
    await expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    await leave_for_hours(stage, session)

    read = asyncio.Event()

    async def hold(route: Route) -> None:
        await read.wait()
        await route.continue_()

    for late in ("preferences", f"sessions/{session}/resume"):
        await page.route(f"**/api/{late}", hold)
    await page.add_init_script(COUNT_MOVES)
    await page.reload()
    await expect(replies(page)).to_have_count(1)
    line = page.get_by_role("button", name="Where were we?")
    await expect(line).to_be_disabled()
    words = replies(page).last
    before = await words.bounding_box()
    await page.evaluate("window.moved = []")
    read.set()
    await expect(line).to_be_enabled()
    await expect(page.locator(".returning-late")).to_contain_text("count: 3000")
    assert await moves(page) == []
    assert await words.bounding_box() == before
    # whoever wants to see all of it does
    await line.click()
    await expect(page.get_by_role("region", name="Where were we")).to_be_visible()


async def test_a_card_moves_neither_the_field_nor_what_is_read(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("count: 3000")
    page = await open_page(clarvis.login_link(session))
    await page.add_init_script(COUNT_MOVES)
    await page.reload()
    await expect(replies(page)).to_have_count(1)
    await expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    await stage.request("POST", "/send", {"sessionId": session, "text": "run: touch here.txt"})
    await expect(allow_button(page)).to_be_enabled()
    assert await moves(page) == []
    await allow_button(page).click()
    await expect(attention_card(page)).to_have_count(0)
    await expect(replies(page)).to_have_count(2)

    # whoever reads further up goes on reading
    await scroll_up(page, 1200)
    position = await scroll_position(page)
    await stage.request("POST", "/send", {"sessionId": session, "text": "run: touch there.txt"})
    await expect(allow_button(page)).to_be_enabled()
    await wait_for_position(page, position)
