"""Questions of sessions that run in terminals, prompt here too; the first answer counts.

The terminal shows its own prompt at the same time and does not say when it was answered there.
The signs are the tool's result in the transcript, and a Claude Code that no longer waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import msgspec

from claudekeeper.attention.hook_calls import (
    HookCall,
    actual_decision,
    content_blocks,
    find_answered_calls,
    find_tool_use_id,
    hook_output,
    is_call_of,
)
from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.catalog.presence import PresenceChange, PresenceMonitor
from claudekeeper.contract.attention import Answer, Attention, AttentionOutcome, attention_kind
from claudekeeper.contract.errors import KeeperStopping
from claudekeeper.contract.events import SessionNotified
from claudekeeper.core.bounded import BoundedDict
from claudekeeper.core.tasks import Tasks
from claudekeeper.core.timestamps import now_iso
from claudekeeper.events.bus import EventBus
from claudekeeper.events.transcript_follower import NewEntries
from claudekeeper.transcripts.entries import Entry

# seconds between two looks at whether the hook still waits
POLL_SECONDS = 1.0
TERMINAL = "terminal"
# questions that are open at once: more is no person's work, and theirs stay in the terminal
MAX_OPEN = 100
# answers that were given, of which the outcome is not known yet
MAX_ANSWERED = 200
# seconds after which the call is looked for once more: Claude Code writes it about when it asks
WRITE_SECONDS = 0.1

IsWaiting = Callable[[], bool]


class OpenPrompt(msgspec.Struct, gc=False):
    """A question that is open here and in a terminal."""

    attention: Attention
    # whether the terminal was seen to wait; from then on, not waiting means answered
    seen_waiting: bool = False
    # calls that had their results before it was prompt: the same words again are another call
    earlier_calls: frozenset[str] = frozenset()
    # answered, maybe before anybody here was prompt
    settled: bool = False

    def find_result(self, entry: Entry) -> dict[str, Any] | None:
        """The result of its call, if that is what the line has; or notes which call it is."""
        about = self.attention
        for block in content_blocks(entry):
            if about.tool_use_id is None and is_call_of(block, about.tool, about.input):
                call = str(block.get("id"))
                if call not in self.earlier_calls:
                    about.tool_use_id = call
            elif (
                block.get("type") == "tool_result" and block.get("tool_use_id") == about.tool_use_id
            ):
                return block
        return None


class TerminalPrompts:
    """What hooks of other Claude Codes tell and ask."""

    def __init__(
        self,
        attention: PendingAttention,
        presence: PresenceMonitor,
        bus: EventBus,
        recent_entries: Callable[[str], Awaitable[list[Entry]]],
    ) -> None:
        self._attention = attention
        self._presence = presence
        self._bus = bus
        self._recent_entries = recent_entries
        self._tasks = Tasks()
        self._open: dict[str, OpenPrompt] = {}
        self._answered: BoundedDict[str, tuple[OpenPrompt, Answer]] = BoundedDict(MAX_ANSWERED)
        self._stopping = False

    async def close(self) -> None:
        """Hooks that wait are sent away; they come again to the next keeper."""
        self._stopping = True
        await self._tasks.close()

    async def handle_notification(self, call: HookCall) -> None:
        """Something happened in a terminal."""
        event = call.event
        await self._presence.refresh()
        if event.session_id and not self._presence.is_own_hook(event.session_id, call.pid):
            self._bus.publish(
                SessionNotified(
                    session_id=event.session_id.lower(),
                    event=event.hook_event_name,
                    text=event.message,
                    title=event.title,
                    reason=event.notification_type or event.source or event.reason,
                )
            )

    async def handle_permission_request(
        self, call: HookCall, is_waiting: IsWaiting
    ) -> dict[str, Any] | None:
        """What the hook is to answer; None where the terminal decides."""
        event = call.event
        session_id = event.session_id.lower()
        if not event.tool_name or self._presence.is_own_hook(session_id, call.pid):
            return None
        if call.entrypoint.startswith("sdk"):
            # nobody sits in front of it: it would wait where it did not wait before
            return None
        presence = await self._presence.refresh_and_get(session_id)
        waiting = presence is not None and presence.status == "waiting"
        if call.again and not waiting:
            return None
        recent = await self._recent_entries(session_id)
        if len(self._open) >= MAX_OPEN:
            return None
        attention = Attention(
            id=str(uuid4()),
            session_id=session_id,
            tool_use_id=find_tool_use_id(event, recent),
            tool=event.tool_name,
            input=event.tool_input,
            kind=attention_kind(event.tool_name),
            title=None,
            description=None,
            suggestions=event.permission_suggestions,
            grants=event.grants,
            blocked_path=None,
            reason=None,
            agent_id=event.agent_id,
            origin="terminal",
            raised=now_iso(),
        )
        old = find_answered_calls(recent, call.at)
        prompt = self._open[attention.id] = OpenPrompt(attention, waiting, old)
        try:
            if attention.tool_use_id is None:
                await asyncio.sleep(WRITE_SECONDS)
                await self._find_result_in_transcript(prompt)
            answer = None if prompt.settled else await self._wait_for_answer(prompt, is_waiting)
        finally:
            del self._open[attention.id]
        if answer is None:
            return None
        self._answered[attention.id] = prompt, answer
        self._tasks.start(
            self._check_outcome_in_transcript(prompt, answer),
            name=f"terminal:{attention.id}:became",
        )
        return hook_output(answer)

    async def _check_outcome_in_transcript(self, prompt: OpenPrompt, answer: Answer) -> None:
        """What became of it may have been written while the answer was on its way to us."""
        self._check_outcome(prompt, answer, await self._recent_entries(prompt.attention.session_id))

    async def _find_result_in_transcript(self, prompt: OpenPrompt) -> None:
        """Its call may have been written in the moment between reading and listening."""
        for entry in await self._recent_entries(prompt.attention.session_id):
            self._settle_on_result(prompt, entry)

    async def _wait_for_answer(self, prompt: OpenPrompt, is_waiting: IsWaiting) -> Answer | None:
        task = self._tasks.start(
            self._attention.ask(prompt.attention), name=f"terminal:{prompt.attention.id}"
        )
        try:
            while is_waiting():
                done, _ = await asyncio.wait({task}, timeout=POLL_SECONDS)
                if done:
                    if self._stopping:
                        raise KeeperStopping
                    return None if task.cancelled() else task.result()
                if prompt.attention.tool_use_id is None:
                    await self._find_result_in_transcript(prompt)
        finally:
            # nobody waits for the answer any more
            task.cancel()
        return None

    # ---- signs that the terminal was answered ----

    def handle_presence_change(self, change: PresenceChange) -> None:
        presence = change.presence
        waiting = presence is not None and presence.status == "waiting"
        for prompt in self._open_prompts_of(change.session_id):
            if waiting:
                prompt.seen_waiting = True
            elif prompt.seen_waiting or presence is None:
                self._settle(prompt, "withdrawn")

    def handle_entries(self, growth: NewEntries) -> None:
        """A transcript has grown."""
        session_id, entries = growth.session_id, growth.entries
        for prompt in self._open_prompts_of(session_id):
            for entry in entries:
                self._settle_on_result(prompt, entry)
        for prompt, answer in list(self._answered.values()):
            if prompt.attention.session_id == session_id:
                self._check_outcome(prompt, answer, entries)

    def _check_outcome(self, prompt: OpenPrompt, answer: Answer, entries: list[Entry]) -> None:
        """The terminal may have been answered in the moment before our answer reached it."""
        for entry in entries:
            result = prompt.find_result(entry)
            if result is not None and self._answered.pop(prompt.attention.id, None) is not None:
                decision = actual_decision(answer, result)
                if decision != answer.decision:
                    self._attention.correct(prompt.attention, decision, TERMINAL)

    def _settle_on_result(self, prompt: OpenPrompt, entry: Entry) -> None:
        result = prompt.find_result(entry)
        if result is not None:
            self._settle(prompt, "deny" if result.get("is_error") else "allow")

    def _settle(self, prompt: OpenPrompt, decision: AttentionOutcome) -> None:
        prompt.settled = True
        self._attention.settle(prompt.attention.id, decision, TERMINAL)

    def _open_prompts_of(self, session_id: str) -> list[OpenPrompt]:
        return [each for each in self._open.values() if each.attention.session_id == session_id]
