"""JSON as people wrote it: parts are put in and taken out, and every other byte stays."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from json import JSONDecodeError, JSONDecoder

_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_decode = JSONDecoder()


class Malformed(ValueError):
    """The text is not JSON."""


@dataclass(frozen=True)
class Value:
    """A value and where it stands; of an object the last member of a name counts."""

    start: int
    end: int
    members: dict[str, Value] | None = None
    elements: list[Value] | None = None
    # where each member begins, with its name
    names: dict[str, int] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Value | None:
        return self.members.get(name) if self.members is not None else None


def read(text: str) -> Value:
    """The outermost value; Malformed where there is none or more than one."""
    try:
        start = _after_space(text, 1 if text.startswith("\ufeff") else 0)
        value = _value(text, start, 0)
    except (IndexError, JSONDecodeError, RecursionError) as error:
        raise Malformed(str(error)) from error
    if _after_space(text, value.end) != len(text):
        raise Malformed("something stands behind the end")
    return value


def decoded(text: str, value: Value) -> object:
    return _decode.decode(text[value.start : value.end])


def add_element(text: str, array: Value, element: str) -> str:
    """The text with one more element at the array's end."""
    assert array.elements is not None
    return _add(text, array, [each.end for each in array.elements], element)


def add_member(text: str, holder: Value, name: str, value: str) -> str:
    """The text with one more member at the object's end."""
    assert holder.members is not None
    ends = [each.end for each in holder.members.values()]
    return _add(text, holder, ends, f'"{name}": {value}')


def without_element(text: str, array: Value, index: int) -> str:
    """The text without an element; what `add_element` put in goes without a trace."""
    assert array.elements is not None
    element = array.elements[index]
    before = [each.end for each in array.elements[:index]]
    after = [each.start for each in array.elements[index + 1 :]]
    return _without(text, array, element.start, element.end, before, after)


def without_member(text: str, holder: Value, name: str) -> str:
    assert holder.members is not None
    start, end = holder.names[name], holder.members[name].end
    before = [each.end for other, each in holder.members.items() if each.end <= start]
    after = [at for at in holder.names.values() if at >= end]
    return _without(text, holder, start, end, before, after)


def _add(text: str, holder: Value, ends: list[int], part: str) -> str:
    inner = _indent_of(text, holder)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = part.replace("\n", newline + inner)
    if ends:
        at = max(ends)
        return f"{text[:at]},{newline}{inner}{lines}{text[at:]}"
    at = holder.start + 1
    rest = text[at:]
    # an empty holder is closed on the same line: give its end a line of its own
    closing = "" if "\n" in text[at : holder.end] else newline + inner.removesuffix(_step(text))
    return f"{text[:at]}{newline}{inner}{lines}{closing}{rest}"


def _without(
    text: str, holder: Value, start: int, end: int, before: list[int], after: list[int]
) -> str:
    if before:
        return text[: max(before)] + text[end:]
    if after:
        return text[:start] + text[min(after) :]
    closing = text[end : holder.end - 1]
    # the line that was given to the end of an empty holder
    return (
        text[: holder.start + 1] + ("" if not closing.strip() else closing) + text[holder.end - 1 :]
    )


def _step(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _indent_of(text: str, holder: Value) -> str:
    """How far the parts of a holder are indented."""
    line = text.rfind("\n", 0, holder.start) + 1
    own = _SPACE.match(text, line, holder.start)
    return (own[0] if own else "") + _step(text)


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, depth: int) -> Value:
    if depth > 200:
        raise Malformed("it is nested too deeply")
    match text[at]:
        case "{":
            return _object(text, at, depth)
        case "[":
            return _array(text, at, depth)
        case _:
            _, end = _decode.raw_decode(text, at)
            return Value(at, end)


def _object(text: str, start: int, depth: int) -> Value:
    members: dict[str, Value] = {}
    names: dict[str, int] = {}
    at = _after_space(text, start + 1)
    while text[at] != "}":
        if text[at] != '"':
            raise Malformed(f"a name is missing at {at}")
        name, end = _decode.raw_decode(text, at)
        colon = _after_space(text, end)
        if text[colon] != ":":
            raise Malformed(f"a colon is missing at {colon}")
        value = _value(text, _after_space(text, colon + 1), depth + 1)
        # in the order of writing, also where a name comes twice
        members.pop(name, None)
        members[name], names[name] = value, at
        at = _next(text, value.end, "}")
    return Value(start, at + 1, members=members, names=names)


def _array(text: str, start: int, depth: int) -> Value:
    elements: list[Value] = []
    at = _after_space(text, start + 1)
    while text[at] != "]":
        elements.append(_value(text, at, depth + 1))
        at = _next(text, elements[-1].end, "]")
    return Value(start, at + 1, elements=elements)


def _next(text: str, at: int, closing: str) -> int:
    at = _after_space(text, at)
    if text[at] == closing:
        return at
    if text[at] != ",":
        raise Malformed(f"a comma is missing at {at}")
    at = _after_space(text, at + 1)
    if text[at] == closing:
        raise Malformed(f"a comma too many at {at}")
    return at
