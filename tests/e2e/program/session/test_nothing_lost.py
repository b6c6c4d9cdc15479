"""Crashes, lost lines and broken files in a real browser: nothing is lost, nothing doubled."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from playwright.async_api import WebSocketRoute, expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import OpenPage, session_row, trigger_refresh
from tests.support.scrolling import messages_region
from tests.support.stage import (
    RestartableKeeper,
    allow_button,
    message_field,
    prompt_texts,
    replies,
    send_prompt,
    unsent_prompts,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_keeper_killed_in_mid_reply_comes_back_and_nothing_is_lost(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: before the fall")
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_text(["before the fall"])
    await send_prompt(page, "slow: 600")
    await expect(page.locator(".reply[aria-busy=true]")).to_contain_text("The queue keeps")
    await message_field(page).fill("say: typed while it was down")

    await stage.kill()
    banner = page.locator(".banner")
    await expect(banner).to_be_visible()
    await page.get_by_role("button", name="Stop Esc").click()
    problem = page.locator(".session-problem")
    await expect(problem).to_contain_text("The keeper does not answer.")
    await stage.start()
    await expect(banner).to_have_count(0)
    # it was true a moment ago
    await expect(problem).to_have_text("")
    await stage.kill()
    await expect(banner).to_be_visible()
    await message_field(page).press("Enter")
    await expect(unsent_prompts(page)).to_contain_text("say: typed while it was down")
    await expect(unsent_prompts(page).get_by_role("alert")).to_contain_text("Not sent. The keeper")
    # said once, in one place
    await expect(page.get_by_text("say: typed while it was down")).to_have_count(1)
    await expect(message_field(page)).to_have_value("")
    await page.reload()
    await expect(page.get_by_text("Waiting for the keeper")).to_be_visible()

    await stage.start()
    await expect(banner).to_have_count(0)
    await expect(unsent_prompts(page)).to_contain_text("say: typed while it was down")
    await expect(session_row(page, "say: before the fall")).to_be_visible()
    # back into the field, and out again: the words are the same
    await unsent_prompts(page).get_by_role("button", name="Edit").click()
    await expect(message_field(page)).to_have_value("say: typed while it was down")
    await expect(unsent_prompts(page)).to_have_count(0)
    await stage.kill()
    await message_field(page).press("Enter")
    await expect(unsent_prompts(page)).to_contain_text("say: typed while it was down")
    await stage.start()
    await expect(banner).to_have_count(0)
    await unsent_prompts(page).get_by_role("button", name="Send again").click()
    await expect(replies(page).last).to_have_text("typed while it was down")
    prompts = ["say: before the fall", "slow: 600", "say: typed while it was down"]
    await expect(prompt_texts(page)).to_have_text(prompts)
    await expect(unsent_prompts(page)).to_have_count(0)
    await page.reload()
    await expect(prompt_texts(page)).to_have_text(prompts)


async def test_a_keeper_killed_with_a_question_and_a_line_leaves_both_as_they_were(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("run: touch not-yet.txt")
    page = await open_page(clarvis.login_link(session))
    another = await open_page(clarvis.login_link(session))
    await expect(allow_button(page)).to_be_visible()
    await send_prompt(page, "say: behind it")
    await stage.request("POST", "/send", {"sessionId": session, "text": "say: from elsewhere"})
    waiting = another.get_by_role("list", name="Waiting in line").get_by_role("listitem")
    await expect(waiting).to_have_text(["queued: say: behind it", "queued: say: from elsewhere"])
    await stage.kill()
    await stage.start()
    interrupted = another.get_by_role("region", name="Interrupted")
    await expect(interrupted).to_contain_text("Claude will ask again")
    # nobody has answered it, and it is said once
    await expect(interrupted.get_by_role("listitem")).to_have_text(["Run touch not-yet.txt"])
    await expect(another.locator(".settled")).to_have_count(0)
    call = messages_region(another).get_by_role("button", name="touch not-yet.txt")
    # its CLI may still have come to write down that nobody allowed it
    words = re.compile("^Wanted to run .* not (answered|allowed)$")
    await expect(call).to_have_accessible_name(words)
    # what goes along is said before one decides
    prompts_of_turn = interrupted.get_by_label("What was said")
    await expect(prompts_of_turn).to_have_text(["say: behind it", "say: from elsewhere"])
    # taken back, also where it was sent from, it does not go along
    here = page.get_by_role("region", name="Interrupted")
    await here.get_by_role("button", name="Edit: say: behind it").click()
    await expect(message_field(page)).to_have_value("say: behind it")
    await expect(unsent_prompts(page)).to_have_count(0)
    await expect(prompts_of_turn).to_have_text(["say: from elsewhere"])
    await interrupted.get_by_role("button", name="Continue").click()
    await expect(replies(page).last).to_have_text("from elsewhere")
    await expect(prompt_texts(page).filter(has_text="behind it")).to_have_count(0)
    assert not stage.file_exists("not-yet.txt")


class Wire:
    """The page's line to the keeper, with a pair of pliers."""

    def __init__(self) -> None:
        self.whole = True
        self._lines: list[WebSocketRoute] = []

    async def joined(self, line: WebSocketRoute) -> None:
        if self.whole:
            line.connect_to_server()
            self._lines.append(line)
        else:
            await line.close(code=4008)

    async def cut(self) -> None:
        self.whole = False
        for line in self._lines:
            await line.close(code=4008)


async def test_what_happened_while_the_line_was_cut_is_there_when_it_is_back(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("run: touch asked.txt")
    page = await open_page(clarvis.login_link(session))
    wire = Wire()
    await page.route_web_socket("**/api/ws", wire.joined)
    await page.reload()
    await expect(allow_button(page)).to_be_visible()
    await message_field(page).fill("half a sentence")
    await wire.cut()
    await expect(page.locator(".banner")).to_be_visible()

    attention = (await stage.request("GET", "/attention"))["attention"]
    (mine,) = [each for each in attention if each["sessionId"] == session]
    answer = {"attentionId": mine["id"], "decision": "allow", "by": "somebody else"}
    await stage.request("POST", "/resolve", answer)
    wire.whole = True
    await trigger_refresh(page)
    await expect(replies(page)).to_have_text(["touch asked.txt ran without a word, so it worked."])
    await expect(page.locator(".banner")).to_have_count(0)
    await expect(page.locator(".card")).to_have_count(0)
    await expect(prompt_texts(page)).to_have_text(["run: touch asked.txt"])
    await expect(message_field(page)).to_have_value("half a sentence")


async def test_a_broken_session_says_so_and_the_rest_works(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: I am whole")
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_text(["I am whole"])
    folder = next(stage.transcripts.glob(f"*/{session}.jsonl")).parent
    broken = str(uuid4())
    (folder / f"{broken}.jsonl").write_bytes(b"\x00\xff not a line of JSON\n" * 3)
    await page.goto(f"{clarvis.url}/#session={broken}")
    await expect(page.get_by_role("heading", name="This session cannot be shown")).to_be_visible()
    # what the keeper would refuse is not offered
    await expect(page.get_by_text("Claude Code cannot go on with this session.")).to_be_visible()
    await expect(message_field(page)).to_have_count(0)
    await session_row(page, "say: I am whole").click()
    await expect(replies(page)).to_have_text(["I am whole"])
