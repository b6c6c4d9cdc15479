"""The branches inside one transcript: where each leaves another, and the path to its tip.

A branch is named by its tip; None is the main branch. `FullView` says of every line which branch it
is on; here they become a tree. A path has only the messages that are shown, as indexes in the full
view, oldest first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from claudekeeper.transcripts.full_view import FullView


@dataclass
class BranchSegment:
    """One branch: the messages that are on it alone."""

    tip: str | None
    # the message after which it leaves, and the branch of that; both None if it has a root
    at: str | None = None
    leaves: str | None = None
    indexes: list[int] = field(default_factory=list)


class BranchTree:
    """Every branch of a file that was read completely."""

    def __init__(self, full_view: FullView) -> None:
        self._full_view = full_view
        self.segments: dict[str | None, BranchSegment] = {None: BranchSegment(None)}
        links = full_view.links
        visible: set[str] = set()
        for index in range(len(links) - 1, -1, -1):
            if links[index].kind is not None:
                tip = full_view.branch_of(index)
                self.segments.setdefault(tip, BranchSegment(tip)).indexes.append(index)
                visible.add(links[index].uuid)
        for point in full_view.branch_points(visible):
            segment = self.segments.get(point.id)
            joint = full_view.index_of(point.at) if point.at is not None else None
            if segment is not None and joint is not None:
                segment.at, segment.leaves = point.at, full_view.branch_of(joint)

    def path(self, tip: str | None) -> list[int]:
        """The messages from the beginning to the tip."""
        pieces: list[list[int]] = []
        end: int | None = None
        visited: set[str | None] = set()
        while tip not in visited:
            visited.add(tip)
            segment = self.segments[tip]
            # indexes count from the end: earlier messages have higher ones
            pieces.append([index for index in segment.indexes if end is None or index >= end])
            if segment.at is None:
                break
            end, tip = self._full_view.index_of(segment.at), segment.leaves
        return [index for piece in reversed(pieces) for index in piece]


def shared_lengths(
    one: Sequence[str], other: Sequence[str], name: Callable[[str], object] = lambda uuid: uuid
) -> tuple[int, int]:
    """How many messages of each path are shared; `name`: the name of a message in both."""
    indexes = {name(uuid): index for index, uuid in enumerate(one)}
    for other_index in range(len(other) - 1, -1, -1):
        index = indexes.get(name(other[other_index]))
        if index is not None:
            return index + 1, other_index + 1
    return 0, 0
