"""Values out of JSON in which nothing is promised: text where there is some, and nothing else."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from claudekeeper.model.entries import blocks_of, loads, starts, string_of

MOST_WORDS = 400


def words_of(content: Raw) -> str:
    """What a result says, whichever way it was written."""
    if starts(content, b'"'):
        return string_of(content)
    return "\n".join(block.text for block in blocks_of(content) if block.text)


def field_of(raw: Raw | bytes, name: str) -> str:
    return text_of(loads(raw), name) if bytes(memoryview(raw)[:1]) == b"{" else ""


def text_of(value: Any, name: str) -> str:
    text = value.get(name) if isinstance(value, dict) else None
    return whole(text) if isinstance(text, str) else str(text) if isinstance(text, int) else ""


def whole(text: str) -> str:
    """Half an emoji cannot be written down."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def short(text: str, most: int = MOST_WORDS) -> str:
    text = whole(text.strip())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
