"""Single elements of a JSON text are added and removed; the rest stays as it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claudekeeper.core.json_edit import (
    Malformed,
    add_element,
    add_member,
    decode,
    parse,
    remove_element,
    remove_member,
)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
layouts = st.sampled_from(
    [
        {"indent": 2},
        {"indent": "\t"},
        {"separators": (",", ":")},
        {"indent": 1, "separators": (" ,", "  :   ")},
        {},
    ]
)


@given(holder=st.lists(values, max_size=3), layout=layouts)
def test_an_element_goes_in_and_out_without_a_trace(holder: Any, layout: Any) -> None:
    text = json.dumps(holder, **layout)
    more = add_element(text, parse(text), '{"a": 1}')
    assert json.loads(more) == [*holder, {"a": 1}]
    less = remove_element(more, parse(more), len(holder))
    assert less == text


@given(holder=st.dictionaries(st.text(max_size=3), values, max_size=3), layout=layouts)
def test_a_member_goes_in_and_out_without_a_trace(holder: Any, layout: Any) -> None:
    holder.pop("ours", None)
    text = json.dumps(holder, **layout)
    more = add_member(text, parse(text), "ours", "[\n  1\n]")
    assert json.loads(more) == {**holder, "ours": [1]}
    assert remove_member(more, parse(more), "ours") == text


@given(holder=st.lists(values, min_size=2, max_size=4), layout=layouts, data=st.data())
def test_any_element_can_be_taken_out(holder: Any, layout: Any, data: st.DataObject) -> None:
    text = json.dumps(holder, **layout)
    index = data.draw(st.integers(0, len(holder) - 1))
    rest = remove_element(text, parse(text), index)
    assert json.loads(rest) == holder[:index] + holder[index + 1 :]


def test_of_a_name_that_comes_twice_the_last_counts() -> None:
    text = '{"a": 1, "b": [], "a": {"c": "}"}}'
    value = parse(text)["a"]
    assert value is not None
    assert decode(text, value) == {"c": "}"}


@pytest.mark.parametrize(
    "text", ["", "{", "[1,]", '{"a" 1}', "{} {}", "{1: 2}", '{"a": tru}', "[" * 300, "// no\n{}"]
)
def test_what_is_no_json_is_said(text: str) -> None:
    with pytest.raises(Malformed):
        parse(text)
