"""Dispatches: one message after another to the conversation of an item of work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from uuid import uuid4

import msgspec

from claudekeeper.features.ceilings import CeilingQuestions
from claudekeeper.features.conversation_book import Book, Kept
from claudekeeper.features.locks import KeyedLocks
from claudekeeper.features.outcomes import Outcomes
from claudekeeper.features.reckoning import Reckoning
from claudekeeper.features.succession import Relief, Sessions, is_full, persona
from claudekeeper.features.threads import Threads
from claudekeeper.live.registry import Registry
from claudekeeper.live.tasks import Tasks
from claudekeeper.model.ceilings import Ceilings
from claudekeeper.model.commands import Send
from claudekeeper.model.dispatch import (
    ConversationSettings,
    Dispatch,
    Dispatched,
    Ended,
    How,
    Logged,
)
from claudekeeper.model.errors import ConversationsDisabled, InvalidRequest, WorkdirMissing
from claudekeeper.model.sessions import WorkItem, iso_of

TAKEN = "This uuid is that of another message; a dispatch needs one of its own."


class Dispatches:
    """Takes them, one at a time for an item, and sees them through."""

    def __init__(
        self,
        book: Book,
        registry: Registry,
        outcomes: Outcomes,
        sessions: Sessions,
        threads: Threads,
        ceilings: CeilingQuestions,
        reckoning: Reckoning,
        locks: KeyedLocks,
        settings: ConversationSettings,
        clock: Callable[[], float],
    ) -> None:
        self._book = book
        self._registry = registry
        self._outcomes = outcomes
        self._sessions = sessions
        self._threads = threads
        self._ceilings = ceilings
        self._reckoning = reckoning
        self._alone = locks.alone
        self._settings = settings
        self._clock = clock
        self._relief = Relief(book, registry, outcomes, sessions, settings, threads.note, clock)
        self._followers = Tasks()
        self._tasks = Tasks()
        self._closing = False
        # by item: those who see its dispatches through
        self._under_way: dict[WorkItem, set[asyncio.Task[Ended]]] = {}

    async def end(self) -> None:
        """Nothing is done any more beside what runs."""
        self._closing = True
        await self._tasks.close()

    async def finish(self) -> None:
        """Until what became of the last turns is written down."""
        await self._followers.finish()

    def count(self, session_id: str, uuid: str | None, ended: Ended) -> None:
        """A turn of an item's session that nobody dispatched: a person spoke there, or a task that
        ran in the background had something to say.
        """
        item = self._threads.item_of(session_id)
        if item is not None:
            self._followers.start(
                self._count(item, session_id, uuid, ended), name=f"dispatch:beside:{session_id}"
            )

    async def take(self, key: str, wish: Dispatch) -> Dispatched:
        # judged before anything is changed for it
        uuid = Send(text=wish.text, session_id=str(uuid4()), uuid=wish.uuid).checked().uuid or ""
        async with self._alone(uuid):
            before = await asyncio.to_thread(self._book.dispatched, uuid) if wish.uuid else None
            if before is not None and before[0].key == key and wish.project is None:
                # made again, it is for the item for which it was made
                item = before[0]
            else:
                item = await self._threads.item(key, wish.project)
            if before is not None and before[0] != item:
                raise InvalidRequest(TAKEN)
            logged = before[1] if before is not None else None
            dispatched, following = await self._in_turn(item, uuid, wish, logged)
        if wish.wait:
            # whoever waits may go away; what became of it is written down all the same
            dispatched.ended = await asyncio.shield(following)
        return dispatched

    # ---- a dispatch ----

    async def _in_turn(
        self, item: WorkItem, uuid: str, wish: Dispatch, before: Logged | None
    ) -> tuple[Dispatched, Awaitable[Ended]]:
        """Where cost has a ceiling, after the turns before it: what they cost is known then."""
        while True:
            async with self._alone(item):
                waiting = self._under_way.get(item)
                if (
                    not waiting
                    or not await self._counts_cost(item, wish)
                    or (before is not None and self._outcomes.expected(uuid) is not None)
                ):
                    return await self._dispatch(item, uuid, wish, before)
                waiting = set(waiting)
            await asyncio.wait(waiting)

    async def _counts_cost(self, item: WorkItem, wish: Dispatch) -> bool:
        kept = await asyncio.to_thread(self._book.get, item)
        if kept is None:
            return False
        kept.ceilings = wish.ceilings or kept.ceilings
        return self._threads.ceilings(kept).cost_usd is not None

    async def _dispatch(
        self, item: WorkItem, uuid: str, wish: Dispatch, before: Logged | None
    ) -> tuple[Dispatched, Awaitable[Ended]]:
        if before is not None and (again := await self._again(item, before)) is not None:
            return again
        kept, how = await self._ready(item, wish)
        was = msgspec.structs.replace(kept) if how != "created" else None
        begins = kept.session is None or not await self._threads.is_there(kept.session)
        if begins and kept.session is not None and kept.primer is None:
            # it was to have this session, and a keeper or a CLI ended before there was one
            earlier, _, _ = await asyncio.to_thread(self._book.story, kept)
            how = "renewed" if earlier else "created"
        kept.session = kept.session or str(uuid4())
        if before is not None and before.session_id != kept.session:
            # the item has left that session, in which this was never said: it is said here now
            await self._registry.close_session(before.session_id)
            self._sessions.forget_left(before.session_id)
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
        self._threads.belongs({kept.session: item})
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
            if was is None:
                self._threads.belongs({kept.session: None})
            await asyncio.shield(self._take_back(item, uuid, was))
            raise
        if not taken.busy and not future.done():
            # said there before, by other means, and over: nothing more will be heard of it
            future.set_result(Ended(outcome="unknown"))
        self._threads.tell(kept, how, wish.text[:200])
        self._threads.tally["dispatches"] += 1
        self._threads.tally["renewals"] += how == "renewed"
        following = self._followers.start(
            self._follow(item, kept.session, uuid, future), name=f"dispatch:{uuid}"
        )
        self._under_way.setdefault(item, set()).add(following)
        following.add_done_callback(lambda task: self._over(item, task))
        return _answer(item, kept.session, uuid, how, kept.expires), following

    def _over(self, item: WorkItem, task: asyncio.Task[Ended]) -> None:
        running = self._under_way.get(item, set())
        running.discard(task)
        if not running:
            self._under_way.pop(item, None)

    async def _again(
        self, item: WorkItem, before: Logged
    ) -> tuple[Dispatched, Awaitable[Ended]] | None:
        """What became of a dispatch that is made once more; None if it was never said."""
        ended: Awaitable[Ended] | None = self._outcomes.expected(before.uuid)
        if ended is None:
            reply = await self._sessions.reply_to(before.session_id, before.uuid)
            if reply is None and before.outcome != "done":
                return None
            ended = asyncio.get_running_loop().create_future()
            ended.set_result(_remembered(before, reply or ""))
        kept = await self._threads.known(item)
        return _answer(item, before.session_id, before.uuid, before.how, kept.expires), ended

    async def _ready(self, item: WorkItem, wish: Dispatch) -> tuple[Kept, How]:
        """The conversation that takes the dispatch, with what the dispatch says of it."""
        if not self._settings.of(item.project).enabled:
            where = f"the project {item.project!r}" if item.project else "items without a project"
            raise ConversationsDisabled(f"Conversations for work are switched off for {where}.")
        kept = await asyncio.to_thread(self._book.get, item)
        how: How = "continued"
        if kept is None:
            kept, how = self._new(item, wish), "created"
        else:
            await self._reckoning.complete(kept)
            kept.ceilings = wish.ceilings if wish.ceilings is not None else kept.ceilings
            await self._ceilings.check(kept)
            if self._threads.has_expired(kept):
                await self._threads.leave(kept, "expired")
            elif kept.done and kept.session and not await self._threads.is_there(kept.session):
                await self._threads.part(kept, "lost", "Its transcript is gone.")
            how = "renewed" if kept.session is None and kept.primer is None else "continued"
            await self._make_room(kept)
        if kept.session is None and wish.workdir is not None:
            kept.workdir = wish.workdir
        kept.metadata = wish.metadata if wish.metadata is not None else kept.metadata
        kept.lifetime = wish.expires_in or kept.lifetime
        kept.prompt = wish.system_prompt if wish.system_prompt is not None else kept.prompt
        return kept, how

    def _new(self, item: WorkItem, wish: Dispatch) -> Kept:
        if wish.workdir is None:
            raise WorkdirMissing("Say where this conversation is to begin ('workdir').")
        now = self._clock()
        return Kept(
            key=item.key,
            project=item.project,
            workdir=wish.workdir,
            session=None,
            prompt=wish.system_prompt,
            metadata=wish.metadata or {},
            created=now,
            updated=now,
            expires=now,
            lifetime=wish.expires_in or self._settings.of(item.project).expiry_hours * 3600,
            ceilings=wish.ceilings or Ceilings(),
        )

    async def _take_back(self, item: WorkItem, uuid: str, before: Kept | None) -> None:
        """It was refused: everything is as it was."""
        if before is None:
            await asyncio.to_thread(self._book.forget, item)
        else:
            await asyncio.to_thread(self._book.put, before)
        await asyncio.to_thread(self._book.finish, uuid, "refused", None, None, self._clock())

    async def _follow(
        self, item: WorkItem, session_id: str, uuid: str, future: asyncio.Future[Ended]
    ) -> Ended:
        ended = await future
        now = self._clock()
        await asyncio.to_thread(
            self._book.finish,
            uuid,
            ended.outcome,
            ended.tokens,
            ended.cost_usd,
            now,
            ended.tokens_used,
        )
        # who is told that it is over, and asks, hears of all that was said
        await self._sessions.count(session_id)
        async with self._alone(item):
            kept = await self._counted(item, session_id, ended)
            if kept is None:
                return ended
            if kept.session == session_id:
                # one that failed may have left no transcript: then the session has yet to begin
                kept.done += ended.outcome in ("done", "interrupted")
                kept.updated, kept.expires = now, now + kept.lifetime
            await asyncio.to_thread(self._book.put, kept)
        if kept.full and not self._closing:
            self._tasks.start(self._relieve(item), name=f"conversation:{session_id}:full")
        return ended

    async def _count(self, item: WorkItem, session_id: str, uuid: str | None, ended: Ended) -> None:
        before = await asyncio.to_thread(self._book.dispatched, uuid) if uuid else None
        if before is not None and before[1].outcome == "unknown" and before[1].tokens_used is None:
            return  # a dispatch that a person went on with: it is reckoned from its transcript
        async with self._alone(item):
            # room is made before the next dispatch: a person may be about to say more
            if (kept := await self._counted(item, session_id, ended)) is not None:
                await asyncio.to_thread(self._book.put, kept)

    async def _counted(self, item: WorkItem, session_id: str, ended: Ended) -> Kept | None:
        """The conversation with what a turn of it used; None where it is forgotten."""
        self._threads.tally["tokens"] += ended.tokens_used
        kept = await asyncio.to_thread(self._book.get, item)
        # another one of the same name may have been begun meanwhile
        if kept is None or self._threads.item_of(session_id) != item:
            return None
        kept.tokens += ended.tokens_used
        kept.cost += ended.cost_usd or 0.0
        if kept.session == session_id and ended.tokens is not None:
            kept.window, kept.model = ended.tokens, ended.model
            kept.full = is_full(kept.window, kept.model, self._settings.of(item.project))
        return kept

    # ---- a window that is full ----

    async def _relieve(self, item: WorkItem) -> None:
        """At once, while nobody works on the item; otherwise before the next dispatch."""
        async with self._alone(item):
            kept = await asyncio.to_thread(self._book.get, item)
            if kept is not None:
                await self._make_room(kept)

    async def _make_room(self, kept: Kept) -> None:
        if self._threads.needs_room(kept):
            self._threads.tally["tokens"] += await self._relief.make_room(kept)


def _answer(item: WorkItem, session_id: str, uuid: str, how: How, expires: float) -> Dispatched:
    return Dispatched(
        key=item.key,
        project=item.project,
        session_id=session_id,
        uuid=uuid,
        how=how,
        expires=iso_of(expires),
    )


def _remembered(before: Logged, reply: str) -> Ended:
    """As much as is known of a turn that ended earlier, maybe under another keeper."""
    known = before.outcome in ("done", "failed", "interrupted")
    return Ended(
        outcome=before.outcome if known else "unknown",  # type: ignore[arg-type]
        reply=reply,
        cost_usd=before.cost_usd,
        tokens=before.tokens,
        tokens_used=before.tokens_used or 0,
    )
