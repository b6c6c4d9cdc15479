"""Every moment at which a turn can break off: the words, the reason and one way on are there.

A row of the tables is a moment. Each is brought about for real, several at once, and looked at in
the open tab, in a second tab, after a reload, over the API, and by the next keeper.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from playwright.async_api import expect

from clarvis_ui.server import Clarvis, running
from clarvis_ui.settings import Settings
from claudekeeper.demo.home import DemoHome
from tests.e2e.conftest import OpenPage, in_module
from tests.e2e.moments import (
    CRASHED,
    DOWN,
    KEEPER_ENDED,
    TOO_LONG,
    Cli,
    FailingApi,
    Row,
    all_of,
    at_once,
    breaks_off,
    directory_gone,
    exits_at_once,
    kill_cli,
    moments,
    nothing,
    set_the_stage,
    streams,
    ways_on,
    while_it_starts,
)
from tests.e2e.stage import PATIENCE_MS, Stage, field, picture, prompts, say, unsent

# a row is a CLI and two tabs, and all rows of a test are there at once
pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(400)]


@in_module
async def stage() -> AsyncIterator[Stage]:
    expect.set_options(timeout=PATIENCE_MS)
    async with FailingApi() as api:
        with DemoHome() as home:
            limits = {"liveSessions": 30, "drainSeconds": 0}
            (home.keeper / "config.json").write_text(json.dumps({"limits": limits}))
            stage = Stage(home, api)
            stage.environment["CLAUDE_CODE_MAX_RETRIES"] = "1"
            stage.environment["CLAUDEKEEPER_CLI"] = str(home.root / "claude")
            Cli(home.root / "claude")
            await stage.start()
            yield stage
            await stage.stop()


@in_module
async def clarvis(stage: Stage) -> AsyncIterator[Clarvis]:
    async with running(Settings(keeper=stage.url, token=stage.token), port=0) as clarvis:
        yield clarvis


async def comes_back(stage: Stage, end: Callable[[], Awaitable[None]]) -> None:
    await end()
    await stage.start()


async def test_claude_code_is_killed(open_page: OpenPage, stage: Stage, clarvis: Clarvis) -> None:
    rows = moments("killed", kill_cli, CRASHED)
    await set_the_stage(rows, stage, clarvis, open_page)
    await all_of(rows, lambda row: row.come_to_it())
    await all_of(rows, lambda row: row.breaks(row))
    await all_of(rows, lambda row: row.is_told())
    await picture(rows[1].one, "killed-in-mid-delta")
    for end in (stage.kill, stage.stop):
        await comes_back(stage, end)
        await all_of(rows, lambda row: row.is_told())


async def test_it_cannot_work(open_page: OpenPage, stage: Stage, clarvis: Clarvis) -> None:
    """The directory, the program or the API fails it."""
    cli = Cli(stage.home.root / "claude")
    never = {"way_on": "Send again", "heading": "Not sent."}
    elsewhere = {"way_on": "Choose another directory", "heading": "Not sent."}
    nowhere = "The working directory does not exist"
    breaks_down = f"slow: 2\nerror: drop\n{DOWN}"
    rows = [
        at_once("directory gone", "say: I am here", nowhere, prepare=directory_gone, **elsewhere),
        at_once("exits", "say: who exits", "no space for caches", prepare=exits_at_once, **never),
        at_once("API says no", "error: 401", "Invalid API key"),
        Row("API is down", breaks_down, breaks_off, nothing, "API Error", streams=True),
        # last: it is taken away from all of them
        at_once("missing", "say: who misses", "was not found", prepare=cli.missing, **never),
    ]
    await set_the_stage(rows, stage, clarvis, open_page)
    for each in (rows[:-1], rows[-1:]):
        await all_of(each, lambda row: row.come_to_it())
        await all_of(each, lambda row: row.is_told())
    cli.whole()
    for end in (stage.kill, stage.stop):
        await comes_back(stage, end)
        await all_of(rows, lambda row: row.is_told())
    for row in rows:
        await picture(row.one, row.name.replace(" ", "-"))
    nowhere_row, exits, *_, missing = rows
    # each way on leads on, also from the tab that has not sent it
    (exits.workdir / "fail").unlink()
    await unsent(exits.other).get_by_role("button", name="Send again").click()
    await unsent(missing.other).get_by_role("button", name="Edit").click()
    await expect(field(missing.other)).to_have_value(missing.prompt)
    for page in (exits.one, exits.other):
        await expect(page.locator(".reply").last).to_have_text("who exits")
        await expect(prompts(page).filter(has_text=exits.prompt)).to_have_count(1)
    for page in (exits.one, exits.other, missing.one, missing.other):
        await expect(unsent(page)).to_have_count(0)
        await expect(ways_on(page)).to_have_count(0)
    await nowhere_row.one.get_by_role("button", name="Choose another directory").click()
    await expect(nowhere_row.one.get_by_role("dialog")).to_be_visible()
    first = nowhere_row.one.get_by_role("dialog").get_by_role("textbox").last
    await expect(first).to_have_value(nowhere_row.prompt)


async def test_the_keeper_is_killed(open_page: OpenPage, stage: Stage, clarvis: Clarvis) -> None:
    rows = [*moments("kill -9", nothing, KEEPER_ENDED), while_it_starts("kill -9")]
    await set_the_stage(rows, stage, clarvis, open_page)
    await all_of(rows, lambda row: row.come_to_it())
    await comes_back(stage, stage.kill)
    await all_of(rows, lambda row: row.is_told())
    await picture(rows[1].one, "keeper-killed-in-mid-delta")


async def test_the_keeper_ends(open_page: OpenPage, stage: Stage, clarvis: Clarvis) -> None:
    rows = [*moments("TERM", nothing, KEEPER_ENDED), while_it_starts("TERM")]
    await set_the_stage(rows, stage, clarvis, open_page)
    await all_of(rows, lambda row: row.come_to_it())
    await comes_back(stage, stage.stop)
    await all_of(rows, lambda row: row.is_told())
    await picture(rows[1].one, "keeper-ended-in-mid-delta")


async def test_what_waited_when_the_keeper_ended_is_told_once_in_every_tab(
    open_page: OpenPage, stage: Stage, clarvis: Clarvis
) -> None:
    row = Row("waits behind it", "slow: 600", streams, nothing, KEEPER_ENDED, streams=True)
    await set_the_stage([row], stage, clarvis, open_page)
    await row.come_to_it()
    waiting = ["say: the first", "say: the second"]
    for text in waiting:
        await say(row.one, text)
        await expect(row.other.get_by_text(text)).to_be_visible()
    await comes_back(stage, stage.stop)
    await row.is_told()
    for page in (row.one, row.other):
        await expect(page.get_by_label("What was said")).to_have_text(waiting)
        await expect(unsent(page)).to_have_count(0)
    await ways_on(row.one).click()
    for page in (row.one, row.other):
        await expect(page.locator(".reply").last).to_have_text("the second")
        for text in waiting:
            await expect(prompts(page).filter(has_text=text)).to_have_count(1)
        await expect(ways_on(page)).to_have_count(0)


async def test_what_failed_at_the_api_is_told_once_also_after_the_next_turn(
    open_page: OpenPage, stage: Stage, clarvis: Clarvis
) -> None:
    row = at_once("says no", "error: 401", "Invalid API key")
    await set_the_stage([row], stage, clarvis, open_page)
    await row.come_to_it()
    await row.is_told_on(row.other)
    await say(row.one, "say: and now")
    for page in (row.one, row.other):
        await expect(page.locator(".reply").last).to_have_text("and now")
        await expect(page.locator(".log .column").get_by_text(row.reason)).to_have_count(1)


async def test_a_conversation_that_is_too_long_can_be_compacted(
    open_page: OpenPage, stage: Stage, clarvis: Clarvis
) -> None:
    row = at_once("too long", TOO_LONG, "Prompt is too long")
    await set_the_stage([row], stage, clarvis, open_page)
    await row.come_to_it()
    await expect(row.one.get_by_text("compact it first")).to_be_visible()
    await field(row.one).fill("a draft")
    await row.other.get_by_role("button", name="Compact", exact=True).click()
    for page in (row.one, row.other):
        await expect(page.get_by_text("/compact", exact=True)).to_have_count(1)
        await expect(page.locator(".interrupted")).to_have_count(0)
        await expect(page.locator(".log .column").get_by_text(row.reason)).to_have_count(1)
    await expect(field(row.one)).to_have_value("a draft")
