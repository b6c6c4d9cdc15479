"""Messages that wait while a turn runs: visible, in order, each once, and free to be taken back."""

from __future__ import annotations

import base64
import os
import signal
from typing import Any

from claudekeeper.demo.sample_image import phone_screenshot
from tests.support.keeper_in_process import (
    InProcessKeeper,
    SocketListener,
    new_uuid,
    text_of,
    uuids,
)
from tests.support.waiting import read_until, wait_until


def prompts(messages: list[Any]) -> list[str]:
    return [text_of(message) for message in messages if message["kind"] == "prompt"]


async def test_messages_wait_in_order_and_can_be_taken_back(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("run: touch gate"))["sessionId"]
    question = await listener.wait_for_question(session)
    sent = [(await keeper.send(f"say: {n}", session))["uuid"] for n in range(4)]
    page = await keeper.get(f"/sessions/{session}")
    assert [(each["uuid"], each["state"]) for each in page["queue"]] == [
        (uuid, "queued") for uuid in sent
    ]
    queue = f"/sessions/{session}/queue"
    # somebody else, who came later, takes it back
    other = await keeper.listen(session, since=page["position"])
    answer = await keeper.request("DELETE", f"{queue}/{sent[1].upper()}")
    assert answer == {"uuid": sent[1], "state": "cancelled"}
    updated = await other.wait_for_event("queue/updated", session)
    assert [each["state"] for each in updated["queue"]] == ["cancelled", *["queued"] * 3]
    # nobody said it: whoever has its words may send them again
    again = await keeper.request("DELETE", f"{queue}/{sent[1]}", status=409)
    assert again["error"]["choices"] == ["send"]
    await keeper.request("DELETE", f"{queue}/{new_uuid()}", status=404)
    await keeper.request("DELETE", f"{queue}/nonsense", status=404)
    # the same message again is the same message, waiting or not
    await keeper.send("say: 2", session, uuid=sent[2])
    await keeper.resolve(question)
    for uuid in (sent[0], sent[2], sent[3]):
        await listener.wait_for_event("turn/started", session, uuid=uuid)
        await listener.wait_for_turn_end(session, outcome="done", uuid=uuid)
    refusal = await keeper.request("DELETE", f"{queue}/{sent[0]}", status=409)
    assert "choices" not in refusal["error"]
    await keeper.send("say: 2", session, uuid=sent[2])
    # what was taken back may be sent after all
    await keeper.send("say: 1", session, uuid=sent[1])
    await listener.wait_for_turn_end(session, outcome="done", uuid=sent[1])
    history = await keeper.history(session)
    assert prompts(history) == ["run: touch gate", "say: 0", "say: 2", "say: 3", "say: 1"]
    assert uuids(listener.messages(session)) == uuids(history)
    assert (await keeper.get(f"/sessions/{session}"))["queue"] == []


async def test_images_wait_too(keeper: InProcessKeeper, listener: SocketListener) -> None:
    session = (await keeper.send("run: touch gate"))["sessionId"]
    question = await listener.wait_for_question(session)
    picture = png_block()
    body = {"sessionId": session, "content": [{"type": "text", "text": "look"}, picture, picture]}
    uuid = (await keeper.post("/send", body, 202))["uuid"]
    only = (await keeper.post("/send", {"sessionId": session, "content": [picture]}, 202))["uuid"]
    queue = (await keeper.get(f"/sessions/{session}"))["queue"]
    assert [(each["uuid"], each["text"], each["images"]) for each in queue] == [
        (uuid, "look", 2),
        (only, "", 1),
    ]
    await keeper.resolve(question)
    await listener.wait_for_turn_end(session, uuid=uuid, outcome="done")
    await listener.wait_for_turn_end(session, uuid=only, outcome="done")
    published = listener.messages(session)
    history = await keeper.history(session)
    assert uuids(published) == uuids(history)
    (message,) = [each for each in published if each["uuid"] == uuid]
    (written,) = [each for each in history if each["uuid"] == uuid]
    assert message["content"] == written["content"]
    assert "2 images" in text_of(published[uuids(published).index(uuid) + 1])


async def test_the_line_goes_on_after_an_interruption_a_failure_and_a_crash(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = (await keeper.send("slow: 60"))["sessionId"]
    await listener.wait_for_event("message/delta", session)
    failing = (await keeper.send("error: 401", session))["uuid"]
    asking = (await keeper.send("run: touch gate", session))["uuid"]
    last = (await keeper.send("say: here", session))["uuid"]
    assert await keeper.interrupt(session)
    await listener.wait_for_turn_end(session, outcome="interrupted")
    await listener.wait_for_turn_end(session, uuid=failing, outcome="failed")
    await listener.wait_for_question(session)
    # the CLI writes a moment after it speaks; what it had no time for would be lost
    await wait_until(lambda: any(line.get("uuid") == asking for line in keeper.transcript(session)))
    os.kill(keeper.pid_of(session), signal.SIGKILL)
    await listener.wait_for_event("attention/settled", session, decision="withdrawn")
    await listener.wait_for_turn_end(session, uuid=asking, outcome="failed")
    await listener.wait_for_turn_end(session, uuid=last, outcome="done")
    history = await keeper.history(session)
    assert text_of(history[-1]) == "here"
    assert prompts(history) == ["slow: 60", "error: 401", "run: touch gate", "say: here"]


async def test_a_message_that_waits_for_its_process_is_seen(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    """From the first moment on: in the queue or in the history, but never nowhere."""
    uuid = new_uuid()
    session = (await keeper.send("say: one", uuid=uuid))["sessionId"]
    pages = await read_until(
        lambda: keeper.get(f"/sessions/{session}"),
        lambda page: any(message["kind"] == "reply" for message in page["messages"]),
    )
    for page in pages:
        assert uuid in uuids([*page["queue"], *page["messages"]])
    await listener.wait_for_turn_end(session, outcome="done")


async def test_a_message_that_failed_can_be_sent_again(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    """Its uuid stands in no transcript: sent again, it is not taken for said already."""
    session = await keeper.start_session("say: one", listener)
    await keeper.close_session(session)
    away = keeper.workdir.rename(keeper.home / "elsewhere")
    uuid = (await keeper.send("say: two", session))["uuid"]
    failed = await listener.wait_for_event("session/failed", session, uuid=uuid)
    assert failed["error"]["code"] == "workdir_missing"
    await listener.wait_for_turn_end(session, outcome="failed", uuid=uuid)
    away.rename(keeper.workdir)
    await keeper.send("say: two", session, uuid=uuid)
    await listener.wait_for_turn_end(session, outcome="done", uuid=uuid)
    assert uuids(await keeper.history(session)).count(uuid) == 1


async def test_an_old_message_sent_again_is_not_said_twice(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = await keeper.start_session("say: one", listener)
    old = (await keeper.history(session))[0]["uuid"]
    await keeper.close_session(session)
    await keeper.send("say: two", session)
    await listener.wait_for_turn_end(session, outcome="done")
    await keeper.send("say: one", session, uuid=old)
    await keeper.send("say: three", session)
    await listener.wait_for_turn_end(session, outcome="done")
    assert prompts(await keeper.history(session)) == ["say: one", "say: two", "say: three"]
    assert len(listener.events_of("turn/finished", session)) == 3


def png_block() -> dict[str, Any]:
    data = base64.b64encode(phone_screenshot()).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
