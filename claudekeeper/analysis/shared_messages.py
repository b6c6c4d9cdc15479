"""Which messages of several transcripts are the same one: forks and copies repeat what was said.

The SDK gives a copied line a new uuid and says which one it was (`forkedFrom`); the CLI's own
forks, and whoever copies a file, keep the uuids. Both are followed to the line that was first.
A message is known by sixty-four bits of its uuid, so that long sessions can be compared.
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
    """A first line, and the one of which it is a copy; zeros for a line that is never copied."""
    if not entry.uuid or entry.type not in COPIED_TYPES or entry.is_sidechain:
        return 0, 0
    origin = origin_of(entry.forked_from)
    return identity(entry.uuid), identity(origin[1]) if origin is not None else 0


@dataclass
class MessageChain:
    """The lines of a transcript that can be copied, in the order of writing."""

    identities: array[int] = field(default_factory=lambda: array("Q"))
    # what the line is a copy of, or 0
    origins: array[int] = field(default_factory=lambda: array("Q"))
    offsets: array[int] = field(default_factory=lambda: array("Q"))
    # whether it counts as a message
    message_flags: bytearray = field(default_factory=bytearray)
    # the session whose copy it says it is
    copied_from: str | None = None
    # when its first line was said; when its first line was written that is never copied
    first_message_at: str | None = None
    first_uncopied_at: str | None = None

    def __len__(self) -> int:
        return len(self.identities)


class MessageIdentity:
    """What a message of any of these transcripts is called in all of them."""

    def __init__(self, chains: Iterable[MessageChain] = ()) -> None:
        self._original_of = {
            own: origin
            for chain in chains
            for own, origin in zip(chain.identities, chain.origins, strict=True)
            if origin and origin != own
        }

    def resolve(self, message: int) -> int:
        met = {message}
        while (before := self._original_of.get(message)) is not None and before not in met:
            met.add(before)
            message = before
        return message

    def resolve_uuid(self, uuid: str) -> int:
        return self.resolve(identity(uuid))


@dataclass(frozen=True)
class ForkPoint:
    """A transcript that goes on from another: how many of its lines are repeated, and the last
    message among them, as places in its own chain and in the other's."""

    parent: str
    shared_lines: int
    own_index: int | None = None
    parent_index: int | None = None


class ForkGraph:
    """Transcripts of one family, by session."""

    def __init__(self, chains: Mapping[str, MessageChain]) -> None:
        self._chains = chains
        self.identity = MessageIdentity(chains.values())
        self._identities = {
            key: [self.identity.resolve(own) for own in chain.identities]
            for key, chain in chains.items()
        }

    def first_own_indexes(self) -> dict[str, int]:
        """Where each first says something that no other has."""
        holders = Counter(name for names in self._identities.values() for name in set(names))
        found: dict[str, int] = {}
        for key, names in self._identities.items():
            place = next((at for at, name in enumerate(names) if holders[name] == 1), None)
            if place is not None:
                found[key] = place
        return found

    def find_forks(self, spoke: Mapping[str, str | None]) -> dict[str, ForkPoint]:
        """From which other one each of these sessions goes on; one of them from none.

        `spoke`: when each first said something of its own. It is needed where nothing tells whose
        copy a file is: `claude --fork-session` copies all there is, so what the original has of
        its own came later.
        """
        places = {
            key: {name: at for at, name in enumerate(names)}
            for key, names in self._identities.items()
        }
        found: dict[str, ForkPoint] = {}
        # a session goes on from one that was there before it
        elders: list[str] = []
        for key in sorted(self._chains, key=lambda each: self._age_key(each, spoke.get(each))):
            told = self._chains[key].copied_from
            candidates = [told] if told in self._chains and told is not None else elders
            forks = [self._fork_from(key, other, places[other]) for other in candidates]
            best = max(forks, key=lambda fork: fork.shared_lines, default=None)
            if (
                best is not None
                and best.shared_lines
                and not _is_descendant(found, best.parent, key)
            ):
                found[key] = best
            elders.append(key)
        return found

    def _fork_from(self, key: str, other: str, theirs: Mapping[int, int]) -> ForkPoint:
        """How far a file repeats another: what is copied stands together, written at once."""
        lines, counts = 0, self._chains[key].message_flags
        here: int | None = None
        there: int | None = None
        for at, name in enumerate(self._identities[key]):
            place = theirs.get(name)
            if place is None:
                if lines:
                    break
                continue
            lines = at + 1
            if counts[at]:
                here, there = at, place
        return ForkPoint(other, lines, here, there)

    def _age_key(self, key: str, spoke: str | None) -> tuple[float, float, str]:
        chain, own = self._chains[key], _parse_time(spoke)
        begun = _parse_time(chain.first_uncopied_at or chain.first_message_at) or 0.0
        return begun, -own if own is not None else float("-inf"), key


def _is_descendant(found: Mapping[str, ForkPoint], key: str, ancestor: str) -> bool:
    """Whether a session goes on from another, however many lie between."""
    while key != ancestor:
        fork = found.get(key)
        if fork is None:
            return False
        key = fork.parent
    return True


def _parse_time(written: str | None) -> float | None:
    try:
        return datetime.fromisoformat(written).timestamp() if written else None
    except (ValueError, OverflowError):
        return None
