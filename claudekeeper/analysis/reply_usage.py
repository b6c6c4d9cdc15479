"""What every reply of a transcript used, each once: small enough to be kept for thousands."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

import msgspec

from claudekeeper.analysis.prices import cost_of
from claudekeeper.contract.sessions import Tokens
from claudekeeper.transcripts.entries import EntryMessage, EntryUsage, usage_of

# Lines of one reply repeat its usage and the last one is right; they stand close together.
RECENT_REPLIES = 16
# a hostile line may say any number: no sum of them may run over
MAX_TOKENS = 2**40
MAX_COST = 2**50
MAX_PENDING = 256
NANODOLLARS = 1_000_000_000
REPLY_COLUMNS = 7
TIMESTAMP_LENGTH = len("2026-03-01T10:00:00.000Z")
_NO_USAGE = (0,) * (REPLY_COLUMNS - 1)


class ReplyCost(NamedTuple):
    """One reply: when, by which of the models, what it used. `cost`: billionths of a dollar."""

    minute: int
    model_index: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    cost: int


class PackedReplies(msgspec.Struct, array_like=True, gc=False):
    """Replies as they are kept."""

    ids: bytes = b""
    numbers: bytes = b""
    models: list[str] = []
    recent: list[tuple[str, int]] = []


class ReplyUsage:
    """The replies of one transcript, in the order in which they were met."""

    def __init__(self, packed: PackedReplies | None = None) -> None:
        packed = packed or PackedReplies()
        self._ids = _unpack_numbers(packed.ids)
        self._numbers = _unpack_numbers(packed.numbers)
        self._id_set = set(self._ids)
        self._models = {model: index for index, model in enumerate(packed.models)}
        self._recent = dict(packed.recent)
        # by their place: the model, and the usage as it was written
        self._pending: dict[int, tuple[str | None, bytes]] = {}
        self._new_tokens, self._new_cost = Tokens(), 0
        # the place of the reply that was met last
        self.last_index: int | None = len(self._ids) - 1 if self._ids else None

    def __len__(self) -> int:
        return len(self._ids)

    def pack(self) -> PackedReplies:
        return PackedReplies(
            self._ids.tobytes(),
            self._numbers.tobytes(),
            list(self._models),
            list(self._recent.items()),
        )

    def add_line(self, reply: str, body: EntryMessage, timestamp: str | None) -> bool:
        """Take one line of a reply; False if it was told long ago: a copy of history."""
        index = self._recent.get(reply)
        if index is None:
            known = identity(reply)
            if known in self._id_set:
                return False
            self._id_set.add(known)
            index = self._recent[reply] = len(self._ids)
            self._ids.append(known)
            self._numbers.extend((minute_of(timestamp), *_NO_USAGE))
            if len(self._recent) > RECENT_REPLIES:
                del self._recent[next(iter(self._recent))]
        self.last_index = index
        # the last line is right: the others need not be looked into. A copy, since what is not
        # decoded yet holds on to its whole line
        self._pending[index] = (body.model, bytes(body.usage))
        if len(self._pending) > MAX_PENDING:
            self._count_pending()
        return True

    def drain_into(self, total: Tokens) -> int:
        """Add what was met since to the total, and return its cost."""
        self._count_pending()
        more, cost = self._new_tokens, self._new_cost
        total.input += more.input
        total.output += more.output
        total.cache_read += more.cache_read
        total.cache_write += more.cache_write
        self._new_tokens, self._new_cost = Tokens(), 0
        return cost

    def _count_pending(self) -> None:
        more = self._new_tokens
        for index, (model, written) in self._pending.items():
            usage = usage_of(written)
            if usage is None:
                continue
            before = self._row_at(index)
            after = before._replace(
                model_index=self._models.setdefault(model or "", len(self._models)),
                input=_clamp_tokens(usage.input_tokens),
                output=_clamp_tokens(usage.output_tokens),
                cache_read=_clamp_tokens(usage.cache_read_input_tokens),
                cache_write=_clamp_tokens(usage.cache_creation_input_tokens),
                cost=_nanodollars(model, usage),
            )
            self._numbers[index * REPLY_COLUMNS : (index + 1) * REPLY_COLUMNS] = array("Q", after)
            more.input += after.input - before.input
            more.output += after.output - before.output
            more.cache_read += after.cache_read - before.cache_read
            more.cache_write += after.cache_write - before.cache_write
            self._new_cost += after.cost - before.cost
        self._pending.clear()

    def _row_at(self, index: int) -> ReplyCost:
        return ReplyCost(*self._numbers[index * REPLY_COLUMNS : (index + 1) * REPLY_COLUMNS])


def reply_identities(packed: PackedReplies) -> array[int]:
    """Of every reply that is kept, what tells it from all others."""
    return _unpack_numbers(packed.ids)


def unpack_replies(packed: PackedReplies) -> Iterator[tuple[int, ReplyCost]]:
    """Every reply that is kept, with its identity."""
    numbers = iter(_unpack_numbers(packed.numbers))
    rows = zip(*[numbers] * REPLY_COLUMNS, strict=True)
    return zip(_unpack_numbers(packed.ids), map(ReplyCost._make, rows), strict=True)


def minute_of(timestamp: str | None) -> int:
    """Minutes since the epoch; 0 where the line does not say when it was written."""
    if not timestamp:
        return 0
    try:
        if len(timestamp) == TIMESTAMP_LENGTH and timestamp[-1] == "Z":
            return _minute_of_hour(timestamp[:13]) + int(timestamp[14:16])
        return max(0, int(datetime.fromisoformat(timestamp).timestamp() // 60))
    except (ValueError, OverflowError):
        return 0


@lru_cache(maxsize=1024)
def _minute_of_hour(hour: str) -> int:
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


def _clamp_tokens(tokens: int | None) -> int:
    return min(MAX_TOKENS, max(0, tokens or 0))


def _nanodollars(model: str | None, usage: EntryUsage) -> int:
    try:
        return min(MAX_COST, max(0, round(cost_of(model, usage) * NANODOLLARS)))
    except OverflowError:
        return MAX_COST


def _unpack_numbers(packed: bytes) -> array[int]:
    numbers = array("Q")
    numbers.frombytes(packed)
    return numbers
