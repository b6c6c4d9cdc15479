"""Questions of sessions that run in terminals, asked here too; the first answer counts.

The terminal shows its own prompt at the same time and does not say when it was answered there.
The signs are the tool's result in the transcript, and a Claude Code that no longer waits.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import msgspec

from claudekeeper.live.attention import Desk
from claudekeeper.live.bus import Bus
from claudekeeper.live.presence import Presences
from claudekeeper.live.tasks import Tasks
from claudekeeper.model.attention import Answer, Attention, Verdict, kind_of
from claudekeeper.model.entries import Entry
from claudekeeper.model.errors import KeeperStopping
from claudekeeper.model.events import SessionNotified
from claudekeeper.model.hooks import (
    HookCall,
    answered_in,
    asked_by,
    became_of,
    blocks_in,
    calls,
    output_of,
)
from claudekeeper.model.sessions import now

# seconds between two looks at whether the hook still waits
LOOK = 1.0
TERMINAL = "terminal"
# questions that are open at once: more is no person's work, and theirs stay in the terminal
MOST_OPEN = 100
# answers that were given, of which the outcome is not known yet
MOST_GIVEN = 200
# seconds after which the call is looked for once more: Claude Code writes it about when it asks
WRITTEN = 0.1

Waits = Callable[[], bool]


class Asked(msgspec.Struct, gc=False):
    """A question that is open here and in a terminal."""

    attention: Attention
    # whether the terminal was seen to wait; from then on, not waiting means answered
    waited: bool = False
    # calls that had their results before it was asked: the same words again are another call
    old: frozenset[str] = frozenset()
    # answered, maybe before anybody here was asked
    over: bool = False

    def result_in(self, entry: Entry) -> dict[str, Any] | None:
        """The result of its call, if that is what the line has; or notes which call it is."""
        about = self.attention
        for block in blocks_in(entry):
            if about.tool_use_id is None and calls(block, about.tool, about.input):
                call = str(block.get("id"))
                if call not in self.old:
                    about.tool_use_id = call
            elif (
                block.get("type") == "tool_result" and block.get("tool_use_id") == about.tool_use_id
            ):
                return block
        return None


class Terminals:
    """What hooks of other Claude Codes tell and ask."""

    def __init__(
        self,
        desk: Desk,
        presences: Presences,
        bus: Bus,
        recent: Callable[[str], Awaitable[list[Entry]]],
    ) -> None:
        self._desk = desk
        self._presences = presences
        self._bus = bus
        self._recent = recent
        self._tasks = Tasks()
        self._open: dict[str, Asked] = {}
        self._given: OrderedDict[str, tuple[Asked, Answer]] = OrderedDict()
        self._stopping = False
        # whether a CLI of this keeper runs the session: then it asks by itself
        self.runs: Callable[[str, int], bool] = lambda _id, _pid: False

    async def close(self) -> None:
        """Hooks that wait are sent away; they come again to the next keeper."""
        self._stopping = True
        await self._tasks.close()

    async def notify(self, call: HookCall) -> None:
        """Something happened in a terminal."""
        event = call.event
        await self._presences.look()
        if event.session_id and not self.runs(event.session_id, call.pid):
            self._bus.publish(
                SessionNotified(
                    session_id=event.session_id.lower(),
                    event=event.hook_event_name,
                    text=event.message,
                    title=event.title,
                    reason=event.notification_type or event.source or event.reason,
                )
            )

    async def ask(self, call: HookCall, still_there: Waits) -> dict[str, Any] | None:
        """What the hook is to answer; None where the terminal decides."""
        event = call.event
        session_id = event.session_id.lower()
        if not event.tool_name or self.runs(session_id, call.pid):
            return None
        if call.entrypoint.startswith("sdk"):
            # nobody sits in front of it: it would wait where it did not wait before
            return None
        presence = await self._presences.now(session_id)
        waiting = presence is not None and presence.status == "waiting"
        if call.again and not waiting:
            return None
        recent = await self._recent(session_id)
        if len(self._open) >= MOST_OPEN:
            return None
        attention = Attention(
            id=str(uuid4()),
            session_id=session_id,
            tool_use_id=asked_by(event, recent),
            tool=event.tool_name,
            input=event.tool_input,
            kind=kind_of(event.tool_name),
            title=None,
            description=None,
            suggestions=event.permission_suggestions,
            grants=event.grants,
            blocked_path=None,
            reason=None,
            agent_id=event.agent_id,
            origin="terminal",
            raised=now(),
        )
        old = answered_in(recent, call.at)
        asked = self._open[attention.id] = Asked(attention, waiting, old)
        try:
            if attention.tool_use_id is None:
                await asyncio.sleep(WRITTEN)
                await self._catch_up(asked)
            answer = None if asked.over else await self._answer(asked, still_there)
        finally:
            del self._open[attention.id]
        if answer is None:
            return None
        self._given[attention.id] = asked, answer
        if len(self._given) > MOST_GIVEN:
            self._given.popitem(last=False)
        self._tasks.start(self._look_back(asked, answer), name=f"terminal:{attention.id}:became")
        return output_of(answer)

    async def _look_back(self, asked: Asked, answer: Answer) -> None:
        """What became of it may have been written while the answer was on its way to us."""
        self._look_what_became(asked, answer, await self._recent(asked.attention.session_id))

    async def _catch_up(self, asked: Asked) -> None:
        """Its call may have been written in the moment between reading and listening."""
        for entry in await self._recent(asked.attention.session_id):
            self._look_for_result(asked, entry)

    async def _answer(self, asked: Asked, still_there: Waits) -> Answer | None:
        task = self._tasks.start(
            self._desk.ask(asked.attention), name=f"terminal:{asked.attention.id}"
        )
        try:
            while still_there():
                done, _ = await asyncio.wait({task}, timeout=LOOK)
                if done:
                    if self._stopping:
                        raise KeeperStopping
                    return None if task.cancelled() else task.result()
                if asked.attention.tool_use_id is None:
                    await self._catch_up(asked)
        finally:
            # nobody waits for the answer any more
            task.cancel()
        return None

    # ---- signs that the terminal was answered ----

    def presence_changed(self, session_id: str) -> None:
        presence = self._presences.of(session_id)
        waiting = presence is not None and presence.status == "waiting"
        for asked in self._of(session_id):
            if waiting:
                asked.waited = True
            elif asked.waited or presence is None:
                self._settle(asked, "withdrawn")

    def heard(self, session_id: str, entries: list[Entry]) -> None:
        """New lines of a transcript."""
        for asked in self._of(session_id):
            for entry in entries:
                self._look_for_result(asked, entry)
        for asked, answer in list(self._given.values()):
            if asked.attention.session_id == session_id:
                self._look_what_became(asked, answer, entries)

    def _look_what_became(self, asked: Asked, answer: Answer, entries: list[Entry]) -> None:
        """The terminal may have been answered in the moment before our answer reached it."""
        for entry in entries:
            result = asked.result_in(entry)
            if result is not None and self._given.pop(asked.attention.id, None) is not None:
                decision = became_of(answer, result)
                if decision != answer.decision:
                    self._desk.correct(asked.attention, decision, TERMINAL)

    def _look_for_result(self, asked: Asked, entry: Entry) -> None:
        result = asked.result_in(entry)
        if result is not None:
            self._settle(asked, "deny" if result.get("is_error") else "allow")

    def _settle(self, asked: Asked, decision: Verdict) -> None:
        asked.over = True
        self._desk.settle(asked.attention.id, decision, TERMINAL)

    def _of(self, session_id: str) -> list[Asked]:
        return [each for each in self._open.values() if each.attention.session_id == session_id]
