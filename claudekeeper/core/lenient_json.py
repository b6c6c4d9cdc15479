"""JSON that other programs accept and orjson refuses, repaired for orjson."""

from __future__ import annotations

import math
import re
from typing import Any

import orjson

# a whole string, so that nothing inside it is taken for a number; or a number
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|-?Infinity|NaN|-?\d[\d.eE+-]*+', re.DOTALL)
NON_FINITE = re.compile(r"-?Infinity|NaN")
# a whole escape: a surrogate pair, a lone surrogate, or any other
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_NONZERO = re.compile(r"-?[1-9]")
# no number with fewer characters exceeds a double
_LARGEST_NUMBER = "1e308"


def decode(text: str) -> Any:
    """The value; a lone surrogate becomes U+FFFD, NaN and Infinity null. ValueError for no JSON."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return orjson.loads(_TOKEN.sub(_repair_or_null, text))


def repair_in_place(text: str) -> str:
    """The text with lone surrogates and huge numbers replaced, every offset unchanged."""
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
