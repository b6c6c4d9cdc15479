"""Words that mean a button do what it does, after one key; decisions are quoted with one."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import PHONE, OpenPage
from tests.e2e.program.test_command_bar import bar, chosen, decided, on_its_way
from tests.support.stage import (
    RestartableKeeper,
    message_field,
    prompt_texts,
    replies,
    save_screenshot,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


def meant(page: Page) -> Locator:
    return page.get_by_role("region", name="What these words do")


def recap_region(page: Page) -> Locator:
    return page.get_by_role("region", name="Where were we")


async def test_a_recap_is_asked_for_and_skipped_in_words(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: the till counts coins")
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_text(["the till counts coins"])
    await expect(recap_region(page)).to_have_count(0)
    await message_field(page).fill("Give me a quick summary, please.")
    await expect(meant(page)).to_contain_text("Quick recap of this session")
    await save_screenshot(page, "words-recap")
    await message_field(page).press("Enter")
    await expect(recap_region(page)).to_contain_text("Claude's last words: “the till counts coins”")
    await expect(message_field(page)).to_have_value("")
    await message_field(page).fill("a detailed summary")
    await message_field(page).press("Enter")
    await expect(recap_region(page)).to_contain_text("The last turn")
    await message_field(page).fill("skip the recap")
    await expect(meant(page)).to_contain_text("Skip the recap")
    await message_field(page).press("Enter")
    await expect(recap_region(page)).to_have_count(0)
    await message_field(page).fill("where were we?")
    await message_field(page).press("Enter")
    await expect(recap_region(page)).to_have_count(1)
    # none of it was said to Claude
    await expect(prompt_texts(page)).to_have_count(1)
    # another key sends it as a message
    await message_field(page).fill("say: no")
    await expect(meant(page)).to_have_count(0)
    await message_field(page).fill("skip the recap")
    await message_field(page).press("Control+Enter")
    await expect(prompt_texts(page)).to_have_text(["say: the till counts coins", "skip the recap"])
    # who goes on has seen it
    await expect(recap_region(page)).to_have_count(0)
    # inside of a task they are words of it
    task = "give me a quick summary of till.py and then mend it"
    await message_field(page).fill(task)
    await expect(meant(page)).to_have_count(0)
    await message_field(page).press("Enter")
    await expect(prompt_texts(page).last).to_have_text(task)


async def test_the_command_bar_does_it_for_the_open_session(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: the exporter writes rows")
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_count(1)
    await page.keyboard.press("Control+k")
    await decided(page, "give me a quick summary")
    await expect(chosen(page)).to_contain_text(
        "Enter: quick recap of say: the exporter writes rows"
    )
    await save_screenshot(page, "words-bar")
    await bar(page).press("Enter")
    await expect(recap_region(page)).to_contain_text(
        "Claude's last words: “the exporter writes rows”"
    )
    await expect(prompt_texts(page)).to_have_count(1)
    # as a message, with another key
    await page.keyboard.press("Control+k")
    await expect(bar(page)).to_have_value("")
    await decided(page, "give me a quick summary")
    await bar(page).press("Tab")
    await expect(chosen(page)).not_to_contain_text("quick recap")
    await bar(page).press("Enter")
    await expect(on_its_way(page)).to_contain_text(re.compile("Continues|Starts"))
    await on_its_way(page).get_by_role("button", name="Undo").click()


async def test_an_alternative_is_explored_in_a_copy(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: one way to do it")
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_count(1)
    await message_field(page).fill("Let's explore an alternative")
    await expect(meant(page)).to_contain_text("Explore it in a copy of this session")
    await message_field(page).press("Enter")
    await expect(page).not_to_have_url(re.compile(session))
    await expect(replies(page)).to_have_text(["one way to do it"])
    await expect(message_field(page)).to_have_value("")
    history = await stage.request("GET", f"/sessions/{session}?limit=100")
    assert [each["kind"] for each in history["messages"]] == ["prompt", "reply"]


def counted_sessions(answer: Any) -> list[str]:
    """The ids of those whose transcripts were counted."""
    return [row["id"] for row in answer["sessions"] if row["messageCount"]]


async def deciding(stage: RestartableKeeper) -> str:
    """A session in which something was decided."""
    session = await stage.start_session("ask: Which database? Postgres | SQLite")
    pending = await stage.wait_for("/attention", lambda answer: answer["attention"])
    answers = {"Which database?": "SQLite"}
    body = {"attentionId": pending["attention"][0]["id"], "decision": "allow", "answers": answers}
    await stage.request("POST", "/resolve", body)
    # before it stands on disk nothing is known of it
    await stage.wait_for("/sessions", lambda answer: session in counted_sessions(answer))
    await stage.wait_for(f"/sessions/{session}/resume", lambda report: report["decisions"])
    return session


QUESTION = "What did we decide about the database?"


async def press_enter(page: Page) -> None:
    await save_screenshot(page, "words-decided")
    await message_field(page).press("Enter")


async def tap_quote(page: Page) -> None:
    await quote_button(page).tap()


def quote_button(page: Page) -> Locator:
    return meant(page).get_by_role(
        "button", name=re.compile(r"quoted before it \(about \d+ tokens\)")
    )


@pytest.mark.parametrize(
    ("device", "send"),
    [
        pytest.param({}, press_enter, id="desk"),
        pytest.param(
            {"viewport": PHONE, "has_touch": True, "is_mobile": True}, tap_quote, id="phone"
        ),
    ],
)
async def test_what_was_decided_is_quoted_with_one_key(
    open_page: OpenPage,
    stage: RestartableKeeper,
    clarvis: Clarvis,
    device: dict[str, Any],
    send: Callable[[Page], Awaitable[None]],
) -> None:
    session = await deciding(stage)
    page = await open_page(clarvis.login_link(session), **device)
    await expect(replies(page)).to_have_count(1)
    await message_field(page).fill(QUESTION)
    await expect(meant(page)).to_contain_text("Which database? SQLite")
    await expect(quote_button(page)).to_be_visible()
    # nothing is sent without the key
    await expect(prompt_texts(page)).to_have_count(1)
    await send(page)
    prompt = prompt_texts(page).last
    await expect(prompt).to_contain_text(
        "> Quoted from earlier, what was decided about “the database”:"
    )
    await expect(prompt).to_contain_text("> - Which database? SQLite")
    await expect(prompt).to_contain_text(QUESTION)
    await expect(message_field(page)).to_have_value("")
    await expect(replies(page)).to_have_count(2)
    history = await stage.request("GET", f"/sessions/{session}?limit=100")
    prompts = [each for each in history["messages"] if each["kind"] == "prompt"]
    assert "Quoted from earlier" in str(prompts[-1]["content"])
    # without a decision the question is a question
    await message_field(page).fill("what did we decide about zebras?")
    await expect(meant(page)).to_contain_text("No decision about zebras was found.")
    await expect(meant(page).get_by_role("button")).to_have_count(0)


async def test_the_bar_asks_it_of_the_open_session(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await deciding(stage)
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_count(1)
    await page.keyboard.press("Control+k")
    await decided(page, QUESTION)
    await expect(chosen(page)).to_contain_text("look for what was decided in")
    await bar(page).press("Enter")
    await expect(message_field(page)).to_have_value(QUESTION)
    await expect(meant(page)).to_contain_text("Which database? SQLite")
    await message_field(page).press("Control+Enter")
    await expect(prompt_texts(page).last).to_have_text(QUESTION)
