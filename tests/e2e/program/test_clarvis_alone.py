"""`clarvis` by itself, before a keeper at another address: as a command, in a real browser."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from playwright.async_api import expect

from tests.e2e.conftest import OpenPage, function_fixture, session_row
from tests.support.stage import RestartableKeeper, free_port, replies, send_prompt

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass(frozen=True)
class Alone:
    """As much of a Clarvis as its terminal shows."""

    url: str
    link: str
    token: Path

    def login_link(self) -> str:
        return self.link


@function_fixture
async def clarvis(stage: RestartableKeeper, tmp_path: Path) -> AsyncIterator[Alone]:
    """Begun with a token that was never its keeper's."""
    token = tmp_path / "token"
    token.write_text("w" * len(stage.token()))
    token.chmod(0o600)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "clarvis_ui", "--keeper", stage.url),
        *("--token-file", str(token), "--port", str(free_port())),
        env=stage.environment,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    output = b""
    while (match := re.search(rb"(http://\S+)/#login=\S+", output)) is None:
        line = await process.stdout.readline()
        assert line, output
        output += line
    yield Alone(match[1].decode(), match[0].decode(), token)
    process.terminate()
    await process.wait()


def give(stage: RestartableKeeper, token: str) -> None:
    config = stage.home.keeper / "config.json"
    settings = msgspec.json.decode(config.read_bytes())
    config.write_bytes(msgspec.json.encode({**settings, "token": token}))


async def test_whose_own_token_is_wrong_says_so_and_goes_on_once_it_is_right(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Alone
) -> None:
    await stage.start_session("say: from far away")
    page = await open_page()
    banner = page.locator(".banner")
    await expect(banner).to_contain_text("The keeper refused Clarvis's token.")
    clarvis.token.write_text(stage.token())
    await expect(banner).to_have_count(0)
    await session_row(page, "say: from far away").click()
    await expect(replies(page)).to_have_text(["from far away"])

    # one slip, and back again: nobody is asked to log in
    await page.locator("textarea").fill("half a sentence")
    clarvis.token.write_text("x" * len(stage.token()))
    await expect(banner).to_contain_text("The keeper refused Clarvis's token.")
    await expect(replies(page)).to_have_text(["from far away"])
    clarvis.token.write_text(stage.token())
    await expect(banner).to_have_count(0)
    await expect(page.locator("textarea")).to_have_value("half a sentence")
    await page.locator("textarea").fill("")


async def test_it_talks_says_that_its_token_is_refused_and_recovers_by_itself(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Alone
) -> None:
    clarvis.token.write_text(stage.token())
    page = await open_page()
    await session_row(page, "say: from far away").click()
    await expect(replies(page)).to_have_text(["from far away"])
    await send_prompt(page, "say: and back")
    await expect(replies(page)).to_have_text(["from far away", "and back"])

    # another keeper took its place
    own = stage.token()
    await stage.kill()
    give(stage, "t" * len(own))
    await stage.start()
    banner = page.locator(".banner")
    await expect(banner).to_contain_text("The keeper refused Clarvis's token.")
    await expect(replies(page)).to_have_text(["from far away", "and back"])
    await stage.kill()
    give(stage, own)
    await stage.start()
    await expect(banner).to_have_count(0)
    await send_prompt(page, "say: as before")
    await expect(replies(page)).to_have_text(["from far away", "and back", "as before"])
