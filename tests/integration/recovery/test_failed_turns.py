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
    keeper: InProcessKeeper, ear: SocketListener, session: str, text: str = "slow: 600"
) -> Any:
    """Its CLI is killed in mid-reply; the turn as the API has it then."""
    await keeper.send(text, session)
    for _ in range(3):
        await ear.wait_for_event("message/delta", session)
    os.kill(keeper.pid_of(session), signal.SIGKILL)
    await ear.wait_for_turn_end(session, outcome="failed")
    return await failed(keeper, session)


async def failed(keeper: InProcessKeeper, session: str) -> list[Any]:
    return list((await keeper.get(f"/sessions/{session}"))["failed"])


def streamed(ear: SocketListener, session: str) -> str:
    return "".join(event["text"] for event in ear.events_of("message/delta", session))


async def test_how_a_turn_ended_is_told_before_one_has_to_read_again(
    keeper: InProcessKeeper,
    ear: SocketListener,
) -> None:
    session = await keeper.start_session("say: one", ear)
    before = len(ear.events)
    (turn,) = await crash(keeper, ear, session)
    await ear.wait_for_event("resync", session)
    ends = ("session/failed", "turn/finished", "resync")
    told = [each["type"] for each in ear.events[before:] if each["type"] in ends]
    assert told == list(ends)
    assert turn["error"]["code"] == "cli_crashed"
    assert "it was killed: SIGKILL" in turn["error"]["message"]
    (block,) = turn["blocks"]
    assert (turn["had"], block["kind"]) == (True, "text")
    assert streamed(ear, session).endswith(block["text"])


async def test_it_stays_for_the_next_keeper_and_while_one_goes_on(
    start_keeper: StartKeeper,
) -> None:
    keeper = await start_keeper()
    ear = await keeper.listen()
    session = await keeper.start_session("say: one", ear)
    first = await crash(keeper, ear, session)
    await keeper.stop()
    keeper = await start_keeper()
    ear = await keeper.listen()
    page = await keeper.get(f"/sessions/{session}")
    assert page["failed"] == first
    assert page["session"]["error"] == first[0]["error"] == page["interrupted"]["error"]
    again = await keeper.post(f"/sessions/{session}/continue", {}, 202)
    await ear.wait_for_turn_end(session, outcome="done", uuid=again["uuid"])
    page = await keeper.get(f"/sessions/{session}")
    assert (page["session"]["error"], page["interrupted"]) == (None, None)
    # what Claude had said is still there, and why it broke off
    assert page["failed"] == first
    assert (await keeper.get(f"/sessions/{session}?limit=all"))["failed"] == first


async def test_each_message_of_a_queue_that_could_not_be_said_is_kept(
    keeper: InProcessKeeper,
    ear: SocketListener,
) -> None:
    session = await keeper.start_session("say: one", ear)
    await keeper.close_session(session)
    keeper.workdir.rename(keeper.home / "gone")
    said = [await keeper.send(f"say: {word}", session) for word in ("two", "three")]
    for each in said:
        await ear.wait_for_event("session/failed", session, uuid=each["uuid"])
    turns = await failed(keeper, session)
    assert [turn["prompt"]["content"] for turn in turns] == ["say: two", "say: three"]
    assert {turn["error"]["code"] for turn in turns} == {"workdir_missing"}
    assert not any(turn["had"] for turn in turns)
    # one is sent again, the other is taken back
    (keeper.home / "gone").rename(keeper.workdir)
    await keeper.send("say: two", session, uuid=said[0]["uuid"])
    await ear.wait_for_turn_end(session, outcome="done")
    assert [turn["uuid"] for turn in await failed(keeper, session)] == [said[1]["uuid"]]
    await keeper.request("DELETE", f"/sessions/{session}/queue/{said[1]['uuid']}")
    assert await failed(keeper, session) == []
    texts = [text_of(each) for each in await keeper.history(session)]
    assert texts == ["say: one", "one", "say: two", "two"]


async def test_taken_back_it_is_not_said_by_going_on(
    keeper: InProcessKeeper,
    ear: SocketListener,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = await keeper.start_session("say: one", ear)
    await keeper.close_session(session)
    monkeypatch.setenv("CLAUDEKEEPER_CLI", "/bin/false")
    uuid = (await keeper.send("say: two", session))["uuid"]
    await ear.wait_for_turn_end(session, outcome="failed")
    monkeypatch.delenv("CLAUDEKEEPER_CLI")
    await keeper.request("DELETE", f"/sessions/{session}/queue/{uuid}")
    page = await keeper.get(f"/sessions/{session}")
    assert (page["session"]["error"], page["interrupted"], page["failed"]) == (None, None, [])
    await keeper.post(f"/sessions/{session}/continue", {}, 409)


async def test_what_the_transcript_turns_out_to_have_is_not_told_twice(
    keeper: InProcessKeeper,
    ear: SocketListener,
) -> None:
    session = await keeper.start_session("say: one", ear)
    store = keeper.app[FAILED_TURNS]
    history = await keeper.history(session)
    (turn,) = await crash(keeper, ear, session)
    (left,) = store.of(session)
    block = left.blocks[0]
    block.message_id, block.text = history[1]["messageId"], "on"
    store.add(session, left)
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
    ear = await keeper.listen()
    session = await keeper.start_session("say: one", ear)
    assert len(await crash(keeper, ear, session)) == 1
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
    told = json.loads(msgspec.json.encode(store.of("s")))
    assert [each["messages"][0]["usage"] for each in told] == [REPLY["usage"], None]
    assert [each["messages"][0]["content"] for each in told] == [REPLY["content"]] * 2
    assert [each["blocks"][0]["text"] for each in told] == ["half", "other"]
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
    known = {"uuid": "u", "started": "2026-01-01T00:00:00Z", "workdir": "/code"}
    path.write_text(json.dumps({"s": known, "t": {"uuid": 1}}))
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
    ear: SocketListener,
    tmp_path: Path,
) -> None:
    session = await keeper.start_session("say: one", ear)
    (turn,) = await crash(keeper, ear, session)
    (left,) = keeper.app[FAILED_TURNS].of(session)
    assert turn["uuid"] == left.uuid
    store = FailedTurnStore(tmp_path / "failed-turns.json", DiskReserve(tmp_path))
    for number in range(MAX_TURNS_OF_SESSION + 5):
        left.started = str(number)
        store.add(session, type(left)(left.uuid, str(number), left.ended, blocks=left.blocks))
    assert len(store.of(session)) == MAX_TURNS_OF_SESSION
