"""What a list says about a session, folded line by line so that growth costs only the new lines."""

from __future__ import annotations

from array import array

import msgspec

from claudekeeper.model.activity import Activity, Asked, Deeds
from claudekeeper.model.copies import beginning_of
from claudekeeper.model.entries import Entry, starts
from claudekeeper.model.facts import FactFinder, Facts
from claudekeeper.model.prompts import shortened
from claudekeeper.model.replies import NANO, Packed, Replies, Tokens, identity
from claudekeeper.model.resume import tasks_of
from claudekeeper.model.said import Listener
from claudekeeper.model.tasklist import tasks_done

SYNTHETIC = "<synthetic>"


class Summary(msgspec.Struct, array_like=True, gc=False):
    """The facts of one transcript. `counted` says whether every line has been read."""

    workdir: str | None = None
    git_branch: str | None = None
    model: str | None = None
    created: str | None = None
    first_prompt: str | None = None
    last_prompt: str | None = None
    first_command: str | None = None
    agent_name: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    summary_title: str | None = None
    messages: int = 0
    tokens: Tokens | None = None
    # reckoned from the replies (in billionths of a dollar), and what Claude Code itself wrote down
    spent: int = 0
    reported: float = 0.0
    unreadable: int = 0
    # lines read, and lines of the main conversation among them
    lines: int = 0
    main_lines: int = 0
    sidechains: bool = False
    counted: bool = False
    # its first line, and the one of which that is a copy: who shares these shares a past
    beginning: int = 0
    copied: int = 0
    # of its own lists
    tasks: int = 0
    tasks_done: int = 0
    # where its first subagent worked
    beside: str | None = None

    @property
    def title(self) -> str | None:
        """As Claude Code calls it; where nobody named it, by how it began."""
        return (
            self.agent_name
            or self.custom_title
            or self.ai_title
            or self.summary_title
            or self.first_prompt
            or self.first_command
        )

    @property
    def cost(self) -> float:
        return max(self.spent / NANO, self.reported)

    @property
    def is_subagent(self) -> bool:
        """Whether every line of the conversation is a subagent's."""
        return self.sidechains and not self.main_lines


class Account(msgspec.Struct, array_like=True, gc=False):
    """How far a transcript was read, what its replies used, and what was done when."""

    offset: int = 0
    # how many lines the summary had by then
    lines: int = 0
    # the bytes before the offset: if they are others now, the file was rewritten
    mark: bytes = b""
    replies: Packed = msgspec.field(default_factory=Packed)
    activity: Activity = msgspec.field(default_factory=Activity)
    # how many of the first replies, and of the first prompts and compactions, are copies
    copied: tuple[int, int] = (0, 0)


class Diary(Account, array_like=True, gc=False):
    """The same, and what was asked."""

    asked: list[Asked] = []


class Folded(Diary, array_like=True, gc=False):
    """What the fold must remember between two readings, beside the summary.

    Thousands are kept, and most pass through a keeper only on their way to the disk: packed, and
    whoever needs an account or a diary does not unpack the rest.
    """

    seen: bytes = b""
    titles: list[tuple[str, str]] = []
    facts: Facts = msgspec.field(default_factory=Facts)
    # what subagents did that wrote into this file
    beside: Facts = msgspec.field(default_factory=Facts)
    # the last line that says that the command after it ran in the terminal only
    caveat: str | None = None
    # the session that the last line named
    session: str | None = None


class Fold:
    """A summary in the making."""

    def __init__(self, summary: Summary | None = None, folded: Folded | None = None) -> None:
        self.summary = summary or Summary()
        folded = folded or Folded()
        self._seen = _unpacked(folded.seen)
        self._replies = Replies(folded.replies)
        # titles that name a leaf: they count only if that leaf is in this file
        self._titles = dict(folded.titles)
        self._deeds = Deeds(folded.activity, folded.asked, self._replies)
        self._finder = FactFinder(folded.facts, self._deeds)
        self._beside = FactFinder(folded.beside, self._deeds)
        self._listener = Listener(folded.caveat)
        self._session, self._copied = folded.session, folded.copied

    def add(self, entry: Entry) -> None:
        """Take the next entry of the file."""
        summary = self.summary
        summary.lines += 1
        match entry.type:
            case "user" | "assistant" | "attachment" | "system" | "progress":
                self._add_to_chain(entry)
            case "agent-name":
                summary.agent_name = entry.agent_name or summary.agent_name
            case "custom-title":
                summary.custom_title = entry.custom_title or summary.custom_title
            case "ai-title":
                summary.ai_title = entry.ai_title or summary.ai_title
            case "summary" if entry.leaf_uuid and entry.summary:
                self._titles[entry.leaf_uuid] = entry.summary
            case "cost-state" if entry.total_cost_usd:
                summary.reported = max(summary.reported, entry.total_cost_usd)

    def finish(self, offset: int, mark: bytes) -> tuple[Summary, Folded]:
        """The summary as of `offset`, and what is needed to go on from there."""
        summary = self.summary
        summary.counted = True
        summary.tokens = summary.tokens or Tokens()
        summary.spent += self._replies.settle(summary.tokens)
        self._finder.settle()
        self._beside.settle()
        tasks = tasks_of(self._finder.facts)
        summary.tasks, summary.tasks_done = len(tasks), tasks_done(tasks)
        for leaf, title in self._titles.items():
            if identity(leaf) in self._seen:
                summary.summary_title = shortened(title)
        folded = Folded(
            offset=offset,
            lines=summary.lines,
            mark=mark,
            seen=_packed(self._seen),
            replies=self._replies.packed(),
            titles=list(self._titles.items()),
            facts=self._finder.facts,
            activity=self._deeds.packed(),
            asked=self._deeds.asked,
            beside=self._beside.facts,
            caveat=self._listener.caveat,
            session=self._session,
            copied=self._copied,
        )
        return summary, folded

    def _add_to_chain(self, entry: Entry) -> None:
        summary = self.summary
        if entry.is_sidechain:
            summary.sidechains = True
            summary.beside = summary.beside or entry.cwd
            if entry.type in ("assistant", "user"):
                replayed = entry.type == "assistant" and not self._add_usage(entry)
                self._beside.add(entry, asked=None, replayed=replayed)
            return
        summary.main_lines += 1
        if not summary.beginning:
            summary.beginning, summary.copied = beginning_of(entry)
        summary.workdir = summary.workdir or entry.cwd
        summary.created = summary.created or entry.timestamp
        summary.git_branch = entry.git_branch or summary.git_branch
        replayed = False
        if entry.session_id and entry.session_id != self._session:
            # a session that goes on under another id begins with what was said under the old one
            self._count_copies()
            self._session = entry.session_id
        if entry.type == "assistant":
            if entry.message.model and entry.message.model != SYNTHETIC:
                summary.model = entry.message.model
            replayed = not self._add_usage(entry)
        if entry.uuid is not None:
            known = len(self._seen)
            self._seen.add(identity(entry.uuid))
            if len(self._seen) == known:
                return
        if entry.is_meta:
            self._listener.words(entry)
            return
        if entry.type in ("user", "assistant"):
            summary.messages += 1
        asked = self._add_prompt(entry) if entry.type in ("user", "attachment") else None
        self._finder.add(entry, asked=asked, replayed=replayed)
        if starts(entry.forked_from, b"{"):
            self._count_copies()

    def _count_copies(self) -> None:
        """Whatever was read so far stands in another session first."""
        self._copied = len(self._replies), self._deeds.marked

    def _add_prompt(self, entry: Entry) -> str | None:
        """What a person asked of Claude."""
        said = self._listener.said(entry)
        if said is None:
            return None
        text, real = said
        summary = self.summary
        if real:
            summary.first_prompt = summary.first_prompt or text
            summary.last_prompt = text
        else:
            summary.first_command = summary.first_command or text
        return text if real else None

    def _add_usage(self, entry: Entry) -> bool:
        """Count a reply once, by the last of its lines; False for a copy of an old one."""
        body = entry.message
        # what Claude Code writes in Claude's place used nothing, and is no reply
        if not starts(body.usage, b"{") or body.model == SYNTHETIC:
            return True
        reply = body.id if body.id is not None else entry.uuid or f"line {self.summary.lines}"
        if not self._replies.meet(reply, body, entry.timestamp):
            return False
        if not entry.is_sidechain:
            self._finder.add_usage(body)
        return True


pack = msgspec.msgpack.Encoder().encode
unpack = msgspec.msgpack.Decoder(Folded).decode
unpack_account = msgspec.msgpack.Decoder(Account).decode
unpack_diary = msgspec.msgpack.Decoder(Diary).decode


def _packed(identities: set[int]) -> bytes:
    return array("Q", identities).tobytes()


def _unpacked(packed: bytes) -> set[int]:
    numbers = array("Q")
    numbers.frombytes(packed)
    return set(numbers)
