"""Failed turns: turns that broke off, with what was said in them that no transcript has.

Claude Code writes the transcript, and a Claude Code that is killed writes nothing more: the
prompt, whole messages and the block that was being streamed may be missing from it. They are words
of a person and of Claude. So the keeper keeps them, with the reason, until the transcript turns out
to have them, or the prompt is sent again or withdrawn.
"""

from __future__ import annotations

import contextlib
import re
import signal
from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from claudekeeper.contract.errors import Fault
from claudekeeper.contract.events import PartialBlock, TurnOutcome
from claudekeeper.contract.message import Message
from claudekeeper.core.timestamps import now_iso
from claudekeeper.events.delivery_log import DeliveryLog
from claudekeeper.sessions.message_queue import QueuedMessage
from claudekeeper.sessions.reply_stream import ReplyStream
from claudekeeper.transcripts.entries import blocks_of

INTERRUPTED_FAULT = Fault(
    "turn_interrupted", "The keeper ended in the middle of this turn; it can be continued."
)
STOPPED_FAULT = Fault(
    "turn_interrupted", "This was stopped before Claude had it; it can be sent again."
)
CUT_OFF_FAULT = Fault(
    "turn_interrupted", "This was stopped before Claude Code had written it down."
)
UNWRITTEN_FAULT = Fault(
    "transcript_unwritten",
    "Claude Code did not write this into the transcript, and will not remember it. "
    "The disk may be full.",
)


class FailedTurn(msgspec.Struct, rename="camel"):
    """`messages` were whole, `blocks` were cut off in the middle; no transcript has either."""

    # of the prompt; None for a turn that a background task began
    uuid: str | None
    started: str
    ended: str
    # why
    error: Fault = INTERRUPTED_FAULT
    # whether Claude had the prompt, as far as is known
    had: bool = False
    # the prompt, while no transcript has it; and whether Claude Code had said that it took it
    prompt: QueuedMessage | None = None
    said: bool = False
    messages: list[Message] = []
    blocks: list[PartialBlock] = []

    @property
    def has_reply(self) -> bool:
        """Whether there are words of Claude in it."""
        return bool(self.messages or self.blocks)

    def is_of(self, uuid: str | None, started: str) -> bool:
        return (self.uuid, self.started) == (uuid, started)


def build_failed_turn(
    uuid: str | None,
    started: str,
    prompt: QueuedMessage | None,
    delivery_log: DeliveryLog,
    reply_stream: ReplyStream,
    *,
    prompt_received: bool,
) -> FailedTurn:
    """What a turn leaves; built before the delivery log and the reply stream forget it."""
    unwritten = delivery_log.unwritten_messages
    replies = [message for message in unwritten if message.uuid != uuid]
    blocks = reply_stream.unfinished_blocks
    return FailedTurn(
        uuid=uuid,
        started=started,
        ended=now_iso(),
        had=prompt_received or bool(replies or blocks),
        prompt=prompt,
        said=len(replies) < len(unwritten),
        messages=replies,
        blocks=blocks,
    )


# the SDK does not always give the exit code as a number
_EXIT_CODE = re.compile(r"\bexit code:? (-?\d+)")


# a process that a signal ended in order gives this plus the signal's number
SIGNAL_EXIT_CODES = 128


def describe_exit(error: Exception | None, last_words: str, exit_code: int | None = None) -> str:
    """How a CLI that nobody had asked to end came to its end, in plain words."""
    code = exit_code if exit_code is not None else getattr(error, "exit_code", None)
    if code is None and (match := _EXIT_CODE.search(str(error))) is not None:
        code = int(match[1])
    if isinstance(code, int) and (code < 0 or code > SIGNAL_EXIT_CODES):
        how, number = ("killed", -code) if code < 0 else ("told to end", code - SIGNAL_EXIT_CODES)
        with contextlib.suppress(ValueError):
            return f"it was {how}: {signal.Signals(number).name}"
    if last_words:
        return f"it said: {last_words}"
    return f"exit code {code}" if code is not None else str(error or "")


def with_reason(turn: FailedTurn, outcome: TurnOutcome, error: Fault | None) -> FailedTurn:
    """The turn with its reason; `error` where something failed."""
    if error is None:
        stopped = CUT_OFF_FAULT if turn.had else STOPPED_FAULT
        error = UNWRITTEN_FAULT if outcome == "done" else stopped
    return msgspec.structs.replace(turn, error=error)


class CutOffTurn(Protocol):
    """A turn that an earlier keeper could not see through."""

    uuid: str | None
    started: str
    begun: bool
    prompt: QueuedMessage | None
    error: Fault | None


def is_same_turn(cut_off: CutOffTurn, turn: FailedTurn) -> bool:
    """Whether this is what is left of it; one that had failed is known by its prompt."""
    same_start = cut_off.error is not None or turn.started == cut_off.started
    return turn.uuid == cut_off.uuid and same_start


def from_interrupted(cut_off: CutOffTurn, snapshot: FailedTurn | None) -> FailedTurn:
    """`snapshot`: what was written down while the turn ran."""
    if snapshot is None or not snapshot.is_of(cut_off.uuid, cut_off.started):
        snapshot = FailedTurn(cut_off.uuid, cut_off.started, now_iso(), had=cut_off.prompt is None)
    error = cut_off.error or INTERRUPTED_FAULT
    return msgspec.structs.replace(snapshot, prompt=cut_off.prompt, error=error)


def without_written(turn: FailedTurn, messages: Sequence[Message]) -> FailedTurn:
    """The turn without what the transcript turned out to have. Pure."""
    uuids = {message.uuid for message in messages}
    prompt = turn.prompt
    if prompt is not None and (prompt.uuid in uuids or _is_written_prompt(prompt, turn, messages)):
        prompt = None
    whole = [message for message in turn.messages if message.uuid not in uuids]
    blocks = [block for block in turn.blocks if not _is_written_block(block, messages)]
    if prompt is turn.prompt and len(whole) == len(turn.messages) and blocks == turn.blocks:
        return turn
    had = turn.had or prompt is not turn.prompt
    return msgspec.structs.replace(turn, had=had, prompt=prompt, messages=whole, blocks=blocks)


def _is_written_prompt(
    prompt: QueuedMessage, turn: FailedTurn, messages: Iterable[Message]
) -> bool:
    """Claude Code may write a prompt down under a uuid of its own."""
    return any(
        message.role == "user"
        and message.kind in ("prompt", "command")
        and (message.timestamp or "") >= turn.started
        and _text_of(message).strip() == prompt.text.strip()
        for message in messages
    )


def _is_written_block(block: PartialBlock, messages: Iterable[Message]) -> bool:
    """Told to end, Claude Code may still have written down what it had so far."""
    for message in messages:
        if message.message_id != block.message_id:
            continue
        for written in blocks_of(message.content):
            if block.kind == "input" and written.id == block.tool_use_id:
                return True
            if block.kind == "thinking" and written.type == "thinking":
                return True
            words = written.text or ""
            if block.kind == "text" and words and words.startswith(block.text.rstrip()):
                return True
    return False


def _text_of(message: Message) -> str:
    return "\n".join(block.text for block in blocks_of(message.content) if block.text)
