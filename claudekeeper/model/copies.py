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

from claudekeeper.model.entries import Entry, starts
from claudekeeper.model.replies import identity

# lines of these types are copied; `progress` is not
COPIED = frozenset({"user", "assistant", "attachment", "system"})


class _Origin(msgspec.Struct, rename="camel", gc=False):
    session_id: str = ""
    message_uuid: str = ""


_origin = msgspec.json.Decoder(_Origin)


def origin_of(forked_from: Raw) -> tuple[str, str] | None:
    """The session and the message that a line was copied from."""
    if not starts(forked_from, b"{"):
        return None
    try:
        origin = _origin.decode(forked_from)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return (origin.session_id.lower(), origin.message_uuid) if origin.message_uuid else None


def beginning_of(entry: Entry) -> tuple[int, int]:
    """A first line, and the one of which it is a copy; zeros for a line that is never copied."""
    if not entry.uuid or entry.type not in COPIED or entry.is_sidechain:
        return 0, 0
    origin = origin_of(entry.forked_from)
    return identity(entry.uuid), identity(origin[1]) if origin is not None else 0


@dataclass
class Chain:
    """The lines of a transcript that can be copied, in the order of writing."""

    own: array[int] = field(default_factory=lambda: array("Q"))
    # what the line is a copy of, or 0
    origins: array[int] = field(default_factory=lambda: array("Q"))
    offsets: array[int] = field(default_factory=lambda: array("Q"))
    # whether it counts as a message
    counts: bytearray = field(default_factory=bytearray)
    # the session whose copy it says it is
    copied_from: str | None = None
    # when its first line was said; when its first line was written that is never copied
    said: str | None = None
    noted: str | None = None

    def __len__(self) -> int:
        return len(self.own)


class Same:
    """What a message of any of these transcripts is called in all of them."""

    def __init__(self, chains: Iterable[Chain] = ()) -> None:
        self._before = {
            own: origin
            for chain in chains
            for own, origin in zip(chain.own, chain.origins, strict=True)
            if origin and origin != own
        }

    def of(self, message: int) -> int:
        met = {message}
        while (before := self._before.get(message)) is not None and before not in met:
            met.add(before)
            message = before
        return message

    def of_uuid(self, uuid: str) -> int:
        return self.of(identity(uuid))


@dataclass(frozen=True)
class Fork:
    """A transcript that goes on from another: how many of its lines are repeated, and the last
    message among them, as places in its own chain and in the other's."""

    parent: str
    lines: int
    here: int | None = None
    there: int | None = None


class Kinship:
    """Transcripts of one family, by session."""

    def __init__(self, chains: Mapping[str, Chain]) -> None:
        self._chains = chains
        self.same = Same(chains.values())
        self._names = {
            key: [self.same.of(own) for own in chain.own] for key, chain in chains.items()
        }

    def first_own(self) -> dict[str, int]:
        """Where each first says something that no other has."""
        holders = Counter(name for names in self._names.values() for name in set(names))
        found: dict[str, int] = {}
        for key, names in self._names.items():
            place = next((at for at, name in enumerate(names) if holders[name] == 1), None)
            if place is not None:
                found[key] = place
        return found

    def forks(self, spoke: Mapping[str, str | None]) -> dict[str, Fork]:
        """From which other one each of these sessions goes on; one of them from none.

        `spoke`: when each first said something of its own. It is needed where nothing tells whose
        copy a file is: `claude --fork-session` copies all there is, so what the original has of
        its own came later.
        """
        places = {
            key: {name: at for at, name in enumerate(names)} for key, names in self._names.items()
        }
        found: dict[str, Fork] = {}
        # a session goes on from one that was there before it
        elders: list[str] = []
        for key in sorted(self._chains, key=lambda each: self._age(each, spoke.get(each))):
            told = self._chains[key].copied_from
            candidates = [told] if told in self._chains and told is not None else elders
            forks = [self._shared(key, other, places[other]) for other in candidates]
            best = max(forks, key=lambda fork: fork.lines, default=None)
            if best is not None and best.lines and not _descends(found, best.parent, key):
                found[key] = best
            elders.append(key)
        return found

    def _shared(self, key: str, other: str, theirs: Mapping[int, int]) -> Fork:
        """How far a file repeats another: what is copied stands together, written at once."""
        lines, counts = 0, self._chains[key].counts
        here: int | None = None
        there: int | None = None
        for at, name in enumerate(self._names[key]):
            place = theirs.get(name)
            if place is None:
                if lines:
                    break
                continue
            lines = at + 1
            if counts[at]:
                here, there = at, place
        return Fork(other, lines, here, there)

    def _age(self, key: str, spoke: str | None) -> tuple[float, float, str]:
        chain, own = self._chains[key], _time(spoke)
        begun = _time(chain.noted or chain.said) or 0.0
        return begun, -own if own is not None else float("-inf"), key


def _descends(found: Mapping[str, Fork], key: str, ancestor: str) -> bool:
    """Whether a session goes on from another, however many lie between."""
    while key != ancestor:
        fork = found.get(key)
        if fork is None:
            return False
        key = fork.parent
    return True


def _time(written: str | None) -> float | None:
    try:
        return datetime.fromisoformat(written).timestamp() if written else None
    except (ValueError, OverflowError):
        return None
