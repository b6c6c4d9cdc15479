"""Threats 6 and 8: codes, cookies, rotation, and the budget of wrong tokens."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import urlsplit

import aiohttp
import pytest

from tests.security.conftest import log_in, login_code
from tests.security.raw_requests import send_request, upgrade_status
from tests.support.api_visitor import connect_api
from tests.support.keeper_process import KeeperProcess
from tests.support.waiting import wait_until

JSON = {"Content-Type": "application/json"}


def test_6_a_code_works_once_and_its_cookie_is_for_this_page_only(keeper: KeeperProcess) -> None:
    page = str(keeper.page_url)
    body = json.dumps({"code": login_code(keeper)}).encode()
    first = send_request(page, "POST", "/login", JSON, body)
    assert first.status == 200
    cookie = first.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    again = send_request(page, "POST", "/login", JSON, body)
    assert (again.status, again.error) == (401, "wrong_code")


def test_6_the_code_is_in_the_fragment_and_in_no_log(keeper: KeeperProcess) -> None:
    link = urlsplit(keeper.new_login_link())
    assert link.query == ""
    code = link.fragment.removeprefix("login=")
    assert len(code) >= 12
    assert code not in keeper.log


async def closing_code(socket: aiohttp.ClientWebSocketResponse) -> int | None:
    async for _ in socket:
        pass
    return socket.close_code


async def test_6_rotation_ends_cookies_and_sockets(keeper: KeeperProcess) -> None:
    cookie = await asyncio.to_thread(log_in, keeper)
    page = str(keeper.page_url)
    old = keeper.auth_headers
    assert send_request(page, "GET", "/api/sessions", {"Cookie": cookie}).status == 200
    headers = {"Cookie": cookie}
    async with connect_api(keeper) as visitor, aiohttp.ClientSession(headers=headers) as browser:
        listener = await visitor.listen()
        socket = await browser.ws_connect(f"{page}/api/ws")
        assert (await socket.receive_json())["type"] == "hello"
        # both read all the time, as browsers do: who does not answer a goodbye is just left
        reading = asyncio.gather(closing_code(listener.ws), closing_code(socket))
        rotated = await asyncio.to_thread(keeper.run_command, "token", "rotate")
        assert rotated.returncode == 0
        assert await reading == [4001, 4001]
    assert send_request(keeper.url, "GET", "/sessions", old).status == 401
    assert send_request(keeper.url, "GET", "/sessions", keeper.auth_headers).status == 200
    assert send_request(page, "GET", "/api/sessions", {"Cookie": cookie}).status == 401
    again = await asyncio.to_thread(log_in, keeper)
    assert send_request(page, "GET", "/api/sessions", {"Cookie": again}).status == 200


async def test_8_fifty_wrong_tokens(keeper: KeeperProcess) -> None:
    wrong = {"Authorization": "Bearer wrong"}
    page = {"Cookie": await asyncio.to_thread(log_in, keeper)}
    async with connect_api(keeper) as visitor:
        listener = await visitor.listen()
        statuses = []
        for _ in range(25):
            statuses.append(send_request(keeper.url, "GET", "/sessions", wrong).status)
            statuses.append(upgrade_status(keeper.url, "/ws", wrong))
        assert set(statuses) == {401, 429}
        assert statuses[-2:] == [429, 429]
        refused = send_request(keeper.url, "GET", "/sessions", wrong)
        assert int(refused.headers["retry-after"]) >= 1
        # whoever is in stays in, on every way
        await listener.send({"type": "ping"})
        await listener.wait_for_event("pong")
        await visitor.get("/sessions")
        assert send_request(str(keeper.page_url), "GET", "/api/sessions", page).status == 200
    # it clears by itself: 401 again, without anybody's help
    await wait_until(lambda: send_request(keeper.url, "GET", "/sessions", wrong).status == 401)
    assert send_request(keeper.url, "GET", "/sessions", keeper.auth_headers).status == 200


def test_8_clarvis_has_a_budget_too(keeper: KeeperProcess) -> None:
    page = str(keeper.page_url)
    in_already = {"Cookie": log_in(keeper)}
    wrong = json.dumps({"code": "AAAA-AAAA-AAAA"}).encode()
    statuses = [send_request(page, "POST", "/login", JSON, wrong).status for _ in range(50)]
    assert statuses[0] == 401
    assert statuses[-1] == 429
    assert send_request(page, "GET", "/api/sessions", in_already).status == 200
    # the owner can always get a new code
    assert login_code(keeper)


@pytest.mark.parametrize("token", ["", "Bearer", "Bearer ", "Basic x", "Bearer " + "x" * 5000])
def test_8_odd_headers_are_no_way_in(keeper: KeeperProcess, token: str) -> None:
    assert send_request(keeper.url, "GET", "/sessions", {"Authorization": token}).status in {
        401,
        429,
    }
