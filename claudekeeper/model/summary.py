"""What a list says about a session, folded line by line so that growth costs only the new lines."""

from __future__ import annotations

import hashlib
from array import array

import msgspec

from claudekeeper.model.entries import Entry, Usage, blocks_of, usage_of
from claudekeeper.model.messages import Kind, kind_of, queued_prompt
from claudekeeper.model.prices import cost_of
from claudekeeper.model.prompts import is_command, is_local, plain_words, prompt_of, shortened

# Lines of one reply repeat its usage and the last one is right; they stand close together.
RECENT_REPLIES = 16
SYNTHETIC = "<synthetic>"


class Tokens(msgspec.Struct, rename="camel", gc=False):
    """Tokens of all replies of a session."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class Summary(msgspec.Struct, array_like=True, gc=False):
    """The facts of one transcript. `counted` says whether every line has been read."""

    workdir: str | None = None
    git_branch: str | None = None
    model: str | None = None
    created: str | None = None
    first_prompt: str | None = None
    last_prompt: str | None = None
    first_command: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    summary_title: str | None = None
    messages: int = 0
    tokens: Tokens | None = None
    # reckoned from the replies, and what Claude Code itself wrote down
    spent: float = 0.0
    reported: float = 0.0
    unreadable: int = 0
    # lines read, and lines of the main conversation among them
    lines: int = 0
    main_lines: int = 0
    sidechains: bool = False
    counted: bool = False

    @property
    def title(self) -> str | None:
        return (
            self.custom_title
            or self.ai_title
            or self.summary_title
            or self.last_prompt
            or self.first_prompt
            or self.first_command
        )

    @property
    def cost(self) -> float:
        return max(self.spent, self.reported)

    @property
    def is_subagent(self) -> bool:
        """Whether every line of the conversation is a subagent's."""
        return self.sidechains and not self.main_lines


class Folded(msgspec.Struct, array_like=True, gc=False):
    """What the fold must remember between two readings, beside the summary."""

    offset: int = 0
    # how many lines the summary had by then
    lines: int = 0
    # the bytes before the offset: if they are others now, the file was rewritten
    mark: bytes = b""
    seen: bytes = b""
    replies: bytes = b""
    titles: list[tuple[str, str]] = []
    recent: list[tuple[str, str | None, Usage]] = []


class Fold:
    """A summary in the making."""

    def __init__(self, summary: Summary | None = None, folded: Folded | None = None) -> None:
        self.summary = summary or Summary()
        folded = folded or Folded()
        self._seen = _unpacked(folded.seen)
        self._replies = _unpacked(folded.replies)
        # titles that name a leaf: they count only if that leaf is in this file
        self._titles = dict(folded.titles)
        self._recent = {reply: (model, usage) for reply, model, usage in folded.recent}

    def add(self, entry: Entry) -> None:
        """Take the next entry of the file."""
        summary = self.summary
        summary.lines += 1
        match entry.type:
            case "user" | "assistant" | "attachment" | "system" | "progress":
                self._add_to_chain(entry)
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
        if summary.tokens is None:
            summary.tokens = Tokens()
        for leaf, title in self._titles.items():
            if identity(leaf) in self._seen:
                summary.summary_title = shortened(title)
        folded = Folded(
            offset=offset,
            lines=summary.lines,
            mark=mark,
            seen=_packed(self._seen),
            replies=_packed(self._replies),
            titles=list(self._titles.items()),
            recent=[(reply, *counted) for reply, counted in self._recent.items()],
        )
        return summary, folded

    def _add_to_chain(self, entry: Entry) -> None:
        summary = self.summary
        if entry.is_sidechain:
            summary.sidechains = True
            if entry.type == "assistant":
                self._add_usage(entry)
            return
        summary.main_lines += 1
        summary.workdir = summary.workdir or entry.cwd
        summary.created = summary.created or entry.timestamp
        summary.git_branch = entry.git_branch or summary.git_branch
        if entry.type == "assistant":
            if entry.message.model and entry.message.model != SYNTHETIC:
                summary.model = entry.message.model
            self._add_usage(entry)
        if entry.uuid is not None:
            known = len(self._seen)
            self._seen.add(identity(entry.uuid))
            if len(self._seen) == known:
                return
        if entry.is_meta:
            return
        if entry.type in ("user", "assistant"):
            summary.messages += 1
        if entry.type in ("user", "attachment"):
            self._add_prompt(entry)

    def _add_prompt(self, entry: Entry) -> None:
        said = said_by(entry)
        if said is None:
            return
        text, real = said
        summary = self.summary
        if real:
            summary.first_prompt = summary.first_prompt or text
            summary.last_prompt = text
        else:
            summary.first_command = summary.first_command or text

    def _add_usage(self, entry: Entry) -> None:
        """Count a reply once, by the last of its lines."""
        usage = usage_of(entry.message)
        reply, model = entry.message.id, entry.message.model
        if usage is None:
            return
        if reply is not None:
            before = self._recent.pop(reply, None)
            if before is not None:
                self._count(*before, sign=-1)
            elif identity(reply) in self._replies:
                return
            self._replies.add(identity(reply))
            self._recent[reply] = (model, usage)
            if len(self._recent) > RECENT_REPLIES:
                del self._recent[next(iter(self._recent))]
        self._count(model, usage, sign=1)

    def _count(self, model: str | None, usage: Usage, *, sign: int) -> None:
        tokens = self.summary.tokens = self.summary.tokens or Tokens()
        tokens.input += sign * (usage.input_tokens or 0)
        tokens.output += sign * (usage.output_tokens or 0)
        tokens.cache_read += sign * (usage.cache_read_input_tokens or 0)
        tokens.cache_write += sign * (usage.cache_creation_input_tokens or 0)
        self.summary.spent += sign * cost_of(model, usage)


def said_by(entry: Entry) -> tuple[str, bool] | None:
    """What a person typed in this line, and whether it was asked of Claude; None for no prompt."""
    if entry.type == "user" and not entry.is_meta and not entry.is_compact_summary:
        # most prompts are plain words: nothing to unwrap, nothing to tell apart
        text = plain_words(entry.message.content)
        if text:
            return shortened(text), True
    kind: Kind | None = kind_of(entry)
    if kind not in ("prompt", "command"):
        return None
    content = queued_prompt(entry) if entry.type == "attachment" else entry.message.content
    blocks = blocks_of(content)
    text = shortened(prompt_of(blocks))
    if not text:
        return None
    first = next((block.text for block in blocks if block.text), "")
    return text, kind == "prompt" or (is_command(first) and not is_local(first))


def identity(name: str) -> int:
    """Sixty-four bits that stand for a uuid or id: the random digits of a uuid, else a hash."""
    if len(name) == 36:
        try:
            return int(name[:8] + name[28:], 16) & 0xFFFFFFFFFFFFFFFF
        except ValueError:
            pass
    words = name.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(words, digest_size=8).digest(), "big")


def _packed(identities: set[int]) -> bytes:
    return array("Q", identities).tobytes()


def _unpacked(packed: bytes) -> set[int]:
    numbers = array("Q")
    numbers.frombytes(packed)
    return set(numbers)
