"""The branches of a session, and the differences between two of them."""

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

# of more branches those with the latest messages are listed
MAX_BRANCHES = 300
MAX_PROMPTS = 20
# the last reply of a branch is searched in so many of its messages
LAST_WORDS_WINDOW = 12
# and its last turns in so many
LAST_TURNS_WINDOW = 60


class BranchSummary(msgspec.Struct, rename="camel", kw_only=True):
    """A branch of a session, named by its tip; null is the main branch.

    It leaves the branch `leaves` after the message `at`; both are null for one that starts at
    the beginning. Counts, times and words are of its own messages.
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
    """The branches inside a session's transcript, the main branch first. `holders`: the branch of
    each requested message, null for the main branch."""

    session_id: str
    branches: list[BranchSummary]
    # how many more there are
    more: int
    holders: dict[str, str | None]


class BranchPage(msgspec.Struct, rename="camel"):
    """Messages of a branch after it parted from another one, or the shared ones before.

    `at`: the last message that both have, by its uuid in this session; `shared`: how many they have
    in common; `total`: how many it has of its own. `after` leads to the next page, `before` to the
    previous one.
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
    """The prompts, decisions and changes of a branch after it parted from another one."""

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
    """A branch of any session."""

    row: SessionRow
    tip: str | None


@dataclass(frozen=True)
class _ComparedPath:
    """The path to a tip, with the branch of each message; `shared`: how many another path has."""

    links: Sequence[MessageLink]
    branches: Sequence[str | None]
    shared: int

    def index_of(self, uuid: str, start: int) -> int:
        for index in range(start, len(self.links)):
            if self.links[index].uuid == uuid:
                return index
        raise MessageNotFound

    def page(self, of: BranchRef, messages: list[Message]) -> BranchPage:
        at = self.links[self.shared - 1].uuid if self.shared else None
        total = len(self.links) - self.shared
        return BranchPage(of.row.file.id, of.tip, at, self.shared, total, messages)


class BranchService:
    """Reads branches."""

    def __init__(self, history: History, families: FamilyService, workers: WorkerThreads) -> None:
        self._history = history
        self._workers = workers
        self._families = families

    async def list_branches(self, row: SessionRow, uuids: Sequence[str] = ()) -> BranchList:
        """All branches of a session, and the branch of each of these messages."""
        return await self._workers.run(self._read_branches, row, uuids)

    async def own_messages(
        self, one: BranchRef, other: BranchRef, *, limit: int, after: str | None
    ) -> BranchPage:
        """The messages of one branch that another one lacks, from where they part."""

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
        """The messages of both branches, backwards from where they part."""

        def read(descriptor: int, own: _ComparedPath) -> BranchPage:
            end = own.shared if before is None else own.index_of(before, 0)
            start = max(0, min(end, own.shared) - limit)
            page = own.page(one, _messages(descriptor, one, own, start, min(end, own.shared)))
            page.before = own.links[start].uuid if start > 0 else None
            return page

        return await self._read_compared(one, other, read)

    async def work(self, one: BranchRef, other: BranchRef) -> BranchWork:
        """The work of one branch since it parted from another one."""

        def read(descriptor: int, own: _ComparedPath) -> BranchWork:
            lines = LineReader(descriptor)
            fold = _WorkFold()
            subagents = SubagentEntries(Path(one.row.file.path), one.row.file.id)
            for link in own.links[own.shared :]:
                entry = entry_at(lines, link)
                fold.add(entry)
                for inner in subagents.entries_named_in(entry):
                    fold.add_subagent_entry(inner, entry)
            start = max(own.shared, len(own.links) - LAST_TURNS_WINDOW)
            return fold.result(one, _messages(descriptor, one, own, start, len(own.links)))

        return await self._read_compared(one, other, read)

    # ---- reading ----

    async def _read_compared(
        self, one: BranchRef, other: BranchRef, read: Callable[[int, _ComparedPath], Result]
    ) -> Result:
        if one.row.file.id == other.row.file.id:
            identity = MessageIdentity()
        else:
            identity = await self._families.message_identity(one.row)
        return await self._workers.run(self._compare, one, other, identity, read)

    def _compare(
        self,
        one: BranchRef,
        other: BranchRef,
        identity: MessageIdentity,
        read: Callable[[int, _ComparedPath], Result],
    ) -> Result:
        other_uuids = self._history.read_full_view(
            Path(other.row.file.path),
            lambda _, full_view: [link.uuid for link, _ in _path(full_view, other.tip)],
        )

        def compare(descriptor: int, full_view: FullView) -> Result:
            path = _path(full_view, one.tip)
            links = [link for link, _ in path]
            uuids = [link.uuid for link in links]
            shared, _ = shared_lengths(uuids, other_uuids, identity.resolve_uuid)
            return read(descriptor, _ComparedPath(links, [branch for _, branch in path], shared))

        return self._history.read_full_view(Path(one.row.file.path), compare)

    def _read_branches(self, row: SessionRow, uuids: Sequence[str]) -> BranchList:
        def read(descriptor: int, full_view: FullView) -> BranchList:
            segments = BranchTree(full_view).segments
            lines = LineReader(descriptor)
            branches = [each for tip, each in segments.items() if tip is not None and each.indexes]
            branches.sort(key=lambda segment: segment.indexes[-1])
            return BranchList(
                row.file.id,
                [
                    _summarize(full_view, segment, lines)
                    for segment in (segments[None], *branches[:MAX_BRANCHES])
                ],
                max(0, len(branches) - MAX_BRANCHES),
                {
                    uuid: full_view.branch_of(index)
                    for uuid in uuids
                    if (index := full_view.index_of(uuid)) is not None
                },
            )

        return self._history.read_full_view(Path(row.file.path), read)


class _WorkFold:
    """Folds the entries of a branch into its work."""

    def __init__(self) -> None:
        self._facts = FactFold(SessionFacts())
        self._changes = FileChanges()
        self._prompts: list[str] = []
        self._prompt_filter = PromptFilter()

    def add(self, entry: Entry) -> None:
        prompt: str | None = None
        if entry.type in ("user", "attachment"):
            text, is_for_claude = self._prompt_filter.short_prompt_in(entry) or (None, False)
            if is_for_claude and text is not None:
                prompt = text
                self._prompts.append(text)
        self._facts.add(entry, prompt=prompt, is_copy=False)
        self._changes.add(entry)

    def add_subagent_entry(self, inner: Entry, result: Entry) -> None:
        """Add the work of a subagent; it is linked to the message with the subagent's result."""
        inner.uuid = result.uuid
        self._facts.add(inner, prompt=None, is_copy=False)
        self._changes.add(inner)

    def result(self, of: BranchRef, last_messages: list[Message]) -> BranchWork:
        for message in last_messages:
            # so that its end is read like that of a main branch
            message.branch = None
        turns = [turn for turn in session_end_of(last_messages).turns if turn.reply is not None]
        facts = self._facts.facts
        return BranchWork(
            of.row.file.id,
            of.tip,
            self._prompts[-MAX_PROMPTS:],
            facts.decisions,
            self._changes.finish(),
            self._changes.more_files,
            facts.commands,
            turns[-1].reply if turns else None,
            turns[-1].reply_uuid if turns else None,
        )


def _path(full_view: FullView, tip: str | None) -> list[tuple[MessageLink, str | None]]:
    """The messages from the beginning to a tip, with their branches."""
    tree = BranchTree(full_view)
    if tip not in tree.segments:
        raise BranchNotFound
    return [(full_view.links[index], full_view.branch_of(index)) for index in tree.path(tip)]


def _messages(
    descriptor: int, of: BranchRef, own: _ComparedPath, start: int, end: int
) -> list[Message]:
    links, branches = own.links[start:end], own.branches[start:end]
    return list(messages_at(descriptor, of.row.file.id, links, branches, False))


def _summarize(full_view: FullView, segment: BranchSegment, lines: LineReader) -> BranchSummary:
    links = [full_view.links[index] for index in segment.indexes]
    summary = BranchSummary(
        tip=segment.tip, leaves=segment.leaves, at=segment.at, messages=len(links)
    )
    if not links:
        return summary
    summary.began = entry_at(lines, links[0]).timestamp
    prompt = next(
        (link.prompt_text for link in links if link.prompt_text and link.kind == "prompt"), None
    )
    summary.first_prompt = shorten_prompt(prompt) if prompt is not None else None
    summary.ended = entry_at(lines, links[-1]).timestamp
    for link in reversed(links[-LAST_WORDS_WINDOW:]):
        texts = [block.text for block in blocks_of(entry_at(lines, link).message.content)]
        if link.kind == "reply" and (text := " ".join(filter(None, texts)).strip()):
            summary.last_words = shorten_prompt(text)
            break
    return summary
