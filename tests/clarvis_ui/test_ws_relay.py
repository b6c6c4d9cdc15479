"""/api/ws: joined frame by frame, ended together, and nothing kept in between."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest
from aiohttp import WSMessage, WSMsgType

from clarvis_ui.roots import Roots
from clarvis_ui.ws_relay import SocketClosed, close_in_time, pass_everything, pump
from tests.clarvis_ui.conftest import Browser, MakeBrowser
from tests.support.fake_keeper import TOKEN, FakeKeeper, question, session
from tests.support.waiting import wait_until

FIRST = session(1)["id"]
SUBSCRIBE = {"type": "subscribe", "sessions": ["*"]}


async def subscribed(browser: Browser) -> aiohttp.ClientWebSocketResponse:
    socket = await browser.ws_connect("/api/ws")
    assert (await socket.receive_json())["type"] == "hello"
    await socket.send_json(SUBSCRIBE)
    assert (await socket.receive_json())["type"] == "subscribed"
    return socket


async def test_frames_go_both_ways(browser: Browser, keeper: FakeKeeper) -> None:
    socket = await subscribed(browser)
    assert await keeper.socket_messages.get() == SUBSCRIBE
    await keeper.publish("turn/started", FIRST, uuid="ü")
    event = await socket.receive_json()
    assert (event["type"], event["sessionId"], event["uuid"]) == ("turn/started", FIRST, "ü")


async def test_the_keeper_gets_the_token_and_no_cookie(
    browser: Browser, keeper: FakeKeeper
) -> None:
    await subscribed(browser)
    headers = keeper.requests[-1].headers
    assert headers["Authorization"] == f"Bearer {TOKEN}"
    assert "Cookie" not in headers


async def test_a_large_frame_comes_whole(browser: Browser, keeper: FakeKeeper) -> None:
    socket = await browser.ws_connect("/api/ws", max_msg_size=0)
    await socket.receive_json()
    await keeper.publish("message/added", FIRST, message={"content": "x" * 8_000_000})
    assert len((await socket.receive_json())["message"]["content"]) == 8_000_000


@pytest.mark.parametrize("code", [1000, 1001, 4001, 4008])
async def test_the_keepers_close_code_is_passed_on(
    browser: Browser, keeper: FakeKeeper, code: int
) -> None:
    socket = await subscribed(browser)
    await (await keeper.sockets.get()).close(code=code)
    assert (await socket.receive()).type is WSMsgType.CLOSE
    assert socket.close_code == code


async def test_a_keeper_that_vanishes_ends_the_line(browser: Browser, keeper: FakeKeeper) -> None:
    socket = await subscribed(browser)
    transport = keeper.requests[-1].transport
    assert transport is not None
    transport.abort()
    assert (await socket.receive()).type is WSMsgType.CLOSE
    assert socket.close_code == 1001


async def test_a_browser_that_leaves_leaves_the_keeper(
    browser: Browser, keeper: FakeKeeper
) -> None:
    socket = await subscribed(browser)
    line = await keeper.sockets.get()
    await socket.close()
    await wait_until(lambda: line not in keeper.open_sockets)
    assert line.close_code == 1000


async def test_after_a_restart_of_the_keeper_one_can_come_back(
    browser: Browser, keeper: FakeKeeper
) -> None:
    socket = await subscribed(browser)
    await keeper.stop()
    assert (await socket.receive()).type is WSMsgType.CLOSE
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await browser.ws_connect("/api/ws")
    assert refused.value.status == 502
    await keeper.start()
    await subscribed(browser)


async def test_logging_out_ends_open_lines(browser: Browser) -> None:
    socket = await subscribed(browser)
    await browser.post("/logout", json={})
    assert (await socket.receive()).type is WSMsgType.CLOSE
    assert socket.close_code == 4001


async def test_a_new_token_ends_open_lines(browser: Browser, keeper: FakeKeeper) -> None:
    socket = await subscribed(browser)
    keeper.token = "rotated"
    assert (await socket.receive()).type is WSMsgType.CLOSE
    assert socket.close_code == 4001


async def test_a_stop_of_clarvis_ends_open_lines(browser: Browser) -> None:
    socket = await subscribed(browser)
    closing = asyncio.get_running_loop().create_task(browser.server.close())
    assert (await socket.receive()).type is WSMsgType.CLOSE
    assert socket.close_code == 1001
    await closing


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.test"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Host": "evil.test"}, 403),
    ],
)
async def test_foreign_pages_get_no_line(
    browser: Browser, keeper: FakeKeeper, headers: dict[str, str], status: int
) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await browser.ws_connect("/api/ws", headers=headers)
    assert refused.value.status == status
    assert not keeper.requests


async def test_strangers_get_no_line(stranger: Browser, keeper: FakeKeeper) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await stranger.ws_connect("/api/ws")
    assert refused.value.status == 401
    assert not keeper.requests


async def test_a_plain_request_is_no_line(browser: Browser) -> None:
    assert (await browser.get("/api/ws")).status == 400
    assert (await browser.get("/api/health")).status == 200


@pytest.mark.parametrize("rubbish", [b"\x00\xff", b"x" * 1_100_000])
async def test_rubbish_ends_only_its_own_line(
    browser: Browser, keeper: FakeKeeper, rubbish: bytes
) -> None:
    good = await subscribed(browser)
    bad = await subscribed(browser)
    await bad.send_bytes(rubbish)
    assert (await bad.receive()).type is WSMsgType.CLOSE
    assert bad.close_code in {1003, 1009}
    await keeper.publish("turn/started", FIRST)
    assert (await good.receive_json())["type"] == "turn/started"


class Scripted:
    """A line with endless frames to give, that takes one only when it is told to."""

    close_code: int | None = None

    def __init__(self) -> None:
        self.received_count = 0
        self.taken: list[bytes] = []
        self.asked_to_take = asyncio.Event()
        self.may_take = asyncio.Semaphore(0)

    async def receive(self) -> WSMessage:
        self.received_count += 1
        return WSMessage(WSMsgType.TEXT, b"%d" % self.received_count, None)

    async def send_frame(self, message: bytes, opcode: WSMsgType) -> None:
        assert opcode is WSMsgType.TEXT
        self.asked_to_take.set()
        await self.may_take.acquire()
        self.taken.append(message)


async def test_nothing_is_read_that_the_other_side_does_not_take() -> None:
    source, sink = Scripted(), Scripted()
    pumping = asyncio.get_running_loop().create_task(
        pump(source, sink, pass_everything, lost_code=1001)  # type: ignore[arg-type]
    )
    for number in range(1, 4):
        await sink.asked_to_take.wait()
        sink.asked_to_take.clear()
        assert source.received_count == number
        sink.may_take.release()
    pumping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await pumping
    assert sink.taken[:2] == [b"1", b"2"]


async def test_a_side_that_broke_ends_the_line() -> None:
    class Broken(Scripted):
        async def send_frame(self, message: bytes, opcode: WSMsgType) -> None:
            raise ConnectionResetError

    with pytest.raises(SocketClosed) as ended:
        await pump(Scripted(), Broken(), pass_everything, lost_code=1001)  # type: ignore[arg-type]
    assert ended.value.code == 1001


async def test_a_flood_comes_whole_and_in_order(browser: Browser, keeper: FakeKeeper) -> None:
    socket = await subscribed(browser)
    sending = asyncio.get_running_loop().create_task(tell_all(keeper, 400))
    seen = [(await socket.receive_json())["number"] for _ in range(400)]
    assert seen == list(range(400))
    await sending


async def tell_all(keeper: FakeKeeper, amount: int) -> None:
    for number in range(amount):
        await keeper.publish("message/delta", FIRST, number=number, text="x" * 50_000)


async def test_a_browser_that_does_not_read_cannot_hold_up_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Stuck:
        async def close(self, *, code: int) -> None:
            await asyncio.Event().wait()

    monkeypatch.setattr("clarvis_ui.ws_relay.CLOSE_SECONDS", 0)
    assert not await close_in_time(Stuck(), 1001)  # type: ignore[arg-type]


# ---- within roots ----

INSIDE = session(1, workdir="/code/inside")
OUTSIDE = session(2, workdir="/elsewhere")


@pytest.fixture
async def narrow(browser_of: MakeBrowser, keeper: FakeKeeper) -> Browser:
    keeper.rows = {row["id"]: row for row in (INSIDE, OUTSIDE)}
    return await browser_of(roots=Roots.parse("/code"))


async def received(socket: aiohttp.ClientWebSocketResponse, keeper: FakeKeeper) -> list[Any]:
    """What came until now: a last event, which is let through, marks the end."""
    await keeper.publish("turn/finished", INSIDE["id"], uuid="the end")
    events = []
    while (event := await socket.receive_json()).get("uuid") != "the end":
        events.append((event["type"], event.get("sessionId")))
    return events


async def test_events_of_sessions_outside_are_not_told(narrow: Browser, keeper: FakeKeeper) -> None:
    socket = await subscribed(narrow)
    await keeper.publish("turn/started", OUTSIDE["id"])
    await keeper.publish("turn/started", INSIDE["id"])
    await keeper.publish("session/updated", OUTSIDE["id"], session=OUTSIDE)
    await keeper.publish("attention/raised", OUTSIDE["id"], attention=question(1, OUTSIDE))
    await keeper.publish("attention/raised", INSIDE["id"], attention=question(2, INSIDE))
    assert await received(socket, keeper) == [
        ("turn/started", INSIDE["id"]),
        ("attention/raised", INSIDE["id"]),
    ]


async def test_a_session_is_hidden_until_it_is_known(narrow: Browser, keeper: FakeKeeper) -> None:
    new = session(3, workdir="/code/new")
    socket = await subscribed(narrow)
    await keeper.publish("turn/started", new["id"])
    await keeper.publish("session/updated", new["id"], session=new)
    await keeper.publish("turn/started", new["id"])
    assert await received(socket, keeper) == [
        ("session/updated", new["id"]),
        ("turn/started", new["id"]),
    ]


async def test_a_session_that_moved_out_is_no_longer_told(
    narrow: Browser, keeper: FakeKeeper
) -> None:
    socket = await subscribed(narrow)
    await keeper.publish("session/updated", INSIDE["id"], session=OUTSIDE | {"id": "x"})
    await keeper.publish("turn/started", INSIDE["id"])
    await keeper.publish("session/updated", INSIDE["id"], session=INSIDE)
    assert await received(socket, keeper) == [("session/updated", INSIDE["id"])]


async def test_what_names_no_session_is_told_only_of_the_socket(
    narrow: Browser, keeper: FakeKeeper
) -> None:
    socket = await subscribed(narrow)
    await keeper.publish("resync")
    await keeper.publish("everything/about", None, sessions=[OUTSIDE])
    line = await keeper.sockets.get()
    await line.send_str("[1, 2")
    await line.send_str('{"type": "turn/started", "sessionId": 7}')
    assert await received(socket, keeper) == [("resync", None)]
