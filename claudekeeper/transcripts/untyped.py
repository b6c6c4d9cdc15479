"""Reads text from JSON values of any type."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from claudekeeper.transcripts.entries import blocks_of, loads, starts_with, string_of

MAX_CHARACTERS = 400


def content_text(content: Raw) -> str:
    """The text of a tool's result, in any of its forms."""
    if starts_with(content, b'"'):
        return string_of(content)
    return "\n".join(block.text for block in blocks_of(content) if block.text)


def raw_text_field(raw: Raw | bytes, name: str) -> str:
    return text_field(loads(raw), name) if bytes(memoryview(raw)[:1]) == b"{" else ""


def text_field(value: Any, name: str) -> str:
    text = value.get(name) if isinstance(value, dict) else None
    return (
        replace_surrogates(text)
        if isinstance(text, str)
        else str(text)
        if isinstance(text, int)
        else ""
    )


def replace_surrogates(text: str) -> str:
    """Half an emoji cannot be encoded."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def shorten(text: str, most: int = MAX_CHARACTERS) -> str:
    text = replace_surrogates(text.strip())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
