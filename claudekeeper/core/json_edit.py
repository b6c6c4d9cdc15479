"""JSON edited in place: parts are inserted and removed, and every other byte stays."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import orjson

from claudekeeper.core import lenient_json

_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
# a word or a number, up to what ends it
_WORD = re.compile(r"[^\s,\]}]+")
# up to the next bracket that stands in no string
_UNTIL_BRACKET = re.compile(r'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
# a byte that is not UTF-8
_SURROGATE = re.compile("[\ud800-\udfff]")
# parts of orjson's messages, and ours
_ERROR_MESSAGES = {
    "trailing comma": "a comma too many",
    "after document": "something behind the end",
    "end of data": "it ends too early",
    "zero-length": "it ends too early",
    "depth limit": "it is nested too deeply",
}


class Malformed(ValueError):
    """The text is not JSON."""


@dataclass(frozen=True)
class Value:
    """A value and its offsets; where an object has a name twice, the last member counts."""

    start: int
    end: int
    # where each part begins (a member with its name) and ends, in the order of writing
    parts: list[tuple[int, int]] = field(default_factory=list)
    members: dict[str, Value] | None = None
    elements: list[Value] | None = None
    # which part a member is, and which names come more than once
    part_indexes: dict[str, int] = field(default_factory=dict)
    duplicate_names: frozenset[str] = frozenset()

    def __getitem__(self, name: str) -> Value | None:
        return self.members.get(name) if self.members is not None else None


def parse(text: str, inside: str | None = None) -> Value:
    """The outermost value and its parts; Malformed for anything but one JSON value.

    The member `inside` is parsed two levels deep. Everything else is skipped as one piece, as
    settings can hold megabytes of other data.
    """
    start = _skip_space(text, 1 if text.startswith("\ufeff") else 0)
    # checked first, so that the parser below may rely on valid JSON
    _check_json(text, start)
    return _parse_value(text, start, 1, inside)


def _check_json(text: str, start: int) -> None:
    try:
        orjson.loads(lenient_json.repair_in_place(_SURROGATE.sub("\ufffd", text[start:])))
    except orjson.JSONDecodeError as error:
        at = _skip_space(text, start + error.pos)
        if text.startswith(("//", "/*", "#"), at):
            what = "a comment"
        elif match := lenient_json.NON_FINITE.match(text, at):
            what = f"{match[0]} is no JSON"
        else:
            what = next(
                (ours for theirs, ours in _ERROR_MESSAGES.items() if theirs in error.msg), error.msg
            )
        raise Malformed(f"{what} in line {text.count(chr(10), 0, at) + 1}") from error


def decode(text: str, value: Value) -> object:
    return lenient_json.decode(_SURROGATE.sub("\ufffd", text[value.start : value.end]))


def add_element(text: str, array: Value, element: str) -> str:
    """The text with one more element at the array's end."""
    assert array.elements is not None
    return _add_part(text, array, element)


def add_member(text: str, holder: Value, name: str, value: str) -> str:
    """The text with one more member at the object's end."""
    assert holder.members is not None
    return _add_part(text, holder, f'"{name}": {value}')


def remove_element(text: str, array: Value, index: int) -> str:
    """The text without an element; it undoes `add_element` byte by byte."""
    return _remove_part(text, array, index)


def remove_member(text: str, holder: Value, name: str) -> str:
    return _remove_part(text, holder, holder.part_indexes[name])


def _add_part(text: str, holder: Value, part: str) -> str:
    inner = _indent_of(text, holder)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = part.replace("\n", newline + inner)
    if holder.parts:
        _, at = holder.parts[-1]
        return f"{text[:at]},{newline}{inner}{lines}{text[at:]}"
    at = holder.start + 1
    rest = text[at:]
    # the bracket that closes an empty holder moves to a line of its own
    closing = (
        "" if "\n" in text[at : holder.end] else newline + inner.removesuffix(_indent_step(text))
    )
    return f"{text[:at]}{newline}{inner}{lines}{closing}{rest}"


def _remove_part(text: str, holder: Value, index: int) -> str:
    start, end = holder.parts[index]
    if index:
        return text[: holder.parts[index - 1][1]] + text[end:]
    if len(holder.parts) > 1:
        return text[:start] + text[holder.parts[1][0] :]
    return text[: holder.start + 1] + text[holder.end - 1 :]


def _indent_step(text: str) -> str:
    match = _INDENT.search(text)
    return match[1] if match else "  "


def _indent_of(text: str, holder: Value) -> str:
    """How far the parts of a holder are indented."""
    line = text.rfind("\n", 0, holder.start) + 1
    own = _SPACE.match(text, line, holder.start)
    return (own[0] if own else "") + _indent_step(text)


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _parse_value(text: str, at: int, levels: int, inside: str | None = None) -> Value:
    """A value, with its parts down to `levels` levels."""
    match text[at]:
        case "{" if levels:
            return _parse_object(text, at, levels, inside)
        case "[" if levels:
            return _parse_array(text, at, levels)
        case "{" | "[":
            return Value(at, _skip_brackets(text, at))
        case '"':
            return Value(at, _match_end(_STRING, text, at))
        case _:
            return Value(at, _match_end(_WORD, text, at))


def _match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _skip_brackets(text: str, at: int) -> int:
    """The offset after the bracket that closes the one at `at`."""
    depth = 0
    while True:
        at = _match_end(_UNTIL_BRACKET, text, at)
        depth += 1 if text[at] in "{[" else -1
        at += 1
        if not depth:
            return at


def _parse_object(text: str, start: int, levels: int, inside: str | None) -> Value:
    members: dict[str, Value] = {}
    indexes: dict[str, int] = {}
    parts: list[tuple[int, int]] = []
    repeated: set[str] = set()
    at = _skip_space(text, start + 1)
    while text[at] != "}":
        end = _match_end(_STRING, text, at)
        name = str(decode(text, Value(at, end)))
        colon = _skip_space(text, end)
        below = levels + 1 if name == inside else levels - 1
        value = _parse_value(text, _skip_space(text, colon + 1), below)
        if name in members:
            repeated.add(name)
        members[name], indexes[name] = value, len(parts)
        parts.append((at, value.end))
        at = _next_part(text, value.end)
    return Value(start, at + 1, parts, members, None, indexes, frozenset(repeated))


def _parse_array(text: str, start: int, levels: int) -> Value:
    elements: list[Value] = []
    at = _skip_space(text, start + 1)
    while text[at] != "]":
        elements.append(_parse_value(text, at, levels - 1))
        at = _next_part(text, elements[-1].end)
    parts = [(each.start, each.end) for each in elements]
    return Value(start, at + 1, parts, None, elements)


def _next_part(text: str, at: int) -> int:
    """The offset of the next part, or of the closing bracket."""
    at = _skip_space(text, at)
    return _skip_space(text, at + 1) if text[at] == "," else at
