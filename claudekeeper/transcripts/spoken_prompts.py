"""Finds the prompts of a person among the lines of a transcript.

Some built-in commands only do something in the terminal (`/model`), others are sent to Claude
(`/goal`, `/plan` with arguments). Both are written in the same way, but before the first kind
Claude Code writes a caveat.
"""

from __future__ import annotations

from claudekeeper.contract.message import MessageKind
from claudekeeper.transcripts.entries import Entry, blocks_of, starts_with, string_of
from claudekeeper.transcripts.messages import kind_of, queued_prompt_content
from claudekeeper.transcripts.prompts import (
    has_arguments,
    is_caveat,
    is_command,
    is_local_command,
    plain_prompt,
    prompt_of,
    shorten_prompt,
)


class PromptFilter:
    """Takes the lines of a transcript in their order, and returns the prompts."""

    def __init__(self, caveat: str | None = None) -> None:
        # the last caveat: a line which says that the next command ran in the terminal only
        self.caveat_uuid = caveat

    def short_prompt_in(self, entry: Entry) -> tuple[str, bool] | None:
        """What a person typed in this line, short enough for a list, and whether it was asked of
        Claude; None for no prompt."""
        prompt = self.prompt_in(entry)
        return (shorten_prompt(prompt[0]), prompt[1]) if prompt is not None else None

    def prompt_in(self, entry: Entry) -> tuple[str, bool] | None:
        """The same, whole."""
        if entry.type == "user" and entry.is_meta:
            content = entry.message.content
            if entry.uuid and starts_with(content, b'"') and is_caveat(string_of(content)):
                self.caveat_uuid = entry.uuid
            return None
        if entry.type == "user" and not (entry.is_compact_summary or entry.is_from_others):
            # most prompts are plain text: nothing to unwrap
            text = plain_prompt(entry.message.content)
            if text:
                return text, True
        kind: MessageKind | None = kind_of(entry)
        if kind not in ("prompt", "command"):
            return None
        content = (
            queued_prompt_content(entry) if entry.type == "attachment" else entry.message.content
        )
        blocks = blocks_of(content)
        text = prompt_of(blocks)
        if not text:
            return None
        first = next((block.text for block in blocks if block.text), "")
        return text, kind == "prompt" or self._is_for_claude(entry, first)

    def _is_for_claude(self, entry: Entry, text: str) -> bool:
        if not is_command(text):
            return False
        if not is_local_command(text):
            return True
        after_caveat = entry.parent_uuid is not None and entry.parent_uuid == self.caveat_uuid
        return has_arguments(text) and not after_caveat
