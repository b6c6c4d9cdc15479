"""What a transcript covers of a checklist: read once, and from then on only what is new in it."""

from __future__ import annotations

import os
from typing import Any

import msgspec
from msgspec import Raw

from claudekeeper.analysis.decisions import answers_in, is_refusal, refusal_reason
from claudekeeper.analysis.session_facts import results_in
from claudekeeper.analysis.summary import SYNTHETIC_MODEL
from claudekeeper.coverage.checklist import Checklist
from claudekeeper.coverage.coverage_fold import CoverageFold
from claudekeeper.coverage.discussion import Discussion
from claudekeeper.transcripts.cursor import fingerprint_before, has_only_grown
from claudekeeper.transcripts.entries import (
    Entry,
    blocks_of,
    is_irrelevant,
    loads,
    parse_line,
    starts_with,
)
from claudekeeper.transcripts.line_reader import (
    FileChanged,
    lines_forwards,
    open_readonly,
)
from claudekeeper.transcripts.spoken_prompts import PromptFilter
from claudekeeper.transcripts.untyped import content_text

# questions whose answers are waited for
MAX_OPEN_CALLS = 16
_QUESTION_TOOL = "AskUserQuestion"


class CoverageState(msgspec.Struct, array_like=True, gc=False):
    """How far a transcript was read for which checklist, and what was found."""

    revision: str = ""
    offset: int = 0
    # the bytes before the offset: if they are others now, the file was rewritten
    fingerprint: bytes = b""
    discussion: Discussion = msgspec.field(default_factory=Discussion)
    # calls by which Claude asks, as long as they have no result
    open_calls: list[str] = []


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(CoverageState).decode


def fold_coverage(
    path: str, checklist: Checklist, kept: bytes | None, most: int | None = None
) -> tuple[Discussion, bytes, bool] | None:
    """What is covered, what to keep of it, and whether every line was read; None: it is gone.

    `most`: how many bytes to read at once. Blocks.
    """
    folding = unpack_state(kept, checklist)
    try:
        with open_readonly(path) as descriptor:
            size = os.fstat(descriptor).st_size
            if not has_only_grown(descriptor, folding.offset, folding.fingerprint):
                folding = CoverageState(checklist.revision)
            end = size if most is None else min(size, folding.offset + most)
            whole = _fold_lines(descriptor, folding, checklist, end, size)
            folding.fingerprint = fingerprint_before(descriptor, folding.offset)
    except (OSError, FileChanged):
        return None
    return folding.discussion, _encode(folding), whole


def unpack_state(kept: bytes | None, checklist: Checklist) -> CoverageState:
    """What was kept, if it is of this checklist."""
    if kept is not None:
        folding = _decode(kept)
        if folding.revision == checklist.revision:
            return folding
    return CoverageState(checklist.revision)


def _fold_lines(
    descriptor: int, folding: CoverageState, checklist: Checklist, end: int, size: int
) -> bool:
    covering = CoverageFold(checklist.items, folding.discussion)
    listener = PromptFilter()
    for at, line, ended in lines_forwards(descriptor, folding.offset, size):
        if line and not is_irrelevant(line):
            entries, bad = parse_line(line)
            if bad and not ended:
                # stop before a torn line; its writer may still be mid-append
                return True
            for entry in entries:
                _fold_entry(covering, folding, entry, listener)
        folding.offset = at + len(line) + ended
        if folding.offset >= end < size:
            return False
    return True


def _fold_entry(
    covering: CoverageFold, folding: CoverageState, entry: Entry, listener: PromptFilter
) -> None:
    """Whatever of a line the person or Claude said."""
    if entry.is_meta and not entry.is_sidechain:
        listener.prompt_in(entry)
    if entry.is_sidechain or entry.is_meta or entry.is_compact_summary:
        return
    uuid, at = entry.uuid or "", entry.timestamp or ""
    content = entry.message.content
    if entry.type == "assistant":
        if entry.message.model != SYNTHETIC_MODEL and not entry.is_api_error_message:
            _fold_reply(covering, folding, entry, uuid, at)
        return
    if entry.type not in ("user", "attachment"):
        return
    if entry.type == "user" and starts_with(content, b"[") and b'"tool_result"' in bytes(content):
        _fold_result(covering, folding, entry, uuid, at)
        return
    said = listener.prompt_in(entry)
    if said is not None and said[1]:
        covering.add_prompt(said[0], uuid, at)


def _fold_reply(
    covering: CoverageFold, folding: CoverageState, entry: Entry, uuid: str, at: str
) -> None:
    content = bytes(entry.message.content)
    if _QUESTION_TOOL.encode() in content:
        for block in _dicts_in(entry.message.content):
            if block.get("name") == _QUESTION_TOOL:
                folding.open_calls.append(str(block.get("id")))
        del folding.open_calls[:-MAX_OPEN_CALLS]
    text = content_text(entry.message.content)
    if text.strip():
        covering.add_reply(text, uuid, at)


def _fold_result(
    covering: CoverageFold, folding: CoverageState, entry: Entry, uuid: str, at: str
) -> None:
    """Answers to questions, and why something was refused: a person's words as well."""
    content = entry.message.content
    asked = [
        block
        for block in blocks_of(content)
        if block.type == "tool_result" and block.tool_use_id in folding.open_calls
    ]
    if asked:
        folding.open_calls = [
            each
            for each in folding.open_calls
            if each not in {block.tool_use_id for block in asked}
        ]
        for question, answer in answers_in(entry.tool_use_result, content):
            covering.add_answer(question, answer, uuid, at)
    elif entry.denied_by is not None or b"doesn't want to" in bytes(content):
        for result in results_in(content):
            words = content_text(result.content)
            if result.is_error and (is_refusal(words) or entry.denied_by == "person"):
                covering.add_prompt(refusal_reason(words, entry.denied_by) or "", uuid, at)


def _dicts_in(content: Raw) -> list[dict[str, Any]]:
    loose = loads(content)
    return [each for each in loose if isinstance(each, dict)] if isinstance(loose, list) else []
