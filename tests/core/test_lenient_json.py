"""What orjson refuses is read as a browser reads it, and what is no JSON is still none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claudekeeper.core.lenient_json import decode, repair_in_place
from claudekeeper.transcripts.entries import dumps, loads


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"a\ud83d"', "a\ufffd"),
        (r'"\ude00\ud83d\ude00"', "\ufffd😀"),
        (r'"\\ud83d\ud83d"', r"\ud83d" + "\ufffd"),
        ('{"a": NaN, "NaN": [Infinity, -Infinity]}', {"a": None, "NaN": [None, None]}),
        (r'{"\udc00": "NaN 1e999"}', {"\ufffd": "NaN 1e999"}),
        ("[1e999, -1e999]", [1e308, -1e308]),
        ("9" * 5_000, 1e308),
        ('{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_what_browsers_read_is_read(text: str, value: Any) -> None:
    assert decode(text) == value


@pytest.mark.parametrize(
    "text", ["", "{", "[1,]", '"\x01"', "01e999", "nan", r'"\x"', "{} {}", "[" * 9_000, "\ud800"]
)
def test_what_is_no_json_is_none(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - orjson's own
        decode(text)


loose = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@given(value=loose, ascii_only=st.booleans())
def test_what_the_standard_library_writes_is_read_as_it_reads_it(
    value: Any, ascii_only: bool
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert decode(text) == json.loads(text)
    assert repair_in_place(text) == text


@given(halves=st.text(st.characters(min_codepoint=0xD7F0, max_codepoint=0xE00F), max_size=4))
def test_halves_of_emoji_can_be_written_down_and_everything_keeps_its_place(halves: str) -> None:
    text = json.dumps({"a": halves, "b": 1})
    value = loads(text.encode())
    whole = halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert value == {"a": whole, "b": 1}
    assert json.loads(bytes(dumps(value))) == value
    assert len(repair_in_place(text)) == len(text)


def test_numbers_of_any_length_can_be_written_down() -> None:
    assert bytes(dumps({"a": 2**80, "b": "\ud83d"})) == f'{{"a":{2**80},"b":"\ufffd"}}'.encode()
