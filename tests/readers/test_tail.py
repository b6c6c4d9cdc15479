from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from claudekeeper.model.entries import parse
from claudekeeper.readers import tail as tails
from claudekeeper.readers.tail import Growth, Tail, at_end, grow


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
    tail = at_end(str(path))
    append(path, line("b") + b"\n" + line("c") + b"\n")
    growth = grow(tail)
    assert (growth.fate, uuids(growth)) == ("grown", ["b", "c"])
    assert [entry.uuid for entry in growth.earlier] == ["a"]
    again = grow(growth.tail)
    assert (again.fate, again.entries, again.earlier) == ("same", [], [])


def test_half_a_line_waits_for_the_rest(path: Path) -> None:
    tail = at_end(str(path))
    whole = line("b")
    append(path, whole[:20])
    first = grow(tail)
    assert first.entries == []
    append(path, whole[20:] + b"\n")
    assert uuids(grow(first.tail)) == ["b"]


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
@pytest.mark.parametrize("stood", ["when the tail was taken", "when it grew"])
def test_a_whole_line_without_a_newline_counts_once(
    path: Path, pieces: list[bytes], stood: str
) -> None:
    tail = at_end(str(path))
    append(path, line("b"))
    if stood == "when it grew":
        first = grow(tail)
        assert uuids(first) == ["b"]
        tail = first.tail
    else:
        tail = at_end(str(path))
    found: list[str | None] = []
    for piece in pieces:
        append(path, piece)
        growth = grow(tail)
        tail = growth.tail
        found += uuids(growth)
    assert found == ["c"]


def test_a_whole_object_before_a_half_one_counts_once(path: Path) -> None:
    append(path, line("b") + line("c")[:20])
    tail = at_end(str(path))
    found: list[str | None] = []
    for piece in (line("c")[20:30], line("c")[30:], b"\n"):
        append(path, piece)
        growth = grow(tail)
        tail = growth.tail
        found += uuids(growth)
    assert found == ["c"]


@pytest.mark.parametrize("stood", [line("b"), line("b")[:20], line("x") + line("b")[:20]])
def test_the_only_line_of_a_file_need_not_have_ended(tmp_path: Path, stood: bytes) -> None:
    path = tmp_path / "one.jsonl"
    path.write_bytes(stood)
    tail = at_end(str(path))
    whole = stood == line("b")
    append(path, (b"" if whole else line("b")[20:]) + b"\n" + line("c") + b"\n")
    assert uuids(grow(tail)) == (["c"] if whole else ["b", "c"])


def test_a_flood_without_a_newline_is_not_told_later(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tails, "CROWD", 2)
    tail = at_end(str(path))
    append(path, b"\n".join(line(name) for name in "bcde"))
    flood = grow(tail)
    assert flood.fate == "flood"
    append(path, b"\n" + line("f") + b"\n")
    assert uuids(grow(flood.tail)) == ["f"]


def test_a_place_within_a_line_begins_with_that_line(path: Path) -> None:
    append(path, line("b")[:9])
    tail = at_end(str(path))
    append(path, line("b")[9:] + b"\n")
    assert uuids(grow(tail)) == ["b"]


def test_bad_lines_are_passed_over(path: Path) -> None:
    tail = at_end(str(path))
    append(path, b'\0\0{"torn\n\xff\xfe\n' + line("b") + line("c") + b"\n" + line("d") + b"\n")
    assert uuids(grow(tail)) == ["b", "c", "d"]


def test_a_line_of_thirty_megabytes_is_one_line(path: Path) -> None:
    tail = at_end(str(path))
    large = {"type": "user", "uuid": "big", "message": {"content": "x" * 30_000_000}}
    append(path, json.dumps(large).encode() + b"\n")
    growth = grow(tail)
    assert uuids(growth) == ["big"]
    append(path, line("b") + b"\n")
    assert uuids(grow(growth.tail)) == ["b"]


@pytest.mark.parametrize("how", ["truncated", "replaced", "rewritten in place"])
def test_a_file_that_did_not_just_grow_is_noticed(path: Path, how: str) -> None:
    append(path, line("b") + b"\n")
    reached = grow(Tail(str(path))).tail
    if how == "truncated":
        os.truncate(path, 10)
    elif how == "replaced":
        other = path.with_suffix(".tmp")
        other.write_bytes(path.read_bytes() + line("c") + b"\n")
        other.replace(path)
    else:
        path.write_bytes(line("z") + b"\n" + line("y") + b"\n" + line("x") + b"\n")
    growth = grow(reached)
    assert (growth.fate, growth.entries) == ("rewritten", [])
    append(path, line("d") + b"\n")
    assert "d" in uuids(grow(growth.tail))


def test_a_file_that_is_gone_is_gone(path: Path) -> None:
    tail = at_end(str(path))
    path.unlink()
    assert grow(tail).fate == "gone"
    assert grow(at_end(str(path))).fate == "gone"


def test_a_pipe_of_that_name_blocks_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.jsonl")
    assert grow(Tail(str(tmp_path / "p.jsonl"))).fate == "gone"


@pytest.mark.parametrize(("bound", "value"), [("FLOOD", 100), ("CROWD", 9), ("MUCH", 20)])
def test_a_flood_is_not_told(
    bound: str, value: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tails, bound, value)
    tail = at_end(str(path))
    append(path, (line("b") + b"\n") * 10)
    growth = grow(tail)
    assert (growth.fate, growth.entries) == ("flood", [])
    append(path, line("c") + b"\n")
    assert uuids(grow(growth.tail)) == ["c"]


def test_one_entry_may_be_as_large_as_it_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tails, "MUCH", 1)
    tail = at_end(str(path))
    append(path, line("b") + b"\n")
    assert uuids(grow(tail)) == ["b"]


def test_a_flood_is_not_read_to_its_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tails, "CROWD", 9)
    read: list[bytes] = []
    monkeypatch.setattr(tails, "parse", lambda one: (read.append(one), parse(one))[1])
    tail = at_end(str(path))
    append(path, (line("b") + b"\n") * 100)
    assert grow(tail).fate == "flood"
    # among them what stood there before
    assert len(read) < 20
