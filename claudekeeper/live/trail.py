"""The last lines of a transcript, so that a rewind is noticed where it happens."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from claudekeeper.model.entries import Entry
from claudekeeper.model.messages import kind_of

REMEMBERED = 512
TOLD = 200


def may_have_waited(entry: Entry) -> bool:
    """Whether the line may be what became of a prompt that waited in line."""
    return kind_of(entry) in ("prompt", "command", "notice")


class Trail:
    """What was written last, and what was told of it."""

    def __init__(self, earlier: Iterable[Entry] = ()) -> None:
        # uuid → whether somebody says something in it
        self._lines: dict[str, bool] = {}
        self._turned = False
        # prompts that wait in the queue: all, and those that a page may have shown already
        self._waiting = 0
        self._shown_waiting = 0
        # those that whoever watches was made to read
        self._said_waiting = 0
        # those in the queue that pages show, and those that left it of whom a page may show more
        # than the line of their own, which is not there yet
        self._seen = 0
        self._left = 0
        # whether a page that was read before these lines shows another queue than one read now
        self.queue_moved = False
        # whether one has left the queue whose own line is not there yet; the same of a page
        self._coming = False
        self._shown_coming = False
        # whether who read since the last comparison may have seen something else
        self.unsettled = False
        self.told: deque[str] = deque(maxlen=TOLD)
        # abandoned branches that a reader was last seen to get
        self.branches: set[str] = set()
        for entry in earlier:
            self.add(entry)
        # they were followed by others, or may be shown by now
        self._seen, self._left = self._waiting, int(self._coming)

    def begin(self) -> None:
        """New lines come: whoever has a page may have it from before them."""
        self._shown_waiting = self._waiting
        self._shown_coming = self._coming
        self.queue_moved = False

    def add(self, entry: Entry) -> bool:
        """Take the next line; True if the conversation leaves what was said last."""
        if entry.type == "queue-operation":
            self._queue(entry.operation)
        elif kind_of(entry) is not None:
            self._shown(entry)
        if not entry.in_chain or entry.is_sidechain or entry.uuid is None:
            return False
        kind = kind_of(entry)
        if kind == "prompt":
            self._comes()
            self._turned = self._turned or self._leaves(entry.parent_uuid)
        # a prompt alone abandons nothing: the reply to it does
        odd = self._turned and kind == "reply"
        self._turned = self._turned and not odd
        self._lines[entry.uuid] = kind in ("prompt", "reply")
        if len(self._lines) > REMEMBERED:
            del self._lines[next(iter(self._lines))]
        return odd

    def _queue(self, operation: str | None) -> None:
        if operation == "enqueue":
            self._waiting += 1
            return
        # where none is known to wait, it was put there long before
        self.queue_moved = self.queue_moved or self._seen > 0 or self._waiting == 0
        if operation != "popAll" and (self._seen or not self._waiting):
            self._left += 1
        self._seen = max(0, self._seen - 1)
        self._waiting = max(0, self._waiting - 1)
        self._said_waiting = min(self._said_waiting, self._waiting)
        self._coming = True
        if self._shown_waiting:
            self._shown_waiting -= 1
            self.unsettled = True

    def _shown(self, entry: Entry) -> None:
        """A page shows what waits once something stands behind it, until it stands there itself."""
        if (self._seen or self._left) and may_have_waited(entry):
            self.queue_moved = True
            self._left = max(0, self._left - 1)
        if self._waiting > self._seen:
            self.queue_moved = True
            self._seen = self._waiting

    def _comes(self) -> None:
        """A prompt's own line: pages of before it showed it as it stood in the queue."""
        self._coming = False
        if self._shown_coming:
            self._shown_coming = False
            self.unsettled = True

    def settle(self) -> bool:
        """At a comparison: whether pages may differ from what was told; from now on they do not."""
        left = self._coming and not self._shown_coming
        unsettled = self.unsettled or left or self._waiting > self._said_waiting
        self.unsettled = False
        self._shown_coming, self._said_waiting = self._coming, self._waiting
        return unsettled

    def _leaves(self, parent: str | None) -> bool:
        for uuid in reversed(self._lines):
            if uuid == parent:
                return False
            if self._lines[uuid]:
                return True
        return False
