"""The full view: every message of a transcript in reading order, with its branch.

A transcript is a tree written line by line: a rewind starts a new branch, parallel tools fan out,
a compaction begins a new root. `FullView` takes the links newest first, each once. It keeps the
order of writing, but puts a child that was written before its parent behind it. What it says of a
link depends only on the lines after it and on a bounded number before it. So a page at the end of
a huge file needs only the end of that file, and pages of any size add up to the same whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import msgspec

from claudekeeper.transcripts.branch_mark import BranchMark
from claudekeeper.transcripts.message_link import MessageLink
from claudekeeper.transcripts.queued_prompts import QueuedPrompts

# how many lines before its parent a child may be written; three were seen, by parallel writers
MAX_EARLY_LINES = 64
# after how many lines a branch that no reply claims is decided
MAX_WAIT_LINES = 4096


class BranchPoint(msgspec.Struct, rename="camel", gc=False):
    """Where an abandoned branch leaves: the branch id of its messages, and their parent message."""

    id: str
    at: str | None


class FullView:
    """Links, newest first, with their branches."""

    def __init__(self) -> None:
        self.links: list[MessageLink] = []
        self.is_complete = False
        self._branch_by_index: list[BranchMark] = []
        self._all_branches: list[BranchMark] = []
        self._index_by_uuid: dict[str, int] = {}
        self._branches_by_parent: dict[str, BranchMark | list[BranchMark]] = {}
        self._branches_by_reply: dict[str, list[BranchMark]] = {}
        self._undecided_branches: deque[BranchMark] = deque()
        self._queued_prompts = QueuedPrompts()
        # whether anything is shown after the line that comes next
        self._any_visible = False
        self._main_branch: BranchMark | None = None
        # the parent that the main branch waits for, while no other branch can claim a line; then it
        # is not in the dict, where every line would be put in and taken out again
        self._expected_parent: str | None = None
        # the branch of a compaction goes on with the line before it, best with this one
        self._above_compaction: tuple[BranchMark, str | None] | None = None

    def __len__(self) -> int:
        return len(self.links)

    def add(self, link: MessageLink) -> None:
        """Take the next link towards the start of the file."""
        uuid, waited_for = link.uuid, self._expected_parent
        if waited_for is not None:
            main, parent = self._main_branch, link.parent_uuid
            assert main is not None
            # most lines are just the next one of the main branch: a short way for them
            if (
                uuid == waited_for
                and parent is not None
                and parent not in self._index_by_uuid
                and parent not in self._branches_by_parent
                and parent != uuid
                and link.prompt_text is None
                and not link.is_boundary
            ):
                self._expected_parent = parent
                # there are very many links: one string for both ends
                link.uuid = waited_for
                self._index_by_uuid[waited_for] = len(self.links)
                self.links.append(link)
                self._branch_by_index.append(main)
                return
            self._branches_by_parent[waited_for] = main
            self._expected_parent = None
        index = self._index_by_uuid.get(uuid)
        if index is not None:
            self._add_copy(link, index)
        elif link.queue_action is not None and link.queue_action != "absorbed":
            if self._queued_prompts.is_visible(link, any_visible=self._any_visible):
                self._append(link, self._branch_by_index[-1])
        else:
            self._add_line(link)
        self._expect_parent(link.parent_uuid, waited_for)

    def _add_line(self, link: MessageLink) -> None:
        if link.kind is not None:
            self._any_visible = True
        if link.prompt_text is not None:
            self._queued_prompts.add_prompt(link)
        branch = self._find_branch(link)
        self._append(link, branch)
        # while only the main branch is open, most lines change nothing about it
        if self._undecided_branches or link.is_boundary or not branch.is_independent:
            self._update_branch(link, branch)
        self._attach_to_parent(link, branch)
        if self._undecided_branches:
            self._decide_overdue()

    def _expect_parent(self, *candidates: str | None) -> None:
        """Set the parent that the main branch waits for, where no other branch can claim a line."""
        if self._main_branch is None:
            return
        main = self._main_branch = self._main_branch.find()
        if (
            not main.is_independent
            or self._undecided_branches
            or self._above_compaction is not None
            or not self._any_visible
        ):
            return
        for uuid in candidates:
            if uuid is not None and self._branches_by_parent.get(uuid) is main:
                del self._branches_by_parent[uuid]
                self._expected_parent = uuid
                return

    def _append(self, link: MessageLink, branch: BranchMark) -> None:
        self._index_by_uuid[link.uuid] = len(self.links)
        self.links.append(link)
        self._branch_by_index.append(branch)

    def _add_copy(self, link: MessageLink, index: int) -> None:
        """A line that was written twice counts once: the last copy, unless only this is shown."""
        if link.kind is not None and self.links[index].kind is None:
            self._any_visible = True
            self._append(link, self._branch_by_index[index])

    def finish(self) -> None:
        """There is no line before the last one added."""
        self.is_complete = True
        if self._main_branch is None and self._branch_by_index:
            self._main_branch = self._branch_by_index[0].find()
            self._main_branch.is_main = True
        while self._undecided_branches:
            self._decide_branch(self._undecided_branches.popleft())
        # the first prompt of a fork waits before all copied lines, and stands after them again
        for link in reversed(self.links):
            if link.queue_action != "waits":
                break
            if self._queued_prompts.has_prompt(link.prompt_text or ""):
                link.kind = None

    def is_final(self, start: int, stop: int) -> bool:
        """Whether no further line can change the links from start to stop."""
        if self.is_complete:
            return True
        if self._main_branch is None or len(self.links) < stop + MAX_EARLY_LINES:
            return False
        main = self._main_branch.find()
        if not main.is_independent and len(self.links) - main.oldest_index < MAX_WAIT_LINES:
            # one reply so far: an earlier line of it may still join it to another branch
            return False
        branches = {branch.find() for branch in self._branch_by_index[start:stop]}
        return all(branch.is_main or branch.is_independent for branch in branches)

    def branch_of(self, index: int) -> str | None:
        """None on the main branch, the uuid of the tip on an abandoned branch."""
        branch = self._branch_by_index[index].find()
        return None if branch.is_main else branch.tip_uuid

    def branches_of(self, indexes: Sequence[int]) -> list[str | None]:
        """The same for many, nearly all of which are on the main branch."""
        branches, main = self._branch_by_index, self._main_branch
        return [None if branches[index] is main else self.branch_of(index) for index in indexes]

    def branch_points(self, visible_uuids: set[str]) -> list[BranchPoint]:
        """Which branches leave at one of the shown messages, or have their root there."""
        points: dict[str, BranchPoint] = {}
        for branch in self._all_branches:
            branch = branch.find()
            if branch.is_main or branch.tip_uuid in points:
                continue
            at = self._visible_ancestor(branch.leaves_at)
            if at in visible_uuids or (
                at is None and self._is_rooted(branch) and branch.first_uuid in visible_uuids
            ):
                points[branch.tip_uuid] = BranchPoint(branch.tip_uuid, at)
        return list(points.values())

    @property
    def unanswered_prompts(self) -> list[MessageLink]:
        """Queued prompts that were never taken, newest first: their CLI had ended."""
        return self._queued_prompts.unanswered_prompts

    def index_of(self, uuid: str) -> int | None:
        return self._index_by_uuid.get(uuid)

    def _visible_ancestor(self, uuid: str | None) -> str | None:
        """The nearest message a reader sees, from a line that may be hidden."""
        for _ in range(MAX_WAIT_LINES):
            index = self._index_by_uuid.get(uuid) if uuid is not None else None
            if index is None or self.links[index].kind is not None:
                return uuid if index is not None else None
            uuid = self.links[index].parent_uuid
        return None

    def _is_rooted(self, branch: BranchMark) -> bool:
        parent = self.links[self._index_by_uuid[branch.first_uuid]].parent_uuid
        return branch.leaves_at is not None or parent is None or self.is_complete

    # ---- how a link finds its branch ----

    def _find_branch(self, link: MessageLink) -> BranchMark:
        """The branch of a link: of the branches of its children, the one that went on."""
        waiting = self._branches_by_parent.pop(link.uuid, None)
        if waiting is None:
            return self._start_branch(link)
        if self._above_compaction is not None and self._above_compaction[1] == link.uuid:
            self._above_compaction = None
        if isinstance(waiting, BranchMark):
            return waiting.find()
        claims = [branch.find() for branch in waiting]
        claims.sort(key=lambda branch: (not branch.is_main, not branch.is_independent))
        owner = claims[0]
        for other in claims[1:]:
            if other is owner:
                continue
            if other.is_independent or (
                other.reply_id is not None and other.reply_id != link.reply_id
            ):
                other.leaves_at = link.uuid
                other.is_independent = True
            else:
                other.join(owner)
        return owner

    def _start_branch(self, link: MessageLink) -> BranchMark:
        if self._above_compaction is not None:
            branch, _ = self._above_compaction
            if not link.is_neutral:
                self._above_compaction = None
            return branch
        branch = BranchMark(link.uuid, len(self.links))
        self._all_branches.append(branch)
        self._undecided_branches.append(branch)
        return branch

    def _update_branch(self, link: MessageLink, branch: BranchMark) -> None:
        """Update a branch by one of its links: whose reply it is, whether it went on."""
        if link.reply_id is not None:
            for other in self._branches_by_reply.pop(link.reply_id, ()):
                other = other.find()
                if (
                    not other.is_independent
                    and len(self.links) - other.oldest_index < MAX_WAIT_LINES
                ):
                    other.join(branch)
        branch = branch.find()
        branch.oldest_index, branch.first_uuid = len(self.links) - 1, link.uuid
        if link.reply_id is None:
            branch.is_independent = branch.is_independent or not link.is_neutral
        elif branch.reply_id is None:
            branch.reply_id = link.reply_id
        elif branch.reply_id != link.reply_id:
            branch.is_independent = True
        if link.reply_id is not None and not branch.is_independent:
            self._branches_by_reply.setdefault(link.reply_id, []).append(branch)
        if self._main_branch is None and not link.is_neutral:
            branch.is_main = True
            self._main_branch = branch
        if link.is_boundary:
            self._above_compaction = (branch, link.parent_uuid)

    def _attach_to_parent(self, link: MessageLink, branch: BranchMark) -> None:
        """Wait for the link's parent, or use it where it was written after its child."""
        parent = link.parent_uuid
        if parent is None or parent == link.uuid:
            # a local command has no parent: its branch is complete
            branch.find().oldest_index = -MAX_WAIT_LINES
            return
        index = self._index_by_uuid.get(parent)
        if index is None:
            waiting = self._branches_by_parent.get(parent)
            if waiting is None:
                self._branches_by_parent[parent] = branch
            elif isinstance(waiting, list):
                waiting.append(branch)
            else:
                self._branches_by_parent[parent] = [waiting, branch]
            return
        if len(self.links) - 1 - index > MAX_EARLY_LINES or self._is_descendant(parent, link.uuid):
            return
        late = self._branch_by_index[index].find()
        branch = branch.find()
        if late is not branch:
            if self._can_still_join(late, branch, parent):
                late.join(branch)
            else:
                branch.leaves_at = parent
        self._move_behind(link.uuid, index)

    def _can_still_join(self, late: BranchMark, branch: BranchMark, parent: str) -> bool:
        """Whether no line that was returned already would change its branch."""
        if not (late.is_independent or late.is_main):
            return True
        first_index = len(self.links) - 1 - MAX_EARLY_LINES
        return (
            late.tip_uuid == parent
            and late.newest_index >= first_index
            and (branch.is_main or not late.is_main or branch.newest_index >= first_index)
        )

    def _is_descendant(self, uuid: str, ancestor: str) -> bool:
        """Whether the parents of `uuid` lead to `ancestor`, which would be a circle."""
        for _ in range(MAX_EARLY_LINES + 1):
            if uuid == ancestor:
                return True
            index = self._index_by_uuid.get(uuid)
            parent = self.links[index].parent_uuid if index is not None else None
            if parent is None:
                return False
            uuid = parent
        return True

    def _move_behind(self, child: str, parent_index: int) -> None:
        """Move a child that was written early, with its descendants, behind its parent."""
        moving = {child}
        tail = range(len(self.links) - 1, parent_index, -1)
        for index in tail:
            if self.links[index].parent_uuid in moving:
                moving.add(self.links[index].uuid)
        rows = [
            (self.links[index], self._branch_by_index[index])
            for index in range(parent_index, len(self))
        ]
        moved = [row for row in rows if row[0].uuid in moving]
        rest = [row for row in rows if row[0].uuid not in moving]
        for index, (link, branch) in enumerate(moved + rest, start=parent_index):
            self.links[index] = link
            self._branch_by_index[index] = branch
            self._index_by_uuid[link.uuid] = index
            branch = branch.find()
            branch.newest_index = min(branch.newest_index, index)

    # ---- what can still change ----

    def _decide_overdue(self) -> None:
        while self._undecided_branches and self._main_branch is not None:
            branch = self._undecided_branches[0].find()
            unsettled = not (branch.is_independent or branch.is_main)
            if unsettled and len(self.links) - branch.oldest_index < MAX_WAIT_LINES:
                return
            self._decide_branch(self._undecided_branches.popleft())
        if not self._undecided_branches:
            self._branches_by_reply.clear()

    def _decide_branch(self, branch: BranchMark) -> None:
        """No reply claimed the branch: it is part of the main branch."""
        branch = branch.find()
        if self._main_branch is not None and not (branch.is_independent or branch.is_main):
            branch.join(self._main_branch)
