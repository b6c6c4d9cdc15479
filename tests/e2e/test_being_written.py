"""A reply while it is being written: what one does to it meanwhile is not undone at its end."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.clarvis.fake_keeper import FakeKeeper, session
from tests.clarvis.messages import message, prompt, reply
from tests.e2e.conftest import OpenPage, fill
from tests.e2e.scrolling import log

pytestmark = pytest.mark.asyncio(loop_scope="module")

ONE = session(1, state="running")
SELECTED = "() => String(getSelection())"


async def listening(open_page: OpenPage, keeper: FakeKeeper) -> Page:
    fill(keeper, ONE)
    keeper.messages[ONE["id"]] = [prompt("go")]
    page = await open_page()
    await page.evaluate("id => { location.hash = `#session=${id}` }", ONE["id"])
    await expect(log(page).get_by_text("go", exact=True)).to_be_visible()
    assert (await keeper.heard.get())["type"] == "subscribe"
    return page


async def write(keeper: FakeKeeper, kind: str, text: str) -> None:
    await keeper.tell("message/delta", ONE["id"], messageId="msg_1", index=0, kind=kind, text=text)


async def test_words_that_are_selected_stay_selected(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    page = await listening(open_page, keeper)
    whole = "The first *part* of it.\n\nThe second part."
    await write(keeper, "text", whole[:30])
    first = log(page).locator(".reply p").first
    await expect(first).to_have_text("The first part of it.")
    await first.select_text()
    await write(keeper, "text", whole[30:])
    await expect(log(page).get_by_text("The second part.")).to_be_visible()
    assert await page.evaluate(SELECTED) == "The first part of it."

    done = reply(whole, messageId="msg_1")
    await keeper.tell("message/added", ONE["id"], message=done, after=None)
    await expect(log(page).locator(f"[data-row='{done['uuid']}']")).to_be_visible()
    await expect(log(page).locator(".reply[aria-busy]")).to_have_count(0)
    assert await page.evaluate(SELECTED) == "The first part of it."


async def test_thoughts_that_are_unfolded_stay_unfolded(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    page = await listening(open_page, keeper)
    await write(keeper, "thinking", "Is it safe? ")
    await log(page).get_by_role("button", name="Thinking…").click()
    await expect(log(page).get_by_text("Is it safe?")).to_be_visible()
    await write(keeper, "thinking", "It is.")

    thought = {"type": "thinking", "thinking": "Is it safe? It is.", "signature": "x"}
    done = message("reply", "assistant", [thought], messageId="msg_1")
    await keeper.tell("message/added", ONE["id"], message=done, after=None)
    await expect(log(page).get_by_role("button", name="Thought")).to_be_visible()
    await expect(log(page).get_by_text("Is it safe? It is.")).to_be_visible()
