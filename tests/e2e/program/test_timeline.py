"""What was done when, with the real keeper, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Locator, Page, expect

from tests.e2e.conftest import PHONE, OpenPage
from tests.support.stage import RestartableKeeper, replies, save_screenshot
from tests.support.transcript_writer import TranscriptWriter, uuid_of

pytestmark = pytest.mark.asyncio(loop_scope="module")


def write(stage: RestartableKeeper, number: int, *turns: tuple[int, str]) -> TranscriptWriter:
    """A session whose prompts are of these days of March."""
    transcript = TranscriptWriter(uuid_of(number), str(stage.workdir))
    for day, text in turns:
        at = f"2026-03-{day:02}T12:00:{{:02}}.000Z"
        transcript.prompt(text, timestamp=at.format(number))
        transcript.reply(f"heard: {text}", timestamp=at.format(number + 1))
    transcript.write(stage.transcripts)
    return transcript


async def test_what_was_done_leads_to_what_was_discussed(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    tides = (1, "the tide turns at noon"), (4, "and again at six"), (4, "<b>what</b> then?")
    session = write(stage, 1, *tides).session_id
    write(stage, 2, (4, "another session of the same project"))
    page = await open_page()
    await page.locator(".row").filter(has_text="then?").first.click()
    await expect(replies(page)).to_have_count(3)
    await save_screenshot(page, "session")
    await page.locator("main").get_by_role("link", name="Timeline").click()
    prompts = page.get_by_role("list", name="Prompts").get_by_role("link")
    # the last day, until another one is chosen
    await expect(prompts).to_contain_text(["and again at six", "<b>what</b> then?"])
    await save_screenshot(page, "timeline")

    # a column of the drawing, without a mouse
    await page.locator("svg a[aria-current]").focus()
    await page.keyboard.press("ArrowLeft")
    await save_screenshot(page, "focus")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Nothing was done then.")).to_be_visible()
    await page.get_by_role("link", name="Earlier: Sun, 1 Mar 2026").click()
    await expect(prompts).to_contain_text(["the tide turns at noon"])
    assert "from=2026-03-01" in page.url
    # a refresh comes back to the same place, and so does who read on
    await page.reload()
    await prompts.first.click()
    await expect(replies(page)).to_have_count(3)
    assert f"session={session}&message=" in page.url
    await page.go_back()
    await expect(prompts).to_contain_text(["the tide turns at noon"])
    # with a finger; and as it grows
    await page.locator("svg a").last.click()
    await expect(prompts).to_have_count(2)
    write(stage, 1, *tides, (4, "one more"))
    await expect(prompts).to_have_count(3)

    # the whole project, from its heading in the list
    await page.get_by_role("link", name=f"Timeline of {stage.workdir.name}").click()
    await expect(prompts).to_have_count(4)
    await expect(page.get_by_role("combobox", name="Project")).to_have_value(str(stage.workdir))
    await save_screenshot(page, "project")
    await page.get_by_text("As a table").click()
    await expect(page.get_by_role("table").get_by_role("row")).to_have_count(3)
    await save_screenshot(page, "table")
    await page.get_by_role("link", name="Usage").click()
    await page.get_by_role("button", name="All", exact=True).click()
    await expect(page.get_by_role("link", name="Timeline of all projects")).to_be_visible()
    await save_screenshot(page, "usage")
    await page.get_by_role("region", name="By project").get_by_role("link").first.click()
    await expect(prompts).to_have_count(4)


async def slide(page: Page, over: Locator, *shares: float) -> None:
    """A finger that is put down and moved before it is lifted; shares of the width."""
    box = await over.bounding_box()
    assert box is not None
    browser = await page.context.new_cdp_session(page)
    y = box["y"] + box["height"] / 2
    for number, share in enumerate(shares):
        kind = "touchMove" if number else "touchStart"
        # a finger on its way passes what lies between
        point = {"x": box["x"] + box["width"] * share, "y": y}
        await browser.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    await browser.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    await browser.detach()


async def test_a_finger_finds_the_nearest_column(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    write(stage, 3, (1, "the first of the month"), (14, "the fourteenth"))
    page = await open_page(viewport=PHONE, has_touch=True, is_mobile=True)
    await page.evaluate("location.hash = 'usage'")
    await page.get_by_role("button", name="All", exact=True).tap()
    plot = page.get_by_role("slider", name="Cost by")
    labels = page.locator(".usage-days figcaption b")
    last = await labels.inner_text()
    # what was tapped stays, also when the finger is lifted
    await slide(page, plot, 0.02)
    await expect(labels).not_to_have_text(last)
    first = await labels.inner_text()
    await slide(page, plot, 0.02, 0.3, 0.5)
    await expect(labels).not_to_have_text(re.compile(f"{first}|{last}"))
    await plot.press("Home")
    await expect(labels).to_have_text(first)
    await plot.press("End")
    await expect(labels).to_have_text(last)
    await expect(plot).to_have_attribute("aria-valuetext", re.compile(f"^{last}: "))

    await page.evaluate(f"location.hash = 'timeline=&of={uuid_of(3)}'")
    discussed = page.get_by_role("list", name="Prompts")
    await expect(discussed).to_contain_text("the fourteenth")
    await slide(page, page.locator(".timeline-drawing svg"), 0.9, 0.5, 0.02)
    await expect(discussed).to_contain_text("the first of the month")


async def test_a_project_with_a_long_name_makes_no_phone_wider(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    transcript = TranscriptWriter(uuid_of(9), "/code/" + "a-very-long-name-" * 6)
    transcript.prompt("how long is it?")
    transcript.reply("Long.")
    transcript.write(stage.transcripts, "-long")
    page = await open_page(viewport=PHONE)
    await page.evaluate("location.hash = 'timeline'")
    chooser = page.get_by_role("combobox", name="Project")
    await expect(chooser.locator("option", has_text="a-very-long-name")).to_be_attached()
    for part in (chooser, page.locator(".timeline-plot")):
        box = await part.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= PHONE["width"]
