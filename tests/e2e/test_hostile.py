"""Transcripts are hostile: no script runs, and nobody else is asked for anything."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from clarvis_ui.server import Clarvis
from tests.clarvis.fake_keeper import FakeKeeper, session
from tests.e2e.conftest import OpenPage, fill, row

pytestmark = pytest.mark.asyncio(loop_scope="module")


HOSTILE = [
    "<img src=x onerror=\"window.pwned='img'\">",
    "<script>window.pwned='script'</script>",
    "<svg onload=\"window.pwned='svg'\"><image href='http://evil.test/a.png'/></svg>",
    "<iframe srcdoc=\"<script>parent.pwned='frame'</script>\"></iframe>",
    "[link](javascript:window.pwned='link') ![i](http://evil.test/b.png)",
    "\x1b]8;;http://evil.test/\x1b\\link\x1b]8;;\x1b\\ \x1b[2J \x07",
    "'\"><style>@import url(http://evil.test/c.css)</style>",
    "\u202etxt.exe \u2066 \u0000 \ufeff " + "x" * 300,
]


async def test_hostile_text_stays_text(open_page: OpenPage, keeper: FakeKeeper) -> None:
    everywhere = ("workdir", "project", "title", "firstPrompt", "lastPrompt", "gitBranch", "model")
    rows = [
        session(number, **dict.fromkeys(everywhere, text), name=text if number % 2 else None)
        for number, text in enumerate(HOSTILE)
    ]
    broken = {"state": "error", "error": {"code": HOSTILE[0], "message": HOSTILE[0]}}
    fill(keeper, *rows, session(20, **broken))
    page = await open_page()
    for one in [*rows, keeper.rows[session(20)["id"]]]:
        await page.evaluate("id => { location.hash = `#session=${id}` }", one["id"])
        await expect(page.locator("[aria-current=true]")).to_have_attribute(
            "data-session", one["id"]
        )
        await page.get_by_role("button", name="Details").first.click()
        await expect(page.locator(".details")).to_contain_text(one["id"])
        await page.get_by_role("button", name="Close").click()
    assert await page.evaluate("window.pwned") is None
    assert await page.locator("img, iframe, script:not([src]), svg image, style").count() == 0
    # what the page asked for, and of whom, is checked when it closes


@pytest.mark.parametrize(
    "address",
    [
        "?keeper=http://evil.test",
        "#keeper=http://evil.test&api=//evil.test",
        "#session=http://evil.test/",
        "#session=<img src=x onerror=alert(1)>",
        "#session=%",
    ],
)
async def test_no_address_makes_the_page_talk_to_another(
    open_page: OpenPage, keeper: FakeKeeper, clarvis: Clarvis, address: str
) -> None:
    fill(keeper, session(1))
    page = await open_page()
    await page.goto(f"{clarvis.url}/{address}")
    await page.reload()
    await expect(row(page, "Session number 1")).to_be_visible()
