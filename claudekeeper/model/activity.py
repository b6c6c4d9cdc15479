"""What was done when: prompts, calls, edits and compactions of a transcript, folded line by line.

Calls and edits belong to the reply that was being made, so they are counted where that reply is.
A prompt or compaction that is copied into another file keeps its time and its words: these tell
that it is the same, as uuids are made anew. Of the words only so many are kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

import msgspec

from claudekeeper.model.entries import Entry
from claudekeeper.model.replies import COLUMNS, Packed, Replies, identity, minute_of, unpacked

# prompts whose words are kept, and how many characters of each
MOST_ASKED = 2_000
MOST_WORDS = 200
# a uuid or a time that is longer is none
LONGEST_NAME = 64
# a hostile line may hold any number of calls
_FULL = 2**16 - 1
QUARTER = 15

# replies, input, output, cache read, cache write, cost, calls, edits, prompts, compactions
WIDTH = COLUMNS - 1 + 4
_CALLS, _EDITS, _PROMPTS, _COMPACTIONS = range(COLUMNS - 1, WIDTH)
Sums = list[int]


class Asked(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """A prompt: when, in which message, its words."""

    at: str
    uuid: str
    text: str


class Activity(msgspec.Struct, array_like=True, gc=False):
    """What was done, as it is kept."""

    # of every prompt and compaction: what tells it from others, and twice its minute, plus one
    # for a compaction
    marks: bytes = b""
    minutes: bytes = b""
    # by the place of a reply
    calls: bytes = b""
    edits: bytes = b""


class Deeds:
    """Activity in the making."""

    def __init__(self, activity: Activity, asked: list[Asked], replies: Replies) -> None:
        self._replies = replies
        self._marks = array("Q", activity.marks)
        self._known = set(self._marks)
        self._minutes = array("Q", activity.minutes)
        self._calls = array("H", activity.calls)
        self._edits = array("H", activity.edits)
        self.asked = asked

    def ask(self, entry: Entry, text: str) -> None:
        at = (entry.timestamp or "")[:LONGEST_NAME]
        uuid = (entry.uuid or "")[:LONGEST_NAME]
        if self._mark(f"{at}\n{text}", at, 0) and uuid:
            self.asked.append(Asked(at, uuid, _short(text)))
            if len(self.asked) > MOST_ASKED:
                # the older, the thinner: the first of all stays
                del self.asked[1 : MOST_ASKED // 2 : 2]

    def compact(self, entry: Entry) -> None:
        at = entry.timestamp or ""
        self._mark(f"{at}\ncompaction", at, 1)

    def call(self, number: int) -> None:
        self._add(self._calls, number)

    def edit(self) -> None:
        self._add(self._edits, 1)

    @property
    def marked(self) -> int:
        return len(self._marks)

    def packed(self) -> Activity:
        return Activity(
            self._marks.tobytes(),
            self._minutes.tobytes(),
            self._calls.tobytes(),
            self._edits.tobytes(),
        )

    def _mark(self, words: str, at: str, sort: int) -> bool:
        known = identity(words)
        if known in self._known:
            return False
        self._known.add(known)
        self._marks.append(known)
        self._minutes.append(minute_of(at) * 2 + sort)
        return True

    def _add(self, numbers: array[int], number: int) -> None:
        place = self._replies.last
        if place is None:
            # no reply says what it used: there is none to count it with
            return
        if place >= len(numbers):
            numbers.extend([0] * (place + 1 - len(numbers)))
        numbers[place] = min(_FULL, numbers[place] + number)


def marks_of(activity: Activity) -> array[int]:
    """What tells every prompt and compaction from those of other files."""
    return array("Q", activity.marks)


def by_quarter(
    replies: Packed, activity: Activity, repeated: frozenset[int] | set[int] = frozenset()
) -> dict[tuple[int, int], Sums]:
    """Everything that was done, by quarters of an hour since the epoch and models; of a prompt
    or compaction the model is -1. What is repeated counts elsewhere."""
    done: dict[tuple[int, int], Sums] = {}
    counts = zip(
        unpacked(replies), _endless(activity.calls), _endless(activity.edits), strict=False
    )
    for (reply, spent), calls, edits in counts:
        if repeated and reply in repeated:
            continue
        key = (spent[0] // QUARTER, spent[1])
        sums = done.get(key)
        if sums is None:
            sums = done[key] = [0] * WIDTH
        sums[0] += 1
        sums[1] += spent[2]
        sums[2] += spent[3]
        sums[3] += spent[4]
        sums[4] += spent[5]
        sums[5] += spent[6]
        sums[_CALLS] += calls
        sums[_EDITS] += edits
    for mark, minute in zip(marks_of(activity), array("Q", activity.minutes), strict=True):
        if mark not in repeated:
            sums = done.setdefault((minute // 2 // QUARTER, -1), [0] * WIDTH)
            sums[_COMPACTIONS if minute % 2 else _PROMPTS] += 1
    return done


def add_up(these: Sums, those: Iterable[int]) -> None:
    for place, number in enumerate(those):
        these[place] += number


def _endless(packed: bytes) -> Iterator[int]:
    """Those that were written down, and none for all replies after them."""
    yield from array("H", packed)
    while True:
        yield 0


def _short(text: str) -> str:
    """In one line."""
    words = " ".join(text[: MOST_WORDS * 2].split())
    return words if len(words) <= MOST_WORDS else words[: MOST_WORDS - 1].rstrip() + "…"
