"""What every reply of a transcript used, each once: small enough to be kept for thousands."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

import msgspec

from claudekeeper.model.entries import Body, Usage, usage_of
from claudekeeper.model.prices import cost_of

# Lines of one reply repeat its usage and the last one is right; they stand close together.
RECENT = 16
# a hostile line may say any number: no sum of them may run over
MOST_TOKENS = 2**40
MOST_COST = 2**50
MOST_UNSETTLED = 256
NANO = 1_000_000_000
COLUMNS = 7
USUAL = len("2026-03-01T10:00:00.000Z")
_NOTHING = (0,) * (COLUMNS - 1)


class Tokens(msgspec.Struct, rename="camel", gc=False):
    """Tokens of all replies of a session."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class Spent(NamedTuple):
    """One reply: when, by which of the models, what it used. `cost`: billionths of a dollar."""

    minute: int
    place: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    cost: int


class Packed(msgspec.Struct, array_like=True, gc=False):
    """Replies as they are kept."""

    ids: bytes = b""
    numbers: bytes = b""
    models: list[str] = []
    recent: list[tuple[str, int]] = []


class Replies:
    """The replies of one transcript, in the order in which they were met."""

    def __init__(self, packed: Packed | None = None) -> None:
        packed = packed or Packed()
        self._ids = _numbers(packed.ids)
        self._numbers = _numbers(packed.numbers)
        self._known = set(self._ids)
        self._models = {model: index for index, model in enumerate(packed.models)}
        self._recent = dict(packed.recent)
        # by their place: the model, and the usage as it was written
        self._unsettled: dict[int, tuple[str | None, bytes]] = {}
        self._more, self._cost = Tokens(), 0
        # the place of the reply that was met last
        self.last: int | None = len(self._ids) - 1 if self._ids else None

    def __len__(self) -> int:
        return len(self._ids)

    def packed(self) -> Packed:
        return Packed(
            self._ids.tobytes(),
            self._numbers.tobytes(),
            list(self._models),
            list(self._recent.items()),
        )

    def meet(self, reply: str, body: Body, timestamp: str | None) -> bool:
        """Take one line of a reply; False if it was told long ago: a copy of history."""
        index = self._recent.get(reply)
        if index is None:
            known = identity(reply)
            if known in self._known:
                return False
            self._known.add(known)
            index = self._recent[reply] = len(self._ids)
            self._ids.append(known)
            self._numbers.extend((minute_of(timestamp), *_NOTHING))
            if len(self._recent) > RECENT:
                del self._recent[next(iter(self._recent))]
        self.last = index
        # the last line is right: the others need not be looked into. A copy, since what is not
        # decoded yet holds on to its whole line
        self._unsettled[index] = (body.model, bytes(body.usage))
        if len(self._unsettled) > MOST_UNSETTLED:
            self._reckon()
        return True

    def settle(self, total: Tokens) -> int:
        """Add what was met since to the total, and return its cost."""
        self._reckon()
        more, cost = self._more, self._cost
        total.input += more.input
        total.output += more.output
        total.cache_read += more.cache_read
        total.cache_write += more.cache_write
        self._more, self._cost = Tokens(), 0
        return cost

    def _reckon(self) -> None:
        more = self._more
        for index, (model, written) in self._unsettled.items():
            usage = usage_of(written)
            if usage is None:
                continue
            before = self._at(index)
            after = before._replace(
                place=self._models.setdefault(model or "", len(self._models)),
                input=_whole(usage.input_tokens),
                output=_whole(usage.output_tokens),
                cache_read=_whole(usage.cache_read_input_tokens),
                cache_write=_whole(usage.cache_creation_input_tokens),
                cost=_price(model, usage),
            )
            self._numbers[index * COLUMNS : (index + 1) * COLUMNS] = array("Q", after)
            more.input += after.input - before.input
            more.output += after.output - before.output
            more.cache_read += after.cache_read - before.cache_read
            more.cache_write += after.cache_write - before.cache_write
            self._cost += after.cost - before.cost
        self._unsettled.clear()

    def _at(self, index: int) -> Spent:
        return Spent(*self._numbers[index * COLUMNS : (index + 1) * COLUMNS])


def identities(packed: Packed) -> array[int]:
    """Of every reply that is kept, what tells it from all others."""
    return _numbers(packed.ids)


def unpacked(packed: Packed) -> Iterator[tuple[int, Spent]]:
    """Every reply that is kept, with its identity."""
    numbers = iter(_numbers(packed.numbers))
    rows = zip(*[numbers] * COLUMNS, strict=True)
    return zip(_numbers(packed.ids), map(Spent._make, rows), strict=True)


def minute_of(timestamp: str | None) -> int:
    """Minutes since the epoch; 0 where the line does not say when it was written."""
    if not timestamp:
        return 0
    try:
        if len(timestamp) == USUAL and timestamp[-1] == "Z":
            return _hour(timestamp[:13]) + int(timestamp[14:16])
        return max(0, int(datetime.fromisoformat(timestamp).timestamp() // 60))
    except (ValueError, OverflowError):
        return 0


@lru_cache(maxsize=1024)
def _hour(hour: str) -> int:
    """Most lines were written in the hour of the line before."""
    return max(0, int(datetime.fromisoformat(f"{hour}:00+00:00").timestamp() // 60))


def identity(name: str) -> int:
    """Sixty-four bits that stand for a uuid or id: the random digits of a uuid, else a hash."""
    if len(name) == 36:
        try:
            return int(name[:8] + name[28:], 16) & 0xFFFFFFFFFFFFFFFF
        except ValueError:
            pass
    words = name.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(words, digest_size=8).digest(), "big")


def _whole(tokens: int | None) -> int:
    return min(MOST_TOKENS, max(0, tokens or 0))


def _price(model: str | None, usage: Usage) -> int:
    try:
        return min(MOST_COST, max(0, round(cost_of(model, usage) * NANO)))
    except OverflowError:
        return MOST_COST


def _numbers(packed: bytes) -> array[int]:
    numbers = array("Q")
    numbers.frombytes(packed)
    return numbers
