"""A project's checklist: how far a session is, what comes next, and how it ends."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect

from tests.e2e.conftest import OpenPage, open_recap, session_row
from tests.support.stage import RestartableKeeper, replies, save_screenshot, send_prompt
from tests.support.transcript_writer import TranscriptWriter, uuid_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

CHECKLIST = """
coverage:
  business_requirements:
    required_questions: [Who are the target users?, What is the budget?]
    subtopics: [pricing]
  access:
    required_questions: [Who may log in?]
    subtopics: [auditing, single sign-on, sessions]
  operations: {subtopics: [backups, deployment]}
"""


def project(stage: RestartableKeeper, name: str, checklist: str = CHECKLIST) -> Path:
    folder = stage.home.project(name)
    (folder / "coverage-checklist.yml").write_text(checklist)
    return folder


def talked(stage: RestartableKeeper, number: int, workdir: Path) -> Path:
    """Days of talk, and nobody came back since."""
    transcript = TranscriptWriter(uuid_of(number), str(workdir))
    for day, prompt, reply in (
        (2, "Let's plan the shop.", "Gladly. Who are the target users, and what is the budget?"),
        (3, "Bakers in small towns, 20k.", "Noted. How about pricing?"),
        (5, "We charge per seat, so pricing is simple.", "Good. Who may log in?"),
        (9, "Only admins may log in. Don't talk about auditing yet.", "Then we leave that."),
    ):
        at = f"2026-03-{day:02}T12:00:00.000Z"
        transcript.prompt(prompt, timestamp=at)
        transcript.reply(reply, message_id=f"m{number}-{day}", timestamp=at)
    path = transcript.write(stage.transcripts, f"-{workdir.name}")
    old = time.time() - 7_200
    os.utime(path, (old, old))
    return path


def in_list(page: Page, text: str) -> Locator:
    return page.locator(".row").filter(has_text=text)


async def test_who_comes_back_is_told_how_far_it_is_and_what_comes_next(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    talked(stage, 41, project(stage, "bakery"))
    await stage.request("PATCH", "/preferences", {"recap": "quick"})
    page = await open_page()
    entry = in_list(page, "Don't talk about auditing yet.")
    await expect(entry.locator(".row-far")).to_have_text("44 %")
    await entry.click()
    card = await open_recap(page)
    await expect(card).to_contain_text("The checklist is 44 % covered.")
    await expect(card).to_contain_text("Next topic: access, auditing.")
    await expect(card.locator(".recap-progress")).to_have_text("4 of 9 covered (44 %)")
    await save_screenshot(page, "recap-quick")

    await card.get_by_role("button", name="Detailed").click()
    checklist = card.get_by_role("region", name="The project’s checklist")
    # how much is covered is said once
    await expect(card.locator(".recap-progress")).to_have_count(0)
    await expect(checklist.locator("h4")).to_have_text(["Complete", "Not started"])
    await expect(checklist.locator("summary")).to_have_text(
        ["business requirements3 of 3", "access1 of 4", "operations0 of 2"]
    )
    await expect(checklist).to_contain_text("Suggested next topic: access, auditing")
    await checklist.get_by_text("business requirements").click()
    await expect(checklist).to_contain_text("Bakers in small towns, 20k.")
    await expect(checklist).to_contain_text("confidence")
    await checklist.get_by_text("access").first.click()
    await expect(checklist).to_contain_text("Claude asked last")
    await expect(checklist.locator("details[open]").nth(1)).to_contain_text("single sign-on")
    await save_screenshot(page, "recap-detailed")
    await checklist.scroll_into_view_if_needed()
    await save_screenshot(page, "recap-checklist")

    await card.get_by_role("button", name="Continue with access").click()
    field = page.locator(".composer textarea")
    await expect(field).to_have_value("Let’s continue with access: auditing")


async def test_the_timeline_shows_how_it_became_more(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    talked(stage, 42, project(stage, "harbour"))
    page = await open_page()
    await in_list(page, "Don't talk about auditing yet.").first.click()
    await page.locator("main").get_by_role("link", name="Timeline").click()
    await expect(page.locator(".timeline-lane").last).to_have_text("Checklist covered 44 %")
    columns = page.locator("svg a")
    await expect(columns.last).to_have_attribute("aria-label", re_covered(44))
    await save_screenshot(page, "completion")
    await page.get_by_role("link", name="harbour", exact=True).click()
    await expect(page.locator(".timeline-lane").last).to_have_text("Checklist covered 44 %")


def re_covered(percent: int) -> re.Pattern[str]:
    return re.compile(f"checklist {percent}\\s% covered")


async def test_when_all_is_covered_the_specification_is_written_and_then_shown(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    folder = project(stage, "depot", "coverage:\n  operations: {subtopics: [backups]}\n")
    page = await open_page()
    body = {"workdir": str(folder), "text": "say: Which backups?"}
    await stage.request("POST", "/send", body)
    await session_row(page, "Which backups?").click()
    await expect(replies(page)).to_have_text(["Which backups?"])
    await expect(in_list(page, "Which backups?").locator(".row-far")).to_have_count(0)
    await send_prompt(page, "Backups run nightly.")
    await expect(replies(page)).to_have_count(2)
    await expect(in_list(page, "Backups run nightly.").locator(".row-far")).to_have_text("100 %")
    ended = page.get_by_role("region", name="How it ended")
    await expect(ended).to_have_count(0)
    # what Claude is asked for then is written by whoever writes it
    hostile = "# Depot\n\nBackups run **nightly**.\n\n<img src=x onerror=alert(1)>\n"
    (folder / "SPECIFICATION.md").write_text(hostile)
    await page.reload()
    await expect(ended).to_contain_text("Complete: 1 of 1 items of the checklist covered (100 %).")
    await save_screenshot(page, "complete")
    await ended.get_by_role("button", name="View the specification").click()
    dialog = page.get_by_role("dialog", name="Specification")
    await expect(dialog.get_by_role("heading", name="Depot")).to_be_visible()
    await expect(dialog).to_contain_text("SPECIFICATION.md, last changed")
    await expect(dialog).to_contain_text("<img src=x onerror=alert(1)>")
    await expect(dialog.locator("img")).to_have_count(0)
    await save_screenshot(page, "specification")
    await dialog.get_by_role("button", name="Close").click()
    await ended.get_by_role("button", name="Start new").click()
    begin = page.get_by_role("dialog", name="New session")
    await expect(begin.get_by_role("button", name=f"Directory: {folder}")).to_be_visible()
    await expect(begin.get_by_label("First prompt")).to_have_value("")


async def test_who_comes_back_to_what_is_complete_is_told_so(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    checklist = "coverage: {business: {required_questions: [Who are the target users?]}}"
    folder = project(stage, "mill", checklist)
    (folder / "SPECIFICATION.md").write_text("# Mill")
    talked(stage, 43, folder)
    await stage.request("PATCH", "/preferences", {"recap": "quick"})
    page = await open_page()
    await in_list(page, "Don't talk about auditing yet.").first.click()
    card = await open_recap(page)
    await expect(card).to_contain_text("The specification is SPECIFICATION.md.")
    ended = page.get_by_role("region", name="How it ended")
    await expect(ended.get_by_role("button")).to_have_text(["View the specification", "Start new"])
    # one way to begin anew, not two
    await expect(page.get_by_role("button", name="Start afresh")).to_have_count(0)
    await save_screenshot(page, "complete-cold")


async def test_a_session_is_given_up_and_that_is_taken_back(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    session = await stage.start_session("say: The tower leans.")
    page = await open_page()
    await session_row(page, "The tower leans.").click()
    await expect(replies(page)).to_have_text(["The tower leans."])
    entry = in_list(page, "The tower leans.")
    ended = page.get_by_role("region", name="How it ended")

    async def give_up() -> None:
        await page.get_by_role("button", name="Details").click()
        dialog = page.get_by_role("dialog", name="Details")
        await dialog.get_by_role("button", name="Mark as given up").click()
        await expect(dialog).to_contain_text("Given up")
        await dialog.get_by_role("button", name="Take back “given up”").scroll_into_view_if_needed()
        await save_screenshot(page, "details")
        await dialog.get_by_role("button", name="Close").click()

    await give_up()
    await expect(entry.locator(".row-far")).to_have_text("given up")
    await expect(ended).to_contain_text("You gave this session up on")
    await save_screenshot(page, "given-up")
    # in another browser, and after a restart of the keeper
    await stage.kill()
    await stage.start()
    other = await open_page()
    await expect(in_list(other, "The tower leans.").locator(".row-far")).to_have_text("given up")
    await page.reload()
    await ended.get_by_role("button", name="Take it back").click()
    await expect(ended).to_have_count(0)
    await expect(entry.locator(".row-far")).to_have_count(0)
    await expect(in_list(other, "The tower leans.").locator(".row-far")).to_have_count(0)
    # who says something goes on with it
    await give_up()
    await expect(ended).to_be_visible()
    await send_prompt(page, "say: Prop it up.")
    await expect(replies(page)).to_have_count(2)
    await expect(ended).to_have_count(0)
    assert (await stage.request("GET", f"/sessions/{session}?limit=1"))["session"][
        "givenUp"
    ] is None
