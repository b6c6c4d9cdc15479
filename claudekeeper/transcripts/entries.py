"""Parses one line of a transcript into entries; what cannot be read is counted, never raised.

A transcript is what other programs wrote, often torn, sometimes hostile. The fast path decodes a
line into a typed `Entry` and leaves the large parts as raw bytes; everything unusual (two objects
on a line, NULs, a byte-order mark, bad UTF-8, half an emoji, wrong types) takes the slow path.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any, NamedTuple

import msgspec
import orjson
from msgspec import Raw

from claudekeeper.contract.message import Denier
from claudekeeper.core import lenient_json
from claudekeeper.transcripts.object_scanner import find_object_spans

EMPTY_RAW = Raw(b"")
# what a strict decoder raises
DECODE_ERRORS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


# Types whose lines start with `{"type":"…"` and that matter. Other such lines
# (snapshots, request shapes: tens of kilobytes each) are skipped without decoding.
RELEVANT_TYPES = frozenset(
    b"user assistant system attachment progress summary agent-name custom-title ai-title "
    b"last-prompt queue-operation cost-state".split()
)
CHAIN_TYPES = frozenset({"user", "assistant", "progress", "system", "attachment"})

TYPE_PREFIX = b'{"type":"'


class CacheWrites(msgspec.Struct, gc=False):
    """Cache writes by how long they are kept: an hour costs more."""

    ephemeral_1h_input_tokens: int | None = 0


class EntryUsage(msgspec.Struct, gc=False):
    """Token counts as the API gives them."""

    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0
    cache_creation: CacheWrites | None = None
    # `fast` costs more; any other value is ignored
    speed: Any = None

    @property
    def total(self) -> int:
        return (
            (self.input_tokens or 0)
            + (self.output_tokens or 0)
            + (self.cache_read_input_tokens or 0)
            + (self.cache_creation_input_tokens or 0)
        )


class EntryMessage(msgspec.Struct, frozen=True, gc=False):
    """The `message` of a user or assistant line."""

    id: str | None = None
    role: str | None = None
    model: str | None = None
    content: Raw = EMPTY_RAW
    usage: Raw = EMPTY_RAW


EMPTY_MESSAGE = EntryMessage()


class Entry(msgspec.Struct, rename="camel", gc=False):
    """The fields of a line that matter; content stays undecoded."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    agent_id: str | None = None
    team_name: str | None = None
    is_sidechain: bool = False
    is_meta: bool = False
    is_compact_summary: bool = False
    is_api_error_message: bool = False
    source_tool_assistant_uuid: str | None = msgspec.field(
        default=None, name="sourceToolAssistantUUID"
    )
    message: EntryMessage = EMPTY_MESSAGE
    content: Raw = EMPTY_RAW
    attachment: Raw = EMPTY_RAW
    error: Raw = EMPTY_RAW
    # of lines that are not in the chain
    leaf_uuid: str | None = None
    summary: str | None = None
    agent_name: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    last_prompt: str | None = None
    operation: str | None = None
    total_cost_usd: float | None = msgspec.field(default=None, name="totalCostUSD")
    # a tool's result as Claude Code stores it for itself; and why a call was denied
    tool_use_result: Raw = EMPTY_RAW
    tool_denial_kind: str | None = None
    # a person wrote the text of the denial
    holds_persons_words: bool = False
    # who speaks, where that is not always the person
    origin: Raw = EMPTY_RAW
    # the session and the message that this line is a copy of
    forked_from: Raw = EMPTY_RAW
    # False: the line held more (or less) than one JSON object, so the SDK's reader drops it
    is_whole_line: bool = True

    @property
    def denied_by(self) -> Denier | None:
        """Who denied the call, where the line has a field for it; older lines say it in words."""
        if self.tool_denial_kind is None:
            return None
        by_person = self.tool_denial_kind == "user-rejected" or self.holds_persons_words
        return "person" if by_person else "rule"

    @property
    def is_from_others(self) -> bool:
        """Whether another session, agent or channel says this in the place of the person."""
        return bool(self.origin) and is_others_origin(bytes(self.origin))

    @property
    def is_in_chain(self) -> bool:
        """Whether the SDK's reader would take it as a link of the conversation."""
        return self.type in CHAIN_TYPES and self.uuid is not None


_OTHERS_ORIGIN = re.compile(rb'"kind"\s*:\s*"(?:peer|channel|coordinator|task-notification)"')


def is_others_origin(origin: bytes) -> bool:
    """Whether this `origin` of a line is not the person."""
    return _OTHERS_ORIGIN.search(origin) is not None


class ObjectSpan(NamedTuple):
    """An entry, and where its bytes stand in its line."""

    start: int
    end: int
    entry: Entry


class ContentBlock(msgspec.Struct, gc=False):
    """The ids and the text of a content block."""

    type: str = ""
    id: str | None = None
    tool_use_id: str | None = None
    text: str | None = None


_entry_decoder = msgspec.json.Decoder(Entry)
_blocks_decoder = msgspec.json.Decoder(list[ContentBlock])
_usage_decoder = msgspec.json.Decoder(EntryUsage)
_string_decoder = msgspec.json.Decoder(str)
_STRING_FIELDS = tuple(
    (field.name, field.encode_name)
    for field in msgspec.structs.fields(Entry)
    if field.name != "type" and field.type == str | None
)
_BOOL_FIELDS = tuple(
    (field.name, field.encode_name)
    for field in msgspec.structs.fields(Entry)
    if field.type is bool and field.name != "is_whole_line"
)
_RAW_FIELDS = tuple(
    (field.name, field.encode_name) for field in msgspec.structs.fields(Entry) if field.type is Raw
)


def is_irrelevant(line: bytes) -> bool:
    """Whether the first bytes already show that the line does not matter."""
    if not line.startswith(TYPE_PREFIX):
        return False
    # a line of the chain has a uuid, whatever its first bytes say
    return line[9 : line.find(b'"', 9, 41)] not in RELEVANT_TYPES and b'"uuid"' not in line


def parse_ordinary(line: bytes) -> Entry | None:
    """The entry of an ordinary line; None for a line that needs `parse_objects`."""
    return decode_unchecked(line) if is_utf8(line) else None


def decode_unchecked(line: bytes) -> Entry | None:
    """The same without the check for UTF-8, so undecoded fields may have bytes that are no text."""
    if b"\r" in line:
        return None
    try:
        entry = _entry_decoder.decode(line)
    except DECODE_ERRORS:
        return None
    # without a uuid an entry is identified by its text, which has to be valid
    return entry if entry.uuid or is_utf8(line) else None


def parse_line(line: bytes) -> tuple[list[Entry], int]:
    """The entries of one line, and how many pieces of it were not readable."""
    entry = parse_ordinary(line)
    if entry is not None:
        return [entry], 0
    pieces, bad = parse_objects(line)
    return [piece.entry for piece in pieces], bad


def is_utf8(written: bytes | Raw) -> bool:
    """Whether it can go to a client as it is."""
    written = bytes(written)
    if written.isascii():
        return True
    try:
        written.decode()
    except UnicodeDecodeError:
        return False
    return True


def string_of(content: Raw) -> str:
    """A JSON string; one that is none is empty."""
    try:
        return _string_decoder.decode(content)
    except DECODE_ERRORS:
        loose = loads(content)
        return loose if isinstance(loose, str) else ""


def blocks_of(content: Raw) -> list[ContentBlock]:
    """The blocks of a content list; a plain string is one text block."""
    try:
        if starts_with(content, b'"'):
            return [ContentBlock(type="text", text=_string_decoder.decode(content))]
        return _blocks_decoder.decode(content)
    except DECODE_ERRORS:
        pass
    loose = loads(content)
    if isinstance(loose, str):
        return [ContentBlock(type="text", text=loose)]
    if not isinstance(loose, list):
        return []
    return [
        ContentBlock(
            type=_text_or_none(block.get("type")) or "",
            id=_text_or_none(block.get("id")),
            tool_use_id=_text_or_none(block.get("tool_use_id")),
            text=_text_or_none(block.get("text")),
        )
        for block in loose
        if isinstance(block, dict)
    ]


def usage_of(written: Raw | bytes) -> EntryUsage | None:
    """The token counts of a reply, if they are usable."""
    if bytes(memoryview(written)[:1]) != b"{":
        return None
    try:
        return _usage_decoder.decode(written)
    except DECODE_ERRORS:
        return None


def starts_with(raw: Raw, byte: bytes) -> bool:
    """Whether this is what the JSON begins with: a string, a list or an object."""
    return memoryview(raw)[:1] == byte


def loads(raw: Raw | bytes) -> Any:
    """Decode leniently; None where even that fails."""
    try:
        return lenient_json.decode(bytes(raw).decode("utf-8", "replace"))
    except ValueError:
        return None


def dumps(value: object) -> Raw:
    """Encode so that every strict decoder takes it: half an emoji becomes U+FFFD, NaN null."""
    try:
        return Raw(orjson.dumps(value))
    except orjson.JSONEncodeError:
        # numbers of any length, too
        return Raw(msgspec.json.encode(_clean_value(value)))


def _clean_value(value: object) -> object:
    if isinstance(value, str):
        return _replace_surrogates(value)
    if isinstance(value, list):
        return [_clean_value(item) for item in value]
    if isinstance(value, dict):
        return {str(_clean_value(key)): _clean_value(item) for key, item in value.items()}
    return value


def _replace_surrogates(text: str) -> str:
    """Half an emoji cannot be encoded."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text_or_none(value: object) -> str | None:
    return _replace_surrogates(value) if isinstance(value, str) else None


def parse_objects(line: bytes) -> tuple[list[ObjectSpan], int]:
    """The entries of a strange line with the bytes of each, and how much of it was not readable.

    Of several objects each has its own span, so reading them all takes as long as reading the line.
    """
    spans: list[ObjectSpan] = []
    bad = 0
    start = 0
    # the SDK reads with universal newlines: a lone carriage return ends a line for it
    for part in line.split(b"\r"):
        if part.strip():
            objects, lost = _salvage(part, start)
            spans += objects
            bad += lost
        start += len(part) + 1
    return spans, bad


def _salvage(part: bytes, start: int) -> tuple[list[ObjectSpan], int]:
    """Every readable object of a strange line; `start` is where the part begins in its line."""
    whole = parse_ordinary(part)
    if whole is not None:
        # it is read alone later, and a uuid that is made from its bytes has to be the same then
        return [ObjectSpan(start, start + len(part), whole)], 0
    with contextlib.suppress(ValueError):
        value = lenient_json.decode(part.decode("utf-8", "replace").strip())
        if not isinstance(value, dict):
            return [], 1
        return [ObjectSpan(start, start + len(part), _entry_of(value))], 0
    spans, torn = find_object_spans(part)
    objects: list[ObjectSpan] = []
    for at, end in spans:
        piece = part[at:end]
        entry = parse_ordinary(piece) or _lenient_entry(piece)
        if entry is not None:
            entry.is_whole_line = False
            objects.append(ObjectSpan(start + at, start + end, entry))
    return objects, int(torn or not objects)


def _lenient_entry(piece: bytes) -> Entry | None:
    value = loads(piece)
    return _entry_of(value) if isinstance(value, dict) else None


def _entry_of(value: dict[str, Any]) -> Entry:
    entry = Entry(type=_text_or_none(value.get("type")) or "")
    for name, key in _STRING_FIELDS:
        setattr(entry, name, _text_or_none(value.get(key)))
    for name, key in _BOOL_FIELDS:
        setattr(entry, name, bool(value.get(key)))
    for name, key in _RAW_FIELDS:
        if value.get(key) is not None:
            setattr(entry, name, dumps(value[key]))
    if isinstance(value.get("message"), dict):
        entry.message = _entry_message_of(value["message"])
    if not isinstance(value.get("teamName"), str | None):
        entry.team_name = str(value["teamName"] or "") or None
    cost = value.get("totalCostUSD")
    entry.total_cost_usd = float(cost) if isinstance(cost, int | float) else None
    return entry


def _entry_message_of(loose: dict[str, Any]) -> EntryMessage:
    return EntryMessage(
        id=_text_or_none(loose.get("id")),
        role=_text_or_none(loose.get("role")),
        model=_text_or_none(loose.get("model")),
        content=dumps(loose["content"]) if "content" in loose else EMPTY_RAW,
        usage=dumps(loose["usage"]) if "usage" in loose else EMPTY_RAW,
    )
