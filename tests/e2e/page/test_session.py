"""One session in a real browser: named, gone on with, on a desk and on a phone."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import PHONE, OpenPage, session_row, set_sessions
from tests.support.fake_keeper import FakeKeeper, session
from tests.support.waiting import wait_until

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_session_is_renamed_in_place(open_page: OpenPage, keeper: FakeKeeper) -> None:
    set_sessions(keeper, session(1))
    page = await open_page()
    await session_row(page, "Session number 1").click()
    await page.get_by_role("button", name="Rename").click()
    field = page.get_by_label("Name of this session")
    await expect(field).to_be_focused()
    await field.fill("A better name")
    await field.press("Enter")
    await expect(page.get_by_role("heading", name="A better name")).to_be_visible()
    await expect(session_row(page, "A better name")).to_be_visible()
    await expect(page.get_by_role("button", name="Rename")).to_be_focused()
    await page.get_by_role("button", name="Rename").click()
    await page.get_by_role("button", name="Use its own title").click()
    await expect(page.get_by_role("heading", name="Session number 1")).to_be_visible()
    assert keeper.rows[session(1)["id"]]["name"] is None


async def test_the_command_to_go_on_can_be_copied(open_page: OpenPage, keeper: FakeKeeper) -> None:
    set_sessions(keeper, session(1, workdir="/code/it's here"))
    # "Copied" shows for a moment only
    page = await open_page(still=True, permissions=["clipboard-read", "clipboard-write"])
    await session_row(page, "Session number 1").click()
    await page.get_by_role("button", name="Details").click()
    await page.get_by_role("button", name="Copy the command").click()
    await expect(page.get_by_text("Copied")).to_be_visible()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert copied == f"cd '/code/it'\\''s here' && claude --resume {session(1)['id']}"


async def test_on_a_tablet_the_title_can_be_read(open_page: OpenPage, keeper: FakeKeeper) -> None:
    one = session(1, title="A title of some length that says what it is about")
    set_sessions(keeper, one)
    page = await open_page(viewport={"width": 768, "height": 1024})
    await session_row(page, "A title of some length").click()
    box = await page.get_by_role("heading", level=1).bounding_box()
    assert box is not None
    assert box["width"] > 160
    # what has no room beside it stands in the details
    await expect(page.get_by_role("link", name="Branches")).to_be_hidden()
    await page.get_by_role("button", name="Details").click()
    await expect(page.get_by_role("dialog").get_by_role("link", name="Branches")).to_be_visible()


async def test_on_a_phone_one_goes_in_and_back(open_page: OpenPage, keeper: FakeKeeper) -> None:
    set_sessions(keeper, *(session(number) for number in range(60)))
    page = await open_page(viewport=PHONE, has_touch=True, is_mobile=True)
    await expect(session_row(page, "Session number 59")).to_be_visible()
    await page.locator(".list").evaluate("list => list.scrollTo(0, 1000)")
    target = session_row(page, "Session number 35")
    before = await target.bounding_box()
    await target.tap()
    await expect(page.get_by_role("heading", name="Session number 35")).to_be_visible()
    await expect(target).not_to_be_visible()
    await page.get_by_role("link", name="Sessions", exact=True).tap()
    await expect(target).to_be_visible()
    assert await target.bounding_box() == before
    assert await page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


async def test_motion_stops_for_who_wants_none(open_page: OpenPage, keeper: FakeKeeper) -> None:
    page = await open_page(reduced_motion="reduce")
    await expect(page.get_by_text("No sessions yet")).to_be_visible()
    button = page.get_by_role("button", name="Log out")
    assert await button.evaluate("b => getComputedStyle(b).transitionDuration") in {"0s", "0s, 0s"}


async def test_the_page_is_small(open_page: OpenPage, clarvis: Clarvis) -> None:
    page = await open_page()
    await expect(page.get_by_text("No sessions yet")).to_be_visible()
    sizes = await page.evaluate(
        "performance.getEntries().filter(e => 'encodedBodySize' in e)"
        ".map(e => e.encodedBodySize).reduce((a, b) => a + b)"
    )
    # with what a session needs, which may have been fetched ahead by now
    assert 1_000 < sizes < 150_000


async def test_a_turn_that_the_keeper_could_not_end_is_continued_by_one_click(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    cut_off = session(1, error={"code": "turn_interrupted", "message": "It can be continued."})
    set_sessions(keeper, cut_off)
    question = {
        "id": "q1",
        "sessionId": cut_off["id"],
        "tool": "Bash",
        "input": {"command": "make deploy"},
        "kind": "permission",
        "title": "Claude wants to run make deploy",
    }
    keeper.interrupted[cut_off["id"]] = {"uuid": None, "questions": [question], "queue": []}
    page = await open_page()
    await session_row(page, "Session number 1").click()
    note = page.get_by_role("region", name="Interrupted")
    await expect(note.get_by_text("Claude wants to run make deploy")).to_be_visible()
    await note.get_by_role("button", name="Continue").click()
    await wait_until(lambda: was_requested(keeper, f"/sessions/{cut_off['id']}/continue"))
    # nothing was answered in its place
    assert not was_requested(keeper, "/resolve")


async def test_what_was_said_and_never_written_is_shown_and_sent_again_by_one_click(
    open_page: OpenPage, keeper: FakeKeeper
) -> None:
    error = {"code": "cli_failed", "message": "Claude Code could not be started."}
    failed = session(1, error=error, messageCount=0)
    set_sessions(keeper, failed)
    prompt = {"uuid": "5e551011-0000-4000-8000-000000000077", "content": "Fix <b>it</b>, please"}
    keeper.interrupted[failed["id"]] = {"uuid": prompt["uuid"], "prompt": prompt, "queue": []}
    page = await open_page()
    await session_row(page, "Session number 1").click()
    note = page.get_by_role("region", name="Interrupted")
    await expect(note.get_by_text("Claude Code could not be started.")).to_be_visible()
    await expect(note.get_by_text("Fix <b>it</b>, please")).to_be_visible()
    await note.get_by_role("button", name="Send again").click()
    await wait_until(lambda: was_requested(keeper, f"/sessions/{failed['id']}/continue"))


def was_requested(keeper: FakeKeeper, path: str) -> bool:
    return any(each.method == "POST" and each.path == path for each in keeper.requests)
