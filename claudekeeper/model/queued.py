"""Prompts that waited in Claude Code's queue, and what became of them, read from the end."""

from __future__ import annotations

from claudekeeper.model.links import Link


class QueuedPrompts:
    """Which of them were said later, and so need not be shown where they waited."""

    def __init__(self) -> None:
        # prompts that may have come from the queue, and how often words that waited there did
        self._spoken: list[str] = []
        self._answered: dict[str, int] = {}
        # commands taken from the queue whose names are not known: some run under another one
        self._commands = 0
        self._command_ran = False
        # how many were taken out with nothing after them
        self._removed = 0
        # those that nothing came of, newest first
        self.left_waiting: list[Link] = []

    def hear(self, link: Link) -> None:
        """Remember what was said: it may have waited before."""
        words = link.words or ""
        if link.queue == "absorbed":
            self._answer(words)
        elif words.startswith("/"):
            self._answer(words)
            self._command_ran = True
        else:
            self._spoken.append(words)

    def was_said(self, words: str) -> bool:
        return words in self._spoken

    def is_shown(self, link: Link, *, heard: bool) -> bool:
        """Whether this is a prompt of which nothing came later, in a turn that went on.

        `heard`: something is shown after it.
        """
        words = link.words or ""
        if link.queue == "waits":
            if self._was_answered(words):
                return False
            if not heard:
                self._leave(link)
            return heard
        if link.queue == "removed":
            # where the turn went on it was taken into it, and is shown
            self._removed += not heard
            return False
        if link.queue == "taken":
            words = self._spoken.pop() if self._spoken else ""
            self._commands += self._command_ran
            self._command_ran = False
        self._answer(words)
        return False

    def _leave(self, link: Link) -> None:
        if self._removed:
            self._removed -= 1
        elif link.kind == "prompt":
            self.left_waiting.append(link)

    def _answer(self, words: str) -> None:
        self._answered[words] = self._answered.get(words, 0) + 1

    def _was_answered(self, words: str) -> bool:
        known = self._answered.get(words, 0) > 0
        if known:
            self._answered[words] -= 1
        if words.startswith("/") and self._commands:
            # `/cost` is written down as `/usage`
            self._commands -= 1
            known = True
        return known
