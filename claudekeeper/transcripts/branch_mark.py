"""A branch while a transcript is read from its end: it may turn out to be part of another."""

from __future__ import annotations


class BranchMark:
    """A run of lines from a tip back to where it leaves another branch, or to a root."""

    __slots__ = (
        "_joined_to",
        "first_uuid",
        "is_independent",
        "is_main",
        "leaves_at",
        "newest_index",
        "oldest_index",
        "reply_id",
        "tip_uuid",
    )

    def __init__(self, tip: str, newest: int) -> None:
        self.tip_uuid = tip
        # the index of its line nearest to the end
        self.newest_index = newest
        self.is_main = False
        # it has its own prompt or more than one reply, so no other branch can claim all of it
        self.is_independent = False
        self.reply_id: str | None = None
        # its first line so far, and how many links had been read by then
        self.first_uuid = tip
        self.oldest_index = 0
        # the message where it leaves another branch
        self.leaves_at: str | None = None
        self._joined_to: BranchMark | None = None

    def find(self) -> BranchMark:
        """The branch that this one turned out to be part of."""
        if self._joined_to is None:
            return self
        branch = self._joined_to
        while branch._joined_to is not None:
            branch = branch._joined_to
        self._joined_to = branch
        return branch

    def join(self, other: BranchMark) -> None:
        """This branch turns out to be part of the other one."""
        branch, other = self.find(), other.find()
        if branch is other:
            return
        branch._joined_to = other
        other.is_main = other.is_main or branch.is_main
        other.is_independent = other.is_independent or branch.is_independent
        other.newest_index = min(other.newest_index, branch.newest_index)
        if branch.oldest_index > other.oldest_index:
            other.oldest_index, other.first_uuid = branch.oldest_index, branch.first_uuid
