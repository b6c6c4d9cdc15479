"""What a person said, line by line.

Some commands of Claude Code's own only do something in the terminal (`/model`), others are put to
Claude (`/goal`, `/plan` with words behind them). Both are written down in the same way, but before
the first kind Claude Code writes a line that says so.
"""

from __future__ import annotations

from claudekeeper.model.entries import Entry, blocks_of, starts, string_of
from claudekeeper.model.messages import Kind, kind_of, queued_prompt
from claudekeeper.model.prompts import (
    asks_with_words,
    is_caveat,
    is_command,
    is_local,
    plain_words,
    prompt_of,
    shortened,
)


class Listener:
    """Hears the lines of a transcript in their order."""

    def __init__(self, caveat: str | None = None) -> None:
        # the last line by which Claude Code says that a command ran in the terminal only
        self.caveat = caveat

    def said(self, entry: Entry) -> tuple[str, bool] | None:
        """What a person typed in this line, short enough for a list, and whether it was asked of
        Claude; None for no prompt."""
        said = self.words(entry)
        return (shortened(said[0]), said[1]) if said is not None else None

    def words(self, entry: Entry) -> tuple[str, bool] | None:
        """The same, whole."""
        if entry.type == "user" and entry.is_meta:
            content = entry.message.content
            if entry.uuid and starts(content, b'"') and is_caveat(string_of(content)):
                self.caveat = entry.uuid
            return None
        if entry.type == "user" and not (entry.is_compact_summary or entry.by_others):
            # most prompts are plain words: nothing to unwrap, nothing to tell apart
            text = plain_words(entry.message.content)
            if text:
                return text, True
        kind: Kind | None = kind_of(entry)
        if kind not in ("prompt", "command"):
            return None
        content = queued_prompt(entry) if entry.type == "attachment" else entry.message.content
        blocks = blocks_of(content)
        text = prompt_of(blocks)
        if not text:
            return None
        first = next((block.text for block in blocks if block.text), "")
        return text, kind == "prompt" or self._is_asked(entry, first)

    def _is_asked(self, entry: Entry, text: str) -> bool:
        if not is_command(text):
            return False
        if not is_local(text):
            return True
        after_caveat = entry.parent_uuid is not None and entry.parent_uuid == self.caveat
        return asks_with_words(text) and not after_caveat
