"""Full context windows: when a conversation needs room, and what its next session is told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from itertools import takewhile

from claudekeeper.contract.conversations import ConversationSettings
from claudekeeper.contract.requests import SendRequest
from claudekeeper.dispatch.conversation_state import ConversationState
from claudekeeper.dispatch.record import ConversationRecord
from claudekeeper.dispatch.session_reader import MAX_MESSAGES, LastMessages, SessionReader
from claudekeeper.dispatch.store import ConversationStore
from claudekeeper.dispatch.turn_results import TurnResults
from claudekeeper.net.errors import ApiError
from claudekeeper.sessions.manager import SessionManager

log = logging.getLogger(__name__)

DEFAULT_WINDOW, LARGE_WINDOW = 200_000, 1_000_000
# a model's tokens are rarely shorter, so an estimate with this never exceeds the window
BYTES_PER_TOKEN = 3
# share of the threshold; the rest is for Claude Code's own prompt and for new work
ROOM_SHARE = 0.5
COMPACT_COMMAND = "/compact"


class WindowManager:
    """Makes room in a conversation that fills its window."""

    def __init__(
        self,
        store: ConversationStore,
        manager: SessionManager,
        turn_results: TurnResults,
        sessions: SessionReader,
        settings: ConversationSettings,
        state: ConversationState,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._manager = manager
        self._turn_results = turn_results
        self._sessions = sessions
        self._settings = settings
        self._state = state
        self._clock = clock

    async def make_room(self, record: ConversationRecord) -> int:
        """Makes room by the strategy of the project; returns how many tokens that took."""
        settings = self._settings.for_project(record.project)
        try:
            if settings.strategy == "summary":
                return await self._summarise(record, settings)
            if settings.strategy == "window":
                await self._hand_over(record, settings)
        except ApiError as error:
            log.warning("no room could be made for %s: %s", record.item.display_name, error)
        return 0

    async def _summarise(self, record: ConversationRecord, settings: ConversationSettings) -> int:
        assert record.session is not None
        full, room = record.window, room_bytes(record.model, settings)
        last = await self._sessions.last_messages(record.session, settings.keep_messages, room)
        if self._state.is_busy(record.session):
            return 0  # a person sent a prompt meanwhile
        record.primer, count = verbatim_prompt(last, room)
        # Claude Code takes another system prompt only when it compacts: so it is restarted with
        # the messages to keep, and compacts then
        await self._manager.close_session(record.session)
        await asyncio.to_thread(self._store.put, record)
        send = SendRequest(session_id=record.session, text=COMPACT_COMMAND, wait=True).validate()
        future = self._turn_results.expect(record.session, send.uuid or "")
        try:
            await self._manager.send(send, append_prompt=record.append_prompt)
            ended = await future
        finally:
            future.cancel()
        # the next reply says how full the window is now
        record.window, record.full = 0, False
        record.tokens += ended.tokens_used
        record.cost += ended.cost_usd or 0.0
        await asyncio.to_thread(self._store.put, record)
        done = (
            f"Claude Code's own compaction at {full} tokens: {ended.outcome}. "
            f"Messages kept word for word: {count}."
        )
        await self._state.record_act(record, "summary", done, record.session)
        return ended.tokens_used

    async def _hand_over(self, record: ConversationRecord, settings: ConversationSettings) -> None:
        assert record.session is not None
        room = room_bytes(record.model, settings)
        last = await self._last_messages(record, room)
        old, tokens = record.session, record.window
        if self._state.is_busy(old):
            return  # a person sent a prompt meanwhile
        await self._manager.close_session(old)
        record.primer, left_out = handover_prompt(last, room)
        # the next dispatch begins the next session
        record.session, record.window, record.full, record.done = None, 0, False, 0
        details = f"Another session takes over at {tokens} tokens; messages left out: {left_out}."
        await asyncio.to_thread(
            self._store.detach_session, record, old, "window", self._clock(), details
        )
        await self._state.record_act(record, "window", details, old)

    async def _last_messages(self, record: ConversationRecord, room: int) -> LastMessages:
        """Also of the sessions before this one, where it continues them."""
        assert record.session is not None
        last = await self._sessions.last_messages(record.session, MAX_MESSAGES, room)
        earlier, _, _ = await asyncio.to_thread(self._store.read_log, record)
        for each in takewhile(lambda one: one.why == "window", reversed(earlier)):
            before = await self._sessions.last_messages(each.session_id, MAX_MESSAGES, room)
            last = LastMessages(before.messages + last.messages, before.total + last.total)
        return last


def window_of(model: str | None, settings: ConversationSettings) -> int:
    large = model is not None and "[1m]" in model
    return settings.window_tokens or (LARGE_WINDOW if large else DEFAULT_WINDOW)


def is_full(tokens: int, model: str | None, settings: ConversationSettings) -> bool:
    if settings.strategy == "off":
        return False
    return tokens >= settings.threshold * window_of(model, settings)


def room_bytes(model: str | None, settings: ConversationSettings) -> int:
    """How many bytes of earlier messages may be repeated word for word."""
    return int(settings.threshold * window_of(model, settings) * ROOM_SHARE * BYTES_PER_TOKEN)


def handover_prompt(last: LastMessages, room: int) -> tuple[str, int]:
    """What the next session is told of the earlier one, and how many messages are left out."""
    messages = _messages_that_fit(last, room)
    left_out = max(0, last.total - len(messages))
    notice = (
        f"This session continues an earlier one that had become too long. Its last {len(messages)} "
        f"messages follow; the {left_out} before them were left out."
    )
    return "\n\n".join([notice, *messages]), left_out


def verbatim_prompt(last: LastMessages, room: int) -> tuple[str | None, int]:
    """What is repeated word for word beside a summary, and how many messages that are."""
    messages = _messages_that_fit(last, room)
    if not messages:
        return None, 0
    notice = (
        f"The conversation was summarised. The last {len(messages)} messages before that follow "
        "word for word."
    )
    return "\n\n".join([notice, *messages]), len(messages)


def _messages_that_fit(last: LastMessages, room: int) -> list[str]:
    """The last messages that fit, each whole, in their order."""
    lines: list[str] = []
    for author, text in reversed(last.messages):
        line = f"{author}: {text}"
        room -= len(line.encode())
        if room < 0:
            break
        lines.append(line)
    return lines[::-1]
