"""The coverage of a checklist by a transcript: read once, and then only its new lines."""

from __future__ import annotations

import os

import msgspec

from claudekeeper.analysis.decisions import answers_in, dicts_in, is_refusal, refusal_reason
from claudekeeper.analysis.session_facts import results_in
from claudekeeper.analysis.summary import SYNTHETIC_MODEL
from claudekeeper.coverage.checklist import Checklist
from claudekeeper.coverage.discussion import Discussion
from claudekeeper.coverage.item_coverage import CoverageFold
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

# questions without a result
MAX_OPEN_CALLS = 16
_QUESTION_TOOL = "AskUserQuestion"


class CoverageState(msgspec.Struct, array_like=True, gc=False):
    """How far a transcript was read for which checklist, and the discussion so far."""

    revision: str = ""
    offset: int = 0
    # of the bytes before the offset: with other bytes, the file was rewritten
    fingerprint: bytes = b""
    discussion: Discussion = msgspec.field(default_factory=Discussion)
    # calls with questions that have no result yet
    open_calls: list[str] = []


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(CoverageState).decode


def fold_coverage(
    path: str, checklist: Checklist, packed: bytes | None, most: int | None = None
) -> tuple[Discussion, bytes, bool] | None:
    """Read on from a packed state: the discussion, the new state, and whether every line was read.
    None if the transcript is gone.

    `most`: how many bytes to read at once. Blocks.
    """
    state = unpack_state(packed, checklist)
    try:
        with open_readonly(path) as descriptor:
            size = os.fstat(descriptor).st_size
            if not has_only_grown(descriptor, state.offset, state.fingerprint):
                state = CoverageState(checklist.revision)
            end = size if most is None else min(size, state.offset + most)
            is_complete = _fold_lines(descriptor, state, checklist, end, size)
            state.fingerprint = fingerprint_before(descriptor, state.offset)
    except (OSError, FileChanged):
        return None
    return state.discussion, _encode(state), is_complete


def unpack_state(packed: bytes | None, checklist: Checklist) -> CoverageState:
    """The packed state, if it is of this revision of the checklist; else an empty one."""
    if packed is not None:
        state = _decode(packed)
        if state.revision == checklist.revision:
            return state
    return CoverageState(checklist.revision)


def _fold_lines(
    descriptor: int, state: CoverageState, checklist: Checklist, end: int, size: int
) -> bool:
    """Fold the lines up to `end`; whether those are all."""
    fold = CoverageFold(checklist.items, state.discussion)
    prompt_filter = PromptFilter()
    for offset, line, ended in lines_forwards(descriptor, state.offset, size):
        if line and not is_irrelevant(line):
            entries, bad = parse_line(line)
            if bad and not ended:
                # stop before a torn line; its writer may still be mid-append
                return True
            for entry in entries:
                _fold_entry(fold, state, entry, prompt_filter)
        state.offset = offset + len(line) + ended
        if state.offset >= end < size:
            return False
    return True


def _fold_entry(
    fold: CoverageFold, state: CoverageState, entry: Entry, prompt_filter: PromptFilter
) -> None:
    """Fold a prompt, a reply or an answer; other entries are skipped."""
    if entry.is_meta and not entry.is_sidechain:
        prompt_filter.prompt_in(entry)
    if entry.is_sidechain or entry.is_meta or entry.is_compact_summary:
        return
    uuid, at = entry.uuid or "", entry.timestamp or ""
    content = entry.message.content
    if entry.type == "assistant":
        if entry.message.model != SYNTHETIC_MODEL and not entry.is_api_error_message:
            _fold_reply(fold, state, entry, uuid, at)
        return
    if entry.type not in ("user", "attachment"):
        return
    if entry.type == "user" and starts_with(content, b"[") and b'"tool_result"' in bytes(content):
        _fold_result(fold, state, entry, uuid, at)
        return
    text, is_for_claude = prompt_filter.prompt_in(entry) or ("", False)
    if is_for_claude:
        fold.add_prompt(text, uuid, at)


def _fold_reply(fold: CoverageFold, state: CoverageState, entry: Entry, uuid: str, at: str) -> None:
    content = bytes(entry.message.content)
    if _QUESTION_TOOL.encode() in content:
        for block in dicts_in(loads(entry.message.content)):
            if block.get("name") == _QUESTION_TOOL:
                state.open_calls.append(str(block.get("id")))
        del state.open_calls[:-MAX_OPEN_CALLS]
    text = content_text(entry.message.content)
    if text.strip():
        fold.add_reply(text, uuid, at)


def _fold_result(
    fold: CoverageFold, state: CoverageState, entry: Entry, uuid: str, at: str
) -> None:
    """Fold the answers to questions, and the reasons of refusals: a person's words as well."""
    content = entry.message.content
    answered = {
        block.tool_use_id
        for block in blocks_of(content)
        if block.type == "tool_result" and block.tool_use_id in state.open_calls
    }
    if answered:
        state.open_calls = [call for call in state.open_calls if call not in answered]
        for question, answer in answers_in(entry.tool_use_result, content):
            fold.add_answer(question, answer, uuid, at)
    elif entry.denied_by is not None or b"doesn't want to" in bytes(content):
        for result in results_in(content):
            words = content_text(result.content)
            if result.is_error and (is_refusal(words) or entry.denied_by == "person"):
                fold.add_prompt(refusal_reason(words, entry.denied_by) or "", uuid, at)
