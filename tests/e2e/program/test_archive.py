"""What Claude Code deletes: warned of before, kept, shown as deleted, and brought back."""

from __future__ import annotations

import os
import time

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import OpenPage, session_row
from tests.support.stage import RestartableKeeper, replies, send_prompt

pytestmark = pytest.mark.asyncio(loop_scope="module")
DAY = 86_400


async def test_a_session_is_kept_shown_as_deleted_and_comes_back(
    open_page: OpenPage, stage: RestartableKeeper
) -> None:
    session = await stage.start_session("say: to be kept")
    page = await open_page()
    await session_row(page, "say: to be kept").click()
    await expect(replies(page)).to_have_text(["to be kept"])
    await stage.request("POST", f"/sessions/{session}/close", {})
    (transcript,) = stage.transcripts.glob(f"*/{session}.jsonl")
    old = time.time() - 29 * DAY
    os.utime(transcript, (old, old))

    # before it is too late
    await page.evaluate("location.hash = '#archive'")
    due = page.get_by_role("region", name="Deleted before long")
    await expect(due.get_by_role("link")).to_have_text(["say: to be kept"])
    await expect(page.get_by_role("link", name="1 session will be deleted soon")).to_be_visible()
    await page.get_by_role("button", name="Keep every session").click()
    await expect(due).to_have_count(0)
    await expect(page.get_by_text("It holds 1 session that lives")).to_be_visible()

    # it is deleted, and still here
    transcript.unlink()
    await expect(session_row(page, "deleted, kept in the archive")).to_be_visible()
    gone = page.get_by_role("region", name="Deleted, and kept")
    await expect(gone.get_by_role("link")).to_have_text(["say: to be kept"])
    await gone.get_by_role("link").click()
    archived = page.get_by_role("region", name="Archived")
    await expect(archived).to_contain_text("Claude Code deleted this session on")
    await expect(replies(page)).to_have_text(["to be kept"])
    await archived.get_by_role("button", name="Restore").click()
    await expect(archived).to_have_count(0)
    assert transcript.exists()

    # a message brings it back too
    await stage.request("POST", "/archive", {"on": True})
    transcript.unlink()
    await expect(archived).to_be_visible()
    await send_prompt(page, "say: back again")
    await expect(replies(page)).to_have_text(["to be kept", "back again"])
    await expect(archived).to_have_count(0)
    assert transcript.exists()
