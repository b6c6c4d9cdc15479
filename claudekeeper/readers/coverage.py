"""What a transcript covers of a checklist: read once, and from then on only what is new in it."""

from __future__ import annotations

import os
from typing import Any

import msgspec
from msgspec import Raw

from claudekeeper.model.checklist import Checklist
from claudekeeper.model.coverage import Covering
from claudekeeper.model.decisions import answers_in, is_refusal, reason_in
from claudekeeper.model.discussion import Discussion
from claudekeeper.model.entries import Entry, blocks_of, loads, parse, starts, told_nothing
from claudekeeper.model.facts import results_in
from claudekeeper.model.loose import words_of
from claudekeeper.model.said import Listener
from claudekeeper.model.summary import SYNTHETIC
from claudekeeper.readers.lines import Changed, forwards, mark_before, opened

# questions whose answers are waited for
MOST_ASKED = 16
_ASKS = "AskUserQuestion"


class Folding(msgspec.Struct, array_like=True, gc=False):
    """How far a transcript was read for which checklist, and what was found."""

    revision: str = ""
    offset: int = 0
    # the bytes before the offset: if they are others now, the file was rewritten
    mark: bytes = b""
    discussion: Discussion = msgspec.field(default_factory=Discussion)
    # calls by which Claude asks, as long as they have no result
    asking: list[str] = []


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Folding).decode


def fold_coverage(
    path: str, checklist: Checklist, kept: bytes | None, most: int | None = None
) -> tuple[Discussion, bytes, bool] | None:
    """What is covered, what to keep of it, and whether every line was read; None: it is gone.

    `most`: how many bytes to read at once. Blocks.
    """
    folding = unpacked(kept, checklist)
    try:
        with opened(path) as descriptor:
            size = os.fstat(descriptor).st_size
            grown = size >= folding.offset
            if not grown or mark_before(descriptor, folding.offset) != folding.mark:
                folding = Folding(checklist.revision)
            end = size if most is None else min(size, folding.offset + most)
            whole = _read(descriptor, folding, checklist, end, size)
            folding.mark = mark_before(descriptor, folding.offset)
    except (OSError, Changed):
        return None
    return folding.discussion, _encode(folding), whole


def unpacked(kept: bytes | None, checklist: Checklist) -> Folding:
    """What was kept, if it is of this checklist."""
    if kept is not None:
        folding = _decode(kept)
        if folding.revision == checklist.revision:
            return folding
    return Folding(checklist.revision)


def _read(descriptor: int, folding: Folding, checklist: Checklist, end: int, size: int) -> bool:
    covering = Covering(checklist.items, folding.discussion)
    listener = Listener()
    for at, line, ended in forwards(descriptor, folding.offset, size):
        if line and not told_nothing(line):
            entries, bad = parse(line)
            if bad and not ended:
                # stop before a torn line; its writer may still be mid-append
                return True
            for entry in entries:
                _take(covering, folding, entry, listener)
        folding.offset = at + len(line) + ended
        if folding.offset >= end < size:
            return False
    return True


def _take(covering: Covering, folding: Folding, entry: Entry, listener: Listener) -> None:
    """Whatever of a line the person or Claude said."""
    if entry.is_meta and not entry.is_sidechain:
        listener.words(entry)
    if entry.is_sidechain or entry.is_meta or entry.is_compact_summary:
        return
    uuid, at = entry.uuid or "", entry.timestamp or ""
    content = entry.message.content
    if entry.type == "assistant":
        if entry.message.model != SYNTHETIC and not entry.is_api_error_message:
            _hear_claude(covering, folding, entry, uuid, at)
        return
    if entry.type not in ("user", "attachment"):
        return
    if entry.type == "user" and starts(content, b"[") and b'"tool_result"' in bytes(content):
        _hear_result(covering, folding, entry, uuid, at)
        return
    said = listener.words(entry)
    if said is not None and said[1]:
        covering.person(said[0], uuid, at)


def _hear_claude(covering: Covering, folding: Folding, entry: Entry, uuid: str, at: str) -> None:
    content = bytes(entry.message.content)
    if _ASKS.encode() in content:
        for block in _mappings(entry.message.content):
            if block.get("name") == _ASKS:
                folding.asking.append(str(block.get("id")))
        del folding.asking[:-MOST_ASKED]
    text = words_of(entry.message.content)
    if text.strip():
        covering.claude(text, uuid, at)


def _hear_result(covering: Covering, folding: Folding, entry: Entry, uuid: str, at: str) -> None:
    """Answers to questions, and why something was refused: a person's words as well."""
    content = entry.message.content
    asked = [
        block
        for block in blocks_of(content)
        if block.type == "tool_result" and block.tool_use_id in folding.asking
    ]
    if asked:
        folding.asking = [
            each for each in folding.asking if each not in {block.tool_use_id for block in asked}
        ]
        for question, answer in answers_in(entry.tool_use_result, content):
            covering.answer(question, answer, uuid, at)
    elif entry.denied_by is not None or b"doesn't want to" in bytes(content):
        for result in results_in(content):
            words = words_of(result.content)
            if result.is_error and (is_refusal(words) or entry.denied_by == "person"):
                covering.person(reason_in(words, entry.denied_by) or "", uuid, at)


def _mappings(content: Raw) -> list[dict[str, Any]]:
    loose = loads(content)
    return [each for each in loose if isinstance(each, dict)] if isinstance(loose, list) else []
