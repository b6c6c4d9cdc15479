"""Where whole JSON objects stand in a line that has more or less than one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from claudekeeper.core import lenient_json

# how an object of a transcript begins inside a line; a hostile line has many such beginnings
# without an object
_OBJECT_START = re.compile(
    r'\{\s*"(?:parentUuid|type|uuid|isSidechain|sessionId|logicalParentUuid)"'
)
_PADDING = "\x00\ufeff \t\n"
# what follows an object that stands for itself: the next one, or nothing; and one that is a part
_NEXT_OBJECT = re.compile(r"[\x00\ufeff \t\n]*(?:\{|\Z)")
_PART_OF_OBJECT = re.compile(r"[\x00\ufeff \t\n]*[,:\]}]")
_LINE = re.compile(r"[^\r\n]*")
# times its own length that a line is looked at for objects, and what each look that leads nowhere
# costs of it: no more than the shortest message, torn ones between all of them
MAX_EFFORT = 64
SCAN_COST = MAX_EFFORT * 128

# what may stand between two brackets, as far as it is JSON: a string that nothing but a sign of
# JSON follows, signs, words and numbers
_BETWEEN_BRACKETS = re.compile(
    r'(?:[ \t\n\r,:]++|"(?:[^"\\\x00-\x1f]++|\\.)*+"(?=[ \t\n\r]*+[,:\]}])'
    r"|-?(?:\d[\d.eE+-]*+|Infinity)|true|false|null|NaN)*+"
)
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
# deeper than any decoder goes
_MAX_DEPTH = 1_000


def find_object_spans(part: bytes) -> tuple[list[tuple[int, int]], bool]:
    """The first and last byte of each object, and whether there is anything else.

    Takes a time in proportion to the length, however many objects there are.
    """
    # a byte that is no text stays one character, so that offsets in text and bytes agree
    text = part.decode("utf-8", "surrogateescape")
    spans: list[tuple[int, int]] = []
    torn = False
    last = 0
    # the first bracket after that
    bracket = text.find("{")
    effort = (len(text) + SCAN_COST) * MAX_EFFORT
    start_match = _OBJECT_START.search(text)
    while start_match and effort > 0:
        at = start_match.start()
        end, reached = _find_object_end(text, at)
        if end is not None and _is_whole_object(text, end, alone=bracket == at):
            torn = torn or bool(text[last:at].strip(_PADDING))
            spans.append((at, end))
            last = end
            bracket = text.find("{", last)
            start_match = _OBJECT_START.search(text, end)
            continue
        torn = True
        effort -= reached - at + SCAN_COST
        start_match = _OBJECT_START.search(text, at + 1)
    torn = torn or start_match is not None or bool(text[last:].strip(_PADDING))
    return list(_to_byte_spans(text, spans)), torn


def _is_whole_object(text: str, end: int, *, alone: bool) -> bool:
    """Whether an object is no fragment of a torn one; `alone`: no other was begun before it."""
    if _NEXT_OBJECT.match(text, end):
        return True
    # where no other can be open, what is no JSON may follow too
    return alone and not _PART_OF_OBJECT.match(text, end)


def is_fragment(behind: bytes) -> bool:
    """Whether what ends before these bytes is a part of an object, and none of the line's own."""
    line = _LINE.match(behind.decode("latin-1"))
    return line is not None and _PART_OF_OBJECT.match(line[0]) is not None


def _find_object_end(text: str, at: int) -> tuple[int | None, int]:
    """Where the object at an offset ends, None where it is none; and how far was read."""
    depth, position = 1, at + 1
    while depth:
        between = _BETWEEN_BRACKETS.match(text, position)
        position = between.end() if between else position
        match text[position : position + 1]:
            case "{" | "[" if depth < _MAX_DEPTH:
                depth += 1
            case "}" | "]":
                depth -= 1
            case '"':
                # without an end the search went on to the end of the text
                string = _STRING.match(text, position)
                return None, string.end() if string else len(text)
            case "{" | "[":
                return None, len(text)
            case _:
                return None, position
        position += 1
    try:
        lenient_json.decode(
            text[at:position].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        )
    except ValueError:
        return None, position
    return position, position


def _to_byte_spans(text: str, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Offsets in a text as offsets in the bytes that it was decoded from."""
    character = byte = 0
    for span in spans:
        byte_span = []
        for character_position in span:
            byte += len(text[character:character_position].encode("utf-8", "surrogateescape"))
            character = character_position
            byte_span.append(byte)
        yield byte_span[0], byte_span[1]
