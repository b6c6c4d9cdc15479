"""Shared messages: which messages of several transcripts are the same, as forks copy them.

The SDK gives a copied line a new uuid and records the old one (`forkedFrom`); forks of the CLI, and
copies of a file, keep the uuids. Both lead to the original line. A message is identified by
sixty-four bits of its uuid, so that long sessions can be compared.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import msgspec
from msgspec import Raw

from claudekeeper.analysis.reply_usage import identity
from claudekeeper.transcripts.entries import Entry, starts_with

# lines of these types are copied; `progress` is not
COPIED_TYPES = frozenset({"user", "assistant", "attachment", "system"})


class _Origin(msgspec.Struct, rename="camel", gc=False):
    session_id: str = ""
    message_uuid: str = ""


_origin_decoder = msgspec.json.Decoder(_Origin)


def origin_of(forked_from: Raw) -> tuple[str, str] | None:
    """The session and the message that a line was copied from."""
    if not starts_with(forked_from, b"{"):
        return None
    try:
        origin = _origin_decoder.decode(forked_from)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return (origin.session_id.lower(), origin.message_uuid) if origin.message_uuid else None


def line_identities(entry: Entry) -> tuple[int, int]:
    """The identities of a line and of the line that it copies; zeros if it is never copied."""
    if not entry.uuid or entry.type not in COPIED_TYPES or entry.is_sidechain:
        return 0, 0
    origin = origin_of(entry.forked_from)
    return identity(entry.uuid), identity(origin[1]) if origin is not None else 0


@dataclass
class MessageChain:
    """The lines of a transcript that can be copied, in the order of writing."""

    identities: array[int] = field(default_factory=lambda: array("Q"))
    # of the line that it copies, or 0
    origins: array[int] = field(default_factory=lambda: array("Q"))
    offsets: array[int] = field(default_factory=lambda: array("Q"))
    # whether it counts as a message
    message_flags: bytearray = field(default_factory=bytearray)
    # the session that it copies, if its first line says so
    copied_from: str | None = None
    # when its first message was written; when its first line of another type was
    first_message_at: str | None = None
    first_uncopied_at: str | None = None

    def __len__(self) -> int:
        return len(self.identities)


class MessageIdentity:
    """Finds the original of a message in several transcripts."""

    def __init__(self, chains: Iterable[MessageChain] = ()) -> None:
        self._original_of = {
            own: origin
            for chain in chains
            for own, origin in zip(chain.identities, chain.origins, strict=True)
            if origin and origin != own
        }

    def resolve(self, message: int) -> int:
        visited = {message}
        while (before := self._original_of.get(message)) is not None and before not in visited:
            visited.add(before)
            message = before
        return message

    def resolve_uuid(self, uuid: str) -> int:
        return self.resolve(identity(uuid))


@dataclass(frozen=True)
class ForkPoint:
    """Where a transcript leaves its parent: how many of its lines are copies, and the index of the
    last message among them, in its own chain and in the parent's."""

    parent: str
    shared_lines: int
    own_index: int | None = None
    parent_index: int | None = None


class ForkGraph:
    """The transcripts of one family, by session."""

    def __init__(self, chains: Mapping[str, MessageChain]) -> None:
        self._chains = chains
        self.identity = MessageIdentity(chains.values())
        self._identities = {
            key: [self.identity.resolve(own) for own in chain.identities]
            for key, chain in chains.items()
        }

    def first_own_indexes(self) -> dict[str, int]:
        """The index of the first line of each session that no other has."""
        counts = Counter(own for line in self._identities.values() for own in set(line))
        indexes: dict[str, int] = {}
        for key, identities in self._identities.items():
            index = next((at for at, own in enumerate(identities) if counts[own] == 1), None)
            if index is not None:
                indexes[key] = index
        return indexes

    def find_forks(self, own_times: Mapping[str, str | None]) -> dict[str, ForkPoint]:
        """The parent of each session; the first one has none.

        `own_times`: of the first message that is its own. It is needed if a file does not say what
        it copies: `claude --fork-session` copies everything, so the original goes on later.
        """
        indexes = {
            key: {own: index for index, own in enumerate(identities)}
            for key, identities in self._identities.items()
        }
        forks: dict[str, ForkPoint] = {}
        # a parent is older than its forks
        older: list[str] = []
        for key in sorted(self._chains, key=lambda each: self._age_key(each, own_times.get(each))):
            original = self._chains[key].copied_from
            parents = [original] if original is not None and original in self._chains else older
            candidates = [self._fork_from(key, parent, indexes[parent]) for parent in parents]
            best = max(candidates, key=lambda fork: fork.shared_lines, default=None)
            if (
                best is not None
                and best.shared_lines
                and not _is_descendant(forks, best.parent, key)
            ):
                forks[key] = best
            older.append(key)
        return forks

    def _fork_from(self, key: str, parent: str, parent_indexes: Mapping[int, int]) -> ForkPoint:
        """How far a file copies another; copied lines are one block, written at once."""
        shared, is_message = 0, self._chains[key].message_flags
        last: tuple[int | None, int | None] = None, None
        for index, own in enumerate(self._identities[key]):
            parent_index = parent_indexes.get(own)
            if parent_index is None:
                if shared:
                    break
                continue
            shared = index + 1
            if is_message[index]:
                last = index, parent_index
        return ForkPoint(parent, shared, *last)

    def _age_key(self, key: str, own_time: str | None) -> tuple[float, float, str]:
        chain, own = self._chains[key], _parse_time(own_time)
        begun = _parse_time(chain.first_uncopied_at or chain.first_message_at) or 0.0
        return begun, -own if own is not None else float("-inf"), key


def _is_descendant(forks: Mapping[str, ForkPoint], key: str, ancestor: str) -> bool:
    """Whether a session goes on from another one, directly or not."""
    while key != ancestor:
        fork = forks.get(key)
        if fork is None:
            return False
        key = fork.parent
    return True


def _parse_time(timestamp: str | None) -> float | None:
    try:
        return datetime.fromisoformat(timestamp).timestamp() if timestamp else None
    except (ValueError, OverflowError):
        return None
