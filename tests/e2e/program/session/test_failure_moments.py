"""Every moment at which a turn can break off: the words, the reason and one way on are there.

A row of the tables is a moment. Each is brought about for real, several at once, and looked at in
the open tab, in a second tab, after a reload, over the API, and by the next keeper.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from playwright.async_api import expect

from clarvis_ui.server import Clarvis, run_clarvis
from clarvis_ui.settings import ClarvisSettings
from claudekeeper.demo.home import DemoHome
from tests.e2e.conftest import OpenPage, module_fixture
from tests.support.failure_moments import (
    CRASHED,
    FAILING_PROMPT,
    KEEPER_ENDED,
    TOO_LONG_PROMPT,
    CliScript,
    FailingApi,
    FailureMoment,
    api_broke_off,
    directory_gone,
    do_nothing,
    failure_moments,
    failure_while_starting,
    for_all,
    immediate_failure,
    kill_cli,
    make_cli_exit,
    open_all,
    remedy_buttons,
    reply_streams,
)
from tests.support.stage import (
    TIMEOUT_MS,
    RestartableKeeper,
    message_field,
    prompt_texts,
    save_screenshot,
    send_prompt,
    unsent_prompts,
)

# a row is a CLI and two tabs, and all rows of a test are there at once
pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(400)]


@module_fixture
async def stage() -> AsyncIterator[RestartableKeeper]:
    expect.set_options(timeout=TIMEOUT_MS)
    async with FailingApi() as api:
        with DemoHome() as home:
            limits = {"liveSessions": 30, "drainSeconds": 0}
            (home.keeper / "config.json").write_text(json.dumps({"limits": limits}))
            stage = RestartableKeeper(home, api)
            stage.environment["CLAUDE_CODE_MAX_RETRIES"] = "1"
            stage.environment["CLAUDEKEEPER_CLI"] = str(home.root / "claude")
            CliScript(home.root / "claude")
            await stage.start()
            yield stage
            await stage.stop()


@module_fixture
async def clarvis(stage: RestartableKeeper) -> AsyncIterator[Clarvis]:
    async with run_clarvis(ClarvisSettings(keeper=stage.url, token=stage.token), port=0) as clarvis:
        yield clarvis


async def comes_back(stage: RestartableKeeper, end: Callable[[], Awaitable[None]]) -> None:
    await end()
    await stage.start()


async def test_claude_code_is_killed(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    rows = failure_moments("killed", kill_cli, CRASHED)
    await open_all(rows, stage, clarvis, open_page)
    await for_all(rows, lambda row: row.reach())
    await for_all(rows, lambda row: row.break_turn(row))
    await for_all(rows, lambda row: row.check_shown())
    await save_screenshot(rows[1].first_tab, "killed-in-mid-delta")
    for end in (stage.kill, stage.stop):
        await comes_back(stage, end)
        await for_all(rows, lambda row: row.check_shown())


async def test_it_cannot_work(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    """The directory, the program or the API fails it."""
    cli = CliScript(stage.home.root / "claude")
    never = {"remedy": "Send again", "heading": "Not sent."}
    elsewhere = {"remedy": "Choose another directory", "heading": "Not sent."}
    nowhere = "The working directory does not exist"
    breaks_down = f"slow: 2\nerror: drop\n{FAILING_PROMPT}"
    rows = [
        immediate_failure(
            "directory gone", "say: I am here", nowhere, prepare=directory_gone, **elsewhere
        ),
        immediate_failure(
            "exits", "say: who exits", "no space for caches", prepare=make_cli_exit, **never
        ),
        immediate_failure("API says no", "error: 401", "Invalid API key"),
        FailureMoment(
            "API is down", breaks_down, api_broke_off, do_nothing, "API Error", has_partial=True
        ),
        # last: it is taken away from all of them
        immediate_failure(
            "missing", "say: who misses", "was not found", prepare=cli.remove, **never
        ),
    ]
    await open_all(rows, stage, clarvis, open_page)
    for each in (rows[:-1], rows[-1:]):
        await for_all(each, lambda row: row.reach())
        await for_all(each, lambda row: row.check_shown())
    cli.write()
    for end in (stage.kill, stage.stop):
        await comes_back(stage, end)
        await for_all(rows, lambda row: row.check_shown())
    for row in rows:
        await save_screenshot(row.first_tab, row.name.replace(" ", "-"))
    nowhere_row, exits, *_, missing = rows
    # each way on leads on, also from the tab that has not sent it
    (exits.workdir / "fail").unlink()
    await unsent_prompts(exits.second_tab).get_by_role("button", name="Send again").click()
    await unsent_prompts(missing.second_tab).get_by_role("button", name="Edit").click()
    await expect(message_field(missing.second_tab)).to_have_value(missing.prompt)
    for page in (exits.first_tab, exits.second_tab):
        await expect(page.locator(".reply").last).to_have_text("who exits")
        await expect(prompt_texts(page).filter(has_text=exits.prompt)).to_have_count(1)
    for page in (exits.first_tab, exits.second_tab, missing.first_tab, missing.second_tab):
        await expect(unsent_prompts(page)).to_have_count(0)
        await expect(remedy_buttons(page)).to_have_count(0)
    await nowhere_row.first_tab.get_by_role("button", name="Choose another directory").click()
    await expect(nowhere_row.first_tab.get_by_role("dialog")).to_be_visible()
    first = nowhere_row.first_tab.get_by_role("dialog").get_by_role("textbox").last
    await expect(first).to_have_value(nowhere_row.prompt)


async def test_the_keeper_is_killed(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    rows = [
        *failure_moments("kill -9", do_nothing, KEEPER_ENDED),
        failure_while_starting("kill -9"),
    ]
    await open_all(rows, stage, clarvis, open_page)
    await for_all(rows, lambda row: row.reach())
    await comes_back(stage, stage.kill)
    await for_all(rows, lambda row: row.check_shown())
    await save_screenshot(rows[1].first_tab, "keeper-killed-in-mid-delta")


async def test_the_keeper_ends(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    rows = [*failure_moments("TERM", do_nothing, KEEPER_ENDED), failure_while_starting("TERM")]
    await open_all(rows, stage, clarvis, open_page)
    await for_all(rows, lambda row: row.reach())
    await comes_back(stage, stage.stop)
    await for_all(rows, lambda row: row.check_shown())
    await save_screenshot(rows[1].first_tab, "keeper-ended-in-mid-delta")


async def test_what_waited_when_the_keeper_ended_is_told_once_in_every_tab(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    row = FailureMoment(
        "waits behind it", "slow: 600", reply_streams, do_nothing, KEEPER_ENDED, has_partial=True
    )
    await open_all([row], stage, clarvis, open_page)
    await row.reach()
    waiting = ["say: the first", "say: the second"]
    for text in waiting:
        await send_prompt(row.first_tab, text)
        await expect(row.second_tab.get_by_text(text)).to_be_visible()
    await comes_back(stage, stage.stop)
    await row.check_shown()
    for page in (row.first_tab, row.second_tab):
        await expect(page.get_by_label("What was said")).to_have_text(waiting)
        await expect(unsent_prompts(page)).to_have_count(0)
    await remedy_buttons(row.first_tab).click()
    for page in (row.first_tab, row.second_tab):
        await expect(page.locator(".reply").last).to_have_text("the second")
        for text in waiting:
            await expect(prompt_texts(page).filter(has_text=text)).to_have_count(1)
        await expect(remedy_buttons(page)).to_have_count(0)


async def test_what_failed_at_the_api_is_told_once_also_after_the_next_turn(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    row = immediate_failure("says no", "error: 401", "Invalid API key")
    await open_all([row], stage, clarvis, open_page)
    await row.reach()
    await row.check_page(row.second_tab)
    await send_prompt(row.first_tab, "say: and now")
    for page in (row.first_tab, row.second_tab):
        await expect(page.locator(".reply").last).to_have_text("and now")
        await expect(page.locator(".log .column").get_by_text(row.reason)).to_have_count(1)


async def test_a_conversation_that_is_too_long_can_be_compacted(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    row = immediate_failure("too long", TOO_LONG_PROMPT, "Prompt is too long")
    await open_all([row], stage, clarvis, open_page)
    await row.reach()
    await expect(row.first_tab.get_by_text("compact it first")).to_be_visible()
    await message_field(row.first_tab).fill("a draft")
    await row.second_tab.get_by_role("button", name="Compact", exact=True).click()
    for page in (row.first_tab, row.second_tab):
        await expect(page.get_by_text("/compact", exact=True)).to_have_count(1)
        await expect(page.locator(".interrupted")).to_have_count(0)
        await expect(page.locator(".log .column").get_by_text(row.reason)).to_have_count(1)
    await expect(message_field(row.first_tab)).to_have_value("a draft")
