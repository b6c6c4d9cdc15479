"""JSON as people wrote it: parts are put in and taken out, and every other byte stays."""

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
# a byte that is no text
_SURROGATE = re.compile("[\ud800-\udfff]")
# orjson's words, in ours
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
    """A value and where it stands; of an object the last member of a name counts."""

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
    """The outermost value and its parts; Malformed where there is none or more than one.

    Of the member `inside` the parts are known too, and the parts of these. Everything else is
    passed over as one piece: settings can hold megabytes of other things.
    """
    start = _skip_space(text, 1 if text.startswith("\ufeff") else 0)
    # what is read below is JSON, so nothing in it has to be looked for twice
    _check_json(text, start)
    return _parse_value(text, start, 1, inside)


def _check_json(text: str, start: int) -> None:
    try:
        orjson.loads(lenient_json.repair_in_place(_SURROGATE.sub("\ufffd", text[start:])))
    except orjson.JSONDecodeError as error:
        at = _skip_space(text, start + error.pos)
        if text.startswith(("//", "/*", "#"), at):
            what = "a comment"
        elif found := lenient_json.NON_FINITE.match(text, at):
            what = f"{found[0]} is no JSON"
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
    """The text without an element; what `add_element` put in goes without a trace."""
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
    # an empty holder is closed on the same line: give its end a line of its own
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
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _indent_of(text: str, holder: Value) -> str:
    """How far the parts of a holder are indented."""
    line = text.rfind("\n", 0, holder.start) + 1
    own = _SPACE.match(text, line, holder.start)
    return (own[0] if own else "") + _indent_step(text)


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _parse_value(text: str, at: int, levels: int, inside: str | None = None) -> Value:
    """A value, and its parts down to so many levels."""
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
    found = pattern.match(text, at)
    return found.end() if found else at


def _skip_brackets(text: str, at: int) -> int:
    """Behind the bracket that closes the one that stands there."""
    depth = 0
    while True:
        at = _match_end(_UNTIL_BRACKET, text, at)
        depth += 1 if text[at] in "{[" else -1
        at += 1
        if not depth:
            return at


def _parse_object(text: str, start: int, levels: int, inside: str | None) -> Value:
    members: dict[str, Value] = {}
    places: dict[str, int] = {}
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
        members[name], places[name] = value, len(parts)
        parts.append((at, value.end))
        at = _next_part(text, value.end)
    return Value(start, at + 1, parts, members, None, places, frozenset(repeated))


def _parse_array(text: str, start: int, levels: int) -> Value:
    elements: list[Value] = []
    at = _skip_space(text, start + 1)
    while text[at] != "]":
        elements.append(_parse_value(text, at, levels - 1))
        at = _next_part(text, elements[-1].end)
    parts = [(each.start, each.end) for each in elements]
    return Value(start, at + 1, parts, None, elements)


def _next_part(text: str, at: int) -> int:
    """Where the next part stands, or the end of what holds them."""
    at = _skip_space(text, at)
    return _skip_space(text, at + 1) if text[at] == "," else at
