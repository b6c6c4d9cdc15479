"""Clarvis before a keeper of its own, with the real CLI: one of each for the tests of a file."""

from __future__ import annotations

from collections.abc import AsyncIterator

from playwright.async_api import expect

from clarvis_ui.server import Clarvis, run_clarvis
from clarvis_ui.settings import ClarvisSettings
from claudekeeper.demo.messages_api import ScriptedApi
from tests.e2e.conftest import module_fixture
from tests.support.real_cli import scripted_api  # noqa: F401
from tests.support.stage import TIMEOUT_MS, RestartableKeeper, running_stage


@module_fixture
async def stage(scripted_api: ScriptedApi) -> AsyncIterator[RestartableKeeper]:  # noqa: F811
    expect.set_options(timeout=TIMEOUT_MS)
    async with running_stage(scripted_api) as stage:
        yield stage


@module_fixture
async def clarvis(stage: RestartableKeeper) -> AsyncIterator[Clarvis]:
    async with run_clarvis(ClarvisSettings(keeper=stage.url, token=stage.token), port=0) as clarvis:
        yield clarvis
