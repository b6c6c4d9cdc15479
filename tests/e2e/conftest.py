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

from clarvis_ui.server import Clarvis, run_clarvis
from clarvis_ui.settings import BUILT_PAGE, ClarvisSettings
from tests.support.fake_keeper import FakeKeeper

DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# the page looks for news every few seconds, and on a busy machine a second can be long
TIMEOUT_MS = 45_000
expect.set_options(timeout=TIMEOUT_MS)

# one browser a file: starting one costs more than most tests
module_fixture = pytest_asyncio.fixture(scope="module", loop_scope="module")
function_fixture = pytest_asyncio.fixture(loop_scope="module")

OpenPage = Callable[..., Awaitable[Page]]


def skip_without_browser(reason: str) -> None:
    """Skip, unless whoever runs the tests demanded the browser."""
    if os.environ.get("CLARVIS_E2E") == "required":
        pytest.fail(f"CLARVIS_E2E=required, but {reason}")
    pytest.skip(reason)


@module_fixture
async def chromium(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> AsyncIterator[Browser]:
    """With `SHOWS_BARS` in a test's module, bars take room as they do on most desks."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        skip_without_browser("there is no chromium on PATH")
    if not (BUILT_PAGE / "index.html").is_file():
        skip_without_browser("the page is not built; run 'make ui'")
    home = str(tmp_path_factory.mktemp("browser"))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=program,
            args=CHROMIUM_FLAGS,
            ignore_default_args=["--hide-scrollbars"] if _shows_bars(request) else None,
            env={"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home, "TZ": "UTC"},
        )
        yield browser
        await browser.close()


def _shows_bars(request: pytest.FixtureRequest) -> bool:
    return getattr(request.module, "SHOWS_BARS", False)


@function_fixture
async def keeper() -> AsyncIterator[FakeKeeper]:
    async with FakeKeeper().serve() as keeper:
        yield keeper


@function_fixture
async def clarvis(keeper: FakeKeeper) -> AsyncIterator[Clarvis]:
    settings = ClarvisSettings(keeper=keeper.url, token=lambda: keeper.token)
    async with run_clarvis(settings, port=0) as clarvis:
        yield clarvis


class PageWatch:
    """What a page did that none may do: errors, refused content, talk to strangers."""

    def __init__(self, own: str) -> None:
        self._origin = own
        self.faults: list[str] = []

    def watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("console", lambda message: self._on_console(message.type, message.text))
        page.on("request", self._on_request)
        page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))

    def _on_console(self, kind: str, text: str) -> None:
        # a refused request is said in the console too; which ones are right, the tests know
        expected = ("Failed to load resource", "WebSocket connection to")
        if kind in {"error", "warning"} and not any(words in text for words in expected):
            self.faults.append(f"console: {text}")

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith((f"{self._origin}/", "blob:", "data:")):
            self.faults.append(f"asked {request.url}")


@function_fixture
async def open_page(chromium: Browser, clarvis: Clarvis) -> AsyncIterator[OpenPage]:
    """Opens a page in a browser of its own, logged in unless told otherwise."""
    watched = PageWatch(clarvis.url)
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
            page.set_default_timeout(TIMEOUT_MS)
            watched.watch(page)
            await page.goto(clarvis.login_link() if address is None else address)
            return page

        yield open_page
    assert watched.faults == []


def set_sessions(keeper: FakeKeeper, *rows: dict[str, Any]) -> None:
    keeper.rows = {row["id"]: row for row in rows}


def session_row(page: Page, text: str) -> Locator:
    # a fork of a session in another row leads to it too
    return page.get_by_role("link").and_(page.locator(".row")).filter(has_text=text)


async def trigger_refresh(page: Page) -> None:
    """The page asks for news at once, as it does when the network comes back."""
    await page.evaluate("dispatchEvent(new Event('online'))")


async def open_recap(page: Page, name: str = "Where were we") -> Locator:
    """Where one was, unfolded where it came later than the conversation."""
    card = page.get_by_role("region", name=name)
    late = page.locator(".returning-late button:enabled")
    await expect(card.or_(late)).to_be_visible()
    if await late.is_visible():
        await late.click()
    await expect(card).to_be_visible()
    return card
