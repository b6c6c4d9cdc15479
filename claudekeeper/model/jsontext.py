"""JSON as people wrote it: parts are put in and taken out, and every other byte stays."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from json import JSONDecodeError, JSONDecoder

_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")


class Malformed(ValueError):
    """The text is not JSON."""


def _refuse(word: str) -> None:
    raise Malformed(f"{word} is no JSON")


# a number may have any number of digits, which `int` refuses
_decode = JSONDecoder(parse_int=float, parse_constant=_refuse)


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
    places: dict[str, int] = field(default_factory=dict)
    repeated: frozenset[str] = frozenset()

    def __getitem__(self, name: str) -> Value | None:
        return self.members.get(name) if self.members is not None else None


def read(text: str, inside: str | None = None) -> Value:
    """The outermost value and its parts; Malformed where there is none or more than one.

    Of the member `inside` the parts are known too, and the parts of these. Everything else is
    passed over as one piece: settings can hold megabytes of other things.
    """
    try:
        start = _after_space(text, 1 if text.startswith("\ufeff") else 0)
        value = _value(text, start, 1, inside)
        if _after_space(text, value.end) != len(text):
            raise _malformed(text, _after_space(text, value.end), "something behind the end")
    except JSONDecodeError as error:
        raise _malformed(text, error.pos, "something else than a value") from error
    except IndexError as error:
        raise Malformed("it ends too early") from error
    except RecursionError as error:
        raise Malformed("it is nested too deeply") from error
    return value


def decoded(text: str, value: Value) -> object:
    return _decode.decode(text[value.start : value.end])


def add_element(text: str, array: Value, element: str) -> str:
    """The text with one more element at the array's end."""
    assert array.elements is not None
    return _add(text, array, element)


def add_member(text: str, holder: Value, name: str, value: str) -> str:
    """The text with one more member at the object's end."""
    assert holder.members is not None
    return _add(text, holder, f'"{name}": {value}')


def without_element(text: str, array: Value, index: int) -> str:
    """The text without an element; what `add_element` put in goes without a trace."""
    return _without(text, array, index)


def without_member(text: str, holder: Value, name: str) -> str:
    return _without(text, holder, holder.places[name])


def _add(text: str, holder: Value, part: str) -> str:
    inner = _indent_of(text, holder)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = part.replace("\n", newline + inner)
    if holder.parts:
        _, at = holder.parts[-1]
        return f"{text[:at]},{newline}{inner}{lines}{text[at:]}"
    at = holder.start + 1
    rest = text[at:]
    # an empty holder is closed on the same line: give its end a line of its own
    closing = "" if "\n" in text[at : holder.end] else newline + inner.removesuffix(_step(text))
    return f"{text[:at]}{newline}{inner}{lines}{closing}{rest}"


def _without(text: str, holder: Value, index: int) -> str:
    start, end = holder.parts[index]
    if index:
        return text[: holder.parts[index - 1][1]] + text[end:]
    if len(holder.parts) > 1:
        return text[:start] + text[holder.parts[1][0] :]
    return text[: holder.start + 1] + text[holder.end - 1 :]


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


def _malformed(text: str, at: int, what: str) -> Malformed:
    """In words that lead to the place."""
    if text.startswith(("//", "/*", "#"), at):
        what = "a comment"
    return Malformed(f"{what} in line {text.count(chr(10), 0, at) + 1}")


def _value(text: str, at: int, levels: int, inside: str | None = None) -> Value:
    """A value, and its parts down to so many levels."""
    match text[at]:
        case "{" if levels:
            return _object(text, at, levels, inside)
        case "[" if levels:
            return _array(text, at, levels)
        case _:
            _, end = _decode.raw_decode(text, at)
            return Value(at, end)


def _object(text: str, start: int, levels: int, inside: str | None) -> Value:
    members: dict[str, Value] = {}
    places: dict[str, int] = {}
    parts: list[tuple[int, int]] = []
    repeated: set[str] = set()
    at = _after_space(text, start + 1)
    while text[at] != "}":
        if text[at] != '"':
            raise _malformed(text, at, "no name")
        name, end = _decode.raw_decode(text, at)
        colon = _after_space(text, end)
        if text[colon] != ":":
            raise _malformed(text, colon, "no colon")
        below = levels + 1 if name == inside else levels - 1
        value = _value(text, _after_space(text, colon + 1), below)
        if name in members:
            repeated.add(name)
        members[name], places[name] = value, len(parts)
        parts.append((at, value.end))
        at = _next(text, value.end, "}")
    return Value(start, at + 1, parts, members, None, places, frozenset(repeated))


def _array(text: str, start: int, levels: int) -> Value:
    elements: list[Value] = []
    at = _after_space(text, start + 1)
    while text[at] != "]":
        elements.append(_value(text, at, levels - 1))
        at = _next(text, elements[-1].end, "]")
    parts = [(each.start, each.end) for each in elements]
    return Value(start, at + 1, parts, None, elements)


def _next(text: str, at: int, closing: str) -> int:
    at = _after_space(text, at)
    if text[at] == closing:
        return at
    if text[at] != ",":
        raise _malformed(text, at, "no comma")
    at = _after_space(text, at + 1)
    if text[at] == closing:
        raise _malformed(text, at, "a comma too many")
    return at
