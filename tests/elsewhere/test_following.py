"""Transcripts that others write reach whoever watches: once, whole and in order."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from claudekeeper.model.sessions import now
from claudekeeper.readers import inotify
from tests.elsewhere.people import Watcher, append
from tests.talking.conftest import StartKeeper
from tests.talking.keeper import uuids
from tests.writing import SESSION, Transcript, projects_folder, uuid_of

# a system without inotify is watched by `watchfiles`
BOTH = pytest.mark.parametrize("told_by", ["inotify", "watchfiles"], indirect=True)


@pytest.fixture
def told_by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(inotify, "is_available", lambda: request.param == "inotify")
    return str(request.param)


def begun() -> tuple[Transcript, Path]:
    transcript = Transcript()
    transcript.prompt("hello")
    transcript.reply("hi")
    return transcript, transcript.write(projects_folder())


@BOTH
async def test_new_lines_are_told_once_and_in_order(
    told_by: str, start_keeper: StartKeeper
) -> None:
    transcript, path = begun()
    keeper = await start_keeper()
    watcher = await Watcher.of(keeper)
    while (told := (await keeper.get("/health"))["watching"])["mode"] == "starting":  # noqa: ASYNC110 - it happens in threads
        await asyncio.sleep(0)
    assert ("watchfiles" in str(told["reason"])) == (told_by == "watchfiles")
    before = len(transcript.lines)
    new = [transcript.prompt("and?"), transcript.call("t1"), transcript.result("t1")]
    new.append(transcript.reply("done"))
    for line in transcript.lines[before:]:
        append(path, line)
    await watcher.sees(lambda: watcher.uuids[-1] == new[-1])
    told = [event["message"]["uuid"] for event in watcher.ear.of("message/added")]
    assert told == new
    assert watcher.messages == await keeper.history(SESSION)
    assert watcher.resyncs == 0


async def test_a_line_written_in_pieces_is_told_when_it_is_whole(start_keeper: StartKeeper) -> None:
    transcript, path = begun()
    keeper = await start_keeper()
    watcher = await Watcher.of(keeper)
    torn, last = transcript.prompt("grün 🙂"), transcript.reply("ok")
    first, second = transcript.lines[-2:]
    with path.open("ab", buffering=0) as file:
        for at in range(0, len(first), 7):
            file.write(first[at : at + 7])
            await asyncio.sleep(0)
        file.write(b"\n\0\0{torn\n" + second)
    await watcher.sees(lambda: watcher.uuids[-2:] == [torn, last])
    told = [event["message"]["uuid"] for event in watcher.ear.of("message/added")]
    assert told == [torn, last]


@BOTH
async def test_a_new_session_in_a_new_project_appears_by_itself(
    told_by: str, start_keeper: StartKeeper
) -> None:
    keeper = await start_keeper()
    ear = await keeper.listen()
    transcript = Transcript(uuid_of(77), "/code/new")
    first = transcript.prompt("begin")
    path = transcript.write(projects_folder(), "-code-new")
    kinds = {"message/added", "session/updated"}
    while kinds:  # in either order
        kinds.discard((await ear.next())["type"])
    (told,) = ear.of("message/added", transcript.session_id)
    assert told["message"]["uuid"] == first
    (shown, *_) = ear.of("session/updated", transcript.session_id)
    assert shown["session"]["workdir"] == "/code/new"
    answer = transcript.reply("begun")
    append(path, transcript.lines[-1])
    told = await ear.event("message/added", transcript.session_id)
    assert told["message"]["uuid"] == answer


@pytest.mark.parametrize("how", ["truncated", "replaced", "deleted and made again"])
async def test_a_rewritten_file_is_read_again(start_keeper: StartKeeper, how: str) -> None:
    transcript, path = begun()
    keeper = await start_keeper()
    watcher = await Watcher.of(keeper)
    said = transcript.prompt("one more")
    append(path, transcript.lines[-1])
    await watcher.sees(lambda: watcher.uuids[-1] == said)
    other = Transcript()
    left = other.prompt("all new")
    if how == "truncated":
        path.write_bytes(other.lines[0] + b"\n")
    elif how == "replaced":
        other.write(projects_folder(), "-code-other").replace(path)
    else:
        path.unlink()
        path.write_bytes(other.lines[0] + b"\n")
    await watcher.sees(lambda: watcher.uuids == [left])
    assert watcher.resyncs > 0
    last = other.reply("and on")
    append(path, other.lines[-1])
    await watcher.sees(lambda: watcher.uuids == [left, last])


@pytest.mark.parametrize("known", ["told", "never told"])
@pytest.mark.parametrize("spoiled", ["cut short", "overwritten"])
async def test_a_file_that_was_spoiled_and_is_whole_again_is_read_again(
    start_keeper: StartKeeper, spoiled: str, known: str
) -> None:
    transcript, path = begun()
    if known == "never told":
        transcript.prompt("one more")
        append(path, transcript.lines[-1])
    keeper = await start_keeper()
    watcher = await Watcher.of(keeper)
    if known == "told":
        said = transcript.prompt("one more")
        append(path, transcript.lines[-1])
        await watcher.sees(lambda: watcher.uuids[-1:] == [said])
    whole, before = path.read_bytes(), watcher.uuids
    assert len(before) == 3
    if spoiled == "cut short":
        path.write_bytes(whole[: whole.index(b"\n") + 9])
        await watcher.sees(lambda: watcher.uuids == before[:1])
    else:
        path.write_bytes(b"\x00\xff" * 40)
        await watcher.sees(lambda: watcher.uuids == [])
    with path.open("wb", buffering=0) as file:
        # as a copy is written: piece by piece
        for at in range(0, len(whole), 100):
            file.write(whole[at : at + 100])
            await keeper.get("/health")
    await watcher.sees(lambda: watcher.uuids == before)


async def test_a_file_that_others_made_longer_is_read_again(start_keeper: StartKeeper) -> None:
    """In place, and nobody looked at it before."""
    _, path = begun()
    keeper = await start_keeper()
    watcher = await Watcher.of(keeper)
    other = Transcript()
    lines = [other.prompt("all new " * 9), other.reply("yes " * 50), other.reply("and on")]
    path.write_bytes(b"\n".join(other.lines) + b"\n")
    await watcher.sees(lambda: watcher.uuids == lines)


async def test_more_than_a_socket_takes_at_once_is_read_again(start_keeper: StartKeeper) -> None:
    """Those who read are not cut off for what somebody else writes in one breath."""
    transcript, path = begun()
    keeper = await start_keeper()
    watcher = await Watcher.of(keeper)
    for _ in range(300):
        last = transcript.reply("x" * 20_000)
    append(path, *transcript.lines[2:])
    await watcher.sees(lambda: watcher.uuids[-1] == last)
    assert watcher.resyncs > 0
    assert len(watcher.uuids) == 302
    said = transcript.reply("and on")
    append(path, transcript.lines[-1])
    await watcher.sees(lambda: watcher.uuids[-1] == said)


async def test_a_deleted_session_is_gone_for_those_who_watch_it(start_keeper: StartKeeper) -> None:
    _, path = begun()
    keeper = await start_keeper()
    watcher = await Watcher.of(keeper)
    path.unlink()
    await watcher.ear.event("session/removed", SESSION)


async def test_a_rewind_is_read_again(start_keeper: StartKeeper) -> None:
    transcript, path = begun()
    root = transcript.tip
    old = [transcript.prompt("this way"), transcript.reply("gone this way")]
    transcript.write(projects_folder())
    keeper = await start_keeper()
    watcher = await Watcher.of(keeper)
    new = [transcript.prompt("no, that way", parent=root), transcript.reply("going that way")]
    append(path, *transcript.lines[-2:])

    def abandoned() -> list[str]:
        return [message["uuid"] for message in watcher.messages if message["branch"] is not None]

    await watcher.sees(lambda: abandoned() == old)
    assert watcher.uuids[-2:] == new


async def test_a_prompt_that_waited_is_shown_where_it_was_taken(
    start_keeper: StartKeeper,
) -> None:
    transcript, path = begun()
    queued = {"type": "queue-operation", "sessionId": SESSION, "content": "later"}
    transcript.line(**queued, operation="enqueue", timestamp="2026-03-01T11:00:00.000Z")
    transcript.reply("still at it")
    transcript.write(projects_folder())
    keeper = await start_keeper()
    watcher = await Watcher.of(keeper)
    assert len(watcher.uuids) == 4
    before = len(transcript.lines)
    transcript.line(**queued, operation="dequeue", timestamp="2026-03-01T11:00:01.000Z")
    last = transcript.prompt("later")
    append(path, *transcript.lines[before:])
    await watcher.sees(lambda: len(watcher.uuids) == 4 and watcher.uuids[-1] == last)


@pytest.mark.parametrize("taken", [False, True])
async def test_a_prompt_that_stands_only_in_the_queue_is_shown(
    start_keeper: StartKeeper, taken: bool
) -> None:
    """Also where its own line is long in coming, and once where that has come."""
    transcript, path = begun()
    keeper = await start_keeper()
    watcher = await Watcher.of(keeper)
    before = len(transcript.lines)
    queued = {"type": "queue-operation", "sessionId": SESSION, "content": "later"}
    for operation in ["enqueue", "dequeue"] if taken else ["enqueue"]:
        transcript.line(**queued, operation=operation, timestamp="2026-03-01T11:00:00.000Z")
    transcript.reply("still at it")
    append(path, *transcript.lines[before:])
    await watcher.sees(lambda: len(watcher.uuids) == 4)
    if not taken:
        transcript.line(**queued, operation="dequeue", timestamp="2026-03-01T11:00:01.000Z")
        append(path, transcript.lines[-1])
    last = transcript.prompt("later")
    append(path, transcript.lines[-1])
    await watcher.sees(lambda: len(watcher.uuids) == 4 and watcher.uuids[-1] == last)


@BOTH
async def test_subagents_grow_live_inside_their_call(
    told_by: str, start_keeper: StartKeeper
) -> None:
    transcript, path = begun()
    keeper = await start_keeper()
    watcher = await Watcher.of(keeper)
    transcript.call("toolu_agent")
    append(path, transcript.lines[-1])
    folder = path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    agent = Transcript()
    said = [agent.prompt("look", isSidechain=True, agentId="a1", timestamp=now())]
    said.append(agent.reply("seen", isSidechain=True, agentId="a1", timestamp=now()))
    (folder / "agent-a1.meta.json").write_text(json.dumps({"toolUseId": "toolu_agent"}))
    (folder / "agent-acompact-1.jsonl").write_bytes(agent.lines[0] + b"\n")
    for line in agent.lines:
        append(folder / "agent-a1.jsonl", line)
    await watcher.sees(lambda: len(watcher.nested) == 2)
    assert uuids(watcher.nested) == said
    assert {message["agentId"] for message in watcher.nested} == {"a1"}
    assert {message["parentToolUseId"] for message in watcher.nested} == {"toolu_agent"}


async def test_subagents_beside_their_session_grow_live_too(start_keeper: StartKeeper) -> None:
    """As Claude Code 2.0.28 to 2.0.55 wrote them: nothing but their prompt names their call."""
    transcript, path = begun()
    task = {"prompt": "look around", "description": "Look", "subagent_type": "Explore"}
    transcript.block({"type": "tool_use", "id": "toolu_old", "name": "Task", "input": task}, None)
    append(path, transcript.lines[-1])
    agent, another = Transcript(), Transcript(uuid_of(78))
    old = agent.prompt("look around", isSidechain=True, agentId="0f3a")
    append(path.with_name("agent-0f3a.jsonl"), agent.lines[0])
    keeper = await start_keeper()
    watcher = await Watcher.of(keeper)
    another.prompt("look around", isSidechain=True, agentId="ffff", timestamp=now())
    append(path.with_name("agent-ffff.jsonl"), another.lines[0])
    said = []
    for text in ("I look", "I saw"):
        said.append(agent.reply(text, isSidechain=True, agentId="0f3a", timestamp=now()))
        append(path.with_name("agent-0f3a.jsonl"), agent.lines[-1])
    # whatever was written before anybody listened is found when its session says something
    transcript.reply("still at it")
    append(path, transcript.lines[-1])
    await watcher.sees(lambda: len(watcher.nested) == 2)
    assert uuids(watcher.nested) == said
    assert old not in watcher.uuids
    assert {message["agentId"] for message in watcher.nested} == {"0f3a"}
    assert {message["parentToolUseId"] for message in watcher.nested} == {"toolu_old"}


async def test_subagents_of_before_the_start_go_on(start_keeper: StartKeeper) -> None:
    transcript, path = begun()
    folder = path.with_suffix("") / "subagents" / "workflows" / "run1"
    folder.mkdir(parents=True)
    agent = Transcript()
    agent.prompt("look", isSidechain=True)
    (folder / "agent-b2.meta.json").write_text(json.dumps({"toolUseId": "toolu_b"}))
    append(folder / "agent-b2.jsonl", agent.lines[0])
    keeper = await start_keeper()
    watcher = await Watcher.of(keeper)
    said = transcript.reply("still at it")
    append(path, transcript.lines[-1])
    await watcher.sees(lambda: watcher.uuids[-1] == said)
    new = agent.reply("seen", isSidechain=True, timestamp=now())
    append(folder / "agent-b2.jsonl", agent.lines[1])
    await watcher.sees(lambda: uuids(watcher.nested) == [new])


async def test_a_subagent_that_goes_on_before_its_session_tells_nothing_old(
    start_keeper: StartKeeper,
) -> None:
    """Its session is quiet while it works, so nobody has looked below yet."""
    transcript, path = begun()
    folder = path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    agent = Transcript()
    for text in ("look", "here", "and there"):
        agent.prompt(text, isSidechain=True)
    (folder / "agent-b3.meta.json").write_text(json.dumps({"toolUseId": "toolu_b"}))
    append(folder / "agent-b3.jsonl", *agent.lines)
    keeper = await start_keeper()
    watcher = await Watcher.of(keeper)
    new = agent.reply("seen", isSidechain=True, timestamp=now())
    append(folder / "agent-b3.jsonl", agent.lines[-1])
    said = transcript.reply("still at it")
    append(path, transcript.lines[-1])
    await watcher.sees(lambda: watcher.uuids[-1] == said and len(watcher.nested) > 0)
    last = agent.reply("done", isSidechain=True, timestamp=now())
    append(folder / "agent-b3.jsonl", agent.lines[-1])
    await watcher.sees(lambda: uuids(watcher.nested)[-1] == last)
    assert uuids(watcher.nested) == [new, last]


async def test_snapshot_and_stream_meet_while_somebody_writes(start_keeper: StartKeeper) -> None:
    transcript, path = begun()
    keeper = await start_keeper()
    for _ in range(200):
        transcript.reply()

    def write() -> None:
        for line in transcript.lines[2:]:
            append(path, line)

    writing = asyncio.get_running_loop().run_in_executor(None, write)
    watchers = [await Watcher.of(keeper) for _ in range(8)]
    await writing
    whole = uuids(await keeper.history(SESSION))
    assert len(whole) == 202
    for watcher in watchers:
        await watcher.sees(lambda watcher=watcher: watcher.uuids == whole)  # type: ignore[misc]
