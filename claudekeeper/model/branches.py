"""The whole of a transcript in reading order, found from its end backwards.

A transcript is a tree written line by line: a rewind starts a new branch, parallel tools fan out,
a compaction begins a new root. `Unrolling` takes the links newest first and keeps them in the
order a reader follows (the order of writing, with a child that was written too early put behind
its parent), each once, each with its branch. What it says of a link depends only on the lines
after it and on a bounded number before it, so a page at the end of a huge file needs only the
end of that file, and pages of any size add up to the same whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import msgspec

from claudekeeper.model.links import Link
from claudekeeper.model.queued import QueuedPrompts

# How many lines early a child may have been written. Claude Code's parallel writers were seen to
# be off by three.
EARLY = 64
# How far back a line may have to wait for the reply it belongs to, before it stands for itself.
PATIENCE = 4096


class Branch:
    """A run of lines from a tip back to where it leaves another branch, or to a root."""

    __slots__ = ("_into", "joint", "main", "newest", "oldest", "reply", "root", "settled", "tip")

    def __init__(self, tip: str, newest: int) -> None:
        self.tip = tip
        # the index of its line nearest to the end
        self.newest = newest
        self.main = False
        # settled: it has its own prompt or more than one reply, so nothing can claim it whole
        self.settled = False
        self.reply: str | None = None
        # its first line as far as is known, and how many links had been read by then
        self.root = tip
        self.oldest = 0
        # the message where it leaves another branch
        self.joint: str | None = None
        self._into: Branch | None = None

    def found(self) -> Branch:
        """The branch that this one turned out to be part of."""
        if self._into is None:
            return self
        branch = self._into
        while branch._into is not None:
            branch = branch._into
        self._into = branch
        return branch

    def join(self, other: Branch) -> None:
        """This branch turns out to be part of the other one."""
        mine, theirs = self.found(), other.found()
        if mine is theirs:
            return
        mine._into = theirs
        theirs.main = theirs.main or mine.main
        theirs.settled = theirs.settled or mine.settled
        theirs.newest = min(theirs.newest, mine.newest)
        if mine.oldest > theirs.oldest:
            theirs.oldest, theirs.root = mine.oldest, mine.root


class Departure(msgspec.Struct, rename="camel", gc=False):
    """Where an abandoned branch leaves: the id its messages carry, and the message it hangs on."""

    id: str
    at: str | None


class Unrolling:
    """Links, newest first, with their branches."""

    def __init__(self) -> None:
        self.links: list[Link] = []
        self.complete = False
        self._branches: list[Branch] = []
        self._known: list[Branch] = []
        self._place: dict[str, int] = {}
        self._wanted: dict[str, Branch | list[Branch]] = {}
        self._replies: dict[str, list[Branch]] = {}
        self._unsettled: deque[Branch] = deque()
        self._queued = QueuedPrompts()
        # whether anything is shown after the line that comes next
        self._heard = False
        self._main: Branch | None = None
        # while the conversation is clear, the one line that it waits for; it is not among the
        # wanted then, where every line would be put in and taken out again
        self._next: str | None = None
        # the branch of a compaction goes on with what stands before it, best with this line
        self._above: tuple[Branch, str | None] | None = None

    def __len__(self) -> int:
        return len(self.links)

    def add(self, link: Link) -> None:
        """Take the next link towards the start of the file."""
        uuid, waited_for = link.uuid, self._next
        if waited_for is not None:
            main, parent = self._main, link.parent
            assert main is not None
            # it may be just the next one of the conversation; most are, so this is short
            if (
                uuid == waited_for
                and parent is not None
                and parent not in self._place
                and parent not in self._wanted
                and parent != uuid
                and link.words is None
                and not link.boundary
            ):
                self._next = parent
                # one string for both ends of the link, of very many
                link.uuid = waited_for
                self._place[waited_for] = len(self.links)
                self.links.append(link)
                self._branches.append(main)
                return
            self._wanted[waited_for] = main
            self._next = None
        place = self._place.get(uuid)
        if place is not None:
            self._add_copy(link, place)
        elif link.queue is not None and link.queue != "absorbed":
            if self._queued.is_shown(link, heard=self._heard):
                self._append(link, self._branches[-1])
        else:
            self._add_line(link)
        self._look_ahead(link.parent, waited_for)

    def _add_line(self, link: Link) -> None:
        if link.kind is not None:
            self._heard = True
        if link.words is not None:
            self._queued.hear(link)
        branch = self._claim(link)
        self._append(link, branch)
        # while only the conversation itself is open, most lines have nothing to tell about it
        if self._unsettled or link.boundary or not branch.settled:
            self._weigh(link, branch)
        self._hang(link, branch)
        if self._unsettled:
            self._give_up_waiting()

    def _look_ahead(self, *candidates: str | None) -> None:
        """What the conversation waits for, where nothing else can claim the next line."""
        if self._main is None:
            return
        main = self._main = self._main.found()
        if not main.settled or self._unsettled or self._above is not None or not self._heard:
            return
        for uuid in candidates:
            if uuid is not None and self._wanted.get(uuid) is main:
                del self._wanted[uuid]
                self._next = uuid
                return

    def _append(self, link: Link, branch: Branch) -> None:
        self._place[link.uuid] = len(self.links)
        self.links.append(link)
        self._branches.append(branch)

    def _add_copy(self, link: Link, place: int) -> None:
        """A line that was written again later counts there; unless only this copy is shown."""
        if link.kind is not None and self.links[place].kind is None:
            self._heard = True
            self._append(link, self._branches[place])

    def finish(self) -> None:
        """There is no line before the last one added."""
        self.complete = True
        if self._main is None and self._branches:
            self._main = self._branches[0].found()
            self._main.main = True
        while self._unsettled:
            self._settle(self._unsettled.popleft())
        # the first prompt of a fork waits in line before all that is copied: it is said below
        for link in reversed(self.links):
            if link.queue != "waits":
                break
            if self._queued.was_said(link.words or ""):
                link.kind = None

    def settled(self, start: int, stop: int) -> bool:
        """Whether nothing that is still to come can change the links from start to stop."""
        if self.complete:
            return True
        if self._main is None or len(self.links) < stop + EARLY:
            return False
        main = self._main.found()
        if not main.settled and len(self.links) - main.oldest < PATIENCE:
            # one reply so far: a line of it further up may still say whose it is
            return False
        found = {branch.found() for branch in self._branches[start:stop]}
        return all(branch.main or branch.settled for branch in found)

    def branch_of(self, index: int) -> str | None:
        """None for the conversation as it stands, the tip of an abandoned branch otherwise."""
        branch = self._branches[index].found()
        return None if branch.main else branch.tip

    def branches_of(self, indexes: Sequence[int]) -> list[str | None]:
        """The same for many, nearly all of which belong to the conversation."""
        branches, main = self._branches, self._main
        return [None if branches[index] is main else self.branch_of(index) for index in indexes]

    def departures(self, shown: set[str]) -> list[Departure]:
        """Which branches leave at one of the shown messages, or have their root there."""
        found: dict[str, Departure] = {}
        for branch in self._known:
            branch = branch.found()
            if branch.main or branch.tip in found:
                continue
            at = self._shown_ancestor(branch.joint)
            if at in shown or (at is None and self._is_rooted(branch) and branch.root in shown):
                found[branch.tip] = Departure(branch.tip, at)
        return list(found.values())

    @property
    def left_waiting(self) -> list[Link]:
        """Prompts that nothing came of, newest first: whoever was to take them was ended."""
        return self._queued.left_waiting

    def index_of(self, uuid: str) -> int | None:
        return self._place.get(uuid)

    def _shown_ancestor(self, uuid: str | None) -> str | None:
        """The nearest message a reader sees, from a line that may be hidden."""
        for _ in range(PATIENCE):
            place = self._place.get(uuid) if uuid is not None else None
            if place is None or self.links[place].kind is not None:
                return uuid if place is not None else None
            uuid = self.links[place].parent
        return None

    def _is_rooted(self, branch: Branch) -> bool:
        parent = self.links[self._place[branch.root]].parent
        return branch.joint is not None or parent is None or self.complete

    # ---- how a link finds its branch ----

    def _claim(self, link: Link) -> Branch:
        """The branch the link is on: of those that hang on it, the one that went on."""
        wanted = self._wanted.pop(link.uuid, None)
        if wanted is None:
            return self._unclaimed(link)
        if self._above is not None and self._above[1] == link.uuid:
            self._above = None
        if isinstance(wanted, Branch):
            return wanted.found()
        claims = [branch.found() for branch in wanted]
        claims.sort(key=lambda branch: (not branch.main, not branch.settled))
        owner = claims[0]
        for other in claims[1:]:
            if other is owner:
                continue
            if other.settled or (other.reply is not None and other.reply != link.reply):
                other.joint = link.uuid
                other.settled = True
            else:
                other.join(owner)
        return owner

    def _unclaimed(self, link: Link) -> Branch:
        if self._above is not None:
            branch, _ = self._above
            if not link.light:
                self._above = None
            return branch
        branch = Branch(link.uuid, len(self.links))
        self._known.append(branch)
        self._unsettled.append(branch)
        return branch

    def _weigh(self, link: Link, branch: Branch) -> None:
        """What the link says about its branch: whose reply it is, whether it went on."""
        if link.reply is not None:
            for other in self._replies.pop(link.reply, ()):
                other = other.found()
                if not other.settled and len(self.links) - other.oldest < PATIENCE:
                    other.join(branch)
        branch = branch.found()
        branch.oldest, branch.root = len(self.links) - 1, link.uuid
        if link.reply is None:
            branch.settled = branch.settled or not link.light
        elif branch.reply is None:
            branch.reply = link.reply
        elif branch.reply != link.reply:
            branch.settled = True
        if link.reply is not None and not branch.settled:
            self._replies.setdefault(link.reply, []).append(branch)
        if self._main is None and not link.light:
            branch.main = True
            self._main = branch
        if link.boundary:
            self._above = (branch, link.parent)

    def _hang(self, link: Link, branch: Branch) -> None:
        """Ask for the link's parent, or meet it where it was written after its child."""
        parent = link.parent
        if parent is None or parent == link.uuid:
            # a local command hangs off the root: nothing more will come of its branch
            branch.found().oldest = -PATIENCE
            return
        place = self._place.get(parent)
        if place is None:
            wanted = self._wanted.get(parent)
            if wanted is None:
                self._wanted[parent] = branch
            elif isinstance(wanted, list):
                wanted.append(branch)
            else:
                self._wanted[parent] = [wanted, branch]
            return
        if len(self.links) - 1 - place > EARLY or self._descends(parent, link.uuid):
            return
        late = self._branches[place].found()
        branch = branch.found()
        if late is not branch:
            if self._can_still_join(late, branch, parent):
                late.join(branch)
            else:
                branch.joint = parent
        self._put_behind(link.uuid, place)

    def _can_still_join(self, late: Branch, branch: Branch, parent: str) -> bool:
        """Whether no line that was told already would change its branch."""
        if not (late.settled or late.main):
            return True
        told = len(self.links) - 1 - EARLY
        return (
            late.tip == parent
            and late.newest >= told
            and (branch.main or not late.main or branch.newest >= told)
        )

    def _descends(self, uuid: str, ancestor: str) -> bool:
        """Whether following the parents of `uuid` leads to `ancestor`: then it is a circle."""
        for _ in range(EARLY + 1):
            if uuid == ancestor:
                return True
            place = self._place.get(uuid)
            parent = self.links[place].parent if place is not None else None
            if parent is None:
                return False
            uuid = parent
        return True

    def _put_behind(self, child: str, place: int) -> None:
        """Move a child that was written early, and what hangs on it, behind its parent."""
        moving = {child}
        tail = range(len(self.links) - 1, place, -1)
        for index in tail:
            if self.links[index].parent in moving:
                moving.add(self.links[index].uuid)
        rows = [(self.links[index], self._branches[index]) for index in range(place, len(self))]
        moved = [row for row in rows if row[0].uuid in moving]
        kept = [row for row in rows if row[0].uuid not in moving]
        for index, (link, branch) in enumerate(moved + kept, start=place):
            self.links[index] = link
            self._branches[index] = branch
            self._place[link.uuid] = index
            branch = branch.found()
            branch.newest = min(branch.newest, index)

    # ---- what can still change ----

    def _give_up_waiting(self) -> None:
        while self._unsettled and self._main is not None:
            branch = self._unsettled[0].found()
            unsettled = not (branch.settled or branch.main)
            if unsettled and len(self.links) - branch.oldest < PATIENCE:
                return
            self._settle(self._unsettled.popleft())
        if not self._unsettled:
            self._replies.clear()

    def _settle(self, branch: Branch) -> None:
        """No reply came to claim it: it belongs to whatever was said around it."""
        branch = branch.found()
        if self._main is not None and not (branch.settled or branch.main):
            branch.join(self._main)
