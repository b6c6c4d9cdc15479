"""What a failed turn leaves is told by the API: at once, to the next keeper, until it is over."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claudekeeper.core.disk_reserve import DiskReserve
from claudekeeper.server.app_keys import FAILED_TURNS
from claudekeeper.sessions.recovery.failed_turn_store import MAX_TURNS_OF_SESSION, FailedTurnStore
from claudekeeper.sessions.recovery.turn_journal import TurnJournal
from tests.integration.conftest import StartKeeper
from tests.support.keeper_in_process import InProcessKeeper, SocketListener, text_of


async def crash(
    keeper: InProcessKeeper, listener: SocketListener, session: str, text: str = "slow: 600"
) -> Any:
    """Its CLI is killed in mid-reply; the turn as the API has it then."""
    await keeper.send(text, session)
    for _ in range(3):
        await listener.wait_for_event("message/delta", session)
    os.kill(keeper.pid_of(session), signal.SIGKILL)
    await listener.wait_for_turn_end(session, outcome="failed")
    return await failed(keeper, session)


async def failed(keeper: InProcessKeeper, session: str) -> list[Any]:
    return list((await keeper.get(f"/sessions/{session}"))["failed"])


def streamed(listener: SocketListener, session: str) -> str:
    return "".join(event["text"] for event in listener.events_of("message/delta", session))


async def test_how_a_turn_ended_is_told_before_one_has_to_read_again(
    keeper: InProcessKeeper,
    listener: SocketListener,
) -> None:
    session = await keeper.start_session("say: one", listener)
    before = len(listener.events)
    (turn,) = await crash(keeper, listener, session)
    await listener.wait_for_event("resync", session)
    ends = ("session/failed", "turn/finished", "resync")
    types = [each["type"] for each in listener.events[before:] if each["type"] in ends]
    assert types == list(ends)
    assert turn["error"]["code"] == "cli_crashed"
    assert "it was killed: SIGKILL" in turn["error"]["message"]
    (block,) = turn["blocks"]
    assert (turn["had"], block["kind"]) == (True, "text")
    assert streamed(listener, session).endswith(block["text"])


async def test_it_stays_for_the_next_keeper_and_while_one_goes_on(
    start_keeper: StartKeeper,
) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = await keeper.start_session("say: one", listener)
    first = await crash(keeper, listener, session)
    await keeper.stop()
    keeper = await start_keeper()
    listener = await keeper.listen()
    page = await keeper.get(f"/sessions/{session}")
    assert page["failed"] == first
    assert page["session"]["error"] == first[0]["error"] == page["interrupted"]["error"]
    again = await keeper.post(f"/sessions/{session}/continue", {}, 202)
    await listener.wait_for_turn_end(session, outcome="done", uuid=again["uuid"])
    page = await keeper.get(f"/sessions/{session}")
    assert (page["session"]["error"], page["interrupted"]) == (None, None)
    # what Claude had said is still there, and why it broke off
    assert page["failed"] == first
    assert (await keeper.get(f"/sessions/{session}?limit=all"))["failed"] == first


async def test_each_message_of_a_queue_that_could_not_be_said_is_kept(
    keeper: InProcessKeeper,
    listener: SocketListener,
) -> None:
    session = await keeper.start_session("say: one", listener)
    await keeper.close_session(session)
    keeper.workdir.rename(keeper.home / "gone")
    sent = [await keeper.send(f"say: {word}", session) for word in ("two", "three")]
    for each in sent:
        await listener.wait_for_event("session/failed", session, uuid=each["uuid"])
    turns = await failed(keeper, session)
    assert [turn["prompt"]["content"] for turn in turns] == ["say: two", "say: three"]
    assert {turn["error"]["code"] for turn in turns} == {"workdir_missing"}
    assert not any(turn["had"] for turn in turns)
    # one is sent again, the other is taken back
    (keeper.home / "gone").rename(keeper.workdir)
    await keeper.send("say: two", session, uuid=sent[0]["uuid"])
    await listener.wait_for_turn_end(session, outcome="done")
    assert [turn["uuid"] for turn in await failed(keeper, session)] == [sent[1]["uuid"]]
    await keeper.request("DELETE", f"/sessions/{session}/queue/{sent[1]['uuid']}")
    assert await failed(keeper, session) == []
    texts = [text_of(each) for each in await keeper.history(session)]
    assert texts == ["say: one", "one", "say: two", "two"]


async def test_taken_back_it_is_not_said_by_going_on(
    keeper: InProcessKeeper,
    listener: SocketListener,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = await keeper.start_session("say: one", listener)
    await keeper.close_session(session)
    monkeypatch.setenv("CLAUDEKEEPER_CLI", "/bin/false")
    uuid = (await keeper.send("say: two", session))["uuid"]
    await listener.wait_for_turn_end(session, outcome="failed")
    monkeypatch.delenv("CLAUDEKEEPER_CLI")
    await keeper.request("DELETE", f"/sessions/{session}/queue/{uuid}")
    page = await keeper.get(f"/sessions/{session}")
    assert (page["session"]["error"], page["interrupted"], page["failed"]) == (None, None, [])
    await keeper.post(f"/sessions/{session}/continue", {}, 409)


async def test_what_the_transcript_turns_out_to_have_is_not_told_twice(
    keeper: InProcessKeeper,
    listener: SocketListener,
) -> None:
    session = await keeper.start_session("say: one", listener)
    store = keeper.app[FAILED_TURNS]
    history = await keeper.history(session)
    (turn,) = await crash(keeper, listener, session)
    (failed_turn,) = store.of(session)
    block = failed_turn.blocks[0]
    block.message_id, block.text = history[1]["messageId"], "on"
    store.add(session, failed_turn)
    (turn,) = await failed(keeper, session)
    assert (turn["blocks"], turn["prompt"]) == ([], None)
    # why it broke off is still told
    assert turn["error"]["code"] == "cli_crashed"


async def test_a_file_that_cannot_be_used_is_set_aside(
    start_keeper: StartKeeper,
    isolated: Path,
) -> None:
    (isolated / "failed-turns.json").write_bytes(b"\xff{")
    (isolated / "failed-turns").mkdir()
    (isolated / "failed-turns" / "half.json").write_bytes(b'{"uuid":')
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = await keeper.start_session("say: one", listener)
    assert len(await crash(keeper, listener, session)) == 1
    await keeper.app[FAILED_TURNS].wait_until_saved()
    assert list(isolated.glob("failed-turns.json.corrupt-*"))


def turn_with(message: dict[str, Any], text: str) -> dict[str, Any]:
    block = {"messageId": "msg_2", "index": 0, "kind": "text", "text": text}
    return {"uuid": "u", "started": "1", "ended": "2", "messages": [message], "blocks": [block]}


REPLY = {
    "uuid": "r",
    "sessionId": "s",
    "role": "assistant",
    "content": [{"type": "text", "text": "said"}],
    "timestamp": "1",
    "kind": "reply",
    "usage": {"input_tokens": 4, "cache_creation": {"ephemeral_5m_input_tokens": 62}},
}


def test_what_was_written_down_is_read_back_whole(tmp_path: Path) -> None:
    path = tmp_path / "failed-turns.json"
    turns = [turn_with(REPLY, "half"), turn_with({**REPLY, "usage": None}, "other")]
    path.write_text(json.dumps({"s": turns}))
    store = FailedTurnStore(path, DiskReserve(tmp_path))
    store.load()
    fields = json.loads(msgspec.json.encode(store.of("s")))
    assert [each["messages"][0]["usage"] for each in fields] == [REPLY["usage"], None]
    assert [each["messages"][0]["content"] for each in fields] == [REPLY["content"]] * 2
    assert [each["blocks"][0]["text"] for each in fields] == ["half", "other"]
    assert set(tmp_path.iterdir()) == {path, tmp_path / "reserve"}


def test_a_turn_that_cannot_be_understood_takes_no_other_with_it(tmp_path: Path) -> None:
    path = tmp_path / "failed-turns.json"
    unclear = turn_with({**REPLY, "role": "nobody"}, "lost")
    path.write_text(json.dumps({"s": [turn_with(REPLY, "half"), unclear], "t": [unclear]}))
    store = FailedTurnStore(path, DiskReserve(tmp_path))
    store.load()
    assert [turn.blocks[0].text for turn in store.of("s")] == ["half"]
    assert store.of("t") == []
    # the file is kept, for whoever wants to look
    assert len(list(tmp_path.glob("failed-turns.json.corrupt-*"))) == 1


async def test_what_was_interrupted_is_read_session_by_session(tmp_path: Path) -> None:
    path = tmp_path / "turns.json"
    fields = {"uuid": "u", "started": "2026-01-01T00:00:00Z", "workdir": "/code"}
    path.write_text(json.dumps({"s": fields, "t": {"uuid": 1}}))
    records = TurnJournal(path, DiskReserve(tmp_path))
    records.load()
    assert list(records.all_interrupted()) == ["s"]
    assert len(list(tmp_path.glob("turns.json.corrupt-*"))) == 1
    records.start()
    await records.wait_until_saved()
    assert list(json.loads(path.read_text())) == ["s"]
    await records.close()


async def test_they_are_bounded(
    keeper: InProcessKeeper,
    listener: SocketListener,
    tmp_path: Path,
) -> None:
    session = await keeper.start_session("say: one", listener)
    (turn,) = await crash(keeper, listener, session)
    (failed_turn,) = keeper.app[FAILED_TURNS].of(session)
    assert turn["uuid"] == failed_turn.uuid
    store = FailedTurnStore(tmp_path / "failed-turns.json", DiskReserve(tmp_path))
    for number in range(MAX_TURNS_OF_SESSION + 5):
        failed_turn.started = str(number)
        store.add(
            session,
            type(failed_turn)(
                failed_turn.uuid, str(number), failed_turn.ended, blocks=failed_turn.blocks
            ),
        )
    assert len(store.of(session)) == MAX_TURNS_OF_SESSION
