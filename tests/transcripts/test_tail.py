"""The growth of a transcript: each new entry is read once, a rewritten file is noticed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from claudekeeper.transcripts import tail as tails
from claudekeeper.transcripts.entries import parse_line
from claudekeeper.transcripts.tail import Growth, Tail, read_growth, tail_at_end


def line(uuid: str) -> bytes:
    return json.dumps({"type": "user", "uuid": uuid, "message": {"content": "x"}}).encode()


def uuids(growth: Growth) -> list[str | None]:
    return [entry.uuid for entry in growth.entries]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "t.jsonl"
    file.write_bytes(line("a") + b"\n")
    return file


def append(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)


def test_only_what_was_added_is_read(path: Path) -> None:
    tail = tail_at_end(str(path))
    append(path, line("b") + b"\n" + line("c") + b"\n")
    growth = read_growth(tail)
    assert (growth.change, uuids(growth)) == ("grown", ["b", "c"])
    assert [entry.uuid for entry in growth.earlier_entries] == ["a"]
    again = read_growth(growth.tail)
    assert (again.change, again.entries, again.earlier_entries) == ("same", [], [])


def test_half_a_line_waits_for_the_rest(path: Path) -> None:
    tail = tail_at_end(str(path))
    whole = line("b")
    append(path, whole[:20])
    first = read_growth(tail)
    assert first.entries == []
    append(path, whole[20:] + b"\n")
    assert uuids(read_growth(first.tail)) == ["b"]


def tail_taken_after(path: Path, content: bytes) -> Tail:
    append(path, content)
    return tail_at_end(str(path))


def tail_grown_by(path: Path, content: bytes) -> Tail:
    tail = tail_at_end(str(path))
    append(path, content)
    growth = read_growth(tail)
    assert uuids(growth) == ["b"]
    return growth.tail


@pytest.mark.parametrize(
    "pieces",
    [
        [b"\n", line("c") + b"\n"],
        [b"\n" + line("c") + b"\n"],
        [b"\n" + line("c")],
        [b"\n" + line("c")[:20], line("c")[20:], b"\n"],
        [line("c") + b"\n"],
        [line("c")[:20], line("c")[20:] + b"\n"],
        [b"\r\n" + line("c") + b"\n"],
        [b"\0\0\n" + line("c") + b"\n"],
    ],
)
@pytest.mark.parametrize("tail_after", [tail_taken_after, tail_grown_by])
def test_a_whole_line_without_a_newline_counts_once(
    path: Path, pieces: list[bytes], tail_after: Callable[[Path, bytes], Tail]
) -> None:
    tail = tail_after(path, line("b"))
    read: list[str | None] = []
    for piece in pieces:
        append(path, piece)
        growth = read_growth(tail)
        tail = growth.tail
        read += uuids(growth)
    assert read == ["c"]


def test_a_whole_object_before_a_half_one_counts_once(path: Path) -> None:
    append(path, line("b") + line("c")[:20])
    tail = tail_at_end(str(path))
    read: list[str | None] = []
    for piece in (line("c")[20:30], line("c")[30:], b"\n"):
        append(path, piece)
        growth = read_growth(tail)
        tail = growth.tail
        read += uuids(growth)
    assert read == ["c"]


@pytest.mark.parametrize(
    ("content", "rest", "expected"),
    [
        (line("b"), b"", ["c"]),
        (line("b")[:20], line("b")[20:], ["b", "c"]),
        (line("x") + line("b")[:20], line("b")[20:], ["b", "c"]),
    ],
)
def test_the_only_line_of_a_file_need_not_have_ended(
    tmp_path: Path, content: bytes, rest: bytes, expected: list[str]
) -> None:
    path = tmp_path / "one.jsonl"
    path.write_bytes(content)
    tail = tail_at_end(str(path))
    append(path, rest + b"\n" + line("c") + b"\n")
    assert uuids(read_growth(tail)) == expected


def test_a_flood_without_a_newline_is_not_told_later(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tails, "MAX_ENTRIES", 2)
    tail = tail_at_end(str(path))
    append(path, b"\n".join(line(name) for name in "bcde"))
    flood = read_growth(tail)
    assert flood.change == "flood"
    append(path, b"\n" + line("f") + b"\n")
    assert uuids(read_growth(flood.tail)) == ["f"]


def test_a_place_within_a_line_begins_with_that_line(path: Path) -> None:
    append(path, line("b")[:9])
    tail = tail_at_end(str(path))
    append(path, line("b")[9:] + b"\n")
    assert uuids(read_growth(tail)) == ["b"]


def test_bad_lines_are_passed_over(path: Path) -> None:
    tail = tail_at_end(str(path))
    append(path, b'\0\0{"torn\n\xff\xfe\n' + line("b") + line("c") + b"\n" + line("d") + b"\n")
    assert uuids(read_growth(tail)) == ["b", "c", "d"]


def test_a_line_of_thirty_megabytes_is_one_line(path: Path) -> None:
    tail = tail_at_end(str(path))
    large = {"type": "user", "uuid": "big", "message": {"content": "x" * 30_000_000}}
    append(path, json.dumps(large).encode() + b"\n")
    growth = read_growth(tail)
    assert uuids(growth) == ["big"]
    append(path, line("b") + b"\n")
    assert uuids(read_growth(growth.tail)) == ["b"]


def truncate(path: Path) -> None:
    os.truncate(path, 10)


def replace(path: Path) -> None:
    other = path.with_suffix(".tmp")
    other.write_bytes(path.read_bytes() + line("c") + b"\n")
    other.replace(path)


def rewrite_in_place(path: Path) -> None:
    path.write_bytes(line("z") + b"\n" + line("y") + b"\n" + line("x") + b"\n")


@pytest.mark.parametrize("change", [truncate, replace, rewrite_in_place])
def test_a_file_that_did_not_just_grow_is_noticed(
    path: Path, change: Callable[[Path], None]
) -> None:
    append(path, line("b") + b"\n")
    reached = read_growth(Tail(str(path))).tail
    change(path)
    growth = read_growth(reached)
    assert (growth.change, growth.entries) == ("rewritten", [])
    append(path, line("d") + b"\n")
    assert "d" in uuids(read_growth(growth.tail))


def test_a_file_that_is_gone_is_gone(path: Path) -> None:
    tail = tail_at_end(str(path))
    path.unlink()
    assert read_growth(tail).change == "gone"
    assert read_growth(tail_at_end(str(path))).change == "gone"


def test_a_pipe_of_that_name_blocks_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.jsonl")
    assert read_growth(Tail(str(tmp_path / "p.jsonl"))).change == "gone"


@pytest.mark.parametrize(
    ("bound", "value"), [("MAX_GROWTH_BYTES", 100), ("MAX_ENTRIES", 9), ("MAX_CONTENT_BYTES", 20)]
)
def test_a_flood_is_not_told(
    bound: str, value: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tails, bound, value)
    tail = tail_at_end(str(path))
    append(path, (line("b") + b"\n") * 10)
    growth = read_growth(tail)
    assert (growth.change, growth.entries) == ("flood", [])
    append(path, line("c") + b"\n")
    assert uuids(read_growth(growth.tail)) == ["c"]


def test_one_entry_may_be_as_large_as_it_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tails, "MAX_CONTENT_BYTES", 1)
    tail = tail_at_end(str(path))
    append(path, line("b") + b"\n")
    assert uuids(read_growth(tail)) == ["b"]


def test_a_flood_is_not_read_to_its_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tails, "MAX_ENTRIES", 9)
    read: list[bytes] = []
    monkeypatch.setattr(tails, "parse_line", lambda one: (read.append(one), parse_line(one))[1])
    tail = tail_at_end(str(path))
    append(path, (line("b") + b"\n") * 100)
    assert read_growth(tail).change == "flood"
    # among them what stood there before
    assert len(read) < 20
