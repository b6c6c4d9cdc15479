"""A disk that takes no more while one talks: what was said is on the page, and says so."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import expect

from clarvis_ui.server import Clarvis, running
from clarvis_ui.settings import Settings
from claudekeeper.demo.home import DemoHome
from tests.e2e.conftest import OpenPage, in_module
from tests.e2e.moments import FailingApi, Row, nothing, set_the_stage
from tests.e2e.stage import PATIENCE_MS, Stage, picture

pytestmark = pytest.mark.asyncio(loop_scope="module")
# a small disk that only the keeper and its children see, and that is gone with them
APART = ["unshare", "--user", "--map-root-user", "--mount"]
MOUNT = 'mount -t tmpfs -o size=4m none "$0" && exec "$@"'


@in_module
async def stage() -> AsyncIterator[Stage]:
    expect.set_options(timeout=PATIENCE_MS)
    if not await asyncio.to_thread(is_possible):
        pytest.skip("no namespace for a small disk can be made here")
    async with FailingApi() as api:
        with DemoHome() as home:
            projects = home.config / "projects"
            projects.mkdir()
            stage = Stage(home, api)
            stage.before = [*APART, "sh", "-c", MOUNT, str(projects)]
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
        await expect(page.locator(".reply").last).to_have_text("not on disk")


def fill(stage: Stage) -> Path:
    filler = Path(f"/proc/{stage.pid}/root{stage.transcripts}/filler")
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 65536):
                pass
        except OSError:
            pass
    return filler


async def test_what_could_not_be_written_is_told_and_stays(
    open_page: OpenPage, stage: Stage, clarvis: Clarvis
) -> None:
    full = "Claude Code did not write this into the transcript"
    row = Row("disk full", "say: not on disk", says_it, nothing, full, streams=True)
    row.heading = "Not written down."
    await set_the_stage([row], stage, clarvis, open_page)
    filler = fill(stage)
    await row.come_to_it()
    await row.is_told()
    await picture(row.one, "disk-full")
    filler.unlink()
    # it passes without a restart, and the words stay
    await row.one.get_by_role("button", name="Continue").click()
    await expect(row.one.get_by_role("region", name="Interrupted")).to_have_count(0)
    for page in (row.one, row.other):
        await expect(page.locator(".reply").filter(has_text="not on disk")).to_have_count(1)
        await expect(page.locator(".log")).to_contain_text("Not written down.")
