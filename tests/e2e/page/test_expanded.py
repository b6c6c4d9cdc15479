"""What one unfolded stays so: scrolled far away, and while one looks at another session."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, Page, expect

from tests.e2e.conftest import OpenPage, set_sessions
from tests.support.contract_messages import prompt, reply, tool_call
from tests.support.fake_keeper import FakeKeeper, session
from tests.support.scrolling import messages_region

pytestmark = pytest.mark.asyncio(loop_scope="module")

ONE, OTHER = session(1), session(2)
FILES = 12


def patch() -> str:
    """Changes to many files, one of them with more lines than are shown at once."""
    parts = []
    for file in range(FILES):
        lines = 600 if file == 3 else 3
        added = "".join(f"+line {line} of {file}\n" for line in range(lines))
        parts.append(
            f"diff --git a/f{file}.py b/f{file}.py\n--- a/f{file}.py\n+++ b/f{file}.py\n"
            f"@@ -0,0 +1,{lines} @@\n{added}"
        )
    return "".join(parts)


def file(page: Page, number: int) -> Locator:
    return messages_region(page).get_by_role("region", name=f"Changes to f{number}.py")


async def scroll(page: Page, to: str, row: Locator, *, until: int) -> None:
    """Until a row is drawn or put away: far ones have guessed heights before that."""
    while await row.count() != until:
        await messages_region(page).evaluate(f"log => {{ log.scrollTop = {to} }}")
        await page.evaluate("new Promise(requestAnimationFrame)")


async def test_unfolded_files_and_outputs_stay_unfolded(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    set_sessions(keeper, ONE, OTHER)
    keeper.messages[ONE["id"]] = [
        *tool_call("Bash", {"command": "git diff"}, patch()),
        *tool_call("Bash", {"command": "seq 90"}, "\n".join(f"row {at}" for at in range(90))),
        *(each for at in range(80) for each in (prompt(f"say {at}"), reply("words " * 300))),
    ]
    keeper.messages[OTHER["id"]] = [prompt("elsewhere")]
    page = await open_page()
    await page.evaluate("id => { location.hash = `#session=${id}` }", ONE["id"])
    await expect(messages_region(page).get_by_text("say 79", exact=True)).to_be_visible()
    diff = messages_region(page).get_by_role("button", name="Ran git diff")
    await scroll(page, "0", diff, until=1)
    await messages_region(page).get_by_role("button", name="Ran seq 90").click()
    await messages_region(page).get_by_role("button", name="Show all 90 lines").click()
    await diff.click()
    for number in (1, 3):
        await file(page, number).get_by_role("button", name=f"f{number}.py").click()
    await file(page, 3).get_by_role("button", name="Show all").click()

    async def is_as_it_was() -> None:
        await expect(file(page, 1)).to_contain_text("line 2 of 1")
        await expect(file(page, 3)).to_contain_text("line 599 of 3")
        await expect(file(page, 2)).not_to_contain_text("line 2 of 2")
        await expect(messages_region(page).get_by_role("region", name="Output")).to_contain_text(
            "row 45"
        )

    await is_as_it_was()
    await scroll(page, "log.scrollHeight", diff, until=0)
    await scroll(page, "0", diff, until=1)
    await is_as_it_was()

    await page.evaluate("id => { location.hash = `#session=${id}` }", OTHER["id"])
    await expect(messages_region(page).get_by_text("elsewhere")).to_be_visible()
    await page.evaluate("id => { location.hash = `#session=${id}` }", ONE["id"])
    await scroll(page, "0", diff, until=1)
    await is_as_it_was()
