"""Bad lines in a real browser: no network, a slow one, a keeper that dies under an open page."""

from __future__ import annotations

import pytest
from playwright.async_api import WebSocketRoute, expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import OpenPage, session_row, trigger_refresh
from tests.support.stage import (
    RestartableKeeper,
    allow_button,
    attention_card,
    message_field,
    prompt_texts,
    replies,
    send_prompt,
    unsent_prompts,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


class FragileSockets:
    """WebSockets that can die without a word: neither side ever hears of the other again."""

    def __init__(self) -> None:
        self._generation = 0

    def connect(self, client: WebSocketRoute) -> None:
        server = client.connect_to_server()
        self._forward(client, server)
        self._forward(server, client)

    def break_all(self) -> None:
        """Those that are open by now; later ones live."""
        self._generation += 1

    def _forward(self, source: WebSocketRoute, target: WebSocketRoute) -> None:
        generation = self._generation

        def send(message: str | bytes) -> None:
            if generation == self._generation:
                target.send(message)

        source.on_message(send)


async def test_without_a_network_nothing_is_lost_and_all_is_there_afterwards(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: before")
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_text(["before"])
    await page.context.set_offline(True)
    banner = page.locator(".banner")
    await expect(banner).to_contain_text("This device is offline.")
    await send_prompt(page, "say: sent into the void")
    await expect(unsent_prompts(page)).to_contain_text("say: sent into the void")
    await message_field(page).fill("half a thought")
    said_elsewhere = {"sessionId": session, "text": "say: meanwhile, elsewhere"}
    await stage.request("POST", "/send", said_elsewhere)

    await page.context.set_offline(False)
    await expect(banner).to_have_count(0)
    await expect(replies(page)).to_have_text(["before", "meanwhile, elsewhere"])
    await unsent_prompts(page).get_by_role("button", name="Send again").click()
    await expect(replies(page).last).to_have_text("sent into the void")
    await expect(prompt_texts(page)).to_have_text(
        ["say: before", "say: meanwhile, elsewhere", "say: sent into the void"]
    )
    await expect(message_field(page)).to_have_value("half a thought")


async def test_a_keeper_that_is_reached_without_a_network_is_not_called_away(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: before")
    page = await open_page(clarvis.login_link(session))
    # a train without a network, with the keeper on the same machine
    await page.add_init_script("Object.defineProperty(navigator, 'onLine', { get: () => false })")
    await page.reload()
    await page.evaluate("dispatchEvent(new Event('offline'))")
    await send_prompt(page, "say: after")
    await expect(replies(page)).to_have_text(["before", "after"])
    await expect(page.locator(".banner")).to_have_count(0)


async def test_after_a_sleep_the_line_that_died_in_it_is_replaced(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: before")
    page = await open_page(clarvis.login_link(session))
    sockets = FragileSockets()
    await page.route_web_socket("**/api/ws", sockets.connect)
    await page.reload()
    await expect(replies(page)).to_have_text(["before"])
    await message_field(page).fill("half a thought")
    sockets.break_all()
    await stage.request("POST", "/send", {"sessionId": session, "text": "say: meanwhile"})
    await expect(session_row(page, "say: meanwhile")).to_have_count(0)
    await trigger_refresh(page)
    await expect(replies(page)).to_have_text(["before", "meanwhile"])
    await expect(prompt_texts(page)).to_have_text(["say: before", "say: meanwhile"])
    await expect(page.locator(".banner")).to_have_count(0)
    await expect(message_field(page)).to_have_value("half a thought")


async def test_on_a_slow_line_a_message_shows_at_once_and_once(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: fast enough")
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_text(["fast enough"])
    line = await page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 1500, "downloadThroughput": 20e3, "uploadThroughput": 20e3}
    await line.send("Network.emulateNetworkConditions", slow)
    await send_prompt(page, "run: touch slowly.txt")
    on_its_way = page.locator(".you[data-state=sending] .you-words")
    await expect(on_its_way).to_have_text(["run: touch slowly.txt"])
    await expect(allow_button(page)).to_be_enabled()
    # while the answer is on its way the card waits for it
    await allow_button(page).click()
    await expect(replies(page)).to_have_count(2)
    await expect(prompt_texts(page)).to_have_text(["say: fast enough", "run: touch slowly.txt"])
    await expect(on_its_way).to_have_count(0)
    assert stage.file_exists("slowly.txt")


async def test_a_keeper_that_dies_under_open_pages_comes_back_to_the_same_conversation(
    open_page: OpenPage, stage: RestartableKeeper, clarvis: Clarvis
) -> None:
    session = await stage.start_session("say: before the fall")
    page = await open_page(clarvis.login_link(session))
    another = await page.context.new_page()
    await another.goto(f"{clarvis.url}/#session={session}")
    await expect(replies(another)).to_have_text(["before the fall"])
    await send_prompt(page, "slow: 600")
    await expect(page.locator(".reply[aria-busy=true]")).to_contain_text("The queue keeps")
    await message_field(page).fill("typed in one")
    await expect(message_field(another)).to_have_value("typed in one")
    await message_field(another).fill("typed in one, then in the other")

    await stage.kill()
    for each in (page, another):
        await expect(each.locator(".banner")).to_be_visible()
    await stage.start()
    for each in (page, another):
        await expect(each.locator(".banner")).to_have_count(0)
        await expect(prompt_texts(each)).to_have_text(["say: before the fall", "slow: 600"])
        await expect(each.get_by_role("region", name="Interrupted")).to_be_visible()
        await expect(each.locator(".reply[aria-busy=true]")).to_have_count(0)
    for each in (page, another):
        await expect(message_field(each)).to_have_value("typed in one, then in the other")

    # one answers, the other hears of it and says by whom
    await send_prompt(page, "run: touch after.txt")
    await expect(allow_button(another)).to_be_enabled()
    await expect(attention_card(page)).to_contain_text("touch after.txt")
    await allow_button(another).click()
    await expect(page.locator(".settled")).to_contain_text("Allowed by Clarvis on Linux")
    for each in (page, another):
        await expect(attention_card(each)).to_have_count(0)
        await expect(prompt_texts(each)).to_have_text(
            ["say: before the fall", "slow: 600", "run: touch after.txt"]
        )
        await expect(replies(each).last).to_contain_text("touch after.txt ran")
    assert stage.file_exists("after.txt")
