"""The usage of every reply of a transcript, each once, packed: a session can have thousands."""

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

# lines of one reply repeat its usage and the last one is right; they are close together
RECENT_REPLIES = 16
# a hostile line may have any number: no sum of them may overflow
MAX_TOKENS = 2**40
MAX_COST = 2**50
MAX_PENDING = 256
NANODOLLARS = 1_000_000_000
REPLY_COLUMNS = 7
TIMESTAMP_LENGTH = len("2026-03-01T10:00:00.000Z")
_NO_USAGE = (0,) * (REPLY_COLUMNS - 1)


class ReplyCost(NamedTuple):
    """A reply: its minute, model and usage. `cost`: in billionths of a dollar."""

    minute: int
    model_index: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    cost: int


class PackedReplies(msgspec.Struct, array_like=True, gc=False):
    """Replies as the cache stores them."""

    ids: bytes = b""
    numbers: bytes = b""
    models: list[str] = []
    recent: list[tuple[str, int]] = []


class ReplyUsage:
    """The usage of the replies of one transcript, in the order of their first lines."""

    def __init__(self, packed: PackedReplies | None = None) -> None:
        packed = packed or PackedReplies()
        self._ids = array("Q", packed.ids)
        self._numbers = array("Q", packed.numbers)
        self._id_set = set(self._ids)
        self._models = {model: index for index, model in enumerate(packed.models)}
        self._recent = dict(packed.recent)
        # by index of a reply: the model, and the usage as JSON
        self._pending: dict[int, tuple[str | None, bytes]] = {}
        self._new_tokens, self._new_cost = Tokens(), 0
        # the index of the reply of the last line
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
        """Add a line of a reply; False if the reply is old: then the line is a copy."""
        index = self._recent.get(reply)
        if index is None:
            reply_id = identity(reply)
            if reply_id in self._id_set:
                return False
            self._id_set.add(reply_id)
            index = self._recent[reply] = len(self._ids)
            self._ids.append(reply_id)
            self._numbers.extend((minute_of(timestamp), *_NO_USAGE))
            if len(self._recent) > RECENT_REPLIES:
                del self._recent[next(iter(self._recent))]
        self.last_index = index
        # the last line is right: the others are never decoded. Raw JSON would keep its line alive
        self._pending[index] = (body.model, bytes(body.usage))
        if len(self._pending) > MAX_PENDING:
            self._count_pending()
        return True

    def drain_into(self, total: Tokens) -> int:
        """Add the usage since the last call to the total, and return its cost."""
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
        for index, (model, raw) in self._pending.items():
            usage = usage_of(raw)
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
    """The identities of all replies."""
    return array("Q", packed.ids)


def unpack_replies(packed: PackedReplies) -> Iterator[tuple[int, ReplyCost]]:
    """Every reply, with its identity."""
    numbers = iter(array("Q", packed.numbers))
    rows = zip(*[numbers] * REPLY_COLUMNS, strict=True)
    return zip(array("Q", packed.ids), map(ReplyCost._make, rows), strict=True)


def minute_of(timestamp: str | None) -> int:
    """Minutes since the epoch; 0 without a valid timestamp."""
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
    """The first minute of an hour; cached, as most lines are of the hour of the line before."""
    return max(0, int(datetime.fromisoformat(f"{hour}:00+00:00").timestamp() // 60))


def identity(name: str) -> int:
    """Sixty-four bits for a uuid or id: the random digits of a uuid, else a hash."""
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
