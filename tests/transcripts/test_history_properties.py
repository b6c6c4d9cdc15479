"""Whatever a transcript looks like: nothing lost, nothing twice, and the SDK's own reading."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from claude_agent_sdk import get_session_messages
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claudekeeper.contract.message import Message
from claudekeeper.transcripts import full_view
from claudekeeper.transcripts.history import History, HistorySlice, View
from tests.support.transcript_writer import SESSION_ID, projects_folder, uuid_of
from tests.support.whole_history import read_all_messages, read_stream

RELAXED = settings(
    max_examples=int(os.environ.get("PROPERTY_EXAMPLES", "100")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@st.composite
def trees(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Lines that hang on each other in every way seen, and in some not seen yet."""
    size = draw(st.integers(1, 28))
    # fewer names than lines: some lines repeat a uuid
    names = [uuid_of(1000 + draw(st.integers(0, size))) for _ in range(size)]
    lines = []
    for index, name in enumerate(names):
        usual = names[index - 1] if index else None
        parent = draw(st.sampled_from([usual] * 6 + [None, uuid_of(9), name, *names[: index + 3]]))
        lines.append(draw(a_line(name, parent, index)))
    return lines


@st.composite
def a_line(draw: st.DrawFn, uuid: str, parent: str | None, index: int) -> dict[str, Any]:
    type_ = draw(
        st.sampled_from(["user"] * 4 + ["assistant"] * 4 + ["system", "attachment", "progress"])
    )
    line: dict[str, Any] = {
        "parentUuid": parent,
        "isSidechain": draw(st.sampled_from([False] * 9 + [True])),
        "type": type_,
        "uuid": uuid,
        "timestamp": f"2026-03-01T10:00:{draw(st.integers(0, 59)):02}.000Z",
    }
    flags = {"isMeta": True, "teamName": "crew", "agentId": "a1"}
    line |= {flag: value for flag, value in flags.items() if draw(st.integers(0, 14)) == 0}
    call = st.sampled_from(["toolu_1", "toolu_2", "toolu_3"])
    match type_:
        case "user":
            text = st.sampled_from(
                [
                    f"say {index}",
                    "<command-name>/cost</command-name>",
                    "<local-command-stdout>3</local-command-stdout>",
                    [{"type": "tool_result", "tool_use_id": draw(call), "content": "ok"}],
                    [{"type": "text", "text": "[Request interrupted by user]"}],
                ]
            )
            line["message"] = {"role": "user", "content": draw(text)}
            if draw(st.booleans()):
                line["sourceToolAssistantUUID"] = parent
        case "assistant":
            block = st.sampled_from(
                [
                    {"type": "text", "text": "well"},
                    {"type": "tool_use", "id": draw(call), "name": "Bash", "input": {}},
                ]
            )
            reply = draw(st.sampled_from(["msg_1", "msg_2", "msg_3", f"msg_x{index}", None]))
            line["message"] = {"id": reply, "role": "assistant", "content": [draw(block)]}
        case "system" if draw(st.booleans()):
            line |= {"subtype": "compact_boundary", "parentUuid": None, "content": "Compacted"}
            line["logicalParentUuid"] = parent
    return line


def encoded(messages: list[Message]) -> list[bytes]:
    return [msgspec.json.encode(message) for message in messages]


def written(lines: list[dict[str, Any]]) -> Path:
    path = projects_folder() / "-w" / f"{SESSION_ID}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(params=["as shipped", "short sight"])
def sight(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With short sight, files of a few lines already show what large ones do."""
    if request.param == "short sight":
        monkeypatch.setattr(full_view, "MAX_EARLY_LINES", 2)
        monkeypatch.setattr(full_view, "MAX_WAIT_LINES", 5)
    return str(request.param)


@RELAXED
@given(lines=trees())
def test_the_context_view_is_what_the_sdk_reads(lines: list[dict[str, Any]]) -> None:
    path = written(lines)
    stream = read_all_messages(path, SESSION_ID, "context")
    assert [message.uuid for message in stream] == [
        m.uuid for m in get_session_messages(SESSION_ID)
    ]


@RELAXED
@given(lines=trees())
def test_the_full_view_has_every_visible_line_once(lines: list[dict[str, Any]], sight: str) -> None:
    visible = {
        line["uuid"]
        for line in lines
        if line["type"] in ("user", "assistant")
        and not line.get("isMeta")
        and not line["isSidechain"]
    }
    stream = read_all_messages(written(lines), SESSION_ID)
    uuids = [message.uuid for message in stream]
    assert len(uuids) == len(set(uuids))
    assert visible <= set(uuids)


def pages_of(path: Path, size: int, view: View) -> list[HistorySlice]:
    """All pages, the oldest first; each one is asked for by what the later one says."""
    history = History()
    pages = [history.page(path, SESSION_ID, limit=size, view=view)]
    while (before := pages[0].before) is not None:
        pages.insert(0, history.page(path, SESSION_ID, limit=size, before=before, view=view))
    return pages


@RELAXED
@given(lines=trees(), size=st.integers(1, 9))
def test_pages_of_any_size_add_up_to_the_same_whole(
    lines: list[dict[str, Any]], size: int, sight: str
) -> None:
    path = written(lines)
    sent, departures = read_stream(path, SESSION_ID)
    whole = [bytes(message) for message in sent]
    pages = pages_of(path, size, "full")
    assert [message for page in pages for message in encoded(page.messages)] == whole
    branches = {branch.id: branch.at for page in reversed(pages) for branch in page.branches}
    assert branches.items() <= {branch.id: branch.at for branch in departures}.items()


@RELAXED
@given(lines=trees(), size=st.integers(1, 9))
def test_pages_of_the_context_view_add_up_too(lines: list[dict[str, Any]], size: int) -> None:
    path = written(lines)
    whole = [message.uuid for message in read_all_messages(path, SESSION_ID, "context")]
    pages = pages_of(path, size, "context")
    assert [message.uuid for page in pages for message in page.messages] == whole
