"""The summary of a transcript, folded line by line so that growth costs only the new lines."""

from __future__ import annotations

from array import array

import msgspec

from claudekeeper.analysis.activity import Activity, ActivityFold, PromptAt
from claudekeeper.analysis.reply_usage import NANODOLLARS, PackedReplies, ReplyUsage, identity
from claudekeeper.analysis.session_facts import FactFold, SessionFacts, tasks_of
from claudekeeper.analysis.shared_messages import line_identities
from claudekeeper.analysis.task_lists import count_done
from claudekeeper.contract.sessions import Tokens
from claudekeeper.transcripts.entries import Entry, starts_with
from claudekeeper.transcripts.prompts import shorten_prompt
from claudekeeper.transcripts.spoken_prompts import PromptFilter

SYNTHETIC_MODEL = "<synthetic>"


class Summary(msgspec.Struct, array_like=True, gc=False):
    """The summary of a transcript, for the list. `is_fully_scanned`: every line was read."""

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
    # of the replies (in billionths of a dollar), and as Claude Code recorded it
    computed_cost: int = 0
    reported_cost: float = 0.0
    unreadable: int = 0
    # lines read, and lines of the main conversation among them
    lines: int = 0
    main_lines: int = 0
    has_sidechains: bool = False
    is_fully_scanned: bool = False
    # its first line, and the line that it copies: sessions that share these share their past
    first_line_identity: int = 0
    first_line_origin: int = 0
    # of its own task lists
    tasks: int = 0
    tasks_done: int = 0
    # where its first subagent worked
    subagent_workdir: str | None = None

    @property
    def title(self) -> str | None:
        """The title as Claude Code shows it: a name, or the first prompt."""
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
        return max(self.computed_cost / NANODOLLARS, self.reported_cost)

    @property
    def is_subagent(self) -> bool:
        """Whether every line of the conversation is a subagent's."""
        return self.has_sidechains and not self.main_lines


class UsageFold(msgspec.Struct, array_like=True, gc=False):
    """How far a transcript was read, the usage of its replies, and its activity."""

    offset: int = 0
    # how many lines the summary had by then
    lines: int = 0
    # of the bytes before the offset: with other bytes, the file was rewritten
    fingerprint: bytes = b""
    replies: PackedReplies = msgspec.field(default_factory=PackedReplies)
    activity: Activity = msgspec.field(default_factory=Activity)
    # how many of the first replies, and of the first prompts and compactions, are copies
    copy_counts: tuple[int, int] = (0, 0)


class SessionActivity(UsageFold, array_like=True, gc=False):
    """The same, with the prompts."""

    prompts: list[PromptAt] = []


class FoldState(SessionActivity, array_like=True, gc=False):
    """The state of the fold between two readings, beside the summary.

    There are thousands, and most are only written to the disk: they stay packed, and a reader of
    usage or activity unpacks no more than that.
    """

    seen_identities: bytes = b""
    titles: list[tuple[str, str]] = []
    facts: SessionFacts = msgspec.field(default_factory=SessionFacts)
    # of subagents that wrote into this file
    subagent_facts: SessionFacts = msgspec.field(default_factory=SessionFacts)
    # the last line by which Claude Code says that a command ran in the terminal only
    caveat_uuid: str | None = None
    # the session that the last line named
    session_id: str | None = None


class SummaryFold:
    """Folds entries into a summary."""

    def __init__(self, summary: Summary | None = None, state: FoldState | None = None) -> None:
        self.summary = summary or Summary()
        state = state or FoldState()
        self._seen_identities = set(array("Q", state.seen_identities))
        self._replies = ReplyUsage(state.replies)
        # titles that name a leaf: they count only if that leaf is in this file
        self._titles = dict(state.titles)
        self._activity = ActivityFold(state.activity, state.prompts, self._replies)
        self._facts = FactFold(state.facts, self._activity)
        self._subagent_facts = FactFold(state.subagent_facts, self._activity)
        self._prompt_filter = PromptFilter(state.caveat_uuid)
        self._session_id, self._copy_counts = state.session_id, state.copy_counts

    def add(self, entry: Entry) -> None:
        """Fold the next entry."""
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
                summary.reported_cost = max(summary.reported_cost, entry.total_cost_usd)

    def finish(self, offset: int, fingerprint: bytes) -> tuple[Summary, FoldState]:
        """The summary as of `offset`, and the state to go on from there."""
        summary = self.summary
        summary.is_fully_scanned = True
        summary.tokens = summary.tokens or Tokens()
        summary.computed_cost += self._replies.drain_into(summary.tokens)
        self._facts.finish()
        self._subagent_facts.finish()
        tasks = tasks_of(self._facts.facts)
        summary.tasks, summary.tasks_done = len(tasks), count_done(tasks)
        for leaf, title in self._titles.items():
            if identity(leaf) in self._seen_identities:
                summary.summary_title = shorten_prompt(title)
        state = FoldState(
            offset=offset,
            lines=summary.lines,
            fingerprint=fingerprint,
            seen_identities=array("Q", self._seen_identities).tobytes(),
            replies=self._replies.pack(),
            titles=list(self._titles.items()),
            facts=self._facts.facts,
            activity=self._activity.pack(),
            prompts=self._activity.prompts,
            subagent_facts=self._subagent_facts.facts,
            caveat_uuid=self._prompt_filter.caveat_uuid,
            session_id=self._session_id,
            copy_counts=self._copy_counts,
        )
        return summary, state

    def _add_to_chain(self, entry: Entry) -> None:
        summary = self.summary
        if entry.is_sidechain:
            summary.has_sidechains = True
            summary.subagent_workdir = summary.subagent_workdir or entry.cwd
            if entry.type in ("assistant", "user"):
                is_copy = entry.type == "assistant" and not self._add_usage(entry)
                self._subagent_facts.add(entry, prompt=None, is_copy=is_copy)
            return
        summary.main_lines += 1
        if not summary.first_line_identity:
            summary.first_line_identity, summary.first_line_origin = line_identities(entry)
        summary.workdir = summary.workdir or entry.cwd
        summary.created = summary.created or entry.timestamp
        summary.git_branch = entry.git_branch or summary.git_branch
        is_copy = False
        if entry.session_id and entry.session_id != self._session_id:
            # a session that goes on under another id begins with the lines of the old one
            self._count_copies()
            self._session_id = entry.session_id
        if entry.type == "assistant":
            if entry.message.model and entry.message.model != SYNTHETIC_MODEL:
                summary.model = entry.message.model
            is_copy = not self._add_usage(entry)
        if entry.uuid is not None:
            count = len(self._seen_identities)
            self._seen_identities.add(identity(entry.uuid))
            if len(self._seen_identities) == count:
                return
        if entry.is_meta:
            self._prompt_filter.prompt_in(entry)
            return
        if entry.type in ("user", "assistant"):
            summary.messages += 1
        prompt = self._add_prompt(entry) if entry.type in ("user", "attachment") else None
        self._facts.add(entry, prompt=prompt, is_copy=is_copy)
        if starts_with(entry.forked_from, b"{"):
            self._count_copies()

    def _count_copies(self) -> None:
        """Everything so far is copied from another session."""
        self._copy_counts = len(self._replies), self._activity.identity_count

    def _add_prompt(self, entry: Entry) -> str | None:
        """The prompt of an entry; None if it has none for Claude."""
        prompt = self._prompt_filter.short_prompt_in(entry)
        if prompt is None:
            return None
        text, is_for_claude = prompt
        summary = self.summary
        if not is_for_claude:
            summary.first_command = summary.first_command or text
            return None
        summary.first_prompt = summary.first_prompt or text
        summary.last_prompt = text
        return text

    def _add_usage(self, entry: Entry) -> bool:
        """Count a reply once, by the last of its lines; False for a copy of an old one."""
        body = entry.message
        # what Claude Code writes in Claude's name has no usage, and is no reply
        if not starts_with(body.usage, b"{") or body.model == SYNTHETIC_MODEL:
            return True
        reply = body.id if body.id is not None else entry.uuid or f"line {self.summary.lines}"
        if not self._replies.add_line(reply, body, entry.timestamp):
            return False
        if not entry.is_sidechain:
            self._facts.add_usage(body)
        return True


pack_state = msgspec.msgpack.Encoder().encode
unpack_state = msgspec.msgpack.Decoder(FoldState).decode
unpack_usage = msgspec.msgpack.Decoder(UsageFold).decode
unpack_activity = msgspec.msgpack.Decoder(SessionActivity).decode
