"""A real Chromium, a real Clarvis, and what a page must never do."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, Request, async_playwright, expect

from clarvis_ui.server import Clarvis, running
from clarvis_ui.settings import BUILT_PAGE, Settings
from tests.clarvis.fake_keeper import FakeKeeper

DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# the page looks for news every few seconds, and on a busy machine a second can be long
PATIENCE_MS = 45_000
expect.set_options(timeout=PATIENCE_MS)

# one browser a file: starting one costs more than most tests
in_module = pytest_asyncio.fixture(scope="module", loop_scope="module")
in_test = pytest_asyncio.fixture(loop_scope="module")

OpenPage = Callable[..., Awaitable[Page]]


def absent(reason: str) -> None:
    """Skip, unless whoever runs the tests demanded the browser."""
    if os.environ.get("CLARVIS_E2E") == "required":
        pytest.fail(f"CLARVIS_E2E=required, but {reason}")
    pytest.skip(reason)


@in_module
async def chromium(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> AsyncIterator[Browser]:
    """With `SHOWS_BARS` in a test's module, bars take room as they do on most desks."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        absent("there is no chromium on PATH")
    if not (BUILT_PAGE / "index.html").is_file():
        absent("the page is not built; run 'make ui'")
    home = str(tmp_path_factory.mktemp("browser"))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=program,
            args=FLAGS,
            ignore_default_args=["--hide-scrollbars"] if _shows_bars(request) else None,
            env={"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home, "TZ": "UTC"},
        )
        yield browser
        await browser.close()


def _shows_bars(request: pytest.FixtureRequest) -> bool:
    return getattr(request.module, "SHOWS_BARS", False)


@in_test
async def keeper() -> AsyncIterator[FakeKeeper]:
    async with FakeKeeper().running() as keeper:
        yield keeper


@in_test
async def clarvis(keeper: FakeKeeper) -> AsyncIterator[Clarvis]:
    settings = Settings(keeper=keeper.url, token=lambda: keeper.token)
    async with running(settings, port=0) as clarvis:
        yield clarvis


class Watched:
    """What a page did that none may do: errors, refused content, talk to strangers."""

    def __init__(self, own: str) -> None:
        self._own = own
        self.wrongs: list[str] = []

    def watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.wrongs.append(f"error: {error}"))
        page.on("console", lambda message: self._said(message.type, message.text))
        page.on("request", self._asked)
        page.on("dialog", lambda dialog: self.wrongs.append(f"dialog: {dialog.message}"))

    def _said(self, kind: str, text: str) -> None:
        # a refused request is said in the console too; which ones are right, the tests know
        expected = ("Failed to load resource", "WebSocket connection to")
        if kind in {"error", "warning"} and not any(words in text for words in expected):
            self.wrongs.append(f"console: {text}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((f"{self._own}/", "blob:", "data:")):
            self.wrongs.append(f"asked {request.url}")


@in_test
async def open_page(chromium: Browser, clarvis: Clarvis) -> AsyncIterator[OpenPage]:
    """Opens a page in a browser of its own, logged in unless told otherwise."""
    watched = Watched(clarvis.url)
    async with AsyncExitStack() as stack:

        async def open_page(
            address: str | None = None,
            viewport: dict[str, int] = DESKTOP,
            *,
            still: bool = False,
            **more: Any,
        ) -> Page:
            context = await chromium.new_context(viewport=viewport, **more)  # type: ignore[arg-type]
            stack.push_async_callback(context.close)
            if still:
                # no timer of the page fires: what shows for a moment, or goes by itself, stays
                await context.clock.install(time=0)
                await context.clock.pause_at(1000)
            page = await context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            watched.watch(page)
            await page.goto(clarvis.login_link() if address is None else address)
            return page

        yield open_page
    assert watched.wrongs == []


def fill(keeper: FakeKeeper, *rows: dict[str, Any]) -> None:
    keeper.rows = {row["id"]: row for row in rows}


def row(page: Page, text: str) -> Locator:
    return page.get_by_role("link").filter(has_text=text)


async def look_again(page: Page) -> None:
    """The page asks for news at once, as it does when the network comes back."""
    await page.evaluate("dispatchEvent(new Event('online'))")


async def recap(page: Page, name: str = "Where were we") -> Locator:
    """Where one was, unfolded where it came later than the conversation."""
    card = page.get_by_role("region", name=name)
    late = page.locator(".returning-late button:enabled")
    await expect(card.or_(late)).to_be_visible()
    if await late.is_visible():
        await late.click()
    await expect(card).to_be_visible()
    return card
