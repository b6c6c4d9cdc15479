"""A reply while it is being written: what one does to it meanwhile is not undone at its end."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, Page, expect

from tests.e2e.conftest import OpenPage, set_sessions
from tests.support.contract_messages import message, prompt, reply
from tests.support.fake_keeper import FakeKeeper, session
from tests.support.scrolling import messages_region

pytestmark = pytest.mark.asyncio(loop_scope="module")

ONE = session(1, state="running")
SELECTED = "() => String(getSelection())"
SELECT = """(element, wanted) => {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const node = walker.nextNode();
  const at = node.data.indexOf(wanted);
  getSelection().setBaseAndExtent(node, at, node, at + wanted.length);
}"""


async def listening(open_page: OpenPage, keeper: FakeKeeper) -> Page:
    set_sessions(keeper, ONE)
    keeper.messages[ONE["id"]] = [prompt("go")]
    page = await open_page()
    await page.evaluate("id => { location.hash = `#session=${id}` }", ONE["id"])
    await expect(messages_region(page).get_by_text("go", exact=True)).to_be_visible()
    assert (await keeper.socket_messages.get())["type"] == "subscribe"
    return page


async def write(keeper: FakeKeeper, kind: str, text: str) -> None:
    await keeper.publish(
        "message/delta", ONE["id"], messageId="msg_1", index=0, kind=kind, text=text
    )


async def test_words_that_are_selected_stay_selected(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    page = await listening(open_page, keeper)
    whole = "The first *part* of it.\n\nThe second part."
    await write(keeper, "text", whole[:30])
    first = messages_region(page).locator(".reply p").first
    await expect(first).to_have_text("The first part of it.")
    await first.select_text()
    await write(keeper, "text", whole[30:])
    await expect(messages_region(page).get_by_text("The second part.")).to_be_visible()
    assert await page.evaluate(SELECTED) == "The first part of it."

    done = reply(whole, messageId="msg_1")
    await keeper.publish("message/added", ONE["id"], message=done, after=None)
    await expect(messages_region(page).locator(f"[data-row='{done['uuid']}']")).to_be_visible()
    await expect(messages_region(page).locator(".reply[aria-busy]")).to_have_count(0)
    assert await page.evaluate(SELECTED) == "The first part of it."


# a text, how much of it is there first, what is selected of it, and in which element
GROWING = {
    "words": ("One two three four five.", 9, "One two", "p"),
    "a mark that closes": ("One two *three* four five.", 12, "One two", "p"),
    "an item": ("- One two three\n- four five\n\nsix", 8, "One", "li"),
    "code": ("```\none two\nthree\n```\n\nfour", 14, "one", "pre code"),
    "a part of a name": ("`one_two_three` four", 15, "one", "p code"),
}


@pytest.mark.parametrize(("text", "begun", "selected", "where"), GROWING.values(), ids=GROWING)
async def test_what_is_selected_where_it_is_written_stays_selected(
    open_page: OpenPage, keeper: FakeKeeper, text: str, begun: int, selected: str, where: str
) -> None:
    page = await listening(open_page, keeper)
    await select_while_it_grows(page, keeper, text, begun, selected, where)
    assert await page.evaluate(SELECTED) == selected


async def test_what_is_selected_stays_selected_when_code_is_coloured(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    page = await listening(open_page, keeper)
    text = "```python\none = two\nthree = 3\n```\n\nfour"
    code = await select_while_it_grows(page, keeper, text, 22, "one", "pre code")
    await expect(code.locator("span[class^=hljs]").first).to_be_visible()
    assert await page.evaluate(SELECTED) == "one"


async def select_while_it_grows(
    page: Page, keeper: FakeKeeper, text: str, begun: int, selected: str, where: str
) -> Locator:
    """Selects in the part that is there, then the rest of the text comes."""
    await write(keeper, "text", text[:begun])
    element = messages_region(page).locator(f".reply {where}").first
    await expect(element).to_contain_text(selected)
    await element.evaluate(SELECT, selected)
    for piece in text[begun:]:
        await write(keeper, "text", piece)
    end = text.rpartition(" ")[2].rpartition("\n")[2]
    await expect(messages_region(page).get_by_text(end)).to_be_visible()
    return element


async def test_wide_lines_of_long_code_are_reached_while_it_is_written(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    page = await listening(open_page, keeper)
    await write(keeper, "text", "```\n" + f"{'wide ' * 100}\n" * 120)
    code = messages_region(page).locator(".code pre")
    await expect(code).to_contain_text("wide")
    assert await code.evaluate("pre => pre.scrollWidth > 2 * pre.clientWidth")


async def test_thoughts_that_are_unfolded_stay_unfolded(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    page = await listening(open_page, keeper)
    await write(keeper, "thinking", "Is it safe? ")
    await messages_region(page).get_by_role("button", name="Thinking…").click()
    await expect(messages_region(page).get_by_text("Is it safe?")).to_be_visible()
    await write(keeper, "thinking", "It is.")

    thought = {"type": "thinking", "thinking": "Is it safe? It is.", "signature": "x"}
    done = message("reply", "assistant", [thought], messageId="msg_1")
    await keeper.publish("message/added", ONE["id"], message=done, after=None)
    await expect(messages_region(page).get_by_role("button", name="Thought")).to_be_visible()
    await expect(messages_region(page).get_by_text("Is it safe? It is.")).to_be_visible()
