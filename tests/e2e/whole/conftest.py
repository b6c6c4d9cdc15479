"""Clarvis before a keeper of its own, with the real CLI: one of each for the tests of a file."""

from __future__ import annotations

from collections.abc import AsyncIterator

from playwright.async_api import expect

from clarvis_ui.server import Clarvis, running
from clarvis_ui.settings import Settings
from claudekeeper.demo.api import ScriptedApi
from tests.e2e.conftest import in_module
from tests.e2e.stage import PATIENCE_MS, Stage, on_stage
from tests.real_cli import scripted_api  # noqa: F401


@in_module
async def stage(scripted_api: ScriptedApi) -> AsyncIterator[Stage]:  # noqa: F811
    expect.set_options(timeout=PATIENCE_MS)
    async with on_stage(scripted_api) as stage:
        yield stage


@in_module
async def clarvis(stage: Stage) -> AsyncIterator[Clarvis]:
    async with running(Settings(keeper=stage.url, token=stage.token), port=0) as clarvis:
        yield clarvis
