"""A disk that takes no more while one talks: what was said is on the page, and says so."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from playwright.async_api import expect

from clarvis_ui.server import Clarvis, run_clarvis
from clarvis_ui.settings import ClarvisSettings
from claudekeeper.demo.home import DemoHome
from tests.e2e.conftest import OpenPage, module_fixture
from tests.support.failure_moments import (
    CRASHED,
    KEEPER_ENDED,
    FailingApi,
    FailureMoment,
    do_nothing,
    for_all,
    kill_cli,
    open_all,
    prompt_open,
    reply_streams,
)
from tests.support.stage import TIMEOUT_MS, RestartableKeeper, prompt_texts, save_screenshot
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(400)]
# a small disk that only the keepers and their children see; it lasts as long as this process
APART = ["unshare", "--user", "--map-root-user", "--mount"]
# what lies there already comes along
MOUNT = """
for folder do
  kept=$(mktemp -d) && cp -a "$folder/." "$kept" &&
  mount -t tmpfs -o size=12m none "$folder" && cp -a "$kept/." "$folder" || exit
done
echo mounted
exec sleep 3600
"""
INTO = ["nsenter", "--user", "--mount", "--preserve-credentials", "--target"]
FULL = "Claude Code did not write this into the transcript"


class Disk:
    """The small disks on which the transcripts are, and perhaps what the keeper writes."""

    def __init__(self, holder: int, folders: list[Path]) -> None:
        self._holder = holder
        self._fillers = [self.seen(folder / "filler") for folder in folders]

    def seen(self, path: Path) -> Path:
        """A path as those see it who work on these disks."""
        return Path(f"/proc/{self._holder}/root{path}")

    def fill(self) -> None:
        for filler in self._fillers:
            with filler.open("wb", buffering=0) as file:
                for size in (65536, 4096, 1):
                    with contextlib.suppress(OSError):
                        while file.write(b"x" * size):
                            pass

    def empty(self) -> None:
        for filler in self._fillers:
            filler.unlink()


@pytest.fixture(scope="module", params=["transcripts", "everything"])
def small(request: pytest.FixtureRequest) -> str:
    """What lies on the small disk."""
    return str(request.param)


@module_fixture
async def disk(home: DemoHome, small: str) -> AsyncIterator[tuple[Disk, list[str]]]:
    """The disk, and the words that bring a command to it."""
    if not await asyncio.to_thread(is_possible):
        pytest.skip("no namespace for a small disk can be made here")
    projects = home.config / "projects"
    projects.mkdir()
    folders = {"transcripts": [projects], "everything": [projects, home.keeper]}[small]
    holder = await asyncio.create_subprocess_exec(
        *APART, "sh", "-c", MOUNT, "sh", *map(str, folders), stdout=asyncio.subprocess.PIPE
    )
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"mounted\n"
    yield Disk(holder.pid, folders), [*INTO, str(holder.pid)]
    holder.kill()
    await holder.wait()


@module_fixture
async def home(small: str) -> AsyncIterator[DemoHome]:
    with DemoHome() as home:
        limits = {"liveSessions": 30, "drainSeconds": 0}
        # the keeper of a small disk cannot tell us others
        tokens = {"token": "t" * 32, "hookToken": "h" * 32}
        (home.keeper / "config.json").write_text(json.dumps({"limits": limits, **tokens}))
        yield home


@module_fixture
async def stage(home: DemoHome, disk: tuple[Disk, list[str]]) -> AsyncIterator[RestartableKeeper]:
    expect.set_options(timeout=TIMEOUT_MS)
    async with FailingApi() as api:
        stage = RestartableKeeper(home, api)
        _, stage.command_prefix = disk
        await stage.start()
        yield stage
        await stage.stop()


@module_fixture
async def clarvis(stage: RestartableKeeper) -> AsyncIterator[Clarvis]:
    async with run_clarvis(ClarvisSettings(keeper=stage.url, token=stage.token), port=0) as clarvis:
        yield clarvis


def is_possible() -> bool:
    tried = subprocess.run([*APART, "true"], capture_output=True, check=False)
    return tried.returncode == 0


async def says_it(row: FailureMoment) -> None:
    for page in (row.first_tab, row.second_tab):
        await expect(page.locator(".reply").last).to_have_text("1 2 3 4 5")


async def reply_is_saved(row: FailureMoment) -> None:
    """What is streamed is written down a moment later, beside the keeper's other files."""
    await reply_streams(row)
    running = row.stage.home.keeper / "failed-turns" / f"{row.session}.json"
    before = row.stage.command_prefix
    path = Path(f"/proc/{before[-1]}/root{running}")
    await wait_until(lambda: path.exists())


def moments_of(who: str) -> list[FailureMoment]:
    # the words are not those of the prompt: they must be there for themselves
    unwritten = FailureMoment(
        f"{who} said it all", "count: 5", says_it, do_nothing, FULL, has_partial=True
    )
    unwritten.heading = "Not written down."
    killed = FailureMoment(
        f"{who} CLI killed", "slow: 600", reply_streams, kill_cli, CRASHED, has_partial=True
    )
    streaming = FailureMoment(
        f"{who} in mid delta",
        "slow: 600",
        reply_is_saved,
        do_nothing,
        KEEPER_ENDED,
        has_partial=True,
    )
    asking = FailureMoment(
        f"{who} prompt open", "run: touch a; sleep 600", prompt_open, do_nothing, KEEPER_ENDED
    )
    return [unwritten, killed, streaming, asking]


@pytest.mark.parametrize(
    "end", [RestartableKeeper.kill, RestartableKeeper.stop], ids=["killed", "stopped"]
)
async def test_what_could_not_be_written_is_told_also_by_the_next_keeper(
    open_page: OpenPage,
    stage: RestartableKeeper,
    clarvis: Clarvis,
    disk: tuple[Disk, list[str]],
    end: Callable[[RestartableKeeper], Awaitable[None]],
) -> None:
    rows = moments_of(end.__name__)
    await open_all(rows, stage, clarvis, open_page)
    disk[0].fill()
    await for_all(rows, lambda row: row.reach())
    over = rows[:2]
    await for_all(over, lambda row: row.break_turn(row))
    await for_all(over, lambda row: row.check_shown())
    await save_screenshot(rows[0].first_tab, "disk-full")
    await end(stage)
    await stage.start()
    await for_all(rows, lambda row: row.check_shown())
    disk[0].empty()
    # it passes without another restart, and the words stay
    await for_all(rows, goes_on)


async def goes_on(row: FailureMoment) -> None:
    await row.first_tab.get_by_role("button", name="Continue").click()
    await expect(row.first_tab.get_by_role("region", name="Interrupted")).to_have_count(0)
    for page in (row.first_tab, row.second_tab):
        await expect(prompt_texts(page).filter(has_text=row.prompt)).to_have_count(1)
        await expect(page.locator(".log .column")).to_contain_text(row.partial_text)
        await expect(page.locator(".log .column")).to_contain_text(row.heading)
