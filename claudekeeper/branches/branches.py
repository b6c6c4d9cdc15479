"""The branches of a session, and what one of them has that another lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from claudekeeper.analysis.decisions import Decision
from claudekeeper.analysis.file_changes import FileChange, FileChanges
from claudekeeper.analysis.last_turns import session_end_of
from claudekeeper.analysis.session_facts import FactFold, SessionFacts
from claudekeeper.analysis.shared_messages import MessageIdentity
from claudekeeper.branches.family import FamilyService
from claudekeeper.branches.tree import BranchSegment, BranchTree, shared_lengths
from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.contract.errors import BranchNotFound, MessageNotFound
from claudekeeper.contract.message import Message
from claudekeeper.core.worker_threads import WorkerThreads
from claudekeeper.transcripts.entries import Entry, blocks_of
from claudekeeper.transcripts.full_view import FullView
from claudekeeper.transcripts.history import History
from claudekeeper.transcripts.line_reader import LineReader
from claudekeeper.transcripts.locations import entry_at, messages_at
from claudekeeper.transcripts.message_link import MessageLink
from claudekeeper.transcripts.prompts import shorten_prompt
from claudekeeper.transcripts.spoken_prompts import PromptFilter
from claudekeeper.transcripts.subagents import SubagentEntries

# of more branches those are told that were written last
MOST_BRANCHES = 300
MOST_PROMPTS = 20
# the last words of a branch are looked for in so many of its messages
LAST_WORDS_WINDOW = 12
# and its last turns in so many
LAST_TURNS_WINDOW = 60


class BranchSummary(msgspec.Struct, rename="camel", kw_only=True):
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


class BranchList(msgspec.Struct, rename="camel"):
    """The branches inside a session's transcript, the conversation itself first. `holders`: the
    branch of each message that was asked for, null for the conversation."""

    session_id: str
    branches: list[BranchSummary]
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


Result = TypeVar("Result")


@dataclass(frozen=True)
class BranchRef:
    """A branch of one of all sessions."""

    row: SessionRow
    tip: str | None


@dataclass(frozen=True)
class _ComparedPath:
    """The path to a tip, with the branch of each message, and where another path leaves it."""

    links: Sequence[MessageLink]
    branches: Sequence[str | None]
    shared: int

    def index_of(self, uuid: str, start: int) -> int:
        for place in range(start, len(self.links)):
            if self.links[place].uuid == uuid:
                return place
        raise MessageNotFound

    def page(self, of: BranchRef, messages: list[Message]) -> BranchPage:
        at = self.links[self.shared - 1].uuid if self.shared else None
        total = len(self.links) - self.shared
        return BranchPage(of.row.file.id, of.tip, at, self.shared, total, messages)


class BranchService:
    """Reads branches."""

    def __init__(self, history: History, families: FamilyService, lane: WorkerThreads) -> None:
        self._history = history
        self._workers = lane
        self._families = families

    async def list_branches(self, row: SessionRow, asked: Sequence[str] = ()) -> BranchList:
        """All of them, and which one has each of these messages."""
        return await self._workers.run(self._read_branches, row, asked)

    async def own_messages(
        self, one: BranchRef, other: BranchRef, *, limit: int, after: str | None
    ) -> BranchPage:
        """What the one says that the other does not, from where they part."""

        def read(descriptor: int, own: _ComparedPath) -> BranchPage:
            start = own.shared
            if after is not None:
                start = own.index_of(after, own.shared) + 1
            links = own.links[start : start + limit]
            page = own.page(one, _messages(descriptor, one, own, start, start + limit))
            page.after = links[-1].uuid if start + limit < len(own.links) and links else None
            return page

        return await self._read_compared(one, other, read)

    async def shared_messages(
        self, one: BranchRef, other: BranchRef, *, limit: int, before: str | None
    ) -> BranchPage:
        """What both say, from where they part upwards."""

        def read(descriptor: int, own: _ComparedPath) -> BranchPage:
            end = own.shared if before is None else own.index_of(before, 0)
            start = max(0, min(end, own.shared) - limit)
            page = own.page(one, _messages(descriptor, one, own, start, min(end, own.shared)))
            page.before = own.links[start].uuid if start > 0 else None
            return page

        return await self._read_compared(one, other, read)

    async def work(self, one: BranchRef, other: BranchRef) -> BranchWork:
        """What the one did since."""

        def read(descriptor: int, own: _ComparedPath) -> BranchWork:
            lines = LineReader(descriptor)
            done = _WorkFold()
            workers = SubagentEntries(Path(one.row.file.path), one.row.file.id)
            for link in own.links[own.shared :]:
                entry = entry_at(lines, link)
                done.add(entry)
                for inner in workers.entries_named_in(entry):
                    done.add_subagent_entry(inner, entry)
            start = max(own.shared, len(own.links) - LAST_TURNS_WINDOW)
            return done.result(one, _messages(descriptor, one, own, start, len(own.links)))

        return await self._read_compared(one, other, read)

    # ---- reading ----

    async def _read_compared(
        self, one: BranchRef, other: BranchRef, read: Callable[[int, _ComparedPath], Result]
    ) -> Result:
        alone = one.row.file.id == other.row.file.id
        same = MessageIdentity() if alone else await self._families.message_identity(one.row)
        return await self._workers.run(self._compare, one, other, same, read)

    def _compare(
        self,
        one: BranchRef,
        other: BranchRef,
        same: MessageIdentity,
        read: Callable[[int, _ComparedPath], Result],
    ) -> Result:
        theirs = self._history.read_full_view(
            Path(other.row.file.path),
            lambda _, unrolling: [link.uuid for link, _ in _path(unrolling, other.tip)],
        )

        def look(descriptor: int, unrolling: FullView) -> Result:
            path = _path(unrolling, one.tip)
            links = [link for link, _ in path]
            shared, _ = shared_lengths([link.uuid for link in links], theirs, same.resolve_uuid)
            return read(descriptor, _ComparedPath(links, [branch for _, branch in path], shared))

        return self._history.read_full_view(Path(one.row.file.path), look)

    def _read_branches(self, row: SessionRow, asked: Sequence[str]) -> BranchList:
        def read(descriptor: int, unrolling: FullView) -> BranchList:
            strands = BranchTree(unrolling)
            lines = LineReader(descriptor)
            left = sorted(
                (
                    strand
                    for tip, strand in strands.segments.items()
                    if tip is not None and strand.indexes
                ),
                key=lambda strand: strand.indexes[-1],
            )
            told = [strands.segments[None], *left[:MOST_BRANCHES]]
            return BranchList(
                row.file.id,
                [_summarize(unrolling, strand, lines) for strand in told],
                max(0, len(left) - MOST_BRANCHES),
                {
                    uuid: unrolling.branch_of(place)
                    for uuid in asked
                    if (place := unrolling.index_of(uuid)) is not None
                },
            )

        return self._history.read_full_view(Path(row.file.path), read)


class _WorkFold:
    """What was done, in the making."""

    def __init__(self) -> None:
        self._facts = FactFold(SessionFacts())
        self._changes = FileChanges()
        self._prompts: list[str] = []
        self._prompt_filter = PromptFilter()

    def add(self, entry: Entry) -> None:
        said = (
            self._prompt_filter.short_prompt_in(entry)
            if entry.type in ("user", "attachment")
            else None
        )
        asked = said[0] if said is not None and said[1] else None
        if asked is not None:
            self._prompts.append(asked)
        self._facts.add(entry, prompt=asked, is_copy=False)
        self._changes.add(entry)

    def add_subagent_entry(self, inner: Entry, result: Entry) -> None:
        """What a subagent did; the message to jump to is the one that brought its result."""
        inner.uuid = result.uuid
        self._facts.add(inner, prompt=None, is_copy=False)
        self._changes.add(inner)

    def result(self, of: BranchRef, last: list[Message]) -> BranchWork:
        for message in last:
            # how a branch ends is asked as if it were the conversation
            message.branch = None
        turns = [turn for turn in session_end_of(last).turns if turn.reply is not None]
        facts = self._facts.facts
        return BranchWork(
            of.row.file.id,
            of.tip,
            self._prompts[-MOST_PROMPTS:],
            facts.decisions,
            self._changes.finish(),
            self._changes.more_files,
            facts.commands,
            turns[-1].reply if turns else None,
            turns[-1].reply_uuid if turns else None,
        )


def _path(unrolling: FullView, tip: str | None) -> list[tuple[MessageLink, str | None]]:
    strands = BranchTree(unrolling)
    if tip not in strands.segments:
        raise BranchNotFound
    return [(unrolling.links[at], unrolling.branch_of(at)) for at in strands.path(tip)]


def _messages(
    descriptor: int, of: BranchRef, own: _ComparedPath, start: int, end: int
) -> list[Message]:
    links, branches = own.links[start:end], own.branches[start:end]
    return list(messages_at(descriptor, of.row.file.id, links, branches, False))


def _summarize(unrolling: FullView, strand: BranchSegment, lines: LineReader) -> BranchSummary:
    links = [unrolling.links[place] for place in strand.indexes]
    told = BranchSummary(tip=strand.tip, leaves=strand.leaves, at=strand.at, messages=len(links))
    if not links:
        return told
    told.began = entry_at(lines, links[0]).timestamp
    said = next(
        (link.prompt_text for link in links if link.prompt_text and link.kind == "prompt"), None
    )
    told.first_prompt = shorten_prompt(said) if said is not None else None
    told.ended = entry_at(lines, links[-1]).timestamp
    for link in reversed(links[-LAST_WORDS_WINDOW:]):
        words = [block.text for block in blocks_of(entry_at(lines, link).message.content)]
        if link.kind == "reply" and (text := " ".join(each for each in words if each).strip()):
            told.last_words = shorten_prompt(text)
            break
    return told
