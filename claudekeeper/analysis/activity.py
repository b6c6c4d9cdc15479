"""What was done when: prompts, calls, edits and compactions of a transcript, folded line by line.

Calls and edits belong to the reply that was being made, so they are counted where that reply is.
A prompt or compaction that is copied into another file keeps its time and its words: these tell
that it is the same, as uuids are made anew. Of the words only so many are kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

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

# prompts whose words are kept, and how many characters of each
MAX_PROMPTS = 2_000
MAX_PROMPT_LENGTH = 200
# a uuid or a time that is longer is none
MAX_ID_LENGTH = 64
# a hostile line may hold any number of calls
_MAX_COUNT = 2**16 - 1
QUARTER_MINUTES = 15

# replies, input, output, cache read, cache write, cost, calls, edits, prompts, compactions
SUM_COLUMNS = REPLY_COLUMNS - 1 + 4
_CALLS, _EDITS, _PROMPTS, _COMPACTIONS = range(REPLY_COLUMNS - 1, SUM_COLUMNS)
Sums = list[int]


class PromptAt(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """A prompt: when, in which message, its words."""

    at: str
    uuid: str
    text: str


class Activity(msgspec.Struct, array_like=True, gc=False):
    """What was done, as it is kept."""

    # of every prompt and compaction: what tells it from others, and twice its minute, plus one
    # for a compaction
    identities: bytes = b""
    minutes: bytes = b""
    # by the place of a reply
    calls: bytes = b""
    edits: bytes = b""


class ActivityFold:
    """Activity in the making."""

    def __init__(self, activity: Activity, asked: list[PromptAt], replies: ReplyUsage) -> None:
        self._replies = replies
        self._identities = array("Q", activity.identities)
        self._identity_set = set(self._identities)
        self._minutes = array("Q", activity.minutes)
        self._calls = array("H", activity.calls)
        self._edits = array("H", activity.edits)
        self.prompts = asked

    def add_prompt(self, entry: Entry, text: str) -> None:
        at = (entry.timestamp or "")[:MAX_ID_LENGTH]
        uuid = (entry.uuid or "")[:MAX_ID_LENGTH]
        if self._add_identity(f"{at}\n{text}", at, 0) and uuid:
            self.prompts.append(PromptAt(at, uuid, _shorten(text)))
            if len(self.prompts) > MAX_PROMPTS:
                # the older, the thinner: the first of all stays
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

    def _add_identity(self, words: str, at: str, sort: int) -> bool:
        known = identity(words)
        if known in self._identity_set:
            return False
        self._identity_set.add(known)
        self._identities.append(known)
        self._minutes.append(minute_of(at) * 2 + sort)
        return True

    def _add_count(self, numbers: array[int], number: int) -> None:
        place = self._replies.last_index
        if place is None:
            # no reply says what it used: there is none to count it with
            return
        if place >= len(numbers):
            numbers.extend([0] * (place + 1 - len(numbers)))
        numbers[place] = min(_MAX_COUNT, numbers[place] + number)


def activity_identities(activity: Activity) -> array[int]:
    """What tells every prompt and compaction from those of other files."""
    return array("Q", activity.identities)


def sums_by_quarter(
    replies: PackedReplies, activity: Activity, repeated: frozenset[int] | set[int] = frozenset()
) -> dict[tuple[int, int], Sums]:
    """Everything that was done, by quarters of an hour since the epoch and models; of a prompt
    or compaction the model is -1. What is repeated counts elsewhere."""
    done: dict[tuple[int, int], Sums] = {}
    counts = zip(
        unpack_replies(replies),
        _padded_counts(activity.calls),
        _padded_counts(activity.edits),
        strict=False,
    )
    for (reply, spent), calls, edits in counts:
        if repeated and reply in repeated:
            continue
        key = (spent[0] // QUARTER_MINUTES, spent[1])
        sums = done.get(key)
        if sums is None:
            sums = done[key] = [0] * SUM_COLUMNS
        sums[0] += 1
        sums[1] += spent[2]
        sums[2] += spent[3]
        sums[3] += spent[4]
        sums[4] += spent[5]
        sums[5] += spent[6]
        sums[_CALLS] += calls
        sums[_EDITS] += edits
    for mark, minute in zip(
        activity_identities(activity), array("Q", activity.minutes), strict=True
    ):
        if mark not in repeated:
            sums = done.setdefault((minute // 2 // QUARTER_MINUTES, -1), [0] * SUM_COLUMNS)
            sums[_COMPACTIONS if minute % 2 else _PROMPTS] += 1
    return done


def add_sums(these: Sums, those: Iterable[int]) -> None:
    for place, number in enumerate(those):
        these[place] += number


def _padded_counts(packed: bytes) -> Iterator[int]:
    """Those that were written down, and none for all replies after them."""
    yield from array("H", packed)
    while True:
        yield 0


def _shorten(text: str) -> str:
    """In one line."""
    words = " ".join(text[: MAX_PROMPT_LENGTH * 2].split())
    return (
        words if len(words) <= MAX_PROMPT_LENGTH else words[: MAX_PROMPT_LENGTH - 1].rstrip() + "…"
    )
