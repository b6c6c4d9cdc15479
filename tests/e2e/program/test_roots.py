"""Every session of the allowed roots, and none of the others: real sessions in a real browser."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import expect

from clarvis_ui.roots import Roots
from clarvis_ui.server import Clarvis, run_clarvis
from clarvis_ui.settings import ClarvisSettings
from tests.e2e.conftest import OpenPage, module_fixture, session_row
from tests.support.stage import RestartableKeeper, attention_card, prompt_texts, replies

pytestmark = pytest.mark.asyncio(loop_scope="module")


@module_fixture
async def clarvis(stage: RestartableKeeper) -> AsyncIterator[Clarvis]:
    roots = Roots.parse(str(stage.home.project("allowed")))
    settings = ClarvisSettings(keeper=stage.url, token=stage.token, roots=roots)
    async with run_clarvis(settings, port=0) as clarvis:
        yield clarvis


async def test_every_session_of_the_allowed_roots_is_in_the_list_and_no_other(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    allowed, other = stage.home.project("allowed"), stage.home.project("other")
    inside = allowed / "deep" / "inside"
    inside.mkdir(parents=True)
    hidden = await stage.start_session("run: touch hidden.txt", workdir=str(other))
    for number in range(3):
        await stage.start_session(f"say: number {number}", workdir=str(allowed))
    deep = await stage.start_session("say: deep inside", workdir=str(inside))
    page = await open_page(clarvis.login_link(deep))
    await expect(prompt_texts(page)).to_have_text(["say: deep inside"])
    await expect(replies(page)).to_have_text(["deep inside"])
    await expect(page.locator(".tally")).to_have_text("4 sessions")
    for number in range(3):
        await expect(session_row(page, f"say: number {number}")).to_have_count(1)

    # one that begins while one looks is there too; what lies outside asks nobody here
    await stage.start_session("say: outside again", workdir=str(other))
    await stage.start_session("say: begun meanwhile", workdir=str(inside))
    await expect(session_row(page, "say: begun meanwhile")).to_have_count(1)
    await expect(page.locator(".tally")).to_have_text("5 sessions")
    await expect(session_row(page, "hidden.txt")).to_have_count(0)
    await stage.wait_for("/attention", lambda answer: answer["attention"])
    await page.reload()
    await expect(page.get_by_role("link", name="Nothing waits for you")).to_be_visible()
    await page.goto(f"{clarvis.url}/#session={hidden}")
    await expect(page.get_by_text("This session is not here")).to_be_visible()
    await expect(attention_card(page)).to_have_count(0)
