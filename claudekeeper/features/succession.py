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
# what is told of one message; and of all of them, since it travels as an argument of the CLI
MOST_OF_ONE, MOST = 4_000, 50_000
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
    # its last messages, as many as are wanted
    last_words: Callable[[str, int], Awaitable[LastWords]]
    # what was said to one of its messages; None if that does not stand there
    reply_to: Callable[[str, str], Awaitable[str | None]]
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

    async def make_room(self, kept: Kept) -> None:
        try:
            if self._settings.strategy == "summary":
                await self._summarise(kept)
            elif self._settings.strategy == "window":
                await self._succeed(kept)
        except KeeperError as error:
            log.warning("no room could be made in the conversation %r: %s", kept.key, error)

    async def _summarise(self, kept: Kept) -> None:
        assert kept.session is not None
        send = Send(session_id=kept.session, text=COMPACT, wait=True).checked()
        future = self._outcomes.expect(kept.session, send.uuid or "")
        try:
            await self._registry.send(send, append_prompt=persona(kept))
            ended = await future
        finally:
            future.cancel()
        done = f"Claude Code's own compaction at {kept.tokens} tokens: {ended.outcome}."
        # how much is left of it is known with the next reply
        kept.tokens, kept.full = 0, False
        await asyncio.to_thread(self._book.put, kept)
        await self._note(kept, "summary", done, kept.session)

    async def _succeed(self, kept: Kept) -> None:
        assert kept.session is not None
        last = await self._last_words(kept)
        old, tokens = kept.session, kept.tokens
        kept.primer, left_out = primer(last)
        # the successor begins with the next dispatch
        kept.session, kept.tokens, kept.full, kept.done = None, 0, False, 0
        details = f"Another session takes over at {tokens} tokens; messages left out: {left_out}."
        await asyncio.to_thread(self._book.move_on, kept, old, "window", self._clock(), details)
        await self._note(kept, "window", details, old)
        await self._registry.close_session(old)

    async def _last_words(self, kept: Kept) -> LastWords:
        """Also of the sessions that this one succeeded: a short one has its predecessor's."""
        assert kept.session is not None
        most = self._settings.keep_messages
        last = await self._sessions.last_words(kept.session, most)
        earlier, _, _ = await asyncio.to_thread(self._book.story, kept)
        for each in takewhile(lambda one: one.why == "window", reversed(earlier)):
            before = await self._sessions.last_words(each.session_id, most - len(last.said))
            last = LastWords(before.said + last.said, before.total + last.total)
        return last


def is_full(tokens: int, model: str | None, settings: ConversationSettings) -> bool:
    if settings.strategy == "off":
        return False
    large = model is not None and "[1m]" in model
    window = settings.window_tokens or (LARGE_WINDOW if large else WINDOW)
    return tokens >= settings.threshold * window


def primer(last: LastWords) -> tuple[str, int]:
    """What the successor knows beside its persona, and how many messages it does not know."""
    told: list[str] = []
    room = MOST
    for who, words in reversed(last.said):
        line = f"{who}: {_cut(words)}"
        room -= len(line)
        if room < 0:
            break
        told.append(line)
    left_out = max(0, last.total - len(told))
    notice = (
        f"This session continues an earlier one that had become too long. Its last {len(told)} "
        f"messages follow; the {left_out} before them were left out."
    )
    return "\n\n".join([notice, *reversed(told)]), left_out


def last_words_of(history: History, path: Path, session_id: str, most: int) -> LastWords:
    """Blocks. What was said, without calls and their results."""
    page = history.page(path, session_id, limit=MOST_MESSAGES, view="context")
    said: deque[tuple[str, str]] = deque(maxlen=most)
    total = 0
    for message in page.messages:
        if message.kind != "prompt" and not _is_claude_s(message):
            continue
        blocks = blocks_of(message.content)
        words = "\n".join(block.text for block in blocks if block.text).strip()
        if words:
            total += 1
            said.append(("Claude" if message.kind == "reply" else "User", words))
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


def _cut(words: str) -> str:
    return words if len(words) <= MOST_OF_ONE else words[: MOST_OF_ONE - 1] + "…"


def persona(kept: Kept) -> str | None:
    parts = [part for part in (kept.prompt, kept.primer) if part]
    return "\n\n".join(parts) or None
