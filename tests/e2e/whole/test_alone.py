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

from tests.e2e.conftest import OpenPage, in_module, row
from tests.e2e.stage import Stage, free_port, replies, say

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass(frozen=True)
class Alone:
    """As much of a Clarvis as its terminal shows."""

    url: str
    link: str

    def login_link(self) -> str:
        return self.link


@in_module
async def clarvis(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Alone]:
    token = Path(tmp_path_factory.mktemp("elsewhere"), "token")
    token.write_text(stage.token())
    token.chmod(0o600)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "clarvis_ui", "--keeper", stage.url),
        *("--token-file", str(token), "--port", str(free_port())),
        env=stage.environment,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    said = b""
    while (found := re.search(rb"(http://\S+)/#login=\S+", said)) is None:
        line = await process.stdout.readline()
        assert line, said
        said += line
    yield Alone(found[1].decode(), found[0].decode())
    process.terminate()
    await process.wait()


def give(stage: Stage, token: str) -> None:
    config = stage.home.keeper / "config.json"
    settings = msgspec.json.decode(config.read_bytes())
    config.write_bytes(msgspec.json.encode({**settings, "token": token}))


async def test_it_talks_says_that_its_token_is_refused_and_recovers_by_itself(
    open_page: OpenPage, stage: Stage
) -> None:
    await stage.begin("say: from far away")
    page = await open_page()
    await row(page, "say: from far away").click()
    await expect(replies(page)).to_have_text(["from far away"])
    await say(page, "say: and back")
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
    await say(page, "say: as before")
    await expect(replies(page)).to_have_text(["from far away", "and back", "as before"])
