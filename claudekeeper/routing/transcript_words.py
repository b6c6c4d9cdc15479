"""The words of a transcript: the prompts, the last reply, and when it was written.

Of a transcript that has grown only the new lines are read.
"""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime
from threading import Lock

import msgspec

from claudekeeper.analysis.summary import SYNTHETIC_MODEL
from claudekeeper.transcripts.cursor import fingerprint_before, has_only_grown
from claudekeeper.transcripts.entries import Entry, blocks_of, is_irrelevant, parse_line
from claudekeeper.transcripts.layout import TranscriptFile
from claudekeeper.transcripts.line_reader import (
    FileChanged,
    lines_forwards,
    open_readonly,
)
from claudekeeper.transcripts.spoken_prompts import PromptFilter

MAX_CACHED = 64
# of a very long session the end is enough, and of many prompts the last ones
MAX_BYTES = 16 * 1024 * 1024
MAX_PROMPTS = 500


class SpokenWords(msgspec.Struct, frozen=True):
    """The words of one version of a transcript."""

    prompts: tuple[str, ...] = ()
    reply: str = ""
    # of the last prompt or reply, in seconds since the epoch
    last_at: float | None = None
    # whether it ends with an error of the API
    ended_in_error: bool = False


class _WordState(msgspec.Struct):
    file: TranscriptFile
    offset: int = 0
    fingerprint: bytes = b""
    words: SpokenWords = SpokenWords()


class TranscriptWords:
    """Reads the words of transcripts."""

    def __init__(self) -> None:
        self._cache: OrderedDict[str, _WordState] = OrderedDict()
        self._lock = Lock()

    def read(self, file: TranscriptFile) -> SpokenWords:
        """The words of a transcript; none if it cannot be read. Blocks."""
        with self._lock:
            state = self._cache.get(file.path)
        if state is None or not state.file.is_same_version(file):
            try:
                state = _read_new_lines(file, state)
            except (OSError, FileChanged):
                return SpokenWords()
            with self._lock:
                self._cache[file.path] = state
                while len(self._cache) > MAX_CACHED:
                    self._cache.popitem(last=False)
        with self._lock:
            if file.path in self._cache:
                self._cache.move_to_end(file.path)
        return state.words


def _read_new_lines(file: TranscriptFile, before: _WordState | None) -> _WordState:
    with open_readonly(file.path) as descriptor:
        offset, words = 0, SpokenWords()
        if before is not None and has_only_grown(
            descriptor, before.offset, before.fingerprint, before.file.inode
        ):
            offset, words = before.offset, before.words
        elif file.size > MAX_BYTES:
            offset = file.size - MAX_BYTES
        fold = _WordFold(words)
        for line_offset, line, ended in lines_forwards(descriptor, offset, file.size):
            if line and not is_irrelevant(line):
                entries, bad = parse_line(line)
                if bad and not ended:
                    # stop before a torn line; its writer may still be mid-append
                    break
                for entry in entries:
                    fold.add(entry)
            offset = line_offset + len(line) + ended
        return _WordState(file, offset, fingerprint_before(descriptor, offset), fold.result())


class _WordFold:
    def __init__(self, before: SpokenWords) -> None:
        self._prompts = list(before.prompts)
        self._reply = before.reply
        self._last_at = before.last_at
        self._ended_in_error = before.ended_in_error
        self._prompt_filter = PromptFilter()

    def add(self, entry: Entry) -> None:
        if entry.is_sidechain:
            return
        if entry.is_meta:
            self._prompt_filter.prompt_in(entry)
            return
        if entry.type == "assistant":
            self._ended_in_error = entry.is_api_error_message
            text = "\n".join(block.text or "" for block in blocks_of(entry.message.content))
            is_synthetic = entry.message.model == SYNTHETIC_MODEL
            if text.strip() and not self._ended_in_error and not is_synthetic:
                self._reply = text
        elif (
            entry.type in ("user", "attachment")
            and (prompt := self._prompt_filter.short_prompt_in(entry)) is not None
        ):
            self._ended_in_error = False
            text, is_typed = prompt
            if is_typed:
                self._prompts.append(text)
        else:
            return
        self._last_at = _epoch_seconds(entry.timestamp) or self._last_at

    def result(self) -> SpokenWords:
        prompts = tuple(self._prompts[-MAX_PROMPTS:])
        return SpokenWords(prompts, self._reply, self._last_at, self._ended_in_error)


def _epoch_seconds(timestamp: str | None) -> float | None:
    try:
        return datetime.fromisoformat(timestamp).timestamp() if timestamp else None
    except ValueError:
        return None
