"""JSON as browsers read it: orjson, and what it refuses of what others wrote."""

from __future__ import annotations

import math
import re
from typing import Any

import orjson

# a string as a whole, so that nothing inside of it is taken for a number; or a number
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|-?Infinity|NaN|-?\d[\d.eE+-]*+', re.DOTALL)
NO_NUMBER = re.compile(r"-?Infinity|NaN")
# an escape as a whole: both halves of an emoji, one half alone, or any other
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_DIGITS = re.compile(r"-?[1-9]")
# no shorter number is more than a double holds
_LARGEST = "1e308"


def decode(text: str) -> Any:
    """ValueError where it is no JSON; half an emoji is U+FFFD, what is no number is null."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return orjson.loads(_TOKEN.sub(_as_browsers_do, text))


def in_place(text: str) -> str:
    """JSON that orjson reads, everything in its place: halves of emoji, numbers without an end."""
    return _TOKEN.sub(_in_place, text)


def _as_browsers_do(token: re.Match[str]) -> str:
    return "null" if NO_NUMBER.fullmatch(token[0]) else _in_place(token)


def _in_place(token: re.Match[str]) -> str:
    word = token[0]
    if word.startswith('"'):
        return _ESCAPE.sub(_whole_emoji, word) if "\\u" in word else word
    try:
        ends = math.isfinite(float(word))
    except ValueError:
        return word
    return (
        word
        if ends or not _DIGITS.match(word)
        else f"{'-' * word.startswith('-')}{_LARGEST}".ljust(len(word))
    )


def _whole_emoji(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape[1] else escape[0]
