"""Bad lines in a real browser: no network, a slow one, a keeper that dies under an open page."""

from __future__ import annotations

import pytest
from playwright.async_api import WebSocketRoute, expect

from clarvis_ui.server import Clarvis
from tests.e2e.conftest import OpenPage, look_again, row
from tests.e2e.stage import Stage, allow, card, field, prompts, replies, say, unsent

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_without_a_network_nothing_is_lost_and_all_is_there_afterwards(
    open_page: OpenPage, stage: Stage, clarvis: Clarvis
) -> None:
    session = await stage.begin("say: before")
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_text(["before"])
    await page.context.set_offline(True)
    banner = page.locator(".banner")
    await expect(banner).to_contain_text("This device is offline.")
    await say(page, "say: sent into the void")
    await expect(unsent(page)).to_contain_text("say: sent into the void")
    await field(page).fill("half a thought")
    said_elsewhere = {"sessionId": session, "text": "say: meanwhile, elsewhere"}
    await stage.ask("POST", "/send", said_elsewhere)

    await page.context.set_offline(False)
    await expect(banner).to_have_count(0)
    await expect(replies(page)).to_have_text(["before", "meanwhile, elsewhere"])
    await unsent(page).get_by_role("button", name="Send again").click()
    await expect(replies(page).last).to_have_text("sent into the void")
    await expect(prompts(page)).to_have_text(
        ["say: before", "say: meanwhile, elsewhere", "say: sent into the void"]
    )
    await expect(field(page)).to_have_value("half a thought")


async def test_a_keeper_that_is_reached_without_a_network_is_not_called_away(
    open_page: OpenPage, stage: Stage, clarvis: Clarvis
) -> None:
    session = await stage.begin("say: before")
    page = await open_page(clarvis.login_link(session))
    # a train without a network, with the keeper on the same machine
    await page.add_init_script("Object.defineProperty(navigator, 'onLine', { get: () => false })")
    await page.reload()
    await page.evaluate("dispatchEvent(new Event('offline'))")
    await say(page, "say: after")
    await expect(replies(page)).to_have_text(["before", "after"])
    await expect(page.locator(".banner")).to_have_count(0)


async def test_after_a_sleep_the_line_that_died_in_it_is_replaced(
    open_page: OpenPage, stage: Stage, clarvis: Clarvis
) -> None:
    session = await stage.begin("say: before")
    page = await open_page(clarvis.login_link(session))
    asleep = False

    def joined(line: WebSocketRoute) -> None:
        # nobody says that it is dead: neither side ever hears of the other again
        own = asleep
        server = line.connect_to_server()
        line.on_message(lambda words: None if asleep != own else server.send(words))
        server.on_message(lambda words: None if asleep != own else line.send(words))

    await page.route_web_socket("**/api/ws", joined)
    await page.reload()
    await expect(replies(page)).to_have_text(["before"])
    await field(page).fill("half a thought")
    asleep = True
    await stage.ask("POST", "/send", {"sessionId": session, "text": "say: meanwhile"})
    await expect(row(page, "say: meanwhile")).to_have_count(0)
    await look_again(page)
    await expect(replies(page)).to_have_text(["before", "meanwhile"])
    await expect(prompts(page)).to_have_text(["say: before", "say: meanwhile"])
    await expect(page.locator(".banner")).to_have_count(0)
    await expect(field(page)).to_have_value("half a thought")


async def test_on_a_slow_line_a_message_shows_at_once_and_once(
    open_page: OpenPage, stage: Stage, clarvis: Clarvis
) -> None:
    session = await stage.begin("say: fast enough")
    page = await open_page(clarvis.login_link(session))
    await expect(replies(page)).to_have_text(["fast enough"])
    line = await page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 1500, "downloadThroughput": 20e3, "uploadThroughput": 20e3}
    await line.send("Network.emulateNetworkConditions", slow)
    await say(page, "run: touch slowly.txt")
    on_its_way = page.locator(".you[data-state=sending] .you-words")
    await expect(on_its_way).to_have_text(["run: touch slowly.txt"])
    await expect(allow(page)).to_be_enabled()
    # while the answer is on its way the card waits for it
    await allow(page).click()
    await expect(replies(page)).to_have_count(2)
    await expect(prompts(page)).to_have_text(["say: fast enough", "run: touch slowly.txt"])
    await expect(on_its_way).to_have_count(0)
    assert stage.has("slowly.txt")


async def test_a_keeper_that_dies_under_open_pages_comes_back_to_the_same_conversation(
    open_page: OpenPage, stage: Stage, clarvis: Clarvis
) -> None:
    session = await stage.begin("say: before the fall")
    page = await open_page(clarvis.login_link(session))
    another = await page.context.new_page()
    await another.goto(f"{clarvis.url}/#session={session}")
    await expect(replies(another)).to_have_text(["before the fall"])
    await say(page, "slow: 600")
    await expect(page.locator(".reply[aria-busy=true]")).to_contain_text("The queue keeps")
    await field(page).fill("typed in one")
    await expect(field(another)).to_have_value("typed in one")
    await field(another).fill("typed in one, then in the other")

    await stage.kill()
    for each in (page, another):
        await expect(each.locator(".banner")).to_be_visible()
    await stage.start()
    for each in (page, another):
        await expect(each.locator(".banner")).to_have_count(0)
        await expect(prompts(each)).to_have_text(["say: before the fall", "slow: 600"])
        await expect(each.get_by_role("region", name="Interrupted")).to_be_visible()
        await expect(each.locator(".reply[aria-busy=true]")).to_have_count(0)
    for each in (page, another):
        await expect(field(each)).to_have_value("typed in one, then in the other")

    # one answers, the other hears of it and says by whom
    await say(page, "run: touch after.txt")
    await expect(allow(another)).to_be_enabled()
    await expect(card(page)).to_contain_text("touch after.txt")
    await allow(another).click()
    await expect(page.locator(".settled")).to_contain_text("Allowed by Clarvis on Linux")
    for each in (page, another):
        await expect(card(each)).to_have_count(0)
        await expect(prompts(each)).to_have_text(
            ["say: before the fall", "slow: 600", "run: touch after.txt"]
        )
        await expect(replies(each).last).to_contain_text("touch after.txt ran")
    assert stage.has("after.txt")
