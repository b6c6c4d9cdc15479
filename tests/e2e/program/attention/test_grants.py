"""Each kind of "always" that a card offers, clicked in a real browser: it is written where its
button says, and nobody is asked again by the next keeper. More is in
`tests/integration/attention/test_grants.py`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial

import pytest
from playwright.async_api import Page, expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import OpenPage
from tests.support.mcp_server import install
from tests.support.stage import RestartableKeeper, attention_card, replies, send_prompt
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]
LOCAL = ".claude/settings.local.json"


@dataclass
class Case:
    """What is asked, the button that is clicked, and what is then allowed in the project's file."""

    step: str
    button: str
    allow: list[str] = field(default_factory=list)
    session: str = ""


CASES = [
    Case(
        'call: mcp__notes__note {"word": "x"}',
        "Always allow every mcp__notes__note in this project, for you",
        ["mcp__notes__note"],
    ),
    Case(
        'call: WebFetch {"url": "http://127.0.0.1:1/a", "prompt": "p"}',
        "Always allow fetching from 127.0.0.1 in this project, for you",
        ["WebFetch(domain:127.0.0.1)"],
    ),
    Case(
        "run: python3 -c 1 && python3 -c 2",
        "Always allow “python3 -c 1”, “python3 -c 2” in this project, for you",
        ["Bash(python3 -c 1)", "Bash(python3 -c 2)"],
    ),
    Case(
        "run: head -1 {out}/in.txt",
        "Always allow “head -1 {out}/in.txt” in this project, for you, and reading everything in "
        "{out} in this session",
        ["Bash(head -1 {out}/in.txt)"],
    ),
    Case("write: {out}/a.txt: 1", "Allow all edits in this session, also in {out}"),
    Case("read: {out}/in.txt", "Always allow reading everything in {out} in this session"),
    Case(
        "agent: run: python3 -c 1",
        "Always allow “python3 -c 1” in this project, for you",
        ["Bash(python3 -c 1)"],
    ),
]


class Place:
    """A project with an MCP server, and a directory beside it."""

    def __init__(self, stage: RestartableKeeper, number: int) -> None:
        self.inside = stage.home.code / f"always-{number}"
        self.out = stage.home.code / f"beside-{number}"
        for each in (self.inside, self.out):
            each.mkdir()
            (each / "in.txt").write_text("x")
        install(self.inside)

    def named(self, words: str) -> str:
        return words.replace("{out}", str(self.out))

    def allows(self, rules: list[str]) -> bool:
        path = self.inside / LOCAL
        try:
            permissions_of = json.loads(path.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            # there is none yet, or it is being written
            permissions_of = {}
        return list(permissions_of.get("permissions", {}).get("allow", [])) == rules


async def answered(page: Page, times: int) -> None:
    """The reply is there, and nothing is asked."""
    await expect(replies(page)).to_have_count(times)
    await expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    await expect(attention_card(page)).to_have_count(0)


async def test_every_always_is_written_where_it_says_and_holds(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    projects = [Place(stage, number) for number in range(len(CASES))]
    page = await open_page()
    for case, project in zip(CASES, projects, strict=True):
        body = {"workdir": str(project.inside)}
        case.session = await stage.start_session(project.named(case.step), **body)
        await page.goto(f"{clarvis.url}/#session={case.session}")
        words = attention_card(page).locator(".card-always span")
        await words.get_by_text(project.named(case.button), exact=True).click()
        await answered(page, 1)
        # it is written when Claude Code gets to it
        await wait_until(partial(project.allows, [project.named(rule) for rule in case.allow]))
    await stage.kill()
    await stage.start()
    for case, project in zip(CASES, projects, strict=True):
        await page.goto(f"{clarvis.url}/#session={case.session}")
        await send_prompt(page, project.named(case.step))
        await answered(page, 2)
