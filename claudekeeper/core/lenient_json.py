"""JSON as browsers read it: orjson, and what it refuses of what others wrote."""

from __future__ import annotations

import math
import re
from typing import Any

import orjson

# a string as a whole, so that nothing inside of it is taken for a number; or a number
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|-?Infinity|NaN|-?\d[\d.eE+-]*+', re.DOTALL)
NON_FINITE = re.compile(r"-?Infinity|NaN")
# an escape as a whole: both halves of an emoji, one half alone, or any other
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_NONZERO = re.compile(r"-?[1-9]")
# no shorter number is more than a double holds
_LARGEST_NUMBER = "1e308"


def decode(text: str) -> Any:
    """ValueError where it is no JSON; half an emoji is U+FFFD, what is no number is null."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return orjson.loads(_TOKEN.sub(_repair_or_null, text))


def repair_in_place(text: str) -> str:
    """JSON that orjson reads, everything in its place: halves of emoji, numbers without an end."""
    return _TOKEN.sub(_repair_token, text)


def _repair_or_null(token: re.Match[str]) -> str:
    return "null" if NON_FINITE.fullmatch(token[0]) else _repair_token(token)


def _repair_token(token: re.Match[str]) -> str:
    word = token[0]
    if word.startswith('"'):
        return _ESCAPE.sub(_replace_lone_surrogate, word) if "\\u" in word else word
    try:
        ends = math.isfinite(float(word))
    except ValueError:
        return word
    return (
        word
        if ends or not _NONZERO.match(word)
        else f"{'-' * word.startswith('-')}{_LARGEST_NUMBER}".ljust(len(word))
    )


def _replace_lone_surrogate(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape[1] else escape[0]
