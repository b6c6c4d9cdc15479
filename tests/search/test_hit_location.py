"""Every hit can be opened, and every message that has the word is a hit: index against history."""

from __future__ import annotations

import json
import os
import shutil
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claudekeeper.contract.message import Message
from claudekeeper.search import searcher
from claudekeeper.search.index_worker import update_index
from claudekeeper.transcripts.history import History, HistorySlice
from claudekeeper.transcripts.subagents import list_subagents, read_subagent
from tests.search.test_searcher import find_hits
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder, uuid_of

RELAXED = settings(
    max_examples=int(os.environ.get("PROPERTY_EXAMPLES", "100")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
CORPUS = os.environ.get("CLAUDEKEEPER_CORPUS")

Opened = set[tuple[str | None, str]]
Line = dict[str, Any]

# what waits in line, and what may be said later in the same words
WORDS = (
    "look at the heron",
    "and the heron again",
    "<task-notification>\n<task-id>b1</task-id> heron ended\n</task-notification>",
    "<agent-notification>heron ended</agent-notification>",
    "/heron",
    '{"task_id":"b2","heron":1}',
    [{"type": "text", "text": "a heron in a block"}],
    "<system-reminder>no heron</system-reminder>",
)
words = st.sampled_from(WORDS)


@st.composite
def a_line(draw: st.DrawFn, number: int, names: list[str]) -> Line:
    """A line as they were seen, and as they might be written some day."""
    name = draw(st.sampled_from([names[number]] * 8 + [names[0], "", None]))
    line: Line = {
        "parentUuid": draw(st.sampled_from([names[number - 1]] * 6 + [None, names[0]])),
        "isSidechain": draw(st.sampled_from([False] * 5 + [True])),
        "uuid": name,
        "timestamp": f"2026-03-01T10:00:{draw(st.integers(0, 59)):02}.000Z",
        "sessionId": SESSION_ID,
    }
    if name is None:
        del line["uuid"]
    if draw(st.integers(0, 9)) == 0:
        line["isMeta"] = True
    match draw(st.integers(0, 11)):
        case 0 | 1:
            fields: Line = {"type": "user", "message": {"content": draw(words)}}
        case 2 | 3:
            content = [{"type": "text", "text": f"heron {number}"}]
            fields = {"type": "assistant", "message": {"id": f"m{number}", "content": content}}
        case 4:
            result = {"type": "tool_result", "tool_use_id": "c1", "content": f"heron {number}"}
            fields = {"type": "user", "message": {"content": [result]}}
        case 5:
            queued = {"type": "queued_command", "prompt": draw(words)}
            fields = {"type": "attachment", "attachment": queued}
        case 6:
            subtype = draw(st.sampled_from(["away_summary", "local_command", "other"]))
            fields = {"type": "system", "subtype": subtype, "content": f"heron {number}"}
        case 7:
            operation = draw(st.sampled_from(["dequeue", "remove"]))
            fields = {"type": "queue-operation", "operation": operation}
        case 8:
            fields = {"type": "queue-operation", "operation": "popAll", "content": draw(words)}
        case _:
            fields = {"type": "queue-operation", "operation": "enqueue", "content": draw(words)}
    if fields["type"] == "queue-operation":
        # they were never seen with a uuid, so none is that of another line
        line["uuid"] = draw(st.sampled_from([None] * 8 + [f"queued-{number}"]))
        line["isSidechain"] = draw(st.sampled_from([False] * 9 + [True]))
    return line | fields


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """A transcript: mostly a line an object, rarely several, or half of one."""
    size = draw(st.integers(1, 14))
    names = [uuid_of(5000 + draw(st.integers(0, size * 3))) for _ in range(size)]
    text = b""
    for number in range(size):
        text += json.dumps(draw(a_line(number, names))).encode()
        text += draw(st.sampled_from([b"\n"] * 12 + [b"", b"\r", b"\n\n", b"\r\n"]))
    cut = draw(st.sampled_from([0] * 5 + [1, 20]))
    return text[: len(text) - cut] + b"\n"


def opened(transcript: Path) -> Opened:
    """Every message with the word that can be opened, as a client pages through them."""
    history = History()
    read: Opened = set()
    agents = list_subagents(transcript, SESSION_ID, inline=True)
    for agent in [None, *(each.agent_id for each in agents)]:
        before: str | None = None
        for _ in count():
            page = a_page(history, transcript, agent, before)
            read |= {(agent, each.uuid) for each in page.messages if has_the_word(each)}
            if (before := page.before) is None:
                break
    return read


def a_page(
    history: History, transcript: Path, agent: str | None, before: str | None
) -> HistorySlice:
    if agent is None:
        return history.page(transcript, SESSION_ID, limit=3, before=before)
    return read_subagent(history, transcript, SESSION_ID, agent, limit=3, before=before)


def has_the_word(message: Message) -> bool:
    return b"heron" in msgspec.json.encode(message.content)


def hits_in(index: Path) -> Opened:
    return {(hit.agent_id, hit.uuid) for hit in find_hits(index, "heron", limit=7)}


@pytest.fixture
def index(isolated: Path) -> Path:
    return isolated / "words.db"


def assert_complete(hits: Opened, messages: Opened) -> None:
    assert hits <= messages
    # a subagent may repeat lines of its session: one hit for all of them
    assert {uuid for _, uuid in hits} == {uuid for _, uuid in messages}


def begun_anew(home: Path) -> Path:
    """The path of an index that is not there, of folders that are not there either."""
    shutil.rmtree(projects_folder(), ignore_errors=True)
    (home / "words.db").unlink(missing_ok=True)
    return home / "words.db"


def write_copy(transcript: Path, other: Path, copy: bytes | None, *, is_older: bool) -> Path:
    """The same session in two folders, if it has a copy. Returns the one that was written last,
    which is the session."""
    if copy is None:
        return transcript
    other.write_bytes(copy)
    time = 1 if is_older else 2**62
    os.utime(other, ns=(time, time))
    return transcript if is_older else other


@RELAXED
@given(text=files(), nested=files(), beside=files(), copy=st.none() | files(), moved=st.booleans())
def test_hits_are_what_can_be_opened(
    isolated: Path, text: bytes, nested: bytes, beside: bytes, copy: bytes | None, moved: bool
) -> None:
    index = begun_anew(isolated)
    transcript = projects_folder() / "-w" / f"{SESSION_ID}.jsonl"
    other = projects_folder() / "-other" / transcript.name
    below = transcript.with_suffix("") / "subagents"
    for folder in (below / "workflows" / "w1", other.parent):
        folder.mkdir(parents=True)
    transcript.write_bytes(text)
    (below / "agent-a1.jsonl").write_bytes(nested)
    (below / "workflows" / "w1" / "agent-a1.jsonl").write_bytes(beside)
    (transcript.parent / "agent-b2.jsonl").write_bytes(beside)
    current = write_copy(transcript, other, copy, is_older=moved)
    update_index(index, [projects_folder()])
    assert_complete(hits_in(index), opened(current))


@RELAXED
@given(text=files(), ends=st.lists(st.integers(1, 4000), max_size=3))
def test_at_every_moment_of_a_file_that_grows_hits_can_be_opened(
    isolated: Path, text: bytes, ends: list[int]
) -> None:
    index = begun_anew(isolated)
    transcript = projects_folder() / "-w" / f"{SESSION_ID}.jsonl"
    transcript.parent.mkdir(parents=True)
    for end in sorted(ends):
        transcript.write_bytes(text[:end])
        update_index(index, [projects_folder()])
        assert hits_in(index) <= opened(transcript)
    transcript.write_bytes(text)
    update_index(index, [projects_folder()])
    assert_complete(hits_in(index), opened(transcript))


@pytest.mark.parametrize("tag", ["task-notification", "agent-notification"])
def test_what_the_machine_queued_and_said_later_is_found_once(index: Path, tag: str) -> None:
    words = f"<{tag}>the heron ended</{tag}>"
    transcript = TranscriptWriter()
    transcript.prompt("begin")
    line = {"type": "queue-operation", "timestamp": "2026-03-01T10:00:01Z"}
    transcript.raw_entry(**line, operation="enqueue", content=words)
    transcript.raw_entry(**line, operation="dequeue")
    uuid = transcript.prompt(words)
    path = transcript.write(projects_folder())
    update_index(index, [projects_folder()])
    assert hits_in(index) == {(None, uuid)} == opened(path)


def test_what_a_subagent_said_is_opened_at_the_sessions_own_call(index: Path) -> None:
    transcript = TranscriptWriter()
    for call, prompt in (("toolu_1", "look at the reeds"), ("toolu_2", "look at the lake")):
        tool_input = {"prompt": prompt, "description": "look"}
        block = {"type": "tool_use", "id": call, "name": "Task", "input": tool_input}
        transcript.block(block, None)
    transcript.prompt("look at the lake", isSidechain=True, parent=None)
    inline = transcript.reply("a heron inline", isSidechain=True)
    path = transcript.write(projects_folder())
    below = path.with_suffix("") / "subagents"
    below.mkdir(parents=True)
    ties = {
        "a1": {"toolUseId": "toolu_1"},
        "a2": {"toolUseId": "toolu_7", "parentAgentId": "a1"},
        "a3": {"toolUseId": "toolu_8", "parentAgentId": "a2"},
        # it names nobody who is there
        "a4": {"toolUseId": "toolu_9", "parentAgentId": "gone"},
    }
    for agent, tie in ties.items():
        nested = TranscriptWriter()
        nested.prompt(f"a heron of {agent}", isSidechain=True)
        (below / f"agent-{agent}.jsonl").write_bytes(nested.lines[0] + b"\n")
        (below / f"agent-{agent}.meta.json").write_text(json.dumps(tie))
    update_index(index, [projects_folder()])
    hits = find_hits(index, "heron")
    placed = {hit.agent_id: hit.tool_use_id for hit in hits}
    root = next(hit.agent_id for hit in hits if hit.uuid == inline)
    assert placed == {
        "a1": "toolu_1",
        "a2": "toolu_1",
        "a3": "toolu_1",
        "a4": None,
        root: "toolu_2",
    }


def test_hits_on_one_line_are_each_read_alone(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transcript = TranscriptWriter()
    for number in range(300):
        transcript.prompt(f"a heron \xe9 {number}")
    path = transcript.write(projects_folder())
    path.write_bytes(b"\0".join(path.read_bytes().splitlines()) + b"\n")
    update_index(index, [projects_folder()])
    read: list[int] = []
    parsed = searcher.parse_line
    monkeypatch.setattr(
        searcher, "parse_line", lambda line: (read.append(len(line)), parsed(line))[1]
    )
    hits = hits_in(index)
    assert len(hits) == 300
    assert hits == opened(path)
    # pages of seven look at some again
    assert sum(read) < 3 * path.stat().st_size


def test_what_is_only_a_part_of_a_line_by_now_is_no_hit(index: Path) -> None:
    first, second = (
        json.dumps({"type": "user", "uuid": uuid_of(number), "message": {"content": "heron"}})
        for number in (1, 2)
    )
    transcript = projects_folder() / "-w" / f"{SESSION_ID}.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text(first + second + "\n")
    update_index(index, [projects_folder()])
    assert len(hits_in(index)) == 2
    # the same bytes, in a line that is one object
    transcript.write_text(f'{{"a":{"1" * (len(first) - 10)},"b":{second}}}\n')
    assert transcript.read_bytes()[len(first) :].startswith(second.encode())
    assert hits_in(index) == set()
