"""What was said in a transcript: every command of the person, Claude's last words, and when.

A transcript that has grown is read on from where the last reading ended.
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

MOST_CACHED = 64
# of a very long session its end is enough, and of many commands the last ones
MOST_BYTES = 16 * 1024 * 1024
MOST_PROMPTS = 500


class SpokenWords(msgspec.Struct, frozen=True):
    """What one version of a transcript says."""

    prompts: tuple[str, ...] = ()
    reply: str = ""
    # of the last command or reply, in seconds since the epoch
    last_at: float | None = None
    # whether the last thing in it is an error of the API
    ended_in_error: bool = False


class _WordState(msgspec.Struct):
    file: TranscriptFile
    offset: int = 0
    mark: bytes = b""
    words: SpokenWords = SpokenWords()


class TranscriptWords:
    """Reads transcripts for their words. `of` blocks: call it in a thread."""

    def __init__(self) -> None:
        self._cache: OrderedDict[str, _WordState] = OrderedDict()
        self._lock = Lock()

    def read(self, found: TranscriptFile) -> SpokenWords:
        """Empty for a transcript that cannot be read."""
        with self._lock:
            reading = self._cache.get(found.path)
        if reading is None or not reading.file.is_same_version(found):
            try:
                reading = _read_new_lines(found, reading)
            except (OSError, FileChanged):
                return SpokenWords()
            with self._lock:
                self._cache[found.path] = reading
                while len(self._cache) > MOST_CACHED:
                    self._cache.popitem(last=False)
        with self._lock:
            if found.path in self._cache:
                self._cache.move_to_end(found.path)
        return reading.words


def _read_new_lines(found: TranscriptFile, before: _WordState | None) -> _WordState:
    with open_readonly(found.path) as descriptor:
        offset, said = 0, SpokenWords()
        if before is not None and has_only_grown(
            descriptor, before.offset, before.mark, before.file.inode
        ):
            offset, said = before.offset, before.words
        elif found.size > MOST_BYTES:
            offset = found.size - MOST_BYTES
        gathering = _WordFold(said)
        for at, line, ended in lines_forwards(descriptor, offset, found.size):
            if line and not is_irrelevant(line):
                entries, bad = parse_line(line)
                if bad and not ended:
                    # stop before a torn line; its writer may still be mid-append
                    break
                for entry in entries:
                    gathering.add(entry)
            offset = at + len(line) + ended
        return _WordState(found, offset, fingerprint_before(descriptor, offset), gathering.result())


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
            words = "\n".join(block.text or "" for block in blocks_of(entry.message.content))
            if (
                words.strip()
                and not self._ended_in_error
                and entry.message.model != SYNTHETIC_MODEL
            ):
                self._reply = words
        elif (
            entry.type in ("user", "attachment")
            and (said := self._prompt_filter.short_prompt_in(entry)) is not None
        ):
            self._ended_in_error = False
            if said[1]:
                self._prompts.append(said[0])
        else:
            return
        self._last_at = _epoch_seconds(entry.timestamp) or self._last_at

    def result(self) -> SpokenWords:
        commands = tuple(self._prompts[-MOST_PROMPTS:])
        return SpokenWords(commands, self._reply, self._last_at, self._ended_in_error)


def _epoch_seconds(timestamp: str | None) -> float | None:
    try:
        return datetime.fromisoformat(timestamp).timestamp() if timestamp else None
    except ValueError:
        return None
