"""Clarvis before the real keeper, as `claudekeeper serve` starts them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from aiohttp.test_utils import TestServer
from playwright.async_api import expect

from clarvis_ui.server import Clarvis, run_clarvis
from clarvis_ui.settings import ClarvisSettings
from claudekeeper.core.config import Config
from claudekeeper.server.app import create_app
from claudekeeper.server.data_paths import DataPaths
from tests.e2e.conftest import OpenPage, function_fixture, session_row, trigger_refresh
from tests.support.transcript_writer import TranscriptWriter, projects_folder

pytestmark = pytest.mark.asyncio(loop_scope="module")
TOKEN = "a-token-that-is-long-enough"


@function_fixture
async def clarvis(isolated: Path) -> AsyncIterator[Clarvis]:
    paths = DataPaths(projects_folder(), isolated / "state.json", isolated / "cache.db")
    async with TestServer(create_app(Config(token=TOKEN), paths, "2.1.0")) as keeper:
        settings = ClarvisSettings(keeper=str(keeper.make_url("")).rstrip("/"), token=lambda: TOKEN)
        async with run_clarvis(settings, port=0) as clarvis:
            yield clarvis


def write_session(text: str) -> str:
    transcript = TranscriptWriter(str(uuid4()))
    transcript.prompt(text)
    transcript.reply()
    transcript.write(projects_folder())
    return transcript.session_id


async def test_sessions_on_disk_are_on_the_page_and_new_ones_appear(open_page: OpenPage) -> None:
    write_session("sell hats")
    broken = projects_folder() / "-code-shop" / f"{uuid4()}.jsonl"
    broken.write_bytes(b"")
    page = await open_page()
    await expect(session_row(page, "sell hats")).to_have_attribute(
        "title", re.compile("2 messages")
    )
    await expect(session_row(page, "The transcript is empty.")).to_be_visible()
    write_session("sell caps")
    await trigger_refresh(page)
    await expect(session_row(page, "sell caps")).to_be_visible()


async def test_a_name_given_on_the_page_is_kept(open_page: OpenPage) -> None:
    write_session("sell hats")
    page = await open_page()
    await session_row(page, "sell hats").click()
    await page.get_by_role("button", name="Rename").click()
    await expect(page.get_by_label("Name of this session")).to_be_focused()
    await page.keyboard.type("The hat shop")
    await page.keyboard.press("Enter")
    await expect(session_row(page, "The hat shop")).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("heading", name="The hat shop")).to_be_visible()
