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
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    script = "think: is it safe?\nsay: I write it.\nwrite: notes.md: hello there\nsay: Written."
    session = (await keeper.send(script, permissionMode="acceptEdits"))["sessionId"]
    await listener.wait_for_turn_end(session, outcome="done")
    published = listener.messages(session)
    assert uuids(published) == uuids(await keeper.history(session))
    events = listener.events
    assert streamed(events, "thinking") == blocks(published, "thinking")[0]["thinking"]
    assert streamed(events, "text") == "".join(
        text_of(message) for message in published if message["kind"] == "reply"
    )
    call = blocks(published, "tool_use")[0]
    assert "hello there" in streamed(events, "input")
    deltas = [event for event in listener.events_of("message/delta") if event["kind"] == "input"]
    assert {(event["tool"], event["toolUseId"]) for event in deltas} == {("Write", call["id"])}
    # every reply came in pieces too
    streamed_ids = {event["messageId"] for event in listener.events_of("message/delta")}
    assert {each["messageId"] for each in published if each["kind"] == "reply"} <= streamed_ids


async def test_twenty_thousand_pieces_arrive_whole(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("count: 20000"))["sessionId"]
    await listener.wait_for_turn_end(session, outcome="done")
    text = " ".join(str(number) for number in range(1, 20_001))
    assert streamed(listener.events, "text") == text
    assert text_of(listener.messages(session)[-1]) == text


async def test_who_joins_in_mid_reply_has_every_letter(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    """Snapshots at many moments of one reply; each with what followed is the whole text."""
    session = (await keeper.send("slow: 2"))["sessionId"]
    await listener.wait_for_event("message/delta", session)
    joined: list[tuple[Any, SocketListener]] = []
    for _ in range(4):
        await listener.wait_for_event("message/delta", session)
        page = await keeper.get(f"/sessions/{session}")
        joined.append((page, await keeper.listen(session, since=page["position"])))
    await listener.wait_for_turn_end(session, outcome="done")
    reply = listener.messages(session)[-1]
    for page, other in joined:
        await other.wait_for_turn_end(session, outcome="done")
        assert page["partial"]["messageId"] == reply["messageId"]
        assert page["session"]["state"] == "running"
        assert page["turn"]["uuid"] == page["messages"][0]["uuid"]
        assert page["partial"]["text"] + streamed(other.events, "text") == text_of(reply)
        assert uuids(page["messages"] + other.messages(session)) == uuids(
            listener.messages(session)
        )


async def test_a_client_that_drops_in_mid_reply_misses_nothing(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("slow: 2"))["sessionId"]
    other = await keeper.listen(session)
    last = await other.wait_for_event("message/delta", session)
    await other.close()
    await listener.wait_for_event("message/delta", session)
    again = await keeper.listen(session, since=last["position"])
    await again.wait_for_turn_end(session, outcome="done")
    await listener.wait_for_turn_end(session, outcome="done")
    events = [*other.events, *again.events]
    assert streamed(events, "text") == text_of(listener.messages(session)[-1])
    positions = [event["position"] for event in events if "sessionId" in event]
    start = next(
        i for i, event in enumerate(listener.events) if event.get("position") == positions[0]
    )
    assert positions == [event["position"] for event in listener.events[start:]]


async def test_a_reply_of_five_megabytes_and_a_result_of_thirty(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("huge: 5"))["sessionId"]
    await listener.wait_for_turn_end(session, outcome="done")
    assert len(text_of(listener.messages(session)[-1])) == 5_000_000
    assert len(streamed(listener.events, "text")) == 5_000_000
    await keeper.send("big: 30", session)
    await keeper.resolve(await listener.wait_for_question(session))
    await listener.wait_for_turn_end(session, outcome="done")
    assert uuids(listener.messages(session)) == uuids(await keeper.history(session))


def remaining_blocks(events: list[Event]) -> dict[tuple[str, int], str]:
    """The pieces of each block, without those that were withdrawn."""
    pieces: dict[tuple[str, int], str] = {}
    for event in events:
        if event["type"] == "message/delta":
            block = event["messageId"], event["index"]
            pieces[block] = pieces.get(block, "") + event["text"]
        elif event["type"] == "message/withdrawn":
            del pieces[event["messageId"], event["index"]]
    return pieces


async def test_a_broken_stream_is_begun_again(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    """What had come of the first attempt is no part of the reply, and whoever has it is told."""
    session = (await keeper.send("error: stream once && say: whole"))["sessionId"]
    piece = await listener.wait_for_event("message/delta", session)
    gone = await listener.wait_for_event("message/withdrawn", session)
    assert (gone["messageId"], gone["index"]) == (piece["messageId"], piece["index"])
    await listener.wait_for_turn_end(session, outcome="done")
    for how in ("stream", "drop"):
        await keeper.send(f"say: half of it && error: {how} once && say: whole", session)
        await listener.wait_for_turn_end(session, outcome="done")
        assert uuids(listener.messages(session)) == uuids(await keeper.history(session))
        texts = [text_of(each) for each in listener.messages(session) if each["kind"] == "reply"]
        assert [
            text for text in remaining_blocks(listener.events).values() if text not in texts
        ] == []
        assert (await keeper.get(f"/sessions/{session}"))["partial"] is None
