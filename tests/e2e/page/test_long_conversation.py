"""Reading far back in a long conversation: nothing jumps, and one comes back to the same line."""

from __future__ import annotations

import asyncio
import json

import pytest
from playwright.async_api import Page, Route, expect

from tests.e2e.conftest import OpenPage, open_recap, set_sessions
from tests.support.contract_messages import prompt, reply, tool_call
from tests.support.fake_keeper import FakeKeeper, session
from tests.support.scrolling import messages_region, scroll_position, wait_for_position

pytestmark = pytest.mark.asyncio(loop_scope="module")

ONE = session(1)
TURNS = 1200

# once what is near is drawn
IN_SIGHT = """async () => {
  for (let frame = 0; frame < 10; frame += 1) await new Promise(requestAnimationFrame);
  const log = document.querySelector('section.log');
  const frame = log.getBoundingClientRect();
  return [...log.querySelectorAll('[data-row]')]
    .map((row) => [row.dataset.row, row.getBoundingClientRect().top - frame.top])
    .filter(([key, top]) => top > 0 && top < frame.height);
}"""


async def long_ago(open_page: OpenPage, keeper: FakeKeeper) -> Page:
    """At the end of six thousand messages."""
    set_sessions(keeper, ONE)
    talk = keeper.messages[ONE["id"]] = []
    for number in range(TURNS):
        talk.append(prompt(f"prompt {number:04d}"))
        # reads that stand together are one row, and pages end in the midst of them
        for read in range(number % 4):
            talk += tool_call("Read", {"file_path": f"/code/{number}-{read}.py"})
        talk.append(reply(f"reply {number:04d}\n\n" + "more words of it. " * (number % 60)))
    page = await open_page()
    await page.evaluate("id => { location.hash = `#session=${id}` }", ONE["id"])
    await expect(
        messages_region(page).get_by_text(f"prompt {TURNS - 1}", exact=True)
    ).to_be_in_viewport()
    return page


async def test_what_is_in_sight_stays_where_it_is_when_an_earlier_page_comes(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    page = await long_ago(open_page, keeper)
    await open_recap(page)
    held: asyncio.Queue[Route] = asyncio.Queue()
    await page.route("**/api/sessions/*before=*", held.put)
    for _ in range(5):
        # the first lines of this page are read, and the one before it is on its way
        await messages_region(page).evaluate("log => { log.scrollTop = 30 }")
        earlier = await held.get()
        seen = await page.evaluate(IN_SIGHT)
        height = await messages_region(page).evaluate("log => log.scrollHeight")
        await earlier.continue_()
        await page.wait_for_function(
            "height => document.querySelector('section.log').scrollHeight > height + 2000",
            arg=height,
        )
        now = dict(await page.evaluate(IN_SIGHT))
        # of rows that became one only the later ones are as they were
        assert seen[-1][0] in now
        still_drawn = {key: top for key, top in seen if key in now}
        assert {key: now[key] for key in still_drawn} == pytest.approx(still_drawn, abs=2)


async def test_home_and_end_lead_to_both_ends_however_far(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    page = await long_ago(open_page, keeper)
    await messages_region(page).focus()
    await page.keyboard.press("Home")
    await expect(messages_region(page).get_by_text("prompt 0000", exact=True)).to_be_in_viewport()
    await page.keyboard.press("End")
    await expect(
        messages_region(page).get_by_text(f"prompt {TURNS - 1}", exact=True)
    ).to_be_in_viewport()


async def test_a_refresh_thousands_of_messages_back_leads_to_the_same_line(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    page = await long_ago(open_page, keeper)
    await messages_region(page).focus()
    await page.keyboard.press("Home")
    await expect(messages_region(page).get_by_text("prompt 0000", exact=True)).to_be_in_viewport()
    await messages_region(page).evaluate("log => { log.scrollTop = 1500 }")
    position = await scroll_position(page)
    await page.reload()
    await wait_for_position(page, position)


async def test_find_begins_where_one_reads(open_page: OpenPage, keeper: FakeKeeper) -> None:
    page = await long_ago(open_page, keeper)
    await messages_region(page).focus()
    await page.keyboard.press("Home")
    await expect(messages_region(page).get_by_text("prompt 0000", exact=True)).to_be_in_viewport()
    await page.keyboard.press("Control+f")
    # letter by letter: what the first ones led to is not where one reads
    await page.keyboard.type("prompt 0")
    count = page.get_by_role("search").get_by_role("status")
    await expect(count).to_have_text("1 of 1,000")
    await expect(messages_region(page).get_by_text("prompt 0000", exact=True)).to_be_in_viewport()
    await page.keyboard.type("00")
    await expect(count).to_have_text("1 of 10")
    await expect(messages_region(page).get_by_text("prompt 0000", exact=True)).to_be_in_viewport()


async def test_a_place_among_calls_that_are_told_as_one_is_found_again(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    set_sessions(keeper, ONE)
    reads = [each for n in range(100) for each in tool_call("Read", {"file_path": f"/code/{n}.py"})]
    talk = keeper.messages[ONE["id"]] = [
        *(reply(f"before {number:03d}") for number in range(300)),
        *reads,
        *(reply(f"after {number:03d}") for number in range(100)),
    ]
    page = await open_page()
    # the page ends in the midst of them, and the one before it does not come
    await page.route("**/api/sessions/*before=*", lambda _: None)
    await page.evaluate("id => { location.hash = `#session=${id}` }", ONE["id"])
    await expect(messages_region(page).get_by_text("after 099")).to_be_in_viewport()
    await messages_region(page).evaluate("log => { log.scrollTop = 0 }")
    calls = messages_region(page).locator("[data-row^='tools/']").first
    await expect(calls).to_be_in_viewport()
    # one reads there; which row is kept depends on what is drawn first
    key = await calls.get_attribute("data-row") or ""
    position = json.dumps([[ONE["id"], key, key.removeprefix("tools/"), 40]])
    await page.add_init_script(f"localStorage.setItem('clarvis.reading', {position!r})")
    talk += [reply(f"meanwhile {number}") for number in range(20)]
    await page.unroute("**/api/sessions/*before=*")
    await page.reload()
    await expect(
        messages_region(page).get_by_role("button", name="Read 100 files")
    ).to_be_in_viewport()
