"""Safari does not hold what is in sight by itself when something above it grows; we do."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import OpenPage, set_sessions
from tests.support.contract_messages import prompt, reply
from tests.support.fake_keeper import FakeKeeper, session
from tests.support.scrolling import messages_region

pytestmark = pytest.mark.asyncio(loop_scope="module")

ONE = session(1)
TURNS = 500

NOT_HELD = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('* { overflow-anchor: none !important; }');
  document.adoptedStyleSheets = [sheet];
}"""

# less than a view at a time, with a moment for pages that come: from one look to the next,
# something of what was read is still in sight
UPWARDS = """async () => {
  const log = document.querySelector('section.log');
  const inSight = () => {
    const { top, bottom } = log.getBoundingClientRect();
    return [...log.querySelectorAll('[data-row]')].filter((row) => {
      const place = row.getBoundingClientRect();
      return place.bottom > top && place.top < bottom;
    }).map((row) => row.dataset.row);
  };
  const lost = [];
  let before = inSight();
  for (let step = 0; step < 2000 && !log.innerText.includes('prompt 0000'); step += 1) {
    log.scrollBy(0, -300);
    await new Promise((done) => setTimeout(() => requestAnimationFrame(done), 10));
    const now = inSight();
    if (!now.some((row) => before.includes(row))) lost.push([before, now]);
    before = now;
  }
  return lost;
}"""


async def test_whoever_reads_upwards_is_never_carried_away(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    set_sessions(keeper, ONE)
    talk = keeper.messages[ONE["id"]] = []
    for number in range(TURNS):
        talk.append(prompt(f"prompt {number:04d}"))
        talk.append(reply(f"reply {number:04d}\n\n" + "more words of it. " * (number % 40)))
    page = await open_page()
    await page.evaluate(NOT_HELD)
    await page.evaluate("id => { location.hash = `#session=${id}` }", ONE["id"])
    await expect(
        messages_region(page).get_by_text(f"prompt {TURNS - 1:04d}", exact=True)
    ).to_be_in_viewport()
    assert await page.evaluate(UPWARDS) == []
    await expect(messages_region(page).get_by_text("prompt 0000", exact=True)).to_be_attached()
