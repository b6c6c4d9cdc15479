"""Conversations that belong to work: one thread for an item, however often it is dispatched."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import uuid4
from weakref import WeakValueDictionary

import msgspec

from claudekeeper.features.conversation_book import Book, Kept, Place, iso, place_of
from claudekeeper.features.outcomes import Outcomes
from claudekeeper.features.succession import Relief, Sessions, is_full, persona
from claudekeeper.features.threads import Threads
from claudekeeper.live.bus import Bus
from claudekeeper.live.registry import Registry
from claudekeeper.live.tasks import Tasks
from claudekeeper.model.commands import Send
from claudekeeper.model.dispatch import (
    ConversationSettings,
    Dispatch,
    Dispatched,
    Ended,
    How,
    Logged,
    Reset,
    WholeConversation,
    WorkConversation,
    WorkState,
)
from claudekeeper.model.errors import (
    InvalidRequest,
    KeeperError,
    StateUnwritable,
    WorkdirMissing,
)

log = logging.getLogger(__name__)

TAKEN = "This uuid is that of another message; a dispatch needs one of its own."
# seconds between two looks for conversations that have expired
SWEEP = 3600.0


class Conversations:
    """The conversations by key. Whatever is done to one is done by one at a time."""

    def __init__(
        self,
        book: Book,
        registry: Registry,
        bus: Bus,
        sessions: Sessions,
        settings: ConversationSettings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._book = book
        self._registry = registry
        self._sessions = sessions
        self._settings = settings
        self._clock = clock
        self._threads = Threads(book, registry, bus, sessions, clock)
        self._outcomes = Outcomes(bus)
        note = self._threads.note
        self._relief = Relief(book, registry, self._outcomes, sessions, settings, note, clock)
        self._followers = Tasks()
        self._tasks = Tasks()
        self._closing = False
        # each lives as long as somebody holds it or waits for it
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._owned: set[str] = set()

    async def start(self) -> None:
        await asyncio.to_thread(self._book.open)
        try:
            self._owned = await asyncio.to_thread(self._book.sessions)
        except StateUnwritable:
            return  # the keeper works without it; the book has said why
        self._tasks.start(self._keep_sweeping(), name="conversations:sweep")

    async def close(self) -> None:
        """After the sessions were ended: what became of their turns is still written down."""
        self._closing = True
        await self._tasks.close()
        self._outcomes.close()
        await self._followers.finish()
        await asyncio.to_thread(self._book.close)

    def owns(self, session_id: str) -> bool:
        """Whether a session is, or was, the thread of an item: nobody else's words belong there."""
        return session_id in self._owned

    # ---- asking ----

    async def dispatch(self, key: str, wish: Dispatch) -> Dispatched:
        async with self._alone(key):
            dispatched, following = await self._dispatch(key, wish)
        if wish.wait:
            # whoever waits may go away; what became of it is written down all the same
            dispatched.ended = await asyncio.shield(following)
        return dispatched

    async def all(
        self, project: str | None, state: WorkState | None, limit: int, after: Place | None = None
    ) -> tuple[list[WorkConversation], Place | None]:
        """The one used last first, and where the next page begins."""
        found: list[Kept] = []
        while len(found) <= limit:
            now = self._clock()
            kept = await asyncio.to_thread(self._book.all, project, limit + 1, after, state, now)
            # what state it is in depends on what runs: the book cannot tell all of it
            found += [each for each in kept if state in (None, self._threads.state(each))]
            if len(kept) <= limit:
                break
            after = place_of(kept[-1])
        more = place_of(found[limit - 1]) if len(found) > limit else None
        return [self._threads.shown(each) for each in found[:limit]], more

    async def get(self, key: str) -> WholeConversation:
        kept = await self._threads.known(key)
        earlier, acts, logged = await asyncio.to_thread(self._book.story, kept)
        shown = msgspec.structs.asdict(self._threads.shown(kept))
        return WholeConversation(**shown, earlier=earlier, acts=acts, log=logged)

    async def forget(self, key: str) -> None:
        """The link goes, and what runs of it; transcripts stay."""
        async with self._alone(key):
            kept = await self._threads.known(key)
            earlier, _, _ = await asyncio.to_thread(self._book.story, kept)
            await asyncio.to_thread(self._book.forget, key)
            self._owned -= {each.session_id for each in earlier} | {kept.session or ""}
            self._threads.tell(kept, "deleted", kept.session or "")
        if kept.session is not None:
            await self._registry.close_session(kept.session)

    async def reset(self, key: str, wish: Reset) -> WholeConversation:
        """The next dispatch begins afresh."""
        async with self._alone(key):
            kept = await self._threads.known(key)
            if not wish.keep_system_prompt:
                kept.prompt = None
            now = self._clock()
            kept.updated, kept.expires = now, now + kept.lifetime
            await self._threads.leave(kept, "reset")
        return await self.get(key)

    async def sweep(self) -> None:
        """Let go of what has expired."""
        for key in await asyncio.to_thread(self._book.expired, self._clock()):
            async with self._alone(key):
                kept = await asyncio.to_thread(self._book.get, key)
                if kept is not None and self._threads.has_expired(kept):
                    await self._threads.leave(kept, "expired")

    # ---- a dispatch ----

    async def _dispatch(self, key: str, wish: Dispatch) -> tuple[Dispatched, Awaitable[Ended]]:
        # judged before anything is changed for it
        uuid = Send(text=wish.text, session_id=str(uuid4()), uuid=wish.uuid).checked().uuid or ""
        before = await asyncio.to_thread(self._book.dispatched, uuid) if wish.uuid else None
        if before is not None:
            if before[0] != key:
                raise InvalidRequest(TAKEN)
            if (again := await self._again(key, before[1])) is not None:
                return again
        kept, how = await self._ready(key, wish)
        was = msgspec.structs.replace(kept) if how != "created" else None
        begins = kept.session is None or not await self._threads.is_there(kept.session)
        if begins and kept.session is not None and kept.primer is None:
            # it was to have this session, and a keeper or a CLI ended before there was one
            earlier, _, _ = await asyncio.to_thread(self._book.story, kept)
            how = "renewed" if earlier else "created"
        kept.session = kept.session or str(uuid4())
        if before is not None and before[1].session_id != kept.session:
            # the item has left that session, in which this was never said: it is said here now
            await self._registry.close_session(before[1].session_id)
            self._sessions.forget_left(before[1].session_id)
        now = self._clock()
        kept.updated, kept.expires = now, now + kept.lifetime
        kept.dispatches += 1
        send = Send(
            session_id=None if begins else kept.session,
            workdir=kept.workdir if begins else None,
            text=wish.text,
            uuid=uuid,
            # an item waits for a place rather than being turned away
            wait=True,
        ).checked()
        # before it is sent: a keeper that is killed now finds the session again
        self._owned.add(kept.session)
        await asyncio.to_thread(self._book.begin, kept, uuid, how, wish.text, now)
        future = self._outcomes.expect(kept.session, uuid)
        try:
            taken = await self._registry.send(
                send, append_prompt=persona(kept), new_id=kept.session
            )
            if taken.id != kept.session:
                raise InvalidRequest(TAKEN)
        except BaseException:
            future.cancel()
            await asyncio.shield(self._take_back(key, uuid, was))
            raise
        if not taken.busy and not future.done():
            # said there before, by other means, and over: nothing more will be heard of it
            future.set_result(Ended(outcome="unknown"))
        self._threads.tell(kept, how, wish.text[:200])
        following = self._followers.start(
            self._follow(key, kept.session, uuid, future), name=f"dispatch:{uuid}"
        )
        dispatched = Dispatched(
            key=key, session_id=kept.session, uuid=uuid, how=how, expires=iso(kept.expires)
        )
        return dispatched, following

    async def _again(self, key: str, before: Logged) -> tuple[Dispatched, Awaitable[Ended]] | None:
        """What became of a dispatch that is made once more; None if it was never said."""
        ended: Awaitable[Ended] | None = self._outcomes.expected(before.uuid)
        if ended is None:
            reply = await self._sessions.reply_to(before.session_id, before.uuid)
            if reply is None and before.outcome != "done":
                return None
            ended = asyncio.get_running_loop().create_future()
            ended.set_result(_remembered(before, reply or ""))
        kept = await self._threads.known(key)
        dispatched = Dispatched(
            key=key,
            session_id=before.session_id,
            uuid=before.uuid,
            how=before.how,
            expires=iso(kept.expires),
        )
        return dispatched, ended

    async def _ready(self, key: str, wish: Dispatch) -> tuple[Kept, How]:
        """The conversation that takes the dispatch, with what the dispatch says of it."""
        kept = await asyncio.to_thread(self._book.get, key)
        how: How = "continued"
        if kept is None:
            kept, how = self._new(key, wish), "created"
        else:
            if self._threads.has_expired(kept):
                await self._threads.leave(kept, "expired")
            elif kept.done and kept.session and not await self._threads.is_there(kept.session):
                await self._threads.part(kept, "lost", "Its transcript is gone.")
            how = "renewed" if kept.session is None and kept.primer is None else "continued"
            if self._threads.needs_room(kept):
                await self._relief.make_room(kept)
        if kept.session is None and wish.workdir is not None:
            kept.workdir = wish.workdir
        kept.project = wish.project if wish.project is not None else kept.project
        kept.metadata = wish.metadata if wish.metadata is not None else kept.metadata
        kept.lifetime = wish.expires_in or kept.lifetime
        kept.prompt = wish.system_prompt if wish.system_prompt is not None else kept.prompt
        return kept, how

    def _new(self, key: str, wish: Dispatch) -> Kept:
        if wish.workdir is None:
            raise WorkdirMissing("Say where this conversation is to begin ('workdir').")
        now = self._clock()
        return Kept(
            key=key,
            project=wish.project,
            workdir=wish.workdir,
            session=None,
            prompt=wish.system_prompt,
            metadata=wish.metadata or {},
            created=now,
            updated=now,
            expires=now,
            lifetime=wish.expires_in or self._settings.expiry_hours * 3600,
        )

    async def _take_back(self, key: str, uuid: str, before: Kept | None) -> None:
        """It was refused: everything is as it was."""
        if before is None:
            await asyncio.to_thread(self._book.forget, key)
        else:
            await asyncio.to_thread(self._book.put, before)
        await asyncio.to_thread(self._book.finish, uuid, "refused", None, None, self._clock())

    async def _follow(
        self, key: str, session_id: str, uuid: str, future: asyncio.Future[Ended]
    ) -> Ended:
        ended = await future
        now = self._clock()
        await asyncio.to_thread(
            self._book.finish, uuid, ended.outcome, ended.tokens, ended.cost_usd, now
        )
        # who is told that it is over, and asks, hears of all that was said
        await self._sessions.count(session_id)
        async with self._alone(key):
            kept = await asyncio.to_thread(self._book.get, key)
            if kept is None or kept.session != session_id:
                return ended
            # one that failed may have left no transcript: then the session has yet to begin
            kept.done += ended.outcome in ("done", "interrupted")
            kept.updated, kept.expires = now, now + kept.lifetime
            if ended.tokens is not None:
                kept.tokens, kept.model = ended.tokens, ended.model
                kept.full = is_full(kept.tokens, kept.model, self._settings)
            await asyncio.to_thread(self._book.put, kept)
        if kept.full and not self._closing:
            self._tasks.start(self._relieve(key), name=f"conversation:{session_id}:full")
        return ended

    # ---- a window that is full ----

    async def _relieve(self, key: str) -> None:
        """At once, while nobody works on the item; otherwise before the next dispatch."""
        async with self._alone(key):
            kept = await asyncio.to_thread(self._book.get, key)
            if kept is not None and self._threads.needs_room(kept):
                await self._relief.make_room(kept)

    # ---- one at a time ----

    async def _keep_sweeping(self) -> None:
        while True:
            try:
                await self.sweep()
            except (sqlite3.Error, KeeperError) as error:
                # a full disk, say: every use looks for itself, and there is a next time
                log.warning("expired conversations could not be let go of: %s", error)
            await asyncio.sleep(SWEEP)

    @contextlib.asynccontextmanager
    async def _alone(self, key: str) -> AsyncIterator[None]:
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        async with lock:
            yield


def _remembered(before: Logged, reply: str) -> Ended:
    """As much as is known of a turn that ended earlier, maybe under another keeper."""
    known = before.outcome in ("done", "failed", "interrupted")
    return Ended(
        outcome=before.outcome if known else "unknown",  # type: ignore[arg-type]
        reply=reply,
        cost_usd=before.cost_usd,
        tokens=before.tokens,
    )
