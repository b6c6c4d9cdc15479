"""Coming back to a session, and what was used: a real browser, the real keeper and CLI."""

from __future__ import annotations

import os
import re
import time

import pytest
from playwright.async_api import expect

from tests.analysis.test_session_facts import use
from tests.e2e.conftest import OpenPage, open_recap, session_row
from tests.support.stage import RestartableKeeper, replies
from tests.support.transcript_writer import TranscriptWriter

pytestmark = pytest.mark.asyncio(loop_scope="module")
HOUR = 3_600


async def test_who_comes_back_is_told_as_much_as_they_want(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    session = await stage.start_session("say: Shall I paint it red?")
    page = await open_page()
    await session_row(page, "Shall I paint it red?").click()
    await expect(replies(page)).to_have_text(["Shall I paint it red?"])
    card = page.get_by_role("region", name="Where were we")
    # nobody was away
    await expect(card).to_have_count(0)
    await stage.request("POST", f"/sessions/{session}/close", {})
    (transcript,) = stage.transcripts.glob(f"*/{session}.jsonl")
    old = time.time() - 5.5 * HOUR
    os.utime(transcript, (old, old))

    await expect(session_row(page, "5 h")).to_be_visible()
    await page.reload()
    await open_recap(page)
    await expect(card).to_contain_text("Claude asked: Shall I paint it red?")
    for name in ("Detailed", "Quick", "Dive right in"):
        await expect(card.get_by_role("button", name=name)).to_be_visible()
    await card.get_by_role("button", name="Detailed").click()
    await expect(card).to_contain_text("The last turn")
    # remembered
    await page.reload()
    await open_recap(page)
    await expect(card).to_contain_text("The last turn")
    # by Claude itself
    await card.get_by_role("button", name="Let Claude write it").click()
    await expect(card.get_by_role("button", name="Go on with what is open.")).to_be_visible()
    await card.get_by_role("button", name="Go on with what is open.").click()
    await expect(card).to_have_count(0)
    await expect(page.locator(".composer textarea")).to_have_value("Go on with what is open.")
    # one answers where one always does
    await page.reload()
    await open_recap(page)
    await card.get_by_role("button", name="Answer it").click()
    await expect(card).to_have_count(0)
    await expect(page.locator(".composer textarea")).to_be_focused()
    # skipped with a key
    await page.reload()
    await open_recap(page)
    await page.keyboard.press("Escape")
    await expect(card).to_have_count(0)
    await page.reload()
    await open_recap(page)
    await card.get_by_role("button", name="Dive right in").click()
    await page.reload()
    await expect(page.get_by_role("button", name="Where were we?")).to_be_visible()
    await expect(card).to_have_count(0)
    # in another browser it is the same person
    page = await open_page()
    await session_row(page, "Shall I paint it red?").click()
    again = page.get_by_role("button", name="Where were we?")
    await expect(again).to_be_visible()
    await again.click()
    await expect(page.get_by_role("region", name="Where were we")).to_be_visible()


async def test_who_was_away_for_long_may_start_afresh(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    session = await stage.start_session("say: The walls stand.")
    page = await open_page()
    await session_row(page, "The walls stand.").click()
    await expect(replies(page)).to_have_text(["The walls stand."])
    await stage.request("POST", f"/sessions/{session}/close", {})
    (transcript,) = stage.transcripts.glob(f"*/{session}.jsonl")
    old = time.time() - 40 * 24 * HOUR
    os.utime(transcript, (old, old))
    await page.reload()
    card = await open_recap(page)
    await expect(card).to_contain_text("Nothing was said here for 40 days")
    # it is said to those as well who want no recap
    await card.get_by_role("button", name="Dive right in").click()
    await page.reload()
    card = await open_recap(page, "Before you go on")
    await expect(card).to_contain_text("Nothing was said here for 40 days")
    await card.get_by_role("button", name="Start afresh").click()
    dialog = page.get_by_role("dialog", name="New session")
    await expect(dialog.get_by_role("button", name=f"Directory: {stage.workdir}")).to_be_visible()
    words = dialog.get_by_label("First prompt")
    await expect(words).to_have_value(re.compile("goes on from an earlier session. “.*walls"))
    # nothing is sent by itself, and one may change one's mind
    await dialog.get_by_role("button", name="Close").click()
    await card.get_by_role("button", name="Resume it").click()
    await expect(card).to_have_count(0)
    await expect(replies(page)).to_have_text(["The walls stand."])


async def test_in_detail_it_is_told_turn_by_turn_and_group_by_group(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    shop = stage.home.project("covered")
    checklist = "categories:\n  - name: Payments\n    subtopics: [cards, chargebacks]\n"
    (shop / "coverage-checklist.yml").write_text(checklist)
    transcript = TranscriptWriter("5e551011-0000-4000-8000-0000000000c0", str(shop))
    for words in ("draw the shop", "build the till", "now the cards"):
        transcript.prompt(words)
        transcript.reply("**Done**, as you said.")
    todos = [
        {"content": f"{group}: {what}", "status": state}
        for group, what, state in [
            ("Cart", "add", "completed"),
            ("Cart", "remove", "completed"),
            ("Till", "cards", "in_progress"),
            ("Till", "refunds", "pending"),
        ]
    ]
    use(transcript, "TodoWrite", {"todos": todos})
    use(transcript, "Edit", {"file_path": str(shop / "till.py")})
    use(transcript, "Bash", {"command": "make till"}, "Exit code 1", error=True)
    transcript.reply("The cards are **half** done.")
    path = transcript.write(stage.transcripts, "-covered")
    old = time.time() - 40 * 24 * HOUR
    os.utime(path, (old, old))
    await stage.request("PATCH", "/preferences", {"recap": "quick"})
    page = await open_page()
    await session_row(page, "now the cards").click()
    card = await open_recap(page)
    await card.get_by_role("button", name="Detailed").click()
    turns = card.locator(".recap-turns li")
    await expect(turns).to_have_text(
        [
            "draw the shopDone, as you said.",
            "build the tillDone, as you said.",
            "now the cardsThe cards are half done. 3 tool calls",
        ]
    )
    await expect(card.locator(".recap-shares li")).to_have_text(["Cart2 of 2", "Till0 of 2"])
    await expect(card).to_contain_text("1 command run, 1 failed")
    await expect(card).to_contain_text("make till")
    await expect(card.locator(".checklist summary")).to_have_text(["Payments0 of 2"])
    await card.locator(".checklist summary").click()
    await expect(card.locator(".checklist details")).to_contain_text("chargebacks")
    # to continue is to resume: one button for it, beside the other choice
    buttons = card.locator(".recap-next button")
    await expect(buttons).to_have_text(["Continue with it", "Start afresh", "Let Claude write it"])


async def test_what_was_used_is_shown(open_page: OpenPage, stage: RestartableKeeper) -> None:
    await stage.start_session("say: worth a few tokens")
    page = await open_page()
    await session_row(page, "worth a few tokens").click()
    await expect(replies(page)).to_have_text(["worth a few tokens"])
    await page.get_by_role("link", name="Usage").click()
    ranking = page.get_by_role("region", name="By session")
    await expect(ranking.get_by_role("link", name="worth a few tokens")).to_be_visible()
    await expect(page.get_by_role("region", name="In all")).to_contain_text("every reply once")
    await expect(page.get_by_role("slider", name="Cost by day")).to_be_visible()
    # what is used while one looks is added
    await stage.start_session("say: a few more of them")
    await expect(ranking.get_by_role("link", name="a few more of them")).to_be_visible()
    await page.get_by_role("button", name="All", exact=True).click()
    await expect(ranking.get_by_role("link", name="worth a few tokens")).to_be_visible()
    await ranking.get_by_role("link", name="worth a few tokens").click()
    await expect(replies(page)).to_have_text(["worth a few tokens"])
