"""The branches inside one transcript: where each leaves another, and the path to its tip.

A branch is named by its tip; None is the conversation as it stands. `Unrolling` says of every
line which branch it is on, here they become a tree. Of a path only what a reader sees is kept, as
places in the unrolling, oldest first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from claudekeeper.transcripts.full_view import FullView


@dataclass
class BranchSegment:
    """One branch: the messages that are on it alone."""

    tip: str | None
    # the message at which it leaves, and the branch that has it; both None where it has a root
    at: str | None = None
    leaves: str | None = None
    indexes: list[int] = field(default_factory=list)


class BranchTree:
    """Every branch of a file that was read to its beginning."""

    def __init__(self, unrolling: FullView) -> None:
        self._full_view = unrolling
        self.segments: dict[str | None, BranchSegment] = {None: BranchSegment(None)}
        links = unrolling.links
        shown: set[str] = set()
        for place in range(len(links) - 1, -1, -1):
            if links[place].kind is not None:
                tip = unrolling.branch_of(place)
                self.segments.setdefault(tip, BranchSegment(tip)).indexes.append(place)
                shown.add(links[place].uuid)
        for departure in unrolling.branch_points(shown):
            strand = self.segments.get(departure.id)
            joint = unrolling.index_of(departure.at) if departure.at is not None else None
            if strand is not None and joint is not None:
                strand.at, strand.leaves = departure.at, unrolling.branch_of(joint)

    def path(self, tip: str | None) -> list[int]:
        """The messages from the beginning to the tip."""
        pieces: list[list[int]] = []
        end: int | None = None
        met: set[str | None] = set()
        while tip not in met:
            met.add(tip)
            strand = self.segments[tip]
            # a place is counted from the end: what was said before has a higher one
            pieces.append([at for at in strand.indexes if end is None or at >= end])
            if strand.at is None:
                break
            end, tip = self._full_view.index_of(strand.at), strand.leaves
        return [place for piece in reversed(pieces) for place in piece]


def shared_lengths(
    one: Sequence[str], other: Sequence[str], name: Callable[[str], object] = lambda uuid: uuid
) -> tuple[int, int]:
    """How many messages of each path they share; `name` is what a message is called in both."""
    places = {name(uuid): place for place, uuid in enumerate(one)}
    for place in range(len(other) - 1, -1, -1):
        found = places.get(name(other[place]))
        if found is not None:
            return found + 1, place + 1
    return 0, 0
