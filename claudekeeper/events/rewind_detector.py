"""The last lines of a transcript, so that a rewind is noticed where it happens."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from claudekeeper.transcripts.entries import Entry
from claudekeeper.transcripts.messages import kind_of

MAX_ENTRIES = 512
MAX_DELIVERED = 200


def may_be_queued_prompt(entry: Entry) -> bool:
    """Whether the entry may be a prompt that was queued before."""
    return kind_of(entry) in ("prompt", "command", "notice")


class RewindDetector:
    """The last entries of a transcript, and which of them were delivered."""

    def __init__(self, earlier: Iterable[Entry] = ()) -> None:
        # uuid → whether somebody says something in it
        self._has_text_by_uuid: dict[str, bool] = {}
        self._rewind_pending = False
        # prompts that wait in the queue: all, and those that a page may have shown already
        self._queued = 0
        self._queued_before_batch = 0
        # those that whoever watches was made to read
        self._queued_when_compared = 0
        # those in the queue that pages show, and those that left it of whom a page may show more
        # than the line of their own, which is not there yet
        self._queued_shown = 0
        self._dequeued_shown = 0
        # whether a page that was read before these lines shows another queue than one read now
        self.queue_changed = False
        # whether one has left the queue whose own line is not there yet; the same of a page
        self._prompt_due = False
        self._prompt_due_before_batch = False
        # whether who read since the last comparison may have seen something else
        self.pages_differ = False
        self.delivered: deque[str] = deque(maxlen=MAX_DELIVERED)
        # abandoned branches that a reader was last seen to get
        self.branches: set[str] = set()
        for entry in earlier:
            self.add(entry)
        # they were followed by others, or may be shown by now
        self._queued_shown, self._dequeued_shown = self._queued, int(self._prompt_due)

    def begin_batch(self) -> None:
        """New lines come: whoever has a page may have it from before them."""
        self._queued_before_batch = self._queued
        self._prompt_due_before_batch = self._prompt_due
        self.queue_changed = False

    def add(self, entry: Entry) -> bool:
        """Take the next entry; True if the conversation leaves the last messages."""
        if entry.type == "queue-operation":
            self._handle_queue_operation(entry.operation)
        elif kind_of(entry) is not None:
            self._update_queue_shown(entry)
        if not entry.is_in_chain or entry.is_sidechain or entry.uuid is None:
            return False
        kind = kind_of(entry)
        if kind == "prompt":
            self._handle_prompt()
            self._rewind_pending = self._rewind_pending or self._is_rewind(entry.parent_uuid)
        # a prompt alone abandons nothing: the reply to it does
        is_rewind = self._rewind_pending and kind == "reply"
        self._rewind_pending = self._rewind_pending and not is_rewind
        self._has_text_by_uuid[entry.uuid] = kind in ("prompt", "reply")
        if len(self._has_text_by_uuid) > MAX_ENTRIES:
            del self._has_text_by_uuid[next(iter(self._has_text_by_uuid))]
        return is_rewind

    def _handle_queue_operation(self, operation: str | None) -> None:
        if operation == "enqueue":
            self._queued += 1
            return
        # where none is known to wait, it was put there long before
        self.queue_changed = self.queue_changed or self._queued_shown > 0 or self._queued == 0
        if operation != "popAll" and (self._queued_shown or not self._queued):
            self._dequeued_shown += 1
        self._queued_shown = max(0, self._queued_shown - 1)
        self._queued = max(0, self._queued - 1)
        self._queued_when_compared = min(self._queued_when_compared, self._queued)
        self._prompt_due = True
        if self._queued_before_batch:
            self._queued_before_batch -= 1
            self.pages_differ = True

    def _update_queue_shown(self, entry: Entry) -> None:
        """A page shows what waits once something stands behind it, until it stands there itself."""
        if (self._queued_shown or self._dequeued_shown) and may_be_queued_prompt(entry):
            self.queue_changed = True
            self._dequeued_shown = max(0, self._dequeued_shown - 1)
        if self._queued > self._queued_shown:
            self.queue_changed = True
            self._queued_shown = self._queued

    def _handle_prompt(self) -> None:
        """A prompt's own line: pages of before it showed it as it stood in the queue."""
        self._prompt_due = False
        if self._prompt_due_before_batch:
            self._prompt_due_before_batch = False
            self.pages_differ = True

    def pop_pages_differ(self) -> bool:
        """Whether pages may differ from what was delivered; the question resets the answer."""
        is_due = self._prompt_due and not self._prompt_due_before_batch
        unsettled = self.pages_differ or is_due or self._queued > self._queued_when_compared
        self.pages_differ = False
        self._prompt_due_before_batch, self._queued_when_compared = self._prompt_due, self._queued
        return unsettled

    def _is_rewind(self, parent: str | None) -> bool:
        for uuid in reversed(self._has_text_by_uuid):
            if uuid == parent:
                return False
            if self._has_text_by_uuid[uuid]:
                return True
        return False
