"""The activity of a transcript: its prompts, calls, edits and compactions, folded line by line.

Calls and edits count with the reply that made them. A prompt or compaction that is copied into
another file gets a new uuid, but keeps its time and words: these identify it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import chain, repeat

import msgspec

from claudekeeper.analysis.reply_usage import (
    REPLY_COLUMNS,
    PackedReplies,
    ReplyUsage,
    identity,
    minute_of,
    unpack_replies,
)
from claudekeeper.transcripts.entries import Entry

# how many prompts are kept, and how many characters of each
MAX_PROMPTS = 2_000
MAX_PROMPT_LENGTH = 200
# no uuid or time is longer
MAX_ID_LENGTH = 64
# a hostile line may hold any number of calls
_MAX_COUNT = 2**16 - 1
QUARTER_MINUTES = 15

# replies, input, output, cache read, cache write, cost, calls, edits, prompts, compactions
SUM_COLUMNS = REPLY_COLUMNS - 1 + 4
_CALLS, _EDITS, _PROMPTS, _COMPACTIONS = range(REPLY_COLUMNS - 1, SUM_COLUMNS)
Sums = list[int]


class PromptAt(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """A prompt, with its time and message."""

    at: str
    uuid: str
    text: str


class Activity(msgspec.Struct, array_like=True, gc=False):
    """Activity as the cache stores it."""

    # of every prompt and compaction: its identity, and twice its minute, plus one for a compaction
    identities: bytes = b""
    minutes: bytes = b""
    # by index of a reply
    calls: bytes = b""
    edits: bytes = b""


class ActivityFold:
    """Folds entries into activity."""

    def __init__(self, activity: Activity, prompts: list[PromptAt], replies: ReplyUsage) -> None:
        self._replies = replies
        self._identities = array("Q", activity.identities)
        self._identity_set = set(self._identities)
        self._minutes = array("Q", activity.minutes)
        self._calls = array("H", activity.calls)
        self._edits = array("H", activity.edits)
        self.prompts = prompts

    def add_prompt(self, entry: Entry, text: str) -> None:
        at = (entry.timestamp or "")[:MAX_ID_LENGTH]
        uuid = (entry.uuid or "")[:MAX_ID_LENGTH]
        if self._add_identity(f"{at}\n{text}", at, 0) and uuid:
            self.prompts.append(PromptAt(at, uuid, _shorten(text)))
            if len(self.prompts) > MAX_PROMPTS:
                # drop every second one of the older half, but not the first
                del self.prompts[1 : MAX_PROMPTS // 2 : 2]

    def add_compaction(self, entry: Entry) -> None:
        at = entry.timestamp or ""
        self._add_identity(f"{at}\ncompaction", at, 1)

    def add_calls(self, number: int) -> None:
        self._add_count(self._calls, number)

    def add_edit(self) -> None:
        self._add_count(self._edits, 1)

    @property
    def identity_count(self) -> int:
        return len(self._identities)

    def pack(self) -> Activity:
        return Activity(
            self._identities.tobytes(),
            self._minutes.tobytes(),
            self._calls.tobytes(),
            self._edits.tobytes(),
        )

    def _add_identity(self, text: str, at: str, is_compaction: int) -> bool:
        own = identity(text)
        if own in self._identity_set:
            return False
        self._identity_set.add(own)
        self._identities.append(own)
        self._minutes.append(minute_of(at) * 2 + is_compaction)
        return True

    def _add_count(self, numbers: array[int], number: int) -> None:
        index = self._replies.last_index
        if index is None:
            # without a reply that has usage there is nothing to count it with
            return
        if index >= len(numbers):
            numbers.extend([0] * (index + 1 - len(numbers)))
        numbers[index] = min(_MAX_COUNT, numbers[index] + number)


def activity_identities(activity: Activity) -> array[int]:
    """The identities of all prompts and compactions."""
    return array("Q", activity.identities)


def sums_by_quarter(
    replies: PackedReplies, activity: Activity, repeated: frozenset[int] | set[int] = frozenset()
) -> dict[tuple[int, int], Sums]:
    """The sums by quarter of an hour since the epoch and by model; prompts and compactions have the
    model -1. `repeated`: identities that count in another file."""
    sums_by_key: dict[tuple[int, int], Sums] = {}
    counts = zip(
        unpack_replies(replies),
        _padded_counts(activity.calls),
        _padded_counts(activity.edits),
        strict=False,
    )
    for (reply, cost), calls, edits in counts:
        if repeated and reply in repeated:
            continue
        # by number, as attributes of thousands of replies take time
        key = (cost[0] // QUARTER_MINUTES, cost[1])
        sums = sums_by_key.get(key)
        if sums is None:
            sums = sums_by_key[key] = [0] * SUM_COLUMNS
        sums[0] += 1
        sums[1] += cost[2]
        sums[2] += cost[3]
        sums[3] += cost[4]
        sums[4] += cost[5]
        sums[5] += cost[6]
        sums[_CALLS] += calls
        sums[_EDITS] += edits
    minutes = array("Q", activity.minutes)
    for own, minute in zip(activity_identities(activity), minutes, strict=True):
        if own not in repeated:
            key = (minute // 2 // QUARTER_MINUTES, -1)
            sums = sums_by_key.setdefault(key, [0] * SUM_COLUMNS)
            sums[_COMPACTIONS if minute % 2 else _PROMPTS] += 1
    return sums_by_key


def add_sums(total: Sums, more: Iterable[int]) -> None:
    for column, number in enumerate(more):
        total[column] += number


def _padded_counts(packed: bytes) -> Iterator[int]:
    """The counts of replies, and zeros for all replies after them."""
    return chain(array("H", packed), repeat(0))


def _shorten(text: str) -> str:
    """The beginning of a text, on one line."""
    words = " ".join(text[: MAX_PROMPT_LENGTH * 2].split())
    return (
        words if len(words) <= MAX_PROMPT_LENGTH else words[: MAX_PROMPT_LENGTH - 1].rstrip() + "…"
    )
