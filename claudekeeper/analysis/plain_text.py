"""The plain text of a message, for search: text, thinking, calls and their results.

Both the index and the hits are made of it, so a hit can always be displayed. Images, ids and
signatures are left out.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Literal

import msgspec
import orjson
from msgspec import Raw

from claudekeeper.analysis.decisions import refusal_reason
from claudekeeper.contract.message import MessageKind
from claudekeeper.transcripts.entries import EMPTY_RAW, Entry, loads, starts_with
from claudekeeper.transcripts.messages import message_of
from claudekeeper.transcripts.untyped import replace_surrogates

Where = Literal["text", "thinking", "input", "result"]

# how deep the input of a call is read
MAX_DEPTH = 32
PLAN_TOOL = "ExitPlanMode"
# a result that begins so is a decision of a person
_DECISION_PREFIXES = (
    "User has answered your question",
    "Your questions have been answered",
    "User has approved your plan",
    "User has approved the plan",
    "User has approved exiting plan mode",
    "User rejected Claude's plan",
)
_PREFIX_LENGTH = 40
_KOREAN_LETTERS = re.compile("[\u1100-\u11ff]+")


class TextPart(msgspec.Struct, frozen=True, gc=False):
    """A part of a message's text. `is_decision`: a person decided something with it."""

    where: Where
    text: str
    tool: str | None = None
    is_decision: bool = False


class _Block(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    name: str | None = None
    input: Raw = EMPTY_RAW
    content: Raw = EMPTY_RAW


class _Text(msgspec.Struct, gc=False):
    text: str | None = None


_blocks_decoder = msgspec.json.Decoder(list[_Block])
_texts_decoder = msgspec.json.Decoder(list[_Text])
_string_decoder = msgspec.json.Decoder(str)


def parts_of(entry: Entry, kind: MessageKind) -> list[TextPart]:
    """The text of an entry that has a kind; never raises."""
    if entry.type in ("user", "assistant"):
        parts = _parts_of_content(entry.message.content)
        return [_mark_decision(part) for part in parts] if entry.denied_by == "person" else parts
    if entry.type == "queue-operation":
        return _parts_of_content(entry.content)
    return _parts_of_content(message_of(entry, "", kind).content)


def _mark_decision(part: TextPart) -> TextPart:
    """The result of a call that a person refused: with a reason it is a decision."""
    if part.where != "result" or refusal_reason(part.text, "person") is None:
        return part
    return msgspec.structs.replace(part, is_decision=True)


def join_parts(parts: list[TextPart]) -> str:
    """All parts as one text: the text that is searched, and that offsets count in."""
    return "\n".join(_part_text(part) for part in parts)


def part_at(parts: list[TextPart], offset: int) -> TextPart:
    """The part of that text at an offset."""
    for part in parts:
        length = len(_part_text(part))
        if offset <= length:
            return part
        offset -= length + 1
    return parts[-1]


def _part_text(part: TextPart) -> str:
    return in_syllables(f"{part.tool}\n{part.text}" if part.tool else part.text)


def in_syllables(text: str) -> str:
    """The text with composed Korean syllables: file names of macOS have single letters."""
    if text.isascii() or _KOREAN_LETTERS.search(text) is None:
        return text
    return _KOREAN_LETTERS.sub(lambda match: unicodedata.normalize("NFC", match[0]), text)


def _parts_of_content(content: Raw) -> list[TextPart]:
    try:
        if starts_with(content, b'"'):
            return [TextPart("text", _string_decoder.decode(content))]
        if starts_with(content, b"["):
            return [
                part for block in _blocks_decoder.decode(content) for part in _parts_of_block(block)
            ]
    except (msgspec.MsgspecError, RecursionError):
        return _salvage_parts(content)
    return []


def _parts_of_block(block: _Block) -> list[TextPart]:
    match block.type:
        case "tool_use":
            words: list[str] = []
            _collect_strings(_decode_input(block.input), words)
            return [TextPart("input", "\n".join(words), block.name, block.name == PLAN_TOOL)]
        case "tool_result":
            text = _result_text(block.content)
            return [TextPart("result", text, None, _is_decision(text))]
        case "thinking":
            return [TextPart("thinking", block.thinking or "")]
        case _:
            return [TextPart("text", block.text)] if block.text else []


def _result_text(content: Raw) -> str:
    if starts_with(content, b'"'):
        return _string_decoder.decode(content)
    if starts_with(content, b"["):
        return "\n".join(block.text for block in _texts_decoder.decode(content) if block.text)
    return ""


def _is_decision(text: str) -> bool:
    # a refusal without a reason is nothing to search for
    return (
        text[:_PREFIX_LENGTH].lstrip().startswith(_DECISION_PREFIXES)
        or refusal_reason(text) is not None
    )


def _decode_input(raw: Raw) -> object:
    try:
        return orjson.loads(raw) if raw else None
    except ValueError:
        return loads(raw)


def _collect_strings(value: object, words: list[str], depth: int = 0) -> None:
    """Collect every name and value of untyped JSON."""
    if isinstance(value, str):
        words.append(value)
    elif isinstance(value, dict) and depth < MAX_DEPTH:
        for name, item in value.items():
            words.append(name)
            _collect_strings(item, words, depth + 1)
    elif isinstance(value, list) and depth < MAX_DEPTH:
        for item in value:
            _collect_strings(item, words, depth + 1)
    elif isinstance(value, int | float):
        words.append(str(value).lower())


def _salvage_parts(content: Raw) -> list[TextPart]:
    """The parts of content with an unexpected type, or with half an emoji."""
    loose = loads(content)
    if isinstance(loose, str):
        return [TextPart("text", replace_surrogates(loose))]
    parts: list[TextPart] = []
    for block in loose if isinstance(loose, list) else []:
        if isinstance(block, dict):
            parts += _parts_of_untyped_block(block)
    return parts


def _parts_of_untyped_block(block: dict[str, Any]) -> list[TextPart]:
    words: list[str] = []
    match block.get("type"):
        case "tool_use":
            _collect_strings(block.get("input"), words)
            name = block.get("name")
            name = name if isinstance(name, str) else None
            return [
                TextPart("input", replace_surrogates("\n".join(words)), name, name == PLAN_TOOL)
            ]
        case "tool_result":
            content = block.get("content")
            for item in content if isinstance(content, list) else [content]:
                _collect_strings(item.get("text") if isinstance(item, dict) else item, words)
            text = replace_surrogates("\n".join(words))
            return [TextPart("result", text, None, _is_decision(text))]
        case "thinking":
            _collect_strings(block.get("thinking"), words)
            return [TextPart("thinking", replace_surrogates("\n".join(words)))]
        case _:
            _collect_strings(block.get("text"), words)
            return [TextPart("text", replace_surrogates("\n".join(words)))] if words else []
