"""A fake keeper, a Clarvis before it, and browsers that are or are not logged in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp import CookieJar
from aiohttp.test_utils import TestClient
from pytest_aiohttp import AiohttpClient

from clarvis_ui.roots import Roots
from clarvis_ui.server import LOGIN, create_app
from clarvis_ui.settings import ClarvisSettings, TokenSource
from tests.support.fake_keeper import FakeKeeper, session

Browser = TestClient  # type: ignore[type-arg]
MakeBrowser = Callable[..., Awaitable[Browser]]


class ManualClock:
    """A time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_750_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A page as vite would have built it, with a secret beside it."""
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<!doctype html><title>Clarvis</title>")
    (static / "favicon.svg").write_text("<svg/>")
    (static / "assets" / "index-abc123.js").write_text("export {}")
    (static / ".hidden").write_text("hidden")
    (tmp_path / "secret.txt").write_text("secret")
    (static / "link.txt").symlink_to(tmp_path / "secret.txt")
    return static


@pytest.fixture
async def keeper() -> AsyncIterator[FakeKeeper]:
    async with FakeKeeper([session(1), session(2)]).serve() as keeper:
        yield keeper


@pytest.fixture
def browser_of(
    keeper: FakeKeeper, built: Path, clock: ManualClock, aiohttp_client: AiohttpClient
) -> MakeBrowser:
    """Makes a browser that talks to a new Clarvis, as the keywords have it."""

    async def make(
        *,
        logged_in: bool = True,
        roots: Roots | None = None,
        url: str | None = None,
        token: TokenSource | None = None,
        **more: object,
    ) -> Browser:
        settings = ClarvisSettings(
            keeper=url or keeper.url,
            token=token or (lambda: keeper.token),
            roots=roots or Roots(),
            static_folder=built,
            **more,  # type: ignore[arg-type]
        )
        app = create_app(settings, clock)
        client = await aiohttp_client(app, cookie_jar=CookieJar(unsafe=True))
        if logged_in:
            code = app[LOGIN].codes.mint()
            answer = await client.post("/login", json={"code": code.text})
            assert answer.status == 200
            # whether it knows us, which is nothing that a browser asked for
            keeper.requests.clear()
        return client

    return make


@pytest.fixture
async def browser(browser_of: MakeBrowser) -> Browser:
    return await browser_of()


@pytest.fixture
async def stranger(browser_of: MakeBrowser) -> Browser:
    return await browser_of(logged_in=False)


def empty_body(method: str) -> dict[str, object] | None:
    """A JSON body for those methods that have one."""
    return None if method in {"GET", "HEAD"} else {}


async def error_code(answer: object) -> str:
    body = await answer.json()  # type: ignore[attr-defined]
    assert body["error"]["message"]
    return str(body["error"]["code"])
