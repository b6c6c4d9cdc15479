"""Strange lines: what is good in them is read, what is not is counted."""

from __future__ import annotations

import json

import msgspec
import pytest

from claudekeeper.transcripts.entries import (
    Entry,
    blocks_of,
    is_irrelevant,
    parse_line,
    parse_objects,
    usage_of,
)
from claudekeeper.transcripts.messages import uuid_of

USER = b'{"type":"user","uuid":"u1","message":{"role":"user","content":"hi"}}'
OTHER = b'{"type":"user","uuid":"u2","message":{"role":"user","content":"there"}}'


def uuids(line: bytes) -> list[str | None]:
    return [entry.uuid for entry in parse_line(line)[0]]


@pytest.mark.parametrize(
    "line",
    [
        USER,
        b"\xef\xbb\xbf" + USER,
        b"\x00\x00\x00" + USER,
        USER + b"\x00",
        USER + b"\r",
        b"  " + USER + b"\t",
    ],
)
def test_padding_around_a_line_hides_nothing(line: bytes) -> None:
    assert uuids(line) == ["u1"]
    assert parse_line(line)[1] == 0


def test_two_objects_on_a_line_are_two_entries() -> None:
    assert uuids(USER + OTHER) == ["u1", "u2"]
    assert uuids(USER + b" \x00" + OTHER) == ["u1", "u2"]


def test_the_whole_line_behind_a_torn_one_is_kept_and_the_torn_one_counted() -> None:
    entries, bad = parse_line(b'{"type":"user","uuid":"u0","message":{"content":"torn ' + USER)
    assert [entry.uuid for entry in entries] == ["u1"]
    assert bad == 1


def test_an_object_inside_a_torn_line_is_no_line() -> None:
    nested = b'{"type":"progress","data":{"type":"user","uuid":"inner"},"more":"torn'
    assert parse_line(nested) == ([], 1)


@pytest.mark.parametrize("line", [b"garbage", b"[1]", b"42", b'"text"', b"\xff\xfe\x00", b"{"])
def test_what_is_no_object_is_counted(line: bytes) -> None:
    assert parse_line(line) == ([], 1)


@pytest.mark.parametrize("end", [b"\r", b"\r\r", b"\r{"])
def test_a_message_without_uuid_is_found_again_by_its_own_bytes(end: bytes) -> None:
    written = b'{"type": "assistant", "uuid": "", "message": {"content": [{"type": "text"}]}}'
    line = written + end
    (start, stop, entry), *_ = parse_objects(line)[0]
    (again,) = parse_line(line[start:stop])[0]
    assert uuid_of(again) == uuid_of(entry)


def test_bytes_that_are_not_utf8_cost_only_themselves() -> None:
    entries, bad = parse_line(USER.replace(b"hi", b"h\xffi"))
    assert bad == 0
    assert blocks_of(entries[0].message.content)[0].text == "h�i"


def test_half_an_emoji_can_be_sent_on() -> None:
    entries, _ = parse_line(USER.replace(b"hi", b"\\ud83d hi"))
    assert json.loads(bytes(entries[0].message.content)) == "� hi"


@pytest.mark.parametrize("name", ["uuid", "timestamp", "cwd", "gitBranch", "customTitle"])
def test_half_an_emoji_in_any_field_can_be_written_down(name: str) -> None:
    # what a list keeps of it is packed: one such line must not cost the whole list
    (entry,) = parse_line(json.dumps({"type": "user", name: "x\ud83d"}).encode())[0]
    assert b"x\xef\xbf\xbd" in msgspec.msgpack.encode(entry)


def test_a_whole_emoji_written_as_two_escapes_stays_whole() -> None:
    entries, _ = parse_line(USER.replace(b"hi", b"\\ud83d\\ude00"))
    assert blocks_of(entries[0].message.content)[0].text == "😀"


def test_not_a_number_does_not_spoil_a_line() -> None:
    entries, bad = parse_line(b'{"type":"user","uuid":"u1","message":{"content":[{"x":NaN}]}}')
    assert (len(entries), bad) == (1, 0)
    assert json.loads(bytes(entries[0].message.content)) == [{"x": None}]


def test_fields_of_a_wrong_type_are_taken_for_what_they_can_be() -> None:
    entries, _ = parse_line(b'{"type":"user","uuid":"u1","isMeta":"yes","cwd":7,"message":3}')
    assert entries[0].is_meta
    assert entries[0].cwd is None
    assert bytes(entries[0].message.content) == b""


def test_a_line_nested_too_deeply_is_counted() -> None:
    assert parse_line(b'{"type":"user","message":' + b"[" * 5000 + b"]" * 5000 + b"}") == ([], 1)


def test_a_hostile_line_of_many_beginnings_ends_soon() -> None:
    entries, bad = parse_line(b'{"type":' * 20_000)
    assert (entries, bad) == ([], 1)


def test_only_known_types_are_decoded() -> None:
    assert is_irrelevant(b'{"type":"file-history-snapshot","snapshot":{}}')
    assert not is_irrelevant(b'{"type":"custom-title","customTitle":"x"}')
    assert not is_irrelevant(USER)
    assert not is_irrelevant(b'{"parentUuid":null,"type":"user"}')


def test_usage_of_another_shape_is_no_usage() -> None:
    for usage in ("3", '"many"', '{"input_tokens":"x"}', "null"):
        (entry,), _ = parse_line(f'{{"type":"assistant","message":{{"usage":{usage}}}}}'.encode())
        assert usage_of(entry.message.usage) is None


def test_an_entry_without_uuid_is_not_in_the_chain() -> None:
    assert not Entry(type="user").is_in_chain
    assert not Entry(type="summary", uuid="u").is_in_chain
    assert Entry(type="progress", uuid="u").is_in_chain


def test_a_line_of_the_chain_is_told_whatever_stands_first_in_it() -> None:
    line = b'{"type":"mode","type":"user","uuid":"u1"}'
    assert not is_irrelevant(line)
    assert is_irrelevant(b'{"type":"mode","mode":"plan"}')
    assert [entry.type for entry in parse_line(line)[0]] == ["user"]


@pytest.mark.parametrize(
    ("line", "is_whole"),
    [
        (b'{"type":"user","uuid":"a"}', True),
        (b'{"type":"user","uuid":"a","sessionId":3}', True),
        (b'{"type":"user","uuid":"a"} and more', False),
    ],
    ids=["ordinary", "with a wrong type", "with other text"],
)
def test_a_line_is_whole_when_it_is_one_object(line: bytes, is_whole: bool) -> None:
    (entry,), _ = parse_line(line)
    assert entry.is_whole_line is is_whole
