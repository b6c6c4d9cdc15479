"""Claude Code in real terminals, in a real browser: seen, asked for, never written past."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import AsyncIterator

import msgspec
import pytest
from playwright.async_api import Page, expect

from claudekeeper.attention.hook_settings import ClaudeSettingsFile as Hooks
from tests.e2e.conftest import OpenPage, module_fixture, session_row
from tests.integration.terminals.conftest import OpenTerminal
from tests.support.stage import (
    RestartableKeeper,
    allow_button,
    attention_card,
    message_field,
    prompt_texts,
    replies,
    send_prompt,
)
from tests.support.terminal import Terminal, Tmux, needs_tmux, prepare_claude_home

pytestmark = [pytest.mark.asyncio(loop_scope="module"), needs_tmux, pytest.mark.timeout(240)]
PROMPT = "Do you want to proceed?"


@module_fixture
async def terminals(
    stage: RestartableKeeper, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[OpenTerminal]:
    Hooks(stage.home.config, stage.home.keeper).install()
    tmux = Tmux(tmp_path_factory.mktemp("tmux"))
    environment = prepare_claude_home(stage.workdir, stage.environment)

    async def open_terminal(*arguments: str) -> Terminal:
        return await Terminal(tmux, stage.workdir, environment).start(*arguments)

    yield open_terminal
    tmux.stop()


def pids_of(stage: RestartableKeeper, session: str) -> list[int]:
    """The terminals that have this session, by what they say of themselves."""
    pids = [
        msgspec.json.decode(path.read_bytes())
        for path in (stage.home.config / "sessions").glob("*.json")
    ]
    return [
        each["pid"] for each in pids if (each["sessionId"], each["entrypoint"]) == (session, "cli")
    ]


def session_in(page: Page) -> str:
    match = re.search("session=([0-9a-f-]+)", page.url)
    assert match
    return match[1]


async def test_one_writer_and_three_ways_to_go_on(
    open_page: OpenPage, stage: RestartableKeeper, terminals: OpenTerminal
) -> None:
    page = await open_page()
    terminal = await terminals()
    await terminal.type_line("say: from the terminal")
    listed = session_row(page, "say: from the terminal")
    await expect(listed).to_contain_text("in a terminal · idle")
    await expect(listed.locator(".dot")).to_have_attribute("data-elsewhere", "true")
    await listed.click()
    await expect(replies(page)).to_have_text(["from the terminal"])
    await expect(page.locator(".session-status")).to_contain_text("in a terminal · idle")
    session = session_in(page)

    # nothing is sent past the terminal, and nothing that was typed is lost
    elsewhere = page.get_by_role("region", name="Runs elsewhere")
    await send_prompt(page, "say: from here")
    await expect(elsewhere).to_contain_text("Not sent: say: from here")
    await expect(message_field(page)).to_have_value("")
    await page.reload()
    await expect(elsewhere).to_contain_text("Not sent: say: from here")
    await elsewhere.get_by_role("button", name="Only watch").click()
    await expect(message_field(page)).to_have_value("say: from here")
    await expect(elsewhere.get_by_role("button")).to_have_count(0)

    # it waits until the terminal has ended
    await message_field(page).press("Enter")
    await elsewhere.get_by_role("button", name="Send when it has ended").click()
    waiting = page.get_by_role("list", name="Waiting in line")
    await expect(waiting).to_contain_text("say: from here")
    await expect(elsewhere).to_contain_text("Runs in a terminal · idle")
    await terminal.type_line("/exit")
    await expect(replies(page)).to_have_text(["from the terminal", "from here"])
    await expect(elsewhere).to_have_count(0)

    # somebody resumes what runs here: it is said, and handed over
    await terminals("--resume", session)
    await expect(elsewhere).to_contain_text("Runs in a terminal · idle")
    await send_prompt(page, "say: in a copy")
    await elsewhere.get_by_role("button", name="Go on in a copy").click()
    await expect(page).not_to_have_url(re.compile(session))
    await expect(replies(page)).to_have_text(["from the terminal", "from here", "in a copy"])
    await expect(prompt_texts(page)).to_have_count(3)
    await expect(elsewhere).to_have_count(0)

    # a kill leaves its file behind; it is not believed
    await page.evaluate("id => { location.hash = `#session=${id}` }", session)
    await expect(elsewhere).to_contain_text("Runs in a terminal · idle")
    await expect(replies(page)).to_have_count(2)
    (pid,) = pids_of(stage, session)
    os.kill(pid, signal.SIGKILL)
    await expect(elsewhere).to_have_count(0)
    assert pids_of(stage, session) == [pid]


async def test_questions_of_a_terminal_are_answered_here_or_there(
    open_page: OpenPage, stage: RestartableKeeper, terminals: OpenTerminal
) -> None:
    page = await open_page()
    terminal = await terminals()
    await terminal.type_line("run: touch there.txt")
    await page.get_by_role("link", name="1 waiting for you").click()
    await expect(attention_card(page)).to_contain_text("Asked in a terminal")
    await page.locator(".inbox-where a").click()
    await expect(attention_card(page)).to_contain_text("touch there.txt")
    await terminal.wait_for_text(PROMPT)
    await terminal.confirm(PROMPT)
    await expect(attention_card(page)).to_have_count(0)
    settled = page.locator(".settled").first
    await expect(settled).to_contain_text("in the terminal: Run touch there.txt")
    await expect(replies(page)).to_contain_text("touch there.txt ran")
    assert stage.file_exists("there.txt")
    # what it says of itself is a quiet line
    elsewhere = page.get_by_role("region", name="Runs elsewhere")
    await expect(elsewhere).to_contain_text("It says: Claude has finished.")

    await terminal.type_line("run: touch here.txt")
    await expect(attention_card(page)).to_contain_text("Asked in a terminal")
    await expect(allow_button(page)).to_be_enabled()
    await allow_button(page).click()
    await terminal.wait_until_gone(PROMPT)
    await expect(replies(page).last).to_contain_text("touch here.txt ran")
    assert stage.file_exists("here.txt")

    await terminal.type_line("ask: Which colour? red | blue")
    await expect(attention_card(page)).to_contain_text("Asked in a terminal")
    await attention_card(page).get_by_text("blue").click()
    await attention_card(page).get_by_role("button", name=re.compile("^Answer|^Send")).click()
    await expect(replies(page).last).to_contain_text("blue")
