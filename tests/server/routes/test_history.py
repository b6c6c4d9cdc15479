"""GET /sessions/{id} and its subagents."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from yarl import URL

from claudekeeper.transcripts.history_stream import HistoryStream
from claudekeeper.transcripts.line_reader import FileChanged
from tests.server.conftest import Api, StartKeeper, error_code, get_json
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder
from tests.support.whole_history import read_pages

AT = f"/sessions/{SESSION_ID}"
PREAD = os.pread


def write_long(count: int = 30) -> list[str]:
    transcript = TranscriptWriter()
    uuids = [transcript.prompt(f"number {number}") for number in range(count)]
    transcript.write(projects_folder())
    return uuids


async def test_a_session_opens_at_its_end(start_keeper: StartKeeper) -> None:
    uuids = write_long()
    answer = await get_json(await start_keeper(), f"{AT}?limit=10")
    assert [message["uuid"] for message in answer["messages"]] == uuids[-10:]
    assert answer["before"] == uuids[-10]
    assert answer["session"]["id"] == SESSION_ID
    assert (answer["queue"], answer["partial"], answer["branches"]) == ([], None, [])


async def test_pages_lead_to_the_beginning(start_keeper: StartKeeper) -> None:
    uuids = write_long()
    keeper = await start_keeper()
    pages = await read_pages(partial(get_json, keeper), f"{AT}?limit=7", "before")
    messages = [message for page in reversed(pages) for message in page["messages"]]
    assert [message["uuid"] for message in messages] == uuids


async def test_everything_can_be_had_at_once(start_keeper: StartKeeper) -> None:
    uuids = write_long(700)
    answer = await get_json(await start_keeper(), f"{AT}?limit=all")
    assert [message["uuid"] for message in answer["messages"]] == uuids
    assert answer["before"] is None


async def test_an_empty_history_streams_too(start_keeper: StartKeeper) -> None:
    transcript = TranscriptWriter()
    transcript.raw_entry(type="summary", summary="x", leafUuid="y")
    transcript.write(projects_folder())
    assert (await get_json(await start_keeper(), f"{AT}?limit=all"))["messages"] == []


async def test_the_context_view_ends_at_the_compaction(start_keeper: StartKeeper) -> None:
    transcript = TranscriptWriter()
    above = transcript.prompt("before")
    transcript.entry("system", parent=None, logicalParentUuid=above, subtype="compact_boundary")
    summary = transcript.prompt("so far", isCompactSummary=True)
    after = transcript.reply("after")
    transcript.write(projects_folder())
    keeper = await start_keeper()
    context = await get_json(keeper, f"{AT}?view=context")
    assert [message["uuid"] for message in context["messages"]] == [summary, after]
    assert len((await get_json(keeper, AT))["messages"]) == 4
    streamed = await get_json(keeper, f"{AT}?view=context&limit=all")
    assert streamed["messages"] == context["messages"]


@pytest.mark.parametrize("query", ["limit=0", "limit=some", "view=odd", "since=1"])
async def test_a_wrong_parameter_is_an_error(start_keeper: StartKeeper, query: str) -> None:
    write_long()
    keeper = await start_keeper()
    assert await error_code(keeper, "GET", f"{AT}?{query}", 400) == "invalid_request"


async def test_an_unknown_cursor_is_said(start_keeper: StartKeeper) -> None:
    write_long()
    code = await error_code(await start_keeper(), "GET", f"{AT}?before={SESSION_ID}", 404)
    assert code == "message_not_found"


@pytest.mark.parametrize(
    "path",
    [
        f"/sessions/{SESSION_ID}",
        "/sessions/..%2f..%2fetc%2fpasswd",
        "/sessions/%2e%2e",
        "/sessions/%252e%252e",
        "/sessions/a%00b",
        "/sessions/-x",
        "/sessions/$(touch%20c)",
        f"/sessions/{SESSION_ID}%0a",
        f"/sessions/{SESSION_ID}/subagents",
        f"/sessions/{SESSION_ID}/subagents/..%2fx",
    ],
)
async def test_what_is_no_session_is_not_found(keeper: Api, path: str) -> None:
    # sent as it stands here: the client would tidy it up
    assert await error_code(keeper, "GET", URL(path, encoded=True), 404) == "session_not_found"


async def test_a_broken_session_opens_and_says_why(start_keeper: StartKeeper) -> None:
    path = projects_folder() / "-w" / f"{SESSION_ID}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\x00\x01\x02")
    answer = await get_json(await start_keeper(), AT)
    assert answer["session"]["state"] == "error"
    assert answer["messages"] == []


async def test_bad_lines_are_counted_and_good_ones_shown(start_keeper: StartKeeper) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("one")
    transcript.raw_bytes(b"\xff\xfe garbage")
    transcript.raw_bytes(b"\x00\x00" + transcript.lines[0].replace(b"one", b"two"))
    transcript.prompt("three")
    transcript.write(projects_folder())
    answer = await get_json(await start_keeper(), AT)
    assert answer["session"]["unreadable"] == 1
    assert len(answer["messages"]) == 2


async def test_hostile_bytes_arrive_as_valid_json(start_keeper: StartKeeper) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("x")
    line = transcript.lines.pop()
    transcript.raw_bytes(line.replace(b'"x"', b'"\\ud83d half, \xff bad, \\u0000 nul"'))
    transcript.write(projects_folder())
    keeper = await start_keeper()
    for query in ("", "?limit=all"):
        (message,) = (await get_json(keeper, AT + query))["messages"]
        assert message["content"][0]["text"] == "� half, � bad, \x00 nul"


@pytest.mark.parametrize(("view", "count"), [("full", 3), ("context", 2)])
async def test_a_queued_prompt_with_bad_bytes_ends_no_stream(
    start_keeper: StartKeeper, view: str, count: int
) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("one")
    transcript.raw_entry(type="queue-operation", operation="enqueue", content="also BYTE this")
    transcript.raw_bytes(transcript.lines.pop().replace(b"BYTE", b"\xff\xe2\x82"))
    transcript.raw_entry(type="queue-operation", operation="remove")
    transcript.reply("both")
    transcript.write(projects_folder())
    keeper = await start_keeper()
    page = await get_json(keeper, f"{AT}?view={view}")
    whole = await get_json(keeper, f"{AT}?view={view}&limit=all")
    assert whole["messages"] == page["messages"]
    assert len(whole["messages"]) == count


async def test_a_message_without_a_name_ends_no_stream(start_keeper: StartKeeper) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("one")
    second = transcript.reply("two")
    nameless = transcript.reply("three")
    transcript.raw_bytes(transcript.lines.pop().replace(nameless.encode(), b""))
    transcript.write(projects_folder())
    keeper = await start_keeper()
    for view in ("full", "context"):
        page = await get_json(keeper, f"{AT}?view={view}")
        whole = await get_json(keeper, f"{AT}?view={view}&limit=all")
        assert whole["messages"] == page["messages"]
        assert [message["kind"] for message in whole["messages"]] == ["prompt", "reply", "reply"]
    above = await get_json(keeper, f"{AT}?view=context&limit=1")
    # an empty name leads to no page above it
    assert above["before"] == second


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (FileChanged(), "transcript_unreadable"),
        (OSError(errno.EIO, "Input/output error"), "transcript_unreadable"),
        (ValueError("never foreseen"), "internal_error"),
    ],
)
async def test_a_stream_that_cannot_go_on_says_why_in_its_last_line(
    start_keeper: StartKeeper,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    code: str,
) -> None:
    write_long(700)
    keeper = await start_keeper()
    next_chunk = HistoryStream.next_chunk
    chunks: list[bytes] = []

    def break_off(_: HistoryStream) -> bytes:
        raise error

    def read_first_chunk(stream: HistoryStream) -> bytes:
        monkeypatch.setattr(HistoryStream, "next_chunk", break_off)
        chunks.append(next_chunk(stream))
        return chunks[0]

    monkeypatch.setattr(HistoryStream, "next_chunk", read_first_chunk)
    async with keeper.get(f"{AT}?limit=all") as answer:
        body = await answer.read()
    assert chunks[0] in body
    with pytest.raises(ValueError, match=r"Extra data|delimiter|Expecting"):
        json.loads(body)
    assert json.loads(body.splitlines()[-1])["error"]["code"] == code


@pytest.fixture
def go_on() -> Iterator[threading.Event]:
    """What a slow disk waits for; at the end of the test it need not wait."""
    event = threading.Event()
    yield event
    event.set()


async def test_health_answers_while_a_file_is_read(
    start_keeper: StartKeeper, monkeypatch: pytest.MonkeyPatch, go_on: threading.Event
) -> None:
    write_long()
    keeper = await start_keeper()
    reads = threading.Event()

    def slow_disk(descriptor: int, size: int, offset: int) -> bytes:
        reads.set()
        go_on.wait()
        return PREAD(descriptor, size, offset)

    await get_json(keeper, "/sessions")
    monkeypatch.setattr(os, "pread", slow_disk)
    reading = asyncio.get_running_loop().create_task(get_json(keeper, f"{AT}?limit=all"))
    await asyncio.to_thread(reads.wait)
    assert (await get_json(keeper, "/health"))["status"] == "ok"
    go_on.set()
    assert len((await reading)["messages"]) == 30


def agent_file(folder: Path, agent_id: str, text: str, **meta: object) -> None:
    transcript = TranscriptWriter()
    transcript.prompt(text, isSidechain=True, agentId=agent_id)
    transcript.reply("found it", isSidechain=True, agentId=agent_id)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"agent-{agent_id}.jsonl").write_bytes(b"\n".join(transcript.lines) + b"\n")
    if meta:
        (folder / f"agent-{agent_id}.meta.json").write_text(json.dumps(meta))


async def test_subagents_nest_under_their_call(start_keeper: StartKeeper) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("look around")
    path = transcript.write(projects_folder())
    folder = path.with_suffix("") / "subagents"
    agent_file(folder, "a1", "look", toolUseId="toolu_1", agentType="Explore", description="Look")
    agent_file(folder / "workflows" / "run7", "b2", "deep", toolUseId="toolu_2")
    agent_file(folder, "acompact-9", "internal")
    keeper = await start_keeper()
    subagents = (await get_json(keeper, f"{AT}/subagents"))["subagents"]
    assert [(a["agentId"], a["toolUseId"], a["workflow"]) for a in subagents] == [
        ("a1", "toolu_1", None),
        ("b2", "toolu_2", "run7"),
    ]
    assert (subagents[0]["type"], subagents[0]["description"]) == ("Explore", "Look")
    nested = await get_json(keeper, f"{AT}/subagents/b2")
    assert [message["kind"] for message in nested["messages"]] == ["prompt", "reply"]
    assert {message["parentToolUseId"] for message in nested["messages"]} == {"toolu_2"}
    assert {message["agentId"] for message in nested["messages"]} == {"b2"}
    assert await get_json(keeper, f"{AT}/subagents/toolu_2") == nested
    assert await error_code(keeper, "GET", f"{AT}/subagents/zz", 404) == "subagent_not_found"
    assert len((await get_json(keeper, "/sessions"))["sessions"]) == 1


async def test_a_pipe_in_place_of_a_sidecar_does_not_block(start_keeper: StartKeeper) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("look around")
    folder = transcript.write(projects_folder()).with_suffix("") / "subagents"
    agent_file(folder, "a1", "look")
    os.mkfifo(folder / "agent-a1.meta.json")
    (agent,) = (await get_json(await start_keeper(), f"{AT}/subagents"))["subagents"]
    assert agent["agentId"] == "a1"


async def test_subagents_beside_the_transcript_are_found_by_its_results(
    start_keeper: StartKeeper,
) -> None:
    transcript = TranscriptWriter()
    transcript.call("toolu_1")
    transcript.result("toolu_1", toolUseResult={"agentId": "c3"})
    path = transcript.write(projects_folder())
    agent_file(path.parent, "c3", "look")
    foreign = TranscriptWriter("5e551011-0000-4000-8000-000000000002")
    foreign.prompt("other", isSidechain=True)
    (path.parent / "agent-d4.jsonl").write_bytes(foreign.lines[0])
    subagents = (await get_json(await start_keeper(), f"{AT}/subagents"))["subagents"]
    assert [(agent["agentId"], agent["toolUseId"]) for agent in subagents] == [("c3", "toolu_1")]


async def test_sidechains_inside_the_transcript_are_subagents(start_keeper: StartKeeper) -> None:
    transcript = TranscriptWriter()
    tool_input = {"prompt": "find the bug", "description": "Find", "subagent_type": "general"}
    call = {"type": "tool_use", "id": "toolu_7", "name": "Task", "input": tool_input}
    spawned = transcript.block(call, "m1")
    root = transcript.prompt("find the bug", parent=None, isSidechain=True)
    transcript.reply("it is in login", isSidechain=True)
    transcript.result("toolu_7", parent=spawned)
    transcript.write(projects_folder())
    keeper = await start_keeper()
    assert [m["kind"] for m in (await get_json(keeper, AT))["messages"]] == ["reply", "toolResult"]
    (agent,) = (await get_json(keeper, f"{AT}/subagents"))["subagents"]
    assert (agent["agentId"], agent["toolUseId"], agent["type"]) == (root, "toolu_7", "general")
    nested = await get_json(keeper, f"{AT}/subagents/{root}?limit=1")
    assert [message["kind"] for message in nested["messages"]] == ["reply"]
    above = await get_json(keeper, f"{AT}/subagents/{root}?limit=1&before={nested['before']}")
    assert above["before"] is None
    assert [message["kind"] for message in above["messages"]] == ["prompt"]
