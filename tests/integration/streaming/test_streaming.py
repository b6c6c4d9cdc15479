"""Replies while they are written: whole, in order, for everybody, from any moment on."""

from __future__ import annotations

from typing import Any

from tests.support.keeper_in_process import Event, InProcessKeeper, SocketListener, text_of, uuids


def streamed(events: list[Event], kind: str) -> str:
    return "".join(
        event["text"]
        for event in events
        if event["type"] == "message/delta" and event["kind"] == kind
    )


def blocks(messages: list[Any], type_: str) -> list[Any]:
    return [block for each in messages for block in each["content"] if block["type"] == type_]


async def test_text_thinking_and_input_come_in_pieces_and_then_whole(
    keeper: InProcessKeeper, ear: SocketListener
) -> None:
    script = "think: is it safe?\nsay: I write it.\nwrite: notes.md: hello there\nsay: Written."
    session = (await keeper.send(script, permissionMode="acceptEdits"))["sessionId"]
    await ear.wait_for_turn_end(session, outcome="done")
    told = ear.messages(session)
    assert uuids(told) == uuids(await keeper.history(session))
    events = ear.events
    assert streamed(events, "thinking") == blocks(told, "thinking")[0]["thinking"]
    assert streamed(events, "text") == "".join(
        text_of(message) for message in told if message["kind"] == "reply"
    )
    call = blocks(told, "tool_use")[0]
    assert "hello there" in streamed(events, "input")
    deltas = [event for event in ear.events_of("message/delta") if event["kind"] == "input"]
    assert {(event["tool"], event["toolUseId"]) for event in deltas} == {("Write", call["id"])}
    # every reply came in pieces too
    streamed_ids = {event["messageId"] for event in ear.events_of("message/delta")}
    assert {each["messageId"] for each in told if each["kind"] == "reply"} <= streamed_ids


async def test_twenty_thousand_pieces_arrive_whole(
    keeper: InProcessKeeper, ear: SocketListener
) -> None:
    session = (await keeper.send("count: 20000"))["sessionId"]
    await ear.wait_for_turn_end(session, outcome="done")
    text = " ".join(str(number) for number in range(1, 20_001))
    assert streamed(ear.events, "text") == text
    assert text_of(ear.messages(session)[-1]) == text


async def test_who_joins_in_mid_reply_has_every_letter(
    keeper: InProcessKeeper, ear: SocketListener
) -> None:
    """Snapshots at many moments of one reply; each with what followed is the whole text."""
    session = (await keeper.send("slow: 2"))["sessionId"]
    await ear.wait_for_event("message/delta", session)
    joined: list[tuple[Any, SocketListener]] = []
    for _ in range(4):
        await ear.wait_for_event("message/delta", session)
        page = await keeper.get(f"/sessions/{session}")
        joined.append((page, await keeper.listen(session, since=page["position"])))
    await ear.wait_for_turn_end(session, outcome="done")
    reply = ear.messages(session)[-1]
    for page, other in joined:
        await other.wait_for_turn_end(session, outcome="done")
        assert page["partial"]["messageId"] == reply["messageId"]
        assert page["session"]["state"] == "running"
        assert page["turn"]["uuid"] == page["messages"][0]["uuid"]
        assert page["partial"]["text"] + streamed(other.events, "text") == text_of(reply)
        assert uuids(page["messages"] + other.messages(session)) == uuids(ear.messages(session))


async def test_a_client_that_drops_in_mid_reply_misses_nothing(
    keeper: InProcessKeeper, ear: SocketListener
) -> None:
    session = (await keeper.send("slow: 2"))["sessionId"]
    other = await keeper.listen(session)
    last = await other.wait_for_event("message/delta", session)
    await other.close()
    await ear.wait_for_event("message/delta", session)
    again = await keeper.listen(session, since=last["position"])
    await again.wait_for_turn_end(session, outcome="done")
    await ear.wait_for_turn_end(session, outcome="done")
    heard = [*other.events, *again.events]
    assert streamed(heard, "text") == text_of(ear.messages(session)[-1])
    positions = [event["position"] for event in heard if "sessionId" in event]
    start = next(i for i, event in enumerate(ear.events) if event.get("position") == positions[0])
    assert positions == [event["position"] for event in ear.events[start:]]


async def test_a_reply_of_five_megabytes_and_a_result_of_thirty(
    keeper: InProcessKeeper, ear: SocketListener
) -> None:
    session = (await keeper.send("huge: 5"))["sessionId"]
    await ear.wait_for_turn_end(session, outcome="done")
    assert len(text_of(ear.messages(session)[-1])) == 5_000_000
    assert len(streamed(ear.events, "text")) == 5_000_000
    await keeper.send("big: 30", session)
    await keeper.resolve(await ear.wait_for_question(session))
    await ear.wait_for_turn_end(session, outcome="done")
    assert uuids(ear.messages(session)) == uuids(await keeper.history(session))


def kept(events: list[Event]) -> dict[tuple[str, int], str]:
    """The pieces of each block, without those that were withdrawn."""
    pieces: dict[tuple[str, int], str] = {}
    for event in events:
        if event["type"] == "message/delta":
            block = event["messageId"], event["index"]
            pieces[block] = pieces.get(block, "") + event["text"]
        elif event["type"] == "message/withdrawn":
            del pieces[event["messageId"], event["index"]]
    return pieces


async def test_a_broken_stream_is_begun_again(keeper: InProcessKeeper, ear: SocketListener) -> None:
    """What had come of the first attempt is no part of the reply, and whoever has it is told."""
    session = (await keeper.send("error: stream once && say: whole"))["sessionId"]
    piece = await ear.wait_for_event("message/delta", session)
    gone = await ear.wait_for_event("message/withdrawn", session)
    assert (gone["messageId"], gone["index"]) == (piece["messageId"], piece["index"])
    await ear.wait_for_turn_end(session, outcome="done")
    for how in ("stream", "drop"):
        await keeper.send(f"say: half of it && error: {how} once && say: whole", session)
        await ear.wait_for_turn_end(session, outcome="done")
        assert uuids(ear.messages(session)) == uuids(await keeper.history(session))
        said = [text_of(each) for each in ear.messages(session) if each["kind"] == "reply"]
        assert [text for text in kept(ear.events).values() if text not in said] == []
        assert (await keeper.get(f"/sessions/{session}"))["partial"] is None
