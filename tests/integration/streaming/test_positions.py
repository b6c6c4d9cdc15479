"""Positions: what was missed is replayed, what cannot be is said to be read again."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import WSMsgType

from claudekeeper.server.app_keys import WS_CONNECTIONS
from tests.support.keeper_in_process import InProcessKeeper, SocketListener, uuids
from tests.support.waiting import wait_until


async def test_what_cannot_be_replayed_is_read_again(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = await keeper.start_session("say: one", listener)
    position = (await keeper.get(f"/sessions/{session}"))["position"]
    epoch, _, seq = position.partition(":")
    odd = [f"{epoch}:{int(seq) + 10_000}", f"{epoch}:{'9' * 30}", f"0{epoch}:1", f"{epoch}:-1"]
    odd += [
        "",
        ":",
        epoch,
        f"{epoch}:",
        f"{epoch}:1e3",
        f"{epoch}:\u0661",
        "garbage",
        f" {position}",
    ]
    for since in odd:
        # an empty one is no position either
        ws = await keeper.client.ws_connect("/ws")
        await ws.receive_json()
        await ws.send_json({"type": "subscribe", "sessions": [session], "since": since})
        assert (await ws.receive_json())["type"] == "resync", since
        await ws.close()
    fresh = await keeper.listen(session, since=position)
    assert fresh.events[-1]["type"] == "subscribed"


async def test_beyond_the_ring_is_read_again(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = await keeper.start_session("say: one", listener)
    old = listener.events[3]["position"]
    for _ in range(2):
        await keeper.send("huge: 10", session)
        await listener.wait_for_turn_end(session)
    late = await keeper.listen(session, since=old)
    assert late.events[-1]["type"] == "resync"
    # so much fills the context: it is compacted in between
    assert uuids(listener.messages(session)) == uuids(await keeper.history(session))


async def test_sessions_that_nobody_asked_for_are_silent(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    one = await keeper.start_session("say: one", listener)
    two = await keeper.start_session("say: two", listener)
    only = await keeper.listen(one)
    await keeper.send("say: more of two", two)
    await listener.wait_for_turn_end(two)
    await keeper.send("say: more of one", one)
    await only.wait_for_turn_end(one)
    assert {event["sessionId"] for event in only.events if "sessionId" in event} == {one}
    await only.send({"type": "unsubscribe", "sessions": [one]})
    await only.send({"type": "ping"})
    await only.wait_for_event("pong")
    count = len(only.events)
    await keeper.send("say: still more", one)
    await listener.wait_for_turn_end(one)
    await only.send({"type": "ping"})
    await only.wait_for_event("pong")
    assert len(only.events) == count + 1


async def test_open_questions_are_sent_to_every_new_subscriber(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("run: touch a"))["sessionId"]
    question = await listener.wait_for_question(session)
    page = await keeper.get(f"/sessions/{session}")
    assert page["session"]["state"] == "waiting"
    assert page["session"]["attention"] == 1
    late = await keeper.listen(session)
    assert await late.wait_for_question(session) == question
    with_since = await keeper.listen("*", since=page["position"])
    assert await with_since.wait_for_question(session) == question
    assert (await keeper.get("/attention"))["attention"] == [question]
    await keeper.resolve(question, by="phone")
    for each in (listener, late, with_since):
        settled = await each.wait_for_event("attention/settled", session)
        assert (settled["attentionId"], settled["by"]) == (question["id"], "phone")
        await each.wait_for_turn_end(session)
    assert (await keeper.get("/attention"))["attention"] == []


async def test_who_does_not_read_is_cut_off_and_nobody_else_notices(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    lazy = await keeper.client.ws_connect("/ws", max_msg_size=0)
    await lazy.send_json({"type": "subscribe", "sessions": ["*"]})
    transport = lazy._response.connection.transport  # type: ignore[union-attr]
    transport.pause_reading()  # type: ignore[union-attr]
    session = (await keeper.send("huge: 10"))["sessionId"]
    reading = asyncio.create_task(listener.wait_for_turn_end(session))
    await wait_until(lambda: keeper.app[WS_CONNECTIONS].slow_count == 1)
    # it has some seconds to take what is on its way, and the word that it is cut off
    transport.resume_reading()  # type: ignore[union-attr]
    assert {message.type async for message in lazy} <= {WSMsgType.TEXT}
    assert lazy.close_code == 4008
    await reading
    assert uuids(listener.messages(session)) == uuids(await keeper.history(session))


async def test_a_peer_that_is_dead_is_found(
    keeper: InProcessKeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive = await keeper.listen()
    monkeypatch.setattr("claudekeeper.server.websocket.HEARTBEAT", 0.05)
    # its system still takes what is sent; nobody is there to answer
    dead = await keeper.client.ws_connect("/ws", autoping=False)
    await wait_until(lambda: len(keeper.app[WS_CONNECTIONS]) == 2)
    await wait_until(lambda: len(keeper.app[WS_CONNECTIONS]) == 1)
    await alive.send({"type": "ping"})
    await alive.wait_for_event("pong")
    await dead.close()


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "[]",
        '{"type": "subscribe"}',
        '{"type": "subscribe", "sessions": "*"}',
        '{"type": "subscribe", "sessions": [1]}',
        '{"type": "subscribe", "sessions": ["*"], "since": 5}',
        '{"type": "dance"}',
        '{"type": "ping", "more": 1}',
        '{"type": "subscribe", "sessions": ["' + "x" * 100 + '"]}',
        "[" * 5000,
        '{"type": "subscribe", "sessions": ["\\ud800"]}',
    ],
)
async def test_odd_words_on_the_socket_are_answered(keeper: InProcessKeeper, text: str) -> None:
    ws = await keeper.client.ws_connect("/ws")
    await ws.receive_json()
    await ws.send_str(text)
    answer = await ws.receive_json()
    assert answer["type"] == "error"
    assert answer["error"]["code"] == "invalid_message"
    assert answer["error"]["message"].endswith(".")
    await ws.send_bytes(b"{}")
    assert (await ws.receive_json())["type"] == "error"
    await ws.send_json({"type": "ping"})
    assert (await ws.receive_json())["type"] == "pong"
    await ws.close()
