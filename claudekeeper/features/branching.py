"""The branches of a session, and what one of them has that another lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from claudekeeper.features.family import Families
from claudekeeper.live.promptness import SlowLane
from claudekeeper.model.branches import Unrolling
from claudekeeper.model.changes import Changes, FileChange
from claudekeeper.model.closing import closing_of
from claudekeeper.model.copies import Same
from claudekeeper.model.decisions import Decision
from claudekeeper.model.entries import Entry, blocks_of
from claudekeeper.model.errors import BranchNotFound, MessageNotFound
from claudekeeper.model.facts import FactFinder, Facts
from claudekeeper.model.links import Link
from claudekeeper.model.messages import Message
from claudekeeper.model.prompts import shortened
from claudekeeper.model.said import Listener
from claudekeeper.model.tree import Strand, Strands, parted
from claudekeeper.readers.discovery import Row
from claudekeeper.readers.history import History
from claudekeeper.readers.lines import Places
from claudekeeper.readers.places import entry_at, messages_at
from claudekeeper.readers.subagents import Workers

# of more branches those are told that were written last
MOST_BRANCHES = 300
MOST_PROMPTS = 20
# the last words of a branch are looked for in so many of its messages
NEAR_END = 12
# and its last turns in so many
LAST = 60


class Branch(msgspec.Struct, rename="camel", kw_only=True):
    """A branch of a session, named by its tip; null is the conversation as it stands.

    It leaves the branch `leaves` after the message `at`; both are null for one that starts at
    the beginning. Counts, times and words are of what it has of its own.
    """

    tip: str | None
    leaves: str | None
    at: str | None
    messages: int
    began: str | None = None
    ended: str | None = None
    first_prompt: str | None = None
    last_words: str | None = None


class Branches(msgspec.Struct, rename="camel"):
    """The branches inside a session's transcript, the conversation itself first. `holders`: the
    branch of each message that was asked for, null for the conversation."""

    session_id: str
    branches: list[Branch]
    # how many more there are
    more: int
    holders: dict[str, str | None]


class BranchPage(msgspec.Struct, rename="camel"):
    """Messages of a branch after it parted from another one, or, as its past, up to there.

    `at`: the last message that both have, by its name in this session; `shared`: how many they
    have in common; `total`: how many it has of its own. `after` leads to the next page, `before`
    to the one above.
    """

    session_id: str
    tip: str | None
    at: str | None
    shared: int
    total: int
    messages: list[Message]
    after: str | None = None
    before: str | None = None


class BranchWork(msgspec.Struct, rename="camel"):
    """What was asked, decided and done on a branch after it parted from another one."""

    session_id: str
    tip: str | None
    prompts: list[str]
    decisions: list[Decision]
    files: list[FileChange]
    more_files: int
    commands: int
    last_reply: str | None
    reply_uuid: str | None


Read = TypeVar("Read")


@dataclass(frozen=True)
class Tip:
    """A branch of one of all sessions."""

    row: Row
    tip: str | None


@dataclass(frozen=True)
class _Own:
    """The path to a tip, with the branch of each message, and where another path leaves it."""

    links: Sequence[Link]
    branches: Sequence[str | None]
    parts: int

    def place_of(self, uuid: str, start: int) -> int:
        for place in range(start, len(self.links)):
            if self.links[place].uuid == uuid:
                return place
        raise MessageNotFound

    def page(self, of: Tip, messages: list[Message]) -> BranchPage:
        at = self.links[self.parts - 1].uuid if self.parts else None
        total = len(self.links) - self.parts
        return BranchPage(of.row.found.id, of.tip, at, self.parts, total, messages)


class Branching:
    """Reads branches."""

    def __init__(self, history: History, families: Families, lane: SlowLane) -> None:
        self._history = history
        self._lane = lane
        self._families = families

    async def branches(self, row: Row, asked: Sequence[str] = ()) -> Branches:
        """All of them, and which one has each of these messages."""
        return await self._lane.run(self._branches, row, asked)

    async def since(self, one: Tip, other: Tip, *, limit: int, after: str | None) -> BranchPage:
        """What the one says that the other does not, from where they part."""

        def read(descriptor: int, own: _Own) -> BranchPage:
            start = own.parts
            if after is not None:
                start = own.place_of(after, own.parts) + 1
            links = own.links[start : start + limit]
            page = own.page(one, _messages(descriptor, one, own, start, start + limit))
            page.after = links[-1].uuid if start + limit < len(own.links) and links else None
            return page

        return await self._compared(one, other, read)

    async def past(self, one: Tip, other: Tip, *, limit: int, before: str | None) -> BranchPage:
        """What both say, from where they part upwards."""

        def read(descriptor: int, own: _Own) -> BranchPage:
            end = own.parts if before is None else own.place_of(before, 0)
            start = max(0, min(end, own.parts) - limit)
            page = own.page(one, _messages(descriptor, one, own, start, min(end, own.parts)))
            page.before = own.links[start].uuid if start > 0 else None
            return page

        return await self._compared(one, other, read)

    async def work(self, one: Tip, other: Tip) -> BranchWork:
        """What the one did since."""

        def read(descriptor: int, own: _Own) -> BranchWork:
            lines = Places(descriptor)
            done = _Done()
            workers = Workers(Path(one.row.found.path), one.row.found.id)
            for link in own.links[own.parts :]:
                entry = entry_at(lines, link)
                done.add(entry)
                for inner in workers.named_in(entry):
                    done.add_beside(inner, entry)
            start = max(own.parts, len(own.links) - LAST)
            return done.told(one, _messages(descriptor, one, own, start, len(own.links)))

        return await self._compared(one, other, read)

    # ---- reading ----

    async def _compared(self, one: Tip, other: Tip, read: Callable[[int, _Own], Read]) -> Read:
        alone = one.row.found.id == other.row.found.id
        same = Same() if alone else await self._families.same(one.row)
        return await self._lane.run(self._compare, one, other, same, read)

    def _compare(self, one: Tip, other: Tip, same: Same, read: Callable[[int, _Own], Read]) -> Read:
        theirs = self._history.unrolled(
            Path(other.row.found.path),
            lambda _, unrolling: [link.uuid for link, _ in _path(unrolling, other.tip)],
        )

        def look(descriptor: int, unrolling: Unrolling) -> Read:
            path = _path(unrolling, one.tip)
            links = [link for link, _ in path]
            shared, _ = parted([link.uuid for link in links], theirs, same.of_uuid)
            return read(descriptor, _Own(links, [branch for _, branch in path], shared))

        return self._history.unrolled(Path(one.row.found.path), look)

    def _branches(self, row: Row, asked: Sequence[str]) -> Branches:
        def read(descriptor: int, unrolling: Unrolling) -> Branches:
            strands = Strands(unrolling)
            lines = Places(descriptor)
            left = sorted(
                (
                    strand
                    for tip, strand in strands.all.items()
                    if tip is not None and strand.places
                ),
                key=lambda strand: strand.places[-1],
            )
            told = [strands.all[None], *left[:MOST_BRANCHES]]
            return Branches(
                row.found.id,
                [_described(unrolling, strand, lines) for strand in told],
                max(0, len(left) - MOST_BRANCHES),
                {
                    uuid: unrolling.branch_of(place)
                    for uuid in asked
                    if (place := unrolling.index_of(uuid)) is not None
                },
            )

        return self._history.unrolled(Path(row.found.path), read)


class _Done:
    """What was done, in the making."""

    def __init__(self) -> None:
        self._facts = FactFinder(Facts())
        self._changes = Changes()
        self._prompts: list[str] = []
        self._listener = Listener()

    def add(self, entry: Entry) -> None:
        said = self._listener.said(entry) if entry.type in ("user", "attachment") else None
        asked = said[0] if said is not None and said[1] else None
        if asked is not None:
            self._prompts.append(asked)
        self._facts.add(entry, asked=asked, replayed=False)
        self._changes.add(entry)

    def add_beside(self, inner: Entry, result: Entry) -> None:
        """What a subagent did; the message to jump to is the one that brought its result."""
        inner.uuid = result.uuid
        self._facts.add(inner, asked=None, replayed=False)
        self._changes.add(inner)

    def told(self, of: Tip, last: list[Message]) -> BranchWork:
        for message in last:
            # how a branch ends is asked as if it were the conversation
            message.branch = None
        turns = [turn for turn in closing_of(last).turns if turn.reply is not None]
        facts = self._facts.facts
        return BranchWork(
            of.row.found.id,
            of.tip,
            self._prompts[-MOST_PROMPTS:],
            facts.decisions,
            self._changes.told(),
            self._changes.more_files,
            facts.commands,
            turns[-1].reply if turns else None,
            turns[-1].reply_uuid if turns else None,
        )


def _path(unrolling: Unrolling, tip: str | None) -> list[tuple[Link, str | None]]:
    strands = Strands(unrolling)
    if tip not in strands.all:
        raise BranchNotFound
    return [(unrolling.links[at], unrolling.branch_of(at)) for at in strands.path(tip)]


def _messages(descriptor: int, of: Tip, own: _Own, start: int, end: int) -> list[Message]:
    links, branches = own.links[start:end], own.branches[start:end]
    return list(messages_at(descriptor, of.row.found.id, links, branches, False))


def _described(unrolling: Unrolling, strand: Strand, lines: Places) -> Branch:
    links = [unrolling.links[place] for place in strand.places]
    told = Branch(tip=strand.tip, leaves=strand.leaves, at=strand.at, messages=len(links))
    if not links:
        return told
    told.began = entry_at(lines, links[0]).timestamp
    said = next((link.words for link in links if link.words and link.kind == "prompt"), None)
    told.first_prompt = shortened(said) if said is not None else None
    told.ended = entry_at(lines, links[-1]).timestamp
    for link in reversed(links[-NEAR_END:]):
        words = [block.text for block in blocks_of(entry_at(lines, link).message.content)]
        if link.kind == "reply" and (text := " ".join(each for each in words if each).strip()):
            told.last_words = shortened(text)
            break
    return told
