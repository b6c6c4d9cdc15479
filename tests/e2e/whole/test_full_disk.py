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

from clarvis_ui.server import Clarvis, running
from clarvis_ui.settings import Settings
from claudekeeper.demo.home import DemoHome
from tests.e2e.conftest import OpenPage, in_module
from tests.e2e.moments import (
    CRASHED,
    KEEPER_ENDED,
    FailingApi,
    Row,
    all_of,
    asks,
    kill_cli,
    nothing,
    set_the_stage,
    streams,
)
from tests.e2e.stage import PATIENCE_MS, Stage, picture, prompts
from tests.waiting import until

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


@in_module
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


@in_module
async def home(small: str) -> AsyncIterator[DemoHome]:
    with DemoHome() as home:
        limits = {"liveSessions": 30, "drainSeconds": 0}
        # the keeper of a small disk cannot tell us others
        tokens = {"token": "t" * 32, "hookToken": "h" * 32}
        (home.keeper / "config.json").write_text(json.dumps({"limits": limits, **tokens}))
        yield home


@in_module
async def stage(home: DemoHome, disk: tuple[Disk, list[str]]) -> AsyncIterator[Stage]:
    expect.set_options(timeout=PATIENCE_MS)
    async with FailingApi() as api:
        stage = Stage(home, api)
        _, stage.before = disk
        await stage.start()
        yield stage
        await stage.stop()


@in_module
async def clarvis(stage: Stage) -> AsyncIterator[Clarvis]:
    async with running(Settings(keeper=stage.url, token=stage.token), port=0) as clarvis:
        yield clarvis


def is_possible() -> bool:
    tried = subprocess.run([*APART, "true"], capture_output=True, check=False)
    return tried.returncode == 0


async def says_it(row: Row) -> None:
    for page in (row.one, row.other):
        await expect(page.locator(".reply").last).to_have_text("1 2 3 4 5")


async def kept(row: Row) -> None:
    """What is streamed is written down a moment later, beside the keeper's other files."""
    await streams(row)
    running = row.stage.home.keeper / "failed-turns" / f"{row.session}.json"
    before = row.stage.before
    shown = Path(f"/proc/{before[-1]}/root{running}")
    await until(lambda: shown.exists())


def moments_of(who: str) -> list[Row]:
    # the words are not those of the prompt: they must be there for themselves
    unwritten = Row(f"{who} said it all", "count: 5", says_it, nothing, FULL, streams=True)
    unwritten.heading = "Not written down."
    killed = Row(f"{who} CLI killed", "slow: 600", streams, kill_cli, CRASHED, streams=True)
    streaming = Row(f"{who} in mid delta", "slow: 600", kept, nothing, KEEPER_ENDED, streams=True)
    asking = Row(f"{who} prompt open", "run: touch a; sleep 600", asks, nothing, KEEPER_ENDED)
    return [unwritten, killed, streaming, asking]


@pytest.mark.parametrize("end", [Stage.kill, Stage.stop], ids=["killed", "stopped"])
async def test_what_could_not_be_written_is_told_also_by_the_next_keeper(
    open_page: OpenPage,
    stage: Stage,
    clarvis: Clarvis,
    disk: tuple[Disk, list[str]],
    end: Callable[[Stage], Awaitable[None]],
) -> None:
    rows = moments_of(end.__name__)
    await set_the_stage(rows, stage, clarvis, open_page)
    disk[0].fill()
    await all_of(rows, lambda row: row.come_to_it())
    over = rows[:2]
    await all_of(over, lambda row: row.breaks(row))
    await all_of(over, lambda row: row.is_told())
    await picture(rows[0].one, "disk-full")
    await end(stage)
    await stage.start()
    await all_of(rows, lambda row: row.is_told())
    disk[0].empty()
    # it passes without another restart, and the words stay
    await all_of(rows, goes_on)


async def goes_on(row: Row) -> None:
    await row.one.get_by_role("button", name="Continue").click()
    await expect(row.one.get_by_role("region", name="Interrupted")).to_have_count(0)
    for page in (row.one, row.other):
        await expect(prompts(page).filter(has_text=row.prompt)).to_have_count(1)
        await expect(page.locator(".log .column")).to_contain_text(row.streamed)
        await expect(page.locator(".log .column")).to_contain_text(row.heading)
