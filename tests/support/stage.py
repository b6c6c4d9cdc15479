"""The whole of it: a keeper in a process of its own, with the real CLI and a scripted model."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
from playwright.async_api import Locator, Page

from claudekeeper.demo.home import DemoHome
from claudekeeper.demo.messages_api import ScriptedApi
from tests.support.waiting import wait_for

# a CLI starts, asks and answers within this, also where seven others do so at the same time
TIMEOUT_MS = 60_000
READY_LINE = b"claudekeeper listening on "
# where to put pictures, for whoever wants to look
SCREENSHOT_FOLDER = os.environ.get("E2E_PICTURES")


class RestartableKeeper:
    """A keeper that can be killed and comes back at the same address."""

    def __init__(self, home: DemoHome, api: ScriptedApi) -> None:
        self.home = home
        self.workdir = home.project("scratch")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {**os.environ, **home.environment(api.url)}
        # words before the keeper's own command
        self.command_prefix: list[str] = []
        self._process: asyncio.subprocess.Process | None = None

    def token(self) -> str:
        config = msgspec.json.decode((self.home.keeper / "config.json").read_bytes())
        return str(config["token"])

    # ---- life ----

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *self.command_prefix, sys.executable, "-m", "claudekeeper", "serve",
            "--no-ui", "--port", str(self.port),
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            if line.startswith(READY_LINE):
                return
        raise AssertionError("the keeper did not start")

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def kill(self) -> None:
        """As a crash does it: nothing is put in order before."""
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    async def stop(self) -> None:
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        await self._process.wait()

    # ---- as another client ----

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token()}"}
        async with (
            aiohttp.ClientSession(headers=headers) as client,
            client.request(method, f"{self.url}{path}", json=body) as answer,
        ):
            assert answer.ok, await answer.text()
            return await answer.json()

    async def wait_for(self, path: str, matches: Callable[[Any], object]) -> Any:
        """What the keeper answers there, as soon as it matches."""
        return await wait_for(lambda: self.request("GET", path), matches)

    async def start_session(self, text: str, **more: Any) -> str:
        """A new session; its first turn has only just been asked for."""
        body = {"workdir": str(self.workdir), "text": text, **more}
        return str((await self.request("POST", "/send", body))["sessionId"])

    def file_exists(self, name: str) -> bool:
        return (self.workdir / name).exists()

    @property
    def transcripts(self) -> Path:
        return self.home.config / "projects"


@asynccontextmanager
async def running_stage(api: ScriptedApi) -> AsyncIterator[RestartableKeeper]:
    with DemoHome() as home:
        stage = RestartableKeeper(home, api)
        await stage.start()
        try:
            yield stage
        finally:
            await stage.stop()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


# ---- what is on the page ----


def message_field(page: Page) -> Locator:
    return page.get_by_label("Message", exact=True)


async def send_prompt(page: Page, text: str) -> None:
    await message_field(page).fill(text)
    await message_field(page).press("Enter")


def prompt_texts(page: Page) -> Locator:
    """The person's words, in order."""
    return page.locator(".you-words")


def replies(page: Page) -> Locator:
    return page.locator(".reply")


def unsent_prompts(page: Page) -> Locator:
    """What could not be sent, with why, and what can be done about it."""
    return page.locator(".you[data-state=failed]")


def attention_card(page: Page) -> Locator:
    return page.locator(".card")


def allow_button(page: Page) -> Locator:
    # on a phone the key beside it is left out
    return attention_card(page).get_by_role("button", name=re.compile(r"^Allow( a)?$"))


async def save_screenshot(page: Page, name: str) -> None:
    """What is seen now, in light and dark, on a desk and on a phone."""
    if SCREENSHOT_FOLDER is None:
        return
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for width, height in ((1440, 900), (390, 844)):
            await page.set_viewport_size({"width": width, "height": height})
            await page.screenshot(path=Path(SCREENSHOT_FOLDER, f"{name}-{scheme}-{width}.png"))
    await page.set_viewport_size({"width": 1280, "height": 800})
