"""When a conversation fills its model's window, and what its successor is told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from itertools import takewhile

from claudekeeper.contract.conversations import AuditAction, ConversationSettings
from claudekeeper.contract.requests import SendRequest
from claudekeeper.dispatch.session_reader import MAX_MESSAGES, LastMessages, SessionReader
from claudekeeper.dispatch.store import ConversationRecord, ConversationStore
from claudekeeper.dispatch.turn_results import TurnResults
from claudekeeper.net.errors import ApiError
from claudekeeper.sessions.manager import SessionManager

log = logging.getLogger(__name__)

DEFAULT_WINDOW, LARGE_WINDOW = 200_000, 1_000_000
# a model's tokens are rarely shorter: what is reckoned so never takes more than it is given
BYTES_PER_TOKEN = 3
# of what a window may be filled with, the rest is for Claude Code's own prompt and for new work
ROOM_SHARE = 0.5
COMPACT_COMMAND = "/compact"


RecordAct = Callable[[ConversationRecord, AuditAction, str, str], Awaitable[None]]


class WindowManager:
    """Makes room in a conversation that fills its window."""

    def __init__(
        self,
        book: ConversationStore,
        registry: SessionManager,
        outcomes: TurnResults,
        sessions: SessionReader,
        settings: ConversationSettings,
        note: RecordAct,
        clock: Callable[[], float],
    ) -> None:
        self._store = book
        self._manager = registry
        self._turn_results = outcomes
        self._sessions = sessions
        self._settings = settings
        self._record_act = note
        self._clock = clock

    async def make_room(self, kept: ConversationRecord) -> int:
        """How many tokens that took."""
        settings = self._settings.for_project(kept.project)
        try:
            if settings.strategy == "summary":
                return await self._summarise(kept, settings)
            if settings.strategy == "window":
                await self._hand_over(kept, settings)
        except ApiError as error:
            log.warning("no room could be made for %s: %s", kept.item.display_name, error)
        return 0

    async def _summarise(self, kept: ConversationRecord, settings: ConversationSettings) -> int:
        assert kept.session is not None
        full, room = kept.window, room_bytes(kept.model, settings)
        last = await self._sessions.last_messages(kept.session, settings.keep_messages, room)
        if self._busy(kept.session):
            return 0  # a person speaks there by now
        kept.primer, told = verbatim_prompt(last, room)
        # Claude Code records a session's prompt and takes another one only on compacting: so it is
        # one that was started with what is to be kept word for word
        await self._manager.close_session(kept.session)
        await asyncio.to_thread(self._store.put, kept)
        send = SendRequest(session_id=kept.session, text=COMPACT_COMMAND, wait=True).validate()
        future = self._turn_results.expect(kept.session, send.uuid or "")
        try:
            await self._manager.send(send, append_prompt=append_prompt_of(kept))
            ended = await future
        finally:
            future.cancel()
        # how much is left of it is known with the next reply
        kept.window, kept.full = 0, False
        kept.tokens += ended.tokens_used
        kept.cost += ended.cost_usd or 0.0
        await asyncio.to_thread(self._store.put, kept)
        done = (
            f"Claude Code's own compaction at {full} tokens: {ended.outcome}. "
            f"Messages kept word for word: {told}."
        )
        await self._record_act(kept, "summary", done, kept.session)
        return ended.tokens_used

    async def _hand_over(self, kept: ConversationRecord, settings: ConversationSettings) -> None:
        assert kept.session is not None
        room = room_bytes(kept.model, settings)
        last = await self._last_messages(kept, room)
        old, tokens = kept.session, kept.window
        if self._busy(old):
            return  # a person speaks there by now
        await self._manager.close_session(old)
        kept.primer, left_out = handover_prompt(last, room)
        # the successor begins with the next dispatch
        kept.session, kept.window, kept.full, kept.done = None, 0, False, 0
        details = f"Another session takes over at {tokens} tokens; messages left out: {left_out}."
        await asyncio.to_thread(
            self._store.detach_session, kept, old, "window", self._clock(), details
        )
        await self._record_act(kept, "window", details, old)

    def _busy(self, session_id: str) -> bool:
        live = self._manager.get(session_id)
        return live is not None and live.is_busy

    async def _last_messages(self, kept: ConversationRecord, room: int) -> LastMessages:
        """Also of the sessions that this one succeeded: a short one has its predecessor's."""
        assert kept.session is not None
        last = await self._sessions.last_messages(kept.session, MAX_MESSAGES, room)
        earlier, _, _ = await asyncio.to_thread(self._store.read_log, kept)
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
    """Bytes of the past that may be told word for word, so that there is room for what comes."""
    return int(settings.threshold * window_of(model, settings) * ROOM_SHARE * BYTES_PER_TOKEN)


def handover_prompt(last: LastMessages, room: int) -> tuple[str, int]:
    """What the successor knows beside its persona, and how many messages it does not know."""
    told = _messages_that_fit(last, room)
    left_out = max(0, last.total - len(told))
    notice = (
        f"This session continues an earlier one that had become too long. Its last {len(told)} "
        f"messages follow; the {left_out} before them were left out."
    )
    return "\n\n".join([notice, *told]), left_out


def verbatim_prompt(last: LastMessages, room: int) -> tuple[str | None, int]:
    """What is kept word for word beside a summary, and how many messages that are."""
    told = _messages_that_fit(last, room)
    if not told:
        return None, 0
    notice = (
        f"The conversation was summarised. The last {len(told)} messages before that follow word "
        "for word."
    )
    return "\n\n".join([notice, *told]), len(told)


def _messages_that_fit(last: LastMessages, room: int) -> list[str]:
    """The last messages that fit, each whole, in their order."""
    told: list[str] = []
    for who, words in reversed(last.messages):
        line = f"{who}: {words}"
        room -= len(line.encode())
        if room < 0:
            break
        told.append(line)
    return told[::-1]


def append_prompt_of(kept: ConversationRecord) -> str | None:
    parts = [part for part in (kept.prompt, kept.primer) if part]
    return "\n\n".join(parts) or None
