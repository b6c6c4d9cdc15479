"""Claude Code in real terminals, in a real browser: seen, asked for, never written past."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import AsyncIterator

import msgspec
import pytest
from playwright.async_api import Page, expect

from claudekeeper.features.hooks import Settings as Hooks
from tests.e2e.conftest import OpenPage, in_module, row
from tests.e2e.stage import (
    Stage,
    allow,
    card,
    field,
    prompts,
    replies,
    say,
)
from tests.elsewhere.conftest import OpenTerminal
from tests.elsewhere.terminal import Terminal, Tmux, set_up, without_tmux

pytestmark = [pytest.mark.asyncio(loop_scope="module"), without_tmux, pytest.mark.timeout(240)]
PROMPT = "Do you want to proceed?"


@in_module
async def terminals(
    stage: Stage, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[OpenTerminal]:
    Hooks(stage.home.config, stage.home.keeper).install()
    tmux = Tmux(tmp_path_factory.mktemp("tmux"))
    environment = set_up(stage.workdir, stage.environment)

    async def open_terminal(*arguments: str) -> Terminal:
        return await Terminal(tmux, stage.workdir, environment).start(*arguments)

    yield open_terminal
    tmux.end()


def pids_of(stage: Stage, session: str) -> list[int]:
    """The terminals that have this session, by what they say of themselves."""
    known = [
        msgspec.json.decode(path.read_bytes())
        for path in (stage.home.config / "sessions").glob("*.json")
    ]
    return [
        each["pid"] for each in known if (each["sessionId"], each["entrypoint"]) == (session, "cli")
    ]


def session_in(page: Page) -> str:
    found = re.search("session=([0-9a-f-]+)", page.url)
    assert found
    return found[1]


async def test_one_writer_and_three_ways_to_go_on(
    open_page: OpenPage, stage: Stage, terminals: OpenTerminal
) -> None:
    page = await open_page()
    terminal = await terminals()
    await terminal.say("say: from the terminal")
    listed = row(page, "say: from the terminal")
    await expect(listed).to_contain_text("in a terminal · idle")
    await expect(listed.locator(".dot")).to_have_attribute("data-elsewhere", "true")
    await listed.click()
    await expect(replies(page)).to_have_text(["from the terminal"])
    await expect(page.locator(".session-status")).to_contain_text("in a terminal · idle")
    session = session_in(page)

    # nothing is sent past the terminal, and nothing that was typed is lost
    elsewhere = page.get_by_role("region", name="Runs elsewhere")
    await say(page, "say: from here")
    await expect(elsewhere).to_contain_text("Not sent: say: from here")
    await expect(field(page)).to_have_value("")
    await page.reload()
    await expect(elsewhere).to_contain_text("Not sent: say: from here")
    await elsewhere.get_by_role("button", name="Only watch").click()
    await expect(field(page)).to_have_value("say: from here")
    await expect(elsewhere.get_by_role("button")).to_have_count(0)

    # it waits until the terminal has ended
    await field(page).press("Enter")
    await elsewhere.get_by_role("button", name="Send when it has ended").click()
    waiting = page.get_by_role("list", name="Waiting in line")
    await expect(waiting).to_contain_text("say: from here")
    await expect(elsewhere).to_contain_text("Runs in a terminal · idle")
    await terminal.say("/exit")
    await expect(replies(page)).to_have_text(["from the terminal", "from here"])
    await expect(elsewhere).to_have_count(0)

    # somebody resumes what runs here: it is said, and handed over
    await terminals("--resume", session)
    await expect(elsewhere).to_contain_text("Runs in a terminal · idle")
    await say(page, "say: in a copy")
    await elsewhere.get_by_role("button", name="Go on in a copy").click()
    await expect(page).not_to_have_url(re.compile(session))
    await expect(replies(page)).to_have_text(["from the terminal", "from here", "in a copy"])
    await expect(prompts(page)).to_have_count(3)
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
    open_page: OpenPage, stage: Stage, terminals: OpenTerminal
) -> None:
    page = await open_page()
    terminal = await terminals()
    await terminal.say("run: touch there.txt")
    await page.get_by_role("link", name="1 waiting for you").click()
    await expect(card(page)).to_contain_text("Asked in a terminal")
    await page.locator(".inbox-where a").click()
    await expect(card(page)).to_contain_text("touch there.txt")
    await terminal.shows(PROMPT)
    await terminal.confirm(PROMPT)
    await expect(card(page)).to_have_count(0)
    settled = page.locator(".settled").first
    await expect(settled).to_contain_text("in the terminal: Run touch there.txt")
    await expect(replies(page)).to_contain_text("touch there.txt ran")
    assert stage.has("there.txt")
    # what it says of itself is a quiet line
    elsewhere = page.get_by_role("region", name="Runs elsewhere")
    await expect(elsewhere).to_contain_text("It says: Claude has finished.")

    await terminal.say("run: touch here.txt")
    await expect(card(page)).to_contain_text("Asked in a terminal")
    await expect(allow(page)).to_be_enabled()
    await allow(page).click()
    await terminal.shows_no(PROMPT)
    await expect(replies(page).last).to_contain_text("touch here.txt ran")
    assert stage.has("here.txt")

    await terminal.say("ask: Which colour? red | blue")
    await expect(card(page)).to_contain_text("Asked in a terminal")
    await card(page).get_by_text("blue").click()
    await card(page).get_by_role("button", name=re.compile("^Answer|^Send")).click()
    await expect(replies(page).last).to_contain_text("blue")
