"""The last lines of a transcript, so that a rewind is noticed where it happens."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from claudekeeper.model.entries import Entry
from claudekeeper.model.messages import kind_of

REMEMBERED = 512
TOLD = 200


class Trail:
    """What was written last, and what was told of it."""

    def __init__(self, earlier: Iterable[Entry] = ()) -> None:
        # uuid → whether somebody says something in it
        self._lines: dict[str, bool] = {}
        self._turned = False
        # prompts that wait in the queue: all, and those that a page may have shown already
        self._waiting = 0
        self._shown_waiting = 0
        # whether one of those was taken since the last comparison
        self.taken = False
        self.told: deque[str] = deque(maxlen=TOLD)
        # abandoned branches that a reader was last seen to get
        self.branches: set[str] = set()
        for entry in earlier:
            self.add(entry)

    def begin(self) -> None:
        """New lines come: whoever has a page may have it from before them."""
        self._shown_waiting = self._waiting

    def add(self, entry: Entry) -> bool:
        """Take the next line; True if the conversation leaves what was said last."""
        if entry.type == "queue-operation":
            self._queue(entry.operation)
        if not entry.in_chain or entry.is_sidechain or entry.uuid is None:
            return False
        kind = kind_of(entry)
        if kind == "prompt":
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
        self._waiting = max(0, self._waiting - 1)
        if self._shown_waiting:
            self._shown_waiting -= 1
            self.taken = True

    def _leaves(self, parent: str | None) -> bool:
        for uuid in reversed(self._lines):
            if uuid == parent:
                return False
            if self._lines[uuid]:
                return True
        return False
