"""Reading a conversation in a real browser: what it shows, where it stands, how to find things."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from typing import Any

import pytest
from playwright.async_api import Page, expect

from clarvis_ui.server import Clarvis
from claudekeeper.demo.sample_image import png_chunk
from tests.e2e.conftest import PHONE, OpenPage, open_recap, set_sessions
from tests.support.contract_messages import prompt, reply, text_message, tool_call
from tests.support.fake_keeper import FakeKeeper, session
from tests.support.scrolling import (
    messages_region,
    scroll_position,
    scroll_up,
    scroll_up_to,
    wait_for_position,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

ONE = session(1)
AT = f"#session={ONE['id']}"
# several pages of whatever size the page asks for
MANY = 700


def says(keeper: FakeKeeper, *messages: dict[str, Any]) -> None:
    set_sessions(keeper, ONE, session(2))
    keeper.messages[ONE["id"]] = list(messages)


def long_talk() -> list[dict[str, Any]]:
    """Pairs of prompt and reply of different heights, each known by its number."""
    talk = []
    for number in range(MANY // 2):
        talk.append(prompt(f"prompt {number:03d}"))
        talk.append(reply(f"reply {number:03d}\n\n" + "more words of it. " * (number % 40)))
    return talk


def grey(width: int, height: int) -> bytes:
    """A PNG of one colour."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    points = zlib.compress((b"\0" + b"\x99" * width) * height)
    pieces = [png_chunk(b"IHDR", head), png_chunk(b"IDAT", points), png_chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(pieces)


async def opened(open_page: OpenPage, address: str = AT, **more: Any) -> Page:
    page = await open_page(**more)
    await page.evaluate("address => { location.hash = address }", address)
    return page


async def test_each_call_is_a_row_that_unfolds(open_page: OpenPage, keeper: FakeKeeper) -> None:
    old, new = "def logout():\n    clear()\n", "def logout():\n    clear()\n    revoke()\n"
    task = tool_call("Task", {"description": "Look around", "prompt": "Look"}, "agentId: agent7")
    keeper.subagent_messages["agent7"] = [prompt("Look"), reply("Nothing to see.")]
    says(
        keeper,
        text_message("compaction", "Conversation compacted"),
        text_message("compaction", "What happened before", role="user"),
        prompt("fix the logout"),
        reply("I will. See `login.py`:\n\n```python\nprint('hello')\n```"),
        *tool_call("Edit", {"file_path": "src/login.py", "old_string": old, "new_string": new}),
        *tool_call("Bash", {"command": "npm test"}, "\x1b[31mFAIL\x1b[0m one", failed=True),
        *tool_call("Bash", {"command": "seq 9000"}, "\n".join(map(str, range(9000)))),
        *task,
        text_message("error", "API Error: overloaded", role="assistant"),
        text_message("interruption", "[Request interrupted by user]", role="user"),
    )
    page = await opened(open_page)
    rows = messages_region(page)

    edit = rows.get_by_role("button", name="Edited src/login.py")
    await expect(edit).to_contain_text("+1 −0")
    await edit.click()
    await expect(rows.get_by_role("region", name="Changes to src/login.py")).to_contain_text(
        "revoke()"
    )
    failed = rows.get_by_role("button", name="Ran npm test")
    await expect(failed).to_contain_text("failed")
    await failed.click()
    await expect(rows.locator(".output .ansi-fg1")).to_have_text("FAIL")

    await rows.get_by_role("button", name="Ran seq 9000").click()
    await rows.get_by_role("button", name="Show all 9,000 lines").click()
    await expect(rows.locator(".output-part").nth(44)).to_contain_text("8999")

    # a subagent of the past is fetched when one looks
    await rows.get_by_role("button", name="Agent Look around").click()
    await expect(rows.get_by_role("region", name="Conversation of the agent")).to_contain_text(
        "Nothing to see."
    )

    summary = rows.get_by_role("button", name="Compacted here")
    await expect(rows.get_by_text("What happened before")).to_have_count(0)
    await summary.focus()
    await page.keyboard.press("Enter")
    await expect(rows.get_by_text("What happened before")).to_be_visible()
    await expect(rows.get_by_text("API Error: overloaded")).to_be_visible()
    await expect(rows.get_by_text("Interrupted", exact=True)).to_be_visible()
    await expect(rows.locator(".hljs-string")).to_have_text("'hello'")


async def test_older_pages_come_without_a_jump(open_page: OpenPage, keeper: FakeKeeper) -> None:
    says(keeper, *long_talk())
    page = await opened(open_page)
    last = MANY // 2 - 1
    await expect(
        messages_region(page).get_by_text(f"prompt {last:03d}", exact=True)
    ).to_be_in_viewport()
    # however long it is, only what is near is drawn
    assert await messages_region(page).locator(".thread-row").count() < 150
    # it takes its room below the conversation once, as soon as it is known what to say
    await open_recap(page)

    # all the way up, and what one looks at never moves by more than one scrolls
    await page.evaluate(
        """() => {
          const log = document.querySelector('section.log');
          const seen = new Map();
          window.jumps = [];
          const look = () => {
            const frame = log.getBoundingClientRect();
            const moves = [];
            for (const row of log.querySelectorAll('[data-row]')) {
              const at = row.getBoundingClientRect().top - frame.top;
              const inSight = at > 0 && at < frame.height;
              if (inSight && seen.has(row.dataset.row)) moves.push(at - seen.get(row.dataset.row));
              if (inSight) seen.set(row.dataset.row, at); else seen.delete(row.dataset.row);
            }
            // scrolling up moves rows down; nothing may move them up
            if (moves.some((move) => move < -2)) window.jumps.push(moves);
            window.looking = requestAnimationFrame(look);
          };
          look();
        }"""
    )
    first = messages_region(page).get_by_text("prompt 000", exact=True)
    await scroll_up_to(page, first)
    await expect(first).to_be_attached()
    assert await page.evaluate("window.jumps") == []
    assert await messages_region(page).locator(".thread-row").count() < 250


async def test_the_place_is_the_same_after_a_refresh_and_in_another_tab(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    says(keeper, *long_talk())
    page = await opened(open_page)
    await expect(messages_region(page).get_by_text("prompt 349", exact=True)).to_be_in_viewport()
    await scroll_up(page, 2500)
    position = await scroll_position(page)
    await page.reload()
    await wait_for_position(page, position)

    other = await page.context.new_page()
    await other.goto(page.url)
    await wait_for_position(other, position)


async def test_a_link_leads_to_its_message(
    open_page: OpenPage, keeper: FakeKeeper, clarvis: Clarvis
) -> None:
    talk = long_talk()
    says(keeper, *talk)
    page = await opened(open_page, f"{AT}&message={talk[60]['uuid']}")
    meant = messages_region(page).get_by_text("prompt 030", exact=True)
    await expect(meant).to_be_in_viewport()
    await expect(
        messages_region(page).get_by_text("prompt 349", exact=True)
    ).not_to_be_in_viewport()

    # its menu gives the same link, and its words
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    article = messages_region(page).get_by_role("article", name="You").filter(has_text="prompt 030")
    menu = article.get_by_role("button", name="What to do with this message")
    for item, copied in [
        ("Copy link", f"{clarvis.url}/{AT}&message={talk[60]['uuid']}"),
        ("Copy text", "prompt 030"),
    ]:
        await menu.focus()
        await page.keyboard.press("Enter")
        await article.get_by_role("menuitem", name=item).click()
        await page.wait_for_function(
            "async words => (await navigator.clipboard.readText()) === words", arg=copied
        )

    # a link that is followed inside of the page
    await page.evaluate(
        "address => { location.hash = address }", f"{AT}&message={talk[500]['uuid']}"
    )
    await expect(messages_region(page).get_by_text("prompt 250", exact=True)).to_be_in_viewport()


async def test_find_goes_through_everything_and_unfolds_it(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    talk = long_talk()
    talk[40:40] = tool_call("Bash", {"command": "cat notes"}, "the hidden needle is here")
    talk[300:300] = [reply("a needle, and another Needle")]
    says(keeper, *talk)
    page = await opened(open_page)
    await expect(messages_region(page).get_by_text("prompt 349", exact=True)).to_be_in_viewport()
    await page.keyboard.press("Control+f")
    field = page.get_by_label("Find in this conversation")
    await expect(field).to_be_focused()
    await page.keyboard.type("needle")
    count = page.get_by_role("search").get_by_role("status")
    # the nearest place first; further back is loaded as one asks for it
    await expect(
        messages_region(page).get_by_text("a needle, and another Needle")
    ).to_be_in_viewport()
    await expect(count).to_contain_text("2 of 2")
    await page.keyboard.press("Shift+Enter")
    await expect(count).to_contain_text("1 of 2")
    await page.keyboard.press("Shift+Enter")
    await expect(messages_region(page).get_by_text("the hidden needle is here")).to_be_in_viewport()
    await expect(count).to_contain_text("1 of 3")
    await page.keyboard.press("Enter")
    await expect(count).to_contain_text("2 of 3")
    await field.fill("no such words")
    await expect(count).to_have_text("Nothing found")
    await page.keyboard.press("Escape")
    await expect(field).to_have_count(0)
    await expect(messages_region(page)).to_be_focused()

    # from prompt to prompt
    await page.keyboard.press("k")
    focused = messages_region(page).locator("article:focus")
    first = await focused.inner_text()
    await page.keyboard.press("k")
    await expect(focused).not_to_have_text(first)
    await page.keyboard.press("j")
    await expect(focused).to_have_text(first)


async def test_find_reaches_what_agents_said_that_nobody_unfolded(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    agents = []
    for number in range(6):
        task = {"description": f"Job {number}", "prompt": "Look", "subagent_type": "Explore"}
        agents += tool_call("Task", task, f"agentId: agent{number}")
        keeper.subagent_messages[f"agent{number}"] = [prompt("Look"), reply("Nothing to see.")]
    # far above what is shown of it at first, and folded there too
    keeper.subagent_messages["agent2"] = [
        prompt("Look"),
        *tool_call("Bash", {"command": "cat attic"}, "a needle in the attic"),
        *(each for at in range(60) for each in (prompt(f"more {at}"), reply(f"looked {at}"))),
    ]
    says(keeper, prompt("go"), *agents, *long_talk())
    page = await opened(open_page)
    await expect(messages_region(page).get_by_text("prompt 349", exact=True)).to_be_in_viewport()
    await page.keyboard.press("Control+f")
    await page.keyboard.type("needle")
    count = page.get_by_role("search").get_by_role("status")
    await expect(count).to_have_text("1 of 1")
    await expect(messages_region(page).get_by_text("a needle in the attic")).to_be_in_viewport()
    # the others were read and not unfolded
    await expect(
        messages_region(page).get_by_role("region", name="Conversation of the agent")
    ).to_have_count(1)
    await page.get_by_label("Find in this conversation").fill("no such words")
    await expect(count).to_have_text("Nothing found")


async def test_the_end_is_followed_only_by_those_who_are_there(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    says(keeper, *long_talk())
    page = await opened(open_page)
    await expect(messages_region(page).get_by_text("prompt 349", exact=True)).to_be_in_viewport()
    subscribed = await keeper.socket_messages.get()
    assert subscribed["type"] == "subscribe"

    await keeper.publish("message/added", ONE["id"], message=prompt("one more"), after=None)
    await expect(messages_region(page).get_by_text("one more", exact=True)).to_be_in_viewport()

    await scroll_up(page, 1500)
    await keeper.publish("message/added", ONE["id"], message=reply("the newest"), after=None)
    await page.get_by_role("button", name="New messages").click()
    await expect(messages_region(page).get_by_text("the newest", exact=True)).to_be_in_viewport()


async def test_what_unfolds_at_the_end_stays_in_sight_and_folded_again_the_end_is_followed(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    lines = "".join(f"+line {number}\n" for number in range(80))
    patch = "".join(
        f"diff --git a/g{n}.py b/g{n}.py\n--- a/g{n}.py\n+++ b/g{n}.py\n@@ -1 +1,80 @@\n{lines}"
        for n in range(30)
    )
    says(keeper, prompt("show me"), *tool_call("Bash", {"command": "git diff"}, patch))
    page = await opened(open_page)
    await open_recap(page)
    await messages_region(page).get_by_role("button", name="Ran git diff").click()
    file = (
        messages_region(page).get_by_role("region", name="Changes to g29.py").get_by_role("button")
    )
    await messages_region(page).evaluate("log => { log.scrollTop = log.scrollHeight }")
    await expect(file).to_be_in_viewport()
    where = (await file.bounding_box() or {})["y"]
    await file.click()
    await expect(messages_region(page).get_by_text("line 79")).to_be_attached()
    assert (await file.bounding_box() or {})["y"] == pytest.approx(where, abs=2)
    await page.keyboard.press("Enter")
    await expect(messages_region(page).get_by_text("line 79")).to_have_count(0)
    await keeper.socket_messages.get()
    await keeper.publish("message/added", ONE["id"], message=reply("the newest"), after=None)
    await expect(messages_region(page).get_by_text("the newest", exact=True)).to_be_in_viewport()


async def test_an_image_is_as_large_as_the_window_when_one_looks_closer(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    picture = {
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": "image/png",
            "data": b64encode(grey(300, 1200)).decode(),
        },
    }
    says(keeper, *tool_call("Read", {"file_path": "/code/screen.png"}, [picture]))
    page = await opened(open_page)
    await messages_region(page).get_by_role("button", name="Read /code/screen.png").click()
    image = messages_region(page).get_by_role("img", name="Attached, 1 of 1")
    small = await image.bounding_box()
    assert small is not None
    await image.click()
    dialog = page.get_by_role("dialog", name="Attached, 1 of 1")
    large = await dialog.get_by_role("img").bounding_box()
    assert large is not None
    assert large["height"] > small["height"]
    assert large["height"] <= 900
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await expect(image).to_be_in_viewport()


async def test_code_of_a_thousand_lines_can_be_copied_from_its_middle(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    lines = "\n".join(f"line {number}" for number in range(1000))
    says(keeper, prompt("show me"), reply(f"```python\n{lines}\n```\n\nThat is it."))
    page = await opened(open_page)
    await expect(messages_region(page).get_by_text("That is it.")).to_be_in_viewport()
    await messages_region(page).evaluate("log => { log.scrollTop = log.scrollHeight / 2 }")
    await expect(messages_region(page).get_by_text("That is it.")).not_to_be_in_viewport()
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    copy = messages_region(page).get_by_role("button", name="Copy this code")
    await expect(copy).to_be_in_viewport(ratio=1)
    await copy.click()
    await page.wait_for_function(
        "async words => (await navigator.clipboard.readText()) === words", arg=lines
    )


async def test_all_that_is_loaded_is_printed_and_nothing_to_press(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    says(keeper, *long_talk()[:140])
    page = await opened(open_page)
    await expect(messages_region(page).get_by_text("prompt 069", exact=True)).to_be_in_viewport()
    assert await messages_region(page).get_by_role("article", name="You").count() < 70
    await page.emulate_media(media="print")
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")
    await expect(messages_region(page).get_by_role("article", name="You")).to_have_count(70)
    await expect(page.get_by_role("navigation", name="Sessions")).to_be_hidden()
    await expect(page.get_by_label("Message", exact=True)).to_be_hidden()
    # as long as it is, and not as high as the window
    last = messages_region(page).get_by_text("reply 069")
    page_height = await page.evaluate("document.documentElement.scrollHeight")
    box = await last.bounding_box()
    assert box is not None
    assert 900 < box["y"] < page_height
    await page.emulate_media(media="screen")
    await page.evaluate("dispatchEvent(new Event('afterprint'))")
    await expect(messages_region(page).get_by_text("prompt 000", exact=True)).to_have_count(0)


async def test_a_phone_shows_everything_within_its_width(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    wide = "x" * 300
    says(
        keeper,
        prompt(f"שלום {wide}"),
        reply(f"{wide}\n\n```\n{wide}\n```\n\n| {wide} | b |\n|-|-|\n| 1 | {wide} |"),
        *tool_call("Edit", {"file_path": wide, "old_string": wide, "new_string": wide + "y"}),
        *tool_call("Bash", {"command": wide}, wide),
    )
    page = await opened(open_page, viewport=PHONE, has_touch=True, is_mobile=True)
    for verb in ("Edited", "Ran"):
        await messages_region(page).get_by_role("button", name=verb).click()
    await expect(messages_region(page).get_by_role("region", name="Output")).to_be_visible()
    assert await messages_region(page).evaluate("e => e.scrollWidth") == PHONE["width"]
    assert await page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert await messages_region(page).locator(".you-words").evaluate(
        "e => getComputedStyle(e).direction"
    ) == ("rtl")
