"""Transcripts that others write reach whoever watches: once, whole and in order."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from claudekeeper.core.timestamps import now_iso
from claudekeeper.watcher import inotify
from tests.integration.conftest import StartKeeper
from tests.support.keeper_in_process import uuids
from tests.support.transcript_people import SessionWatcher, append_lines
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder, uuid_of
from tests.support.waiting import wait_for

# a system without inotify is watched by `watchfiles`
BOTH = pytest.mark.parametrize("told_by", ["inotify", "watchfiles"], indirect=True)


@pytest.fixture
def told_by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(inotify, "is_available", lambda: request.param == "inotify")
    return str(request.param)


def begun() -> tuple[TranscriptWriter, Path]:
    transcript = TranscriptWriter()
    transcript.prompt("hello")
    transcript.reply("hi")
    return transcript, transcript.write(projects_folder())


@BOTH
async def test_new_lines_are_told_once_and_in_order(
    told_by: str, start_keeper: StartKeeper
) -> None:
    transcript, path = begun()
    keeper = await start_keeper()
    watcher = await SessionWatcher.open(keeper)
    health = await wait_for(
        lambda: keeper.get("/health"), lambda health: health["watching"]["mode"] != "starting"
    )
    assert ("watchfiles" in str(health["watching"]["reason"])) == (told_by == "watchfiles")
    before = len(transcript.lines)
    new = [transcript.prompt("and?"), transcript.call("t1"), transcript.result("t1")]
    new.append(transcript.reply("done"))
    for line in transcript.lines[before:]:
        append_lines(path, line)
    await watcher.wait_until(lambda: watcher.uuids[-1] == new[-1])
    added = uuids(watcher.listener.added_messages())
    assert added == new
    assert watcher.messages == await keeper.history(SESSION_ID)
    assert watcher.resync_count == 0


async def test_a_line_written_in_pieces_is_told_when_it_is_whole(start_keeper: StartKeeper) -> None:
    transcript, path = begun()
    keeper = await start_keeper()
    watcher = await SessionWatcher.open(keeper)
    torn, last = transcript.prompt("grün 🙂"), transcript.reply("ok")
    first, second = transcript.lines[-2:]
    with path.open("ab", buffering=0) as file:
        for at in range(0, len(first), 7):
            file.write(first[at : at + 7])
            await asyncio.sleep(0)
        file.write(b"\n\0\0{torn\n" + second)
    await watcher.wait_until(lambda: watcher.uuids[-2:] == [torn, last])
    assert uuids(watcher.listener.added_messages()) == [torn, last]


@BOTH
async def test_a_new_session_in_a_new_project_appears_by_itself(
    told_by: str, start_keeper: StartKeeper
) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    transcript = TranscriptWriter(uuid_of(77), "/code/new")
    first = transcript.prompt("begin")
    path = transcript.write(projects_folder(), "-code-new")
    # in either order
    await listener.wait_until(
        lambda: {"message/added", "session/updated"} <= {event["type"] for event in listener.events}
    )
    (added,) = listener.events_of("message/added", transcript.session_id)
    assert added["message"]["uuid"] == first
    (update, *_) = listener.events_of("session/updated", transcript.session_id)
    assert update["session"]["workdir"] == "/code/new"
    answer = transcript.reply("begun")
    append_lines(path, transcript.lines[-1])
    added = await listener.wait_for_event("message/added", transcript.session_id)
    assert added["message"]["uuid"] == answer


def truncate(path: Path, other: TranscriptWriter) -> None:
    path.write_bytes(other.lines[0] + b"\n")


def replace(path: Path, other: TranscriptWriter) -> None:
    other.write(projects_folder(), "-code-other").replace(path)


def delete_and_make_again(path: Path, other: TranscriptWriter) -> None:
    path.unlink()
    path.write_bytes(other.lines[0] + b"\n")


@pytest.mark.parametrize("rewrite", [truncate, replace, delete_and_make_again])
async def test_a_rewritten_file_is_read_again(
    start_keeper: StartKeeper, rewrite: Callable[[Path, TranscriptWriter], None]
) -> None:
    transcript, path = begun()
    keeper = await start_keeper()
    watcher = await SessionWatcher.open(keeper)
    uuid = transcript.prompt("one more")
    append_lines(path, transcript.lines[-1])
    await watcher.wait_until(lambda: watcher.uuids[-1] == uuid)
    other = TranscriptWriter()
    first = other.prompt("all new")
    rewrite(path, other)
    await watcher.wait_until(lambda: watcher.uuids == [first])
    assert watcher.resync_count > 0
    last = other.reply("and on")
    append_lines(path, other.lines[-1])
    await watcher.wait_until(lambda: watcher.uuids == [first, last])


async def watch_then_write(start_keeper: StartKeeper, path: Path, line: bytes) -> SessionWatcher:
    """The last line is published to the watcher."""
    watcher = await SessionWatcher.open(await start_keeper())
    append_lines(path, line)
    await watcher.wait_until(lambda: len(watcher.uuids) == 3)
    return watcher


async def write_then_watch(start_keeper: StartKeeper, path: Path, line: bytes) -> SessionWatcher:
    """The last line is only on the page that the watcher has read."""
    append_lines(path, line)
    return await SessionWatcher.open(await start_keeper())


@pytest.mark.parametrize("begin", [watch_then_write, write_then_watch])
@pytest.mark.parametrize(
    ("spoil", "readable"),
    [
        pytest.param(lambda whole: whole[: whole.index(b"\n") + 9], 1, id="cut short"),
        pytest.param(lambda _: b"\x00\xff" * 40, 0, id="overwritten"),
    ],
)
async def test_a_file_that_was_spoiled_and_is_whole_again_is_read_again(
    start_keeper: StartKeeper,
    spoil: Callable[[bytes], bytes],
    readable: int,
    begin: Callable[..., Awaitable[SessionWatcher]],
) -> None:
    transcript, path = begun()
    last = transcript.prompt("one more")
    watcher = await begin(start_keeper, path, transcript.lines[-1])
    whole, before = path.read_bytes(), watcher.uuids
    assert (len(before), before[-1]) == (3, last)
    path.write_bytes(spoil(whole))
    await watcher.wait_until(lambda: watcher.uuids == before[:readable])
    with path.open("wb", buffering=0) as file:
        # as a copy is written: piece by piece
        for at in range(0, len(whole), 100):
            file.write(whole[at : at + 100])
            await watcher.keeper.get("/health")
    await watcher.wait_until(lambda: watcher.uuids == before)


async def test_a_file_that_others_made_longer_is_read_again(start_keeper: StartKeeper) -> None:
    """In place, and nobody looked at it before."""
    _, path = begun()
    keeper = await start_keeper()
    watcher = await SessionWatcher.open(keeper)
    other = TranscriptWriter()
    lines = [other.prompt("all new " * 9), other.reply("yes " * 50), other.reply("and on")]
    path.write_bytes(b"\n".join(other.lines) + b"\n")
    await watcher.wait_until(lambda: watcher.uuids == lines)


async def test_more_than_a_socket_takes_at_once_is_read_again(start_keeper: StartKeeper) -> None:
    """Those who read are not cut off for what somebody else writes in one breath."""
    transcript, path = begun()
    keeper = await start_keeper()
    watcher = await SessionWatcher.open(keeper)
    for _ in range(300):
        last = transcript.reply("x" * 20_000)
    append_lines(path, *transcript.lines[2:])
    await watcher.wait_until(lambda: watcher.uuids[-1] == last)
    assert watcher.resync_count > 0
    assert len(watcher.uuids) == 302
    uuid = transcript.reply("and on")
    append_lines(path, transcript.lines[-1])
    await watcher.wait_until(lambda: watcher.uuids[-1] == uuid)


async def test_a_deleted_session_is_gone_for_those_who_watch_it(start_keeper: StartKeeper) -> None:
    _, path = begun()
    keeper = await start_keeper()
    watcher = await SessionWatcher.open(keeper)
    path.unlink()
    await watcher.listener.wait_for_event("session/removed", SESSION_ID)


async def test_a_rewind_is_read_again(start_keeper: StartKeeper) -> None:
    transcript, path = begun()
    root = transcript.tip
    old = [transcript.prompt("this way"), transcript.reply("gone this way")]
    transcript.write(projects_folder())
    keeper = await start_keeper()
    watcher = await SessionWatcher.open(keeper)
    new = [transcript.prompt("no, that way", parent=root), transcript.reply("going that way")]
    append_lines(path, *transcript.lines[-2:])

    def abandoned() -> list[str]:
        return [message["uuid"] for message in watcher.messages if message["branch"] is not None]

    await watcher.wait_until(lambda: abandoned() == old)
    assert watcher.uuids[-2:] == new


async def test_a_prompt_that_waited_is_shown_where_it_was_taken(
    start_keeper: StartKeeper,
) -> None:
    transcript, path = begun()
    queued = {"type": "queue-operation", "sessionId": SESSION_ID, "content": "later"}
    transcript.raw_entry(**queued, operation="enqueue", timestamp="2026-03-01T11:00:00.000Z")
    transcript.reply("still at it")
    transcript.write(projects_folder())
    keeper = await start_keeper()
    watcher = await SessionWatcher.open(keeper)
    assert len(watcher.uuids) == 4
    before = len(transcript.lines)
    transcript.raw_entry(**queued, operation="dequeue", timestamp="2026-03-01T11:00:01.000Z")
    last = transcript.prompt("later")
    append_lines(path, *transcript.lines[before:])
    await watcher.wait_until(lambda: len(watcher.uuids) == 4 and watcher.uuids[-1] == last)


@pytest.mark.parametrize(
    ("earlier", "later"), [(["enqueue"], ["dequeue"]), (["enqueue", "dequeue"], [])]
)
async def test_a_prompt_that_stands_only_in_the_queue_is_shown(
    start_keeper: StartKeeper, earlier: list[str], later: list[str]
) -> None:
    """Also where its own line is long in coming, and once where that has come."""
    transcript, path = begun()
    keeper = await start_keeper()
    watcher = await SessionWatcher.open(keeper)
    before = len(transcript.lines)
    queued = {"type": "queue-operation", "sessionId": SESSION_ID, "content": "later"}
    for operation in earlier:
        transcript.raw_entry(**queued, operation=operation, timestamp="2026-03-01T11:00:00.000Z")
    transcript.reply("still at it")
    append_lines(path, *transcript.lines[before:])
    await watcher.wait_until(lambda: len(watcher.uuids) == 4)
    for operation in later:
        transcript.raw_entry(**queued, operation=operation, timestamp="2026-03-01T11:00:01.000Z")
        append_lines(path, transcript.lines[-1])
    last = transcript.prompt("later")
    append_lines(path, transcript.lines[-1])
    await watcher.wait_until(lambda: len(watcher.uuids) == 4 and watcher.uuids[-1] == last)


@BOTH
async def test_subagents_grow_live_inside_their_call(
    told_by: str, start_keeper: StartKeeper
) -> None:
    transcript, path = begun()
    keeper = await start_keeper()
    watcher = await SessionWatcher.open(keeper)
    transcript.call("toolu_agent")
    append_lines(path, transcript.lines[-1])
    folder = path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    agent = TranscriptWriter()
    uuids_of_agent = [agent.prompt("look", isSidechain=True, agentId="a1", timestamp=now_iso())]
    uuids_of_agent.append(agent.reply("seen", isSidechain=True, agentId="a1", timestamp=now_iso()))
    (folder / "agent-a1.meta.json").write_text(json.dumps({"toolUseId": "toolu_agent"}))
    (folder / "agent-acompact-1.jsonl").write_bytes(agent.lines[0] + b"\n")
    for line in agent.lines:
        append_lines(folder / "agent-a1.jsonl", line)
    await watcher.wait_until(lambda: len(watcher.subagent_messages) == 2)
    assert uuids(watcher.subagent_messages) == uuids_of_agent
    assert {message["agentId"] for message in watcher.subagent_messages} == {"a1"}
    assert {message["parentToolUseId"] for message in watcher.subagent_messages} == {"toolu_agent"}


async def test_subagents_beside_their_session_grow_live_too(start_keeper: StartKeeper) -> None:
    """As Claude Code 2.0.28 to 2.0.55 wrote them: nothing but their prompt names their call."""
    transcript, path = begun()
    task = {"prompt": "look around", "description": "Look", "subagent_type": "Explore"}
    transcript.block({"type": "tool_use", "id": "toolu_old", "name": "Task", "input": task}, None)
    append_lines(path, transcript.lines[-1])
    agent, another = TranscriptWriter(), TranscriptWriter(uuid_of(78))
    old = agent.prompt("look around", isSidechain=True, agentId="0f3a")
    append_lines(path.with_name("agent-0f3a.jsonl"), agent.lines[0])
    keeper = await start_keeper()
    watcher = await SessionWatcher.open(keeper)
    another.prompt("look around", isSidechain=True, agentId="ffff", timestamp=now_iso())
    append_lines(path.with_name("agent-ffff.jsonl"), another.lines[0])
    uuids_of_agent = []
    for text in ("I look", "I saw"):
        uuids_of_agent.append(
            agent.reply(text, isSidechain=True, agentId="0f3a", timestamp=now_iso())
        )
        append_lines(path.with_name("agent-0f3a.jsonl"), agent.lines[-1])
    # whatever was written before anybody listened is found when its session says something
    transcript.reply("still at it")
    append_lines(path, transcript.lines[-1])
    await watcher.wait_until(lambda: len(watcher.subagent_messages) == 2)
    assert uuids(watcher.subagent_messages) == uuids_of_agent
    assert old not in watcher.uuids
    assert {message["agentId"] for message in watcher.subagent_messages} == {"0f3a"}
    assert {message["parentToolUseId"] for message in watcher.subagent_messages} == {"toolu_old"}


async def test_subagents_of_before_the_start_go_on(start_keeper: StartKeeper) -> None:
    transcript, path = begun()
    folder = path.with_suffix("") / "subagents" / "workflows" / "run1"
    folder.mkdir(parents=True)
    agent = TranscriptWriter()
    agent.prompt("look", isSidechain=True)
    (folder / "agent-b2.meta.json").write_text(json.dumps({"toolUseId": "toolu_b"}))
    append_lines(folder / "agent-b2.jsonl", agent.lines[0])
    keeper = await start_keeper()
    watcher = await SessionWatcher.open(keeper)
    uuid = transcript.reply("still at it")
    append_lines(path, transcript.lines[-1])
    await watcher.wait_until(lambda: watcher.uuids[-1] == uuid)
    new = agent.reply("seen", isSidechain=True, timestamp=now_iso())
    append_lines(folder / "agent-b2.jsonl", agent.lines[1])
    await watcher.wait_until(lambda: uuids(watcher.subagent_messages) == [new])


async def test_a_subagent_that_goes_on_before_its_session_tells_nothing_old(
    start_keeper: StartKeeper,
) -> None:
    """Its session is quiet while it works, so nobody has looked below yet."""
    transcript, path = begun()
    folder = path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    agent = TranscriptWriter()
    for text in ("look", "here", "and there"):
        agent.prompt(text, isSidechain=True)
    (folder / "agent-b3.meta.json").write_text(json.dumps({"toolUseId": "toolu_b"}))
    append_lines(folder / "agent-b3.jsonl", *agent.lines)
    keeper = await start_keeper()
    watcher = await SessionWatcher.open(keeper)
    new = agent.reply("seen", isSidechain=True, timestamp=now_iso())
    append_lines(folder / "agent-b3.jsonl", agent.lines[-1])
    uuid = transcript.reply("still at it")
    append_lines(path, transcript.lines[-1])
    await watcher.wait_until(
        lambda: watcher.uuids[-1] == uuid and len(watcher.subagent_messages) > 0
    )
    last = agent.reply("done", isSidechain=True, timestamp=now_iso())
    append_lines(folder / "agent-b3.jsonl", agent.lines[-1])
    await watcher.wait_until(lambda: uuids(watcher.subagent_messages)[-1] == last)
    assert uuids(watcher.subagent_messages) == [new, last]


async def test_snapshot_and_stream_meet_while_somebody_writes(start_keeper: StartKeeper) -> None:
    transcript, path = begun()
    keeper = await start_keeper()
    for _ in range(200):
        transcript.reply()

    def write() -> None:
        for line in transcript.lines[2:]:
            append_lines(path, line)

    writing = asyncio.get_running_loop().run_in_executor(None, write)
    watchers = [await SessionWatcher.open(keeper) for _ in range(8)]
    await writing
    whole = uuids(await keeper.history(SESSION_ID))
    assert len(whole) == 202
    for watcher in watchers:
        await watcher.wait_until(lambda watcher=watcher: watcher.uuids == whole)  # type: ignore[misc]
