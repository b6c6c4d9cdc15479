"""Many objects on one line: all are read, and reading them is reading the line a few times."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import get_session_messages

from claudekeeper.analysis.summary import Summary
from claudekeeper.catalog.discovery import SessionRow, continue_fold
from claudekeeper.catalog.quick_scan import read_head, read_tail
from claudekeeper.transcripts import entries, object_scanner
from claudekeeper.transcripts.entries import parse_line
from claudekeeper.transcripts.history import History
from claudekeeper.transcripts.layout import list_transcripts
from claudekeeper.transcripts.line_reader import open_readonly
from claudekeeper.transcripts.tail import Tail, read_growth, tail_at_end
from tests.support.transcript_writer import SESSION_ID, projects_folder, uuid_of
from tests.support.whole_history import read_all_messages

SEPARATORS = [b"", b" ", b"\0", b"\r", b"\xff\xfe", b'{"type":"user","message":"torn \xff']


def an_object(number: int) -> bytes:
    assistant = number % 2 == 1
    content: Any = [{"type": "text", "text": "wéll " * 9}] if assistant else "söme words " * 9
    return json.dumps(
        {
            "parentUuid": uuid_of(number - 1) if number else None,
            "isSidechain": False,
            "type": "assistant" if assistant else "user",
            "message": {"role": "user", "id": f"m{number}", "content": content},
            "uuid": uuid_of(number),
            "timestamp": "2026-03-01T10:00:00.000Z",
            "cwd": "/w",
        },
        ensure_ascii=False,
    ).encode()


def written(count: int, separator: bytes) -> Path:
    path = projects_folder() / "-w" / f"{SESSION_ID}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(separator.join(an_object(number) for number in range(count)) + b"\n")
    return path


def page(path: Path, limit: int = 10_000) -> int:
    return len(History().page(path, SESSION_ID, limit=limit).messages)


def pages(path: Path) -> int:
    history, before, count = History(), None, 0
    while True:
        one = history.page(path, SESSION_ID, limit=100, before=before)
        count, before = count + len(one.messages), one.before
        if before is None:
            return count


def grown(path: Path) -> int:
    return len(read_growth(Tail(str(path))).entries)


def grown_by_each(path: Path) -> int:
    """One object after another, with a look after each."""
    content = path.read_bytes().rstrip(b"\n")
    pieces = content.split(b'{"parentUuid"')
    path.write_bytes(b"")
    tail, count = tail_at_end(str(path)), 0
    for piece in pieces[1:]:
        with path.open("ab") as file:
            file.write(b'{"parentUuid"' + piece)
        growth = read_growth(tail)
        tail, count = growth.tail, count + len(growth.entries)
    return count


def folded(path: Path) -> int:
    (transcript_file,) = list_transcripts(str(path.parent))
    folded = continue_fold(SessionRow(transcript_file, Summary(), False, True), None)
    assert folded is not None
    return folded[0].summary.messages


def glanced(path: Path) -> int:
    with open_readonly(path) as descriptor:
        read_head(descriptor, Summary())
        read_tail(descriptor, path.stat().st_size, Summary())
    return path.read_bytes().count(b'"uuid"')


READERS: list[Callable[[Path], int]] = [
    lambda path: len(parse_line(path.read_bytes().rstrip(b"\n"))[0]),
    page,
    pages,
    lambda path: len(read_all_messages(path, SESSION_ID)),
    grown,
    folded,
    glanced,
]


class Counting:
    """A decoder that adds up how much it was given."""

    def __init__(self, decode: Callable[[bytes], Any]) -> None:
        self._decode = decode
        self.bytes = 0

    def decode(self, line: bytes) -> Any:
        self.bytes += len(line)
        return self._decode(line)


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("reader", READERS)
def test_four_times_as_many_take_four_times_as_long(
    reader: Callable[[Path], int], separator: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = []
    for count in (100, 400):
        path = written(count, separator)
        counting = Counting(entries._entry_decoder.decode)
        with monkeypatch.context() as patch:
            patch.setattr(entries, "_entry_decoder", counting)
            find_end = object_scanner._find_object_end

            def look(text: str, at: int, counting: Counting = counting) -> Any:
                end, reached = find_end(text, at)  # noqa: B023 - called within this round
                counting.bytes += reached - at
                return end, reached

            patch.setattr(object_scanner, "_find_object_end", look)
            assert reader(path) == count
        costs.append(counting.bytes)
    assert costs[1] < 5 * max(costs[0], 1)


def test_objects_that_come_one_by_one_on_a_line_are_read_once_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = written(200, b"")
    counting = Counting(entries._entry_decoder.decode)
    monkeypatch.setattr(entries, "_entry_decoder", counting)
    size = path.stat().st_size
    assert grown_by_each(path) == 200
    assert counting.bytes < 4 * size


@pytest.mark.parametrize("separator", SEPARATORS)
def test_pages_are_in_order(separator: bytes) -> None:
    path = written(150, separator)
    messages = [message.uuid for message in read_all_messages(path, SESSION_ID)]
    assert messages == [uuid_of(number) for number in range(150)]


# at the others the SDK's reader raises
@pytest.mark.parametrize("separator", [each for each in SEPARATORS if b"\xff" not in each])
def test_the_context_is_what_the_sdk_reads(separator: bytes) -> None:
    path = written(150, separator)
    context = [message.uuid for message in read_all_messages(path, SESSION_ID, "context")]
    assert context == [message.uuid for message in get_session_messages(SESSION_ID)]


def test_many_beginnings_that_lead_nowhere_end_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    find_end = object_scanner._find_object_end
    monkeypatch.setattr(
        object_scanner,
        "_find_object_end",
        lambda text, at: (looks.append(at), find_end(text, at))[1],
    )
    line = b'{"type":"' * 50_000
    assert parse_line(line) == ([], 1)
    assert len(looks) <= object_scanner.MAX_EFFORT**2


def test_torn_ones_between_all_of_very_many_hide_none() -> None:
    path = written(5_000, b'{"type":"user","message":"torn ')
    assert page(path) == 5_000
