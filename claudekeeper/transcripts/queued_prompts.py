"""Prompts that waited in Claude Code's queue, and what became of them, read from the end."""

from __future__ import annotations

from claudekeeper.transcripts.message_link import MessageLink


class QueuedPrompts:
    """Which queued prompts were taken later, and so are not shown where they waited."""

    def __init__(self) -> None:
        # prompts that may have come from the queue, and how often words that waited there did
        self._prompts: list[str] = []
        self._sent_counts: dict[str, int] = {}
        # commands taken from the queue whose names are not known: some run under another one
        self._unmatched_commands = 0
        self._command_ran = False
        # how many were removed with nothing after them
        self._removed_count = 0
        # prompts that were never taken, newest first
        self.unanswered_prompts: list[MessageLink] = []

    def add_prompt(self, link: MessageLink) -> None:
        """Take a prompt of the conversation: it may have waited before."""
        words = link.prompt_text or ""
        if link.queue_action == "absorbed":
            self._count_sent(words)
        elif words.startswith("/"):
            self._count_sent(words)
            self._command_ran = True
        else:
            self._prompts.append(words)

    def has_prompt(self, words: str) -> bool:
        return words in self._prompts

    def is_visible(self, link: MessageLink, *, any_visible: bool) -> bool:
        """Whether this is a prompt that was never taken, in a turn that went on.

        `any_visible`: something is shown after it.
        """
        words = link.prompt_text or ""
        if link.queue_action == "waits":
            if self._match_sent(words):
                return False
            if not any_visible:
                self._add_unanswered(link)
            return any_visible
        if link.queue_action == "removed":
            # the turn went on, so the prompt was taken into it and is shown
            self._removed_count += not any_visible
            return False
        if link.queue_action == "taken":
            words = self._prompts.pop() if self._prompts else ""
            self._unmatched_commands += self._command_ran
            self._command_ran = False
        self._count_sent(words)
        return False

    def _add_unanswered(self, link: MessageLink) -> None:
        if self._removed_count:
            self._removed_count -= 1
        elif link.kind == "prompt":
            self.unanswered_prompts.append(link)

    def _count_sent(self, words: str) -> None:
        self._sent_counts[words] = self._sent_counts.get(words, 0) + 1

    def _match_sent(self, words: str) -> bool:
        is_sent = self._sent_counts.get(words, 0) > 0
        if is_sent:
            self._sent_counts[words] -= 1
        if words.startswith("/") and self._unmatched_commands:
            # `/cost` is written as `/usage`
            self._unmatched_commands -= 1
            is_sent = True
        return is_sent
