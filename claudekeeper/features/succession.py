"""When a conversation fills its model's window, and what its successor is told."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from itertools import takewhile
from pathlib import Path

import msgspec

from claudekeeper.features.conversation_book import Book, Kept
from claudekeeper.features.outcomes import Outcomes
from claudekeeper.live.registry import Registry
from claudekeeper.model.commands import Send
from claudekeeper.model.dispatch import ConversationSettings, What
from claudekeeper.model.entries import blocks_of
from claudekeeper.model.errors import KeeperError, MessageNotFound
from claudekeeper.model.messages import Message
from claudekeeper.model.summary import SYNTHETIC
from claudekeeper.readers.history import History

log = logging.getLogger(__name__)

WINDOW, LARGE_WINDOW = 200_000, 1_000_000
# a model's tokens are rarely shorter: what is reckoned so never takes more than it is given
BYTES_A_TOKEN = 3
# of what a window may be filled with, the rest is for Claude Code's own prompt and for new work
ROOM = 0.5
# more than a model's window holds
MOST_MESSAGES = 10_000
# messages behind a prompt that are looked through for its reply
MOST_OF_A_TURN = 2_000
COMPACT = "/compact"


class LastWords(msgspec.Struct, frozen=True):
    """The last messages of a session as (who, words), and how many it has in all."""

    said: list[tuple[str, str]]
    total: int


class Sessions(msgspec.Struct, frozen=True):
    """What conversations need to know of sessions."""

    # whether there is a transcript
    exists: Callable[[str], Awaitable[bool]]
    # look how many messages it has now
    count: Callable[[str], Awaitable[None]]
    # how many messages it has, where that is known
    messages: Callable[[str], int | None]
    # its last messages: as many as are wanted, and not many more bytes
    last_words: Callable[[str, int, int], Awaitable[LastWords]]
    # what was said to one of its messages; None if that does not stand there
    reply_to: Callable[[str, str], Awaitable[str | None]]
    # tokens and dollars of what was said to one of its messages
    used_by: Callable[[str, str], Awaitable[tuple[int, float]]]
    # what was left unfinished there will not be gone on with
    forget_left: Callable[[str], None]


Note = Callable[[Kept, What, str, str], Awaitable[None]]


class Relief:
    """Makes room in a conversation that fills its window."""

    def __init__(
        self,
        book: Book,
        registry: Registry,
        outcomes: Outcomes,
        sessions: Sessions,
        settings: ConversationSettings,
        note: Note,
        clock: Callable[[], float],
    ) -> None:
        self._book = book
        self._registry = registry
        self._outcomes = outcomes
        self._sessions = sessions
        self._settings = settings
        self._note = note
        self._clock = clock

    async def make_room(self, kept: Kept) -> int:
        """How many tokens that took."""
        settings = self._settings.of(kept.project)
        try:
            if settings.strategy == "summary":
                return await self._summarise(kept, settings)
            if settings.strategy == "window":
                await self._succeed(kept, settings)
        except KeeperError as error:
            log.warning("no room could be made for %s: %s", kept.item.named, error)
        return 0

    async def _summarise(self, kept: Kept, settings: ConversationSettings) -> int:
        assert kept.session is not None
        full, room = kept.window, room_of(kept.model, settings)
        last = await self._sessions.last_words(kept.session, settings.keep_messages, room)
        if self._busy(kept.session):
            return 0  # a person speaks there by now
        kept.primer, told = verbatim(last, room)
        # Claude Code records a session's prompt and takes another one only on compacting: so it is
        # one that was started with what is to be kept word for word
        await self._registry.close_session(kept.session)
        await asyncio.to_thread(self._book.put, kept)
        send = Send(session_id=kept.session, text=COMPACT, wait=True).checked()
        future = self._outcomes.expect(kept.session, send.uuid or "")
        try:
            await self._registry.send(send, append_prompt=persona(kept))
            ended = await future
        finally:
            future.cancel()
        # how much is left of it is known with the next reply
        kept.window, kept.full = 0, False
        kept.tokens += ended.tokens_used
        kept.cost += ended.cost_usd or 0.0
        await asyncio.to_thread(self._book.put, kept)
        done = (
            f"Claude Code's own compaction at {full} tokens: {ended.outcome}. "
            f"Messages kept word for word: {told}."
        )
        await self._note(kept, "summary", done, kept.session)
        return ended.tokens_used

    async def _succeed(self, kept: Kept, settings: ConversationSettings) -> None:
        assert kept.session is not None
        room = room_of(kept.model, settings)
        last = await self._last_words(kept, room)
        old, tokens = kept.session, kept.window
        if self._busy(old):
            return  # a person speaks there by now
        await self._registry.close_session(old)
        kept.primer, left_out = primer(last, room)
        # the successor begins with the next dispatch
        kept.session, kept.window, kept.full, kept.done = None, 0, False, 0
        details = f"Another session takes over at {tokens} tokens; messages left out: {left_out}."
        await asyncio.to_thread(self._book.move_on, kept, old, "window", self._clock(), details)
        await self._note(kept, "window", details, old)

    def _busy(self, session_id: str) -> bool:
        live = self._registry.get(session_id)
        return live is not None and live.busy

    async def _last_words(self, kept: Kept, room: int) -> LastWords:
        """Also of the sessions that this one succeeded: a short one has its predecessor's."""
        assert kept.session is not None
        last = await self._sessions.last_words(kept.session, MOST_MESSAGES, room)
        earlier, _, _ = await asyncio.to_thread(self._book.story, kept)
        for each in takewhile(lambda one: one.why == "window", reversed(earlier)):
            before = await self._sessions.last_words(each.session_id, MOST_MESSAGES, room)
            last = LastWords(before.said + last.said, before.total + last.total)
        return last


def window_of(model: str | None, settings: ConversationSettings) -> int:
    large = model is not None and "[1m]" in model
    return settings.window_tokens or (LARGE_WINDOW if large else WINDOW)


def is_full(tokens: int, model: str | None, settings: ConversationSettings) -> bool:
    if settings.strategy == "off":
        return False
    return tokens >= settings.threshold * window_of(model, settings)


def room_of(model: str | None, settings: ConversationSettings) -> int:
    """Bytes of the past that may be told word for word, so that there is room for what comes."""
    return int(settings.threshold * window_of(model, settings) * ROOM * BYTES_A_TOKEN)


def primer(last: LastWords, room: int) -> tuple[str, int]:
    """What the successor knows beside its persona, and how many messages it does not know."""
    told = _fitting(last, room)
    left_out = max(0, last.total - len(told))
    notice = (
        f"This session continues an earlier one that had become too long. Its last {len(told)} "
        f"messages follow; the {left_out} before them were left out."
    )
    return "\n\n".join([notice, *told]), left_out


def verbatim(last: LastWords, room: int) -> tuple[str | None, int]:
    """What is kept word for word beside a summary, and how many messages that are."""
    told = _fitting(last, room)
    if not told:
        return None, 0
    notice = (
        f"The conversation was summarised. The last {len(told)} messages before that follow word "
        "for word."
    )
    return "\n\n".join([notice, *told]), len(told)


def _fitting(last: LastWords, room: int) -> list[str]:
    """The last messages that fit, each whole, in their order."""
    told: list[str] = []
    for who, words in reversed(last.said):
        line = f"{who}: {words}"
        room -= len(line.encode())
        if room < 0:
            break
        told.append(line)
    return told[::-1]


def last_words_of(history: History, path: Path, session_id: str, most: int, room: int) -> LastWords:
    """Blocks. What was said, without calls and their results, compacted or not."""
    page = history.page(path, session_id, limit=MOST_MESSAGES)
    said: deque[tuple[str, str]] = deque()
    total = 0
    for message in reversed(page.messages):
        if message.kind != "prompt" and not _is_claude_s(message):
            continue
        blocks = blocks_of(message.content)
        words = "\n".join(block.text for block in blocks if block.text).strip()
        if not words:
            continue
        total += 1
        if total <= most and room >= 0:
            room -= len(words.encode())
            said.appendleft(("Claude" if message.kind == "reply" else "User", words))
    return LastWords(list(said), total)


def reply_of(history: History, path: Path, session_id: str, uuid: str) -> str | None:
    """Blocks. What was said last to a prompt; None where there is no such prompt."""
    try:
        history.page(path, session_id, limit=1, before=uuid)
    except MessageNotFound:
        return None
    page = history.page(path, session_id, limit=MOST_OF_A_TURN)
    uuids = [message.uuid for message in page.messages]
    if uuid not in uuids:
        return ""
    said: dict[str, list[str]] = {}
    for message in page.messages[uuids.index(uuid) + 1 :]:
        if message.kind == "prompt":
            break
        if _is_claude_s(message):
            texts = [block.text for block in blocks_of(message.content) if block.text]
            if texts:
                said.setdefault(message.message_id or message.uuid, []).extend(texts)
    return "\n".join(list(said.values())[-1]) if said else ""


def _is_claude_s(message: Message) -> bool:
    """A reply, and none that the CLI made up for a turn that was cut off."""
    return message.kind == "reply" and message.model != SYNTHETIC


def persona(kept: Kept) -> str | None:
    parts = [part for part in (kept.prompt, kept.primer) if part]
    return "\n\n".join(parts) or None
