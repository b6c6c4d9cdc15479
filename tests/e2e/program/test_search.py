"""Looking for words in all sessions, with the real keeper and what the real CLI wrote."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import OpenPage
from tests.support.stage import RestartableKeeper, replies, save_screenshot
from tests.support.transcript_writer import TranscriptWriter, uuid_of

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def wait_for_hits(stage: RestartableKeeper, word: str, number: int) -> None:
    await stage.wait_for(f"/search?q={word}", lambda answer: len(answer["hits"]) >= number)


async def test_words_are_found_and_lead_to_where_they_were_said(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    session = await stage.start_session("say: the grey heron stands in the pond")
    await stage.start_session("say: nothing of that kind <img src=x onerror=alert(1)>")
    # what was said a moment ago is read a moment later
    await wait_for_hits(stage, "heron", 2)
    await wait_for_hits(stage, "onerror", 2)
    page = await open_page()
    await page.get_by_role("link", name="Search all messages").click()
    field = page.get_by_role("searchbox", name="Search all messages")
    await expect(field).to_be_focused()
    await expect(page.get_by_text("exactly this")).to_be_visible()
    await save_screenshot(page, "empty")

    await field.fill('"grey heron"')
    hits = page.get_by_role("list", name="Found").get_by_role("link")
    await expect(page.locator("mark").first).to_have_text("grey heron")
    await expect(hits).to_have_count(2)
    await save_screenshot(page, "found")
    assert "#search=" in page.url

    await page.get_by_role("button", name="Prompts").click()
    await expect(hits).to_have_count(1)
    # a refresh comes back to the same place
    await page.reload()
    await expect(hits).to_have_count(1)
    await expect(field).to_have_value('"grey heron"')
    await hits.first.click()
    await expect(replies(page)).to_have_text(["the grey heron stands in the pond"])
    assert f"session={session}" in page.url
    assert "message=" in page.url
    await page.go_back()
    await expect(hits).to_have_count(1)

    # inside of words too, after what begins with it
    await field.fill("tand")
    longer = page.get_by_role("list", name="Found inside of longer words").get_by_role("link")
    await expect(page.get_by_role("heading", name="Inside of longer words")).to_be_visible()
    await expect(longer).to_have_count(1)
    await expect(longer.locator("mark")).to_have_text("tand")
    await save_screenshot(page, "inside")

    await field.fill("kingfisher")
    await expect(page.get_by_text("Nothing was said with these words.")).to_be_visible()
    await save_screenshot(page, "nothing")
    await field.fill("!?")
    await expect(page.get_by_role("alert")).to_have_text("Say at least one word to look for.")
    await field.fill("onerror")
    await expect(hits.first).to_contain_text("<img src=x onerror=alert(1)>")


async def test_the_command_bar_finds_what_was_said(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    session = await stage.start_session("say: a kingfisher dives from refreshBranchCache")
    await wait_for_hits(stage, "BranchCache", 2)
    other = await stage.start_session("say: the pond is quiet")
    page = await open_page()
    await page.evaluate("id => { location.hash = `session=${id}` }", other)
    await expect(replies(page)).to_have_text(["the pond is quiet"])
    await page.keyboard.press("Control+k")
    bar = page.get_by_role("dialog", name="Say what you want")
    field = bar.get_by_role("textbox")
    await field.fill("BranchCache")
    hits = bar.get_by_role("option").filter(has=page.locator("mark"))
    await expect(hits).to_have_count(2)
    await expect(hits.first.locator("mark")).to_have_text("BranchCache")
    everything = page.get_by_role("option", name="Search all messages for BranchCache")
    await save_screenshot(page, "bar")
    # up from the first option is the last one, the search page; the one before it is a message
    await field.press("ArrowUp")
    await expect(everything).to_have_attribute("aria-selected", "true")
    await field.press("ArrowUp")
    await expect(hits.last).to_have_attribute("aria-selected", "true")
    await field.press("Enter")
    await expect(page).to_have_url(re.compile(f"session={session}&message="))
    await expect(page.locator("[data-meant=true]")).to_contain_text("refreshBranchCache")

    await page.keyboard.press("Control+k")
    await field.fill("kingfisher")
    await page.get_by_role("option", name="Search all messages for kingfisher").click()
    await expect(page.get_by_role("searchbox", name="Search all messages")).to_have_value(
        "kingfisher"
    )


async def test_a_hit_far_back_and_one_of_a_subagent_open_where_they_were_said(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    transcript = TranscriptWriter(uuid_of(7), str(stage.transcripts))
    transcript.prompt("a bittern booms in the reeds")
    task = {"description": "look", "prompt": "look for it", "subagent_type": "general-purpose"}
    block = {"type": "tool_use", "id": "toolu_far", "name": "Task", "input": task}
    transcript.block(block, None)
    transcript.result("toolu_far", "it was there")
    for number in range(2_000):
        transcript.prompt(f"and then {number}")
        transcript.reply(f"then came {number}")
    path = transcript.write(stage.transcripts)
    nested = TranscriptWriter(transcript.session_id)
    nested.prompt("look for it", isSidechain=True)
    nested.reply("the nightjar churrs", isSidechain=True)
    below = path.with_suffix("") / "subagents"
    below.mkdir(parents=True)
    (below / "agent-a1.meta.json").write_text('{"toolUseId": "toolu_far"}')
    (below / "agent-a1.jsonl").write_bytes(b"\n".join(nested.lines) + b"\n")
    await wait_for_hits(stage, "bittern", 1)
    await wait_for_hits(stage, "nightjar", 1)
    page = await open_page()
    await page.get_by_role("link", name="Search all messages").click()
    field = page.get_by_role("searchbox", name="Search all messages")
    hits = page.get_by_role("list", name="Found").get_by_role("link")
    await field.fill("bittern")
    await hits.click()
    meant = page.locator("[data-meant=true]")
    await expect(meant).to_contain_text("a bittern booms in the reeds")
    await page.go_back()
    await field.fill("nightjar")
    await expect(hits).to_contain_text("in a subagent")
    await hits.click()
    await expect(meant.last).to_contain_text("look")
