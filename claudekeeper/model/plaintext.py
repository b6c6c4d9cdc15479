"""The words of a message, for those who look for them: text, thinking, calls and their results.

What search finds and what it shows are both read here, so a hit can always be shown. Images, ids
and signatures are no words.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Literal

import msgspec
import orjson
from msgspec import Raw

from claudekeeper.model.decisions import reason_in
from claudekeeper.model.entries import NOTHING, Entry, loads, starts
from claudekeeper.model.messages import Kind, message_of

Where = Literal["text", "thinking", "input", "result"]

# how deep inside the input of a call words are looked for
DEEPEST = 32
PLAN = "ExitPlanMode"
# how a tool's result begins when a person decided something
_ANSWERED = (
    "User has answered your question",
    "Your questions have been answered",
    "User has approved your plan",
    "User has approved the plan",
    "User has approved exiting plan mode",
    "User rejected Claude's plan",
)
_START = 40
_KOREAN_LETTERS = re.compile("[\u1100-\u11ff]+")


class Part(msgspec.Struct, frozen=True, gc=False):
    """A piece of a message's words. `decides`: a person settled something in it."""

    where: Where
    text: str
    tool: str | None = None
    decides: bool = False


class _Block(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    name: str | None = None
    input: Raw = NOTHING
    content: Raw = NOTHING


class _Text(msgspec.Struct, gc=False):
    text: str | None = None


_blocks = msgspec.json.Decoder(list[_Block])
_texts = msgspec.json.Decoder(list[_Text])
_string = msgspec.json.Decoder(str)


def parts_of(entry: Entry, kind: Kind) -> list[Part]:
    """The words of a line that `kind_of` shows; never raises."""
    if entry.type in ("user", "assistant"):
        parts = _parts(entry.message.content)
        return [_settled(part) for part in parts] if entry.denied_by == "person" else parts
    if entry.type == "queue-operation":
        return _parts(entry.content)
    return _parts(message_of(entry, "", kind).content)


def _settled(part: Part) -> Part:
    """Of a call that a person refused: words of theirs settle it, whatever they begin with."""
    if part.where != "result" or reason_in(part.text, "person") is None:
        return part
    return msgspec.structs.replace(part, decides=True)


def said_in(parts: list[Part]) -> str:
    """All of it as one text: this is what is looked through, and what offsets count in."""
    return "\n".join(_with_tool(part) for part in parts)


def part_at(parts: list[Part], offset: int) -> Part:
    """The part of that text in which a place lies."""
    for part in parts:
        length = len(_with_tool(part))
        if offset <= length:
            return part
        offset -= length + 1
    return parts[-1]


def _with_tool(part: Part) -> str:
    return in_syllables(f"{part.tool}\n{part.text}" if part.tool else part.text)


def in_syllables(text: str) -> str:
    """Korean as it is typed: in names of files of macOS each letter stands by itself."""
    if text.isascii() or _KOREAN_LETTERS.search(text) is None:
        return text
    return _KOREAN_LETTERS.sub(lambda found: unicodedata.normalize("NFC", found[0]), text)


def _parts(content: Raw) -> list[Part]:
    try:
        if starts(content, b'"'):
            return [Part("text", _string.decode(content))]
        if starts(content, b"["):
            return [part for block in _blocks.decode(content) for part in _in_block(block)]
    except (msgspec.MsgspecError, RecursionError):
        return _salvaged(content)
    return []


def _in_block(block: _Block) -> list[Part]:
    match block.type:
        case "tool_use":
            words: list[str] = []
            _collect(_decoded(block.input), words)
            return [Part("input", "\n".join(words), block.name, block.name == PLAN)]
        case "tool_result":
            text = _result(block.content)
            return [Part("result", text, None, _decides(text))]
        case "thinking":
            return [Part("thinking", block.thinking or "")]
        case _:
            return [Part("text", block.text)] if block.text else []


def _result(content: Raw) -> str:
    if starts(content, b'"'):
        return _string.decode(content)
    if starts(content, b"["):
        return "\n".join(block.text for block in _texts.decode(content) if block.text)
    return ""


def _decides(text: str) -> bool:
    # a refusal without a word of why settles nothing that could be looked up
    return text[:_START].lstrip().startswith(_ANSWERED) or reason_in(text) is not None


def _decoded(raw: Raw) -> object:
    try:
        return orjson.loads(raw) if raw else None
    except ValueError:
        return loads(raw)


def _collect(value: object, words: list[str], depth: int = 0) -> None:
    """Every name and value, as they would stand in the JSON, without its quotes."""
    if isinstance(value, str):
        words.append(value)
    elif isinstance(value, dict) and depth < DEEPEST:
        for name, item in value.items():
            words.append(name)
            _collect(item, words, depth + 1)
    elif isinstance(value, list) and depth < DEEPEST:
        for item in value:
            _collect(item, words, depth + 1)
    elif isinstance(value, int | float):
        words.append(str(value).lower())


def _salvaged(content: Raw) -> list[Part]:
    """Content in which something has a type that nobody expects, or half an emoji."""
    loose = loads(content)
    if isinstance(loose, str):
        return [Part("text", _whole(loose))]
    parts: list[Part] = []
    for block in loose if isinstance(loose, list) else []:
        if isinstance(block, dict):
            parts += _in_loose_block(block)
    return parts


def _in_loose_block(block: dict[str, Any]) -> list[Part]:
    words: list[str] = []
    match block.get("type"):
        case "tool_use":
            _collect(block.get("input"), words)
            name = block.get("name")
            name = name if isinstance(name, str) else None
            return [Part("input", _whole("\n".join(words)), name, name == PLAN)]
        case "tool_result":
            content = block.get("content")
            for item in content if isinstance(content, list) else [content]:
                _collect(item.get("text") if isinstance(item, dict) else item, words)
            text = _whole("\n".join(words))
            return [Part("result", text, None, _decides(text))]
        case "thinking":
            _collect(block.get("thinking"), words)
            return [Part("thinking", _whole("\n".join(words)))]
        case _:
            _collect(block.get("text"), words)
            return [Part("text", _whole("\n".join(words)))] if words else []


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
