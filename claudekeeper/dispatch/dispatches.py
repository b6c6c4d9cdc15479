"""Dispatches: one message after another to the conversation of an item of work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from uuid import uuid4

import msgspec

from claudekeeper.contract.ceilings import Ceilings
from claudekeeper.contract.conversations import (
    ConversationSettings,
    Dispatch,
    Dispatched,
    DispatchKind,
    DispatchOutcome,
    LoggedDispatch,
)
from claudekeeper.contract.errors import ConversationsDisabled, WorkdirMissing
from claudekeeper.contract.requests import SendRequest
from claudekeeper.contract.sessions import WorkItem
from claudekeeper.core.keyed_locks import KeyedLocks
from claudekeeper.core.tasks import Tasks
from claudekeeper.core.timestamps import iso_of
from claudekeeper.dispatch.ceiling_questions import CeilingQuestions
from claudekeeper.dispatch.context_window import (
    WindowManager,
    append_prompt_of,
    is_full,
)
from claudekeeper.dispatch.conversation_state import ConversationState
from claudekeeper.dispatch.killed_turns import KilledTurnUsage
from claudekeeper.dispatch.session_reader import SessionReader
from claudekeeper.dispatch.store import ConversationRecord, ConversationStore
from claudekeeper.dispatch.turn_results import TurnResults
from claudekeeper.net.errors import InvalidRequest
from claudekeeper.sessions.manager import SessionManager
from claudekeeper.sessions.session_owners import SessionOwners

UUID_TAKEN = "This uuid is that of another message; a dispatch needs one of its own."


class DispatchService:
    """Takes them, one at a time for an item, and sees them through."""

    def __init__(
        self,
        book: ConversationStore,
        registry: SessionManager,
        outcomes: TurnResults,
        sessions: SessionReader,
        threads: ConversationState,
        owners: SessionOwners,
        ceilings: CeilingQuestions,
        reckoning: KilledTurnUsage,
        locks: KeyedLocks,
        settings: ConversationSettings,
        clock: Callable[[], float],
    ) -> None:
        self._store = book
        self._manager = registry
        self._turn_results = outcomes
        self._sessions = sessions
        self._state = threads
        self._owners = owners
        self._ceilings = ceilings
        self._killed_turns = reckoning
        self._lock = locks.hold
        self._settings = settings
        self._clock = clock
        self._window_manager = WindowManager(
            book, registry, outcomes, sessions, settings, threads.record_act, clock
        )
        self._outcome_tasks = Tasks()
        self._tasks = Tasks()
        self._is_closing = False
        # by item: those who see its dispatches through
        self._open_dispatches: dict[WorkItem, set[asyncio.Task[DispatchOutcome]]] = {}

    async def stop(self) -> None:
        """Nothing is done any more beside what runs."""
        self._is_closing = True
        await self._tasks.close()

    async def finish(self) -> None:
        """Until what became of the last turns is written down."""
        await self._outcome_tasks.wait_all()

    def count(self, session_id: str, uuid: str | None, ended: DispatchOutcome) -> None:
        """A turn of an item's session that nobody dispatched: a person spoke there, or a task that
        ran in the background had something to say.
        """
        item = self._owners.item_of(session_id)
        if item is not None:
            self._outcome_tasks.start(
                self._count(item, session_id, uuid, ended), name=f"dispatch:beside:{session_id}"
            )

    async def dispatch(self, key: str, wish: Dispatch) -> Dispatched:
        # judged before anything is changed for it
        uuid = (
            SendRequest(text=wish.text, session_id=str(uuid4()), uuid=wish.uuid).validate().uuid
            or ""
        )
        async with self._lock(uuid):
            before = await asyncio.to_thread(self._store.find_dispatch, uuid) if wish.uuid else None
            if before is not None and before[0].key == key and wish.project is None:
                # made again, it is for the item for which it was made
                item = before[0]
            else:
                item = await self._state.find_item(key, wish.project)
            if before is not None and before[0] != item:
                raise InvalidRequest(UUID_TAKEN)
            logged = before[1] if before is not None else None
            dispatched, following = await self._dispatch_in_order(item, uuid, wish, logged)
        if wish.wait:
            # whoever waits may go away; what became of it is written down all the same
            dispatched.ended = await asyncio.shield(following)
        return dispatched

    # ---- a dispatch ----

    async def _dispatch_in_order(
        self, item: WorkItem, uuid: str, wish: Dispatch, before: LoggedDispatch | None
    ) -> tuple[Dispatched, Awaitable[DispatchOutcome]]:
        """Where cost has a ceiling, after the turns before it: what they cost is known then."""
        while True:
            async with self._lock(item):
                waiting = self._open_dispatches.get(item)
                if (
                    not waiting
                    or not await self._has_cost_ceiling(item, wish)
                    or (before is not None and self._turn_results.find_expected(uuid) is not None)
                ):
                    return await self._dispatch(item, uuid, wish, before)
                waiting = set(waiting)
            await asyncio.wait(waiting)

    async def _has_cost_ceiling(self, item: WorkItem, wish: Dispatch) -> bool:
        kept = await asyncio.to_thread(self._store.get, item)
        if kept is None:
            return False
        kept.ceilings = wish.ceilings or kept.ceilings
        return self._state.ceilings(kept).cost_usd is not None

    async def _dispatch(
        self, item: WorkItem, uuid: str, wish: Dispatch, before: LoggedDispatch | None
    ) -> tuple[Dispatched, Awaitable[DispatchOutcome]]:
        if (
            before is not None
            and (again := await self._find_earlier_result(item, before)) is not None
        ):
            return again
        kept, how = await self._prepare(item, wish)
        was = msgspec.structs.replace(kept) if how != "created" else None
        begins = kept.session is None or not await self._state.session_exists(kept.session)
        if begins and kept.session is not None and kept.primer is None:
            # it was to have this session, and a keeper or a CLI ended before there was one
            earlier, _, _ = await asyncio.to_thread(self._store.read_log, kept)
            how = "renewed" if earlier else "created"
        kept.session = kept.session or str(uuid4())
        if before is not None and before.session_id != kept.session:
            # the item has left that session, in which this was never said: it is said here now
            await self._manager.close_session(before.session_id)
            self._sessions.forget_interrupted(before.session_id)
        now = self._clock()
        kept.updated, kept.expires = now, now + kept.lifetime
        kept.dispatches += 1
        send = SendRequest(
            session_id=None if begins else kept.session,
            workdir=kept.workdir if begins else None,
            text=wish.text,
            uuid=uuid,
            # an item waits for a place rather than being turned away
            wait=True,
        ).validate()
        # before it is sent: a keeper that is killed now finds the session again
        self._owners.set_owners({kept.session: item})
        await asyncio.to_thread(self._store.begin_dispatch, kept, uuid, how, wish.text, now)
        future = self._turn_results.expect(kept.session, uuid)
        try:
            taken = await self._manager.send(
                send, append_prompt=append_prompt_of(kept), new_id=kept.session
            )
            if taken.id != kept.session:
                raise InvalidRequest(UUID_TAKEN)
        except BaseException:
            future.cancel()
            if was is None:
                self._owners.set_owners({kept.session: None})
            await asyncio.shield(self._undo(item, uuid, was))
            raise
        if not taken.is_busy and not future.done():
            # said there before, by other means, and over: nothing more will be heard of it
            future.set_result(DispatchOutcome(outcome="unknown"))
        self._state.publish_update(kept, how, wish.text[:200])
        self._state.counters["dispatches"] += 1
        self._state.counters["renewals"] += how == "renewed"
        following = self._outcome_tasks.start(
            self._record_outcome(item, kept.session, uuid, future), name=f"dispatch:{uuid}"
        )
        self._open_dispatches.setdefault(item, set()).add(following)
        following.add_done_callback(lambda task: self._remove_open(item, task))
        return _to_dispatched(item, kept.session, uuid, how, kept.expires), following

    def _remove_open(self, item: WorkItem, task: asyncio.Task[DispatchOutcome]) -> None:
        running = self._open_dispatches.get(item, set())
        running.discard(task)
        if not running:
            self._open_dispatches.pop(item, None)

    async def _find_earlier_result(
        self, item: WorkItem, before: LoggedDispatch
    ) -> tuple[Dispatched, Awaitable[DispatchOutcome]] | None:
        """What became of a dispatch that is made once more; None if it was never said."""
        ended: Awaitable[DispatchOutcome] | None = self._turn_results.find_expected(before.uuid)
        if ended is None:
            reply = await self._sessions.reply_to(before.session_id, before.uuid)
            if reply is None and before.outcome != "done":
                return None
            ended = asyncio.get_running_loop().create_future()
            ended.set_result(_outcome_of_logged(before, reply or ""))
        kept = await self._state.get_record(item)
        return _to_dispatched(item, before.session_id, before.uuid, before.how, kept.expires), ended

    async def _prepare(
        self, item: WorkItem, wish: Dispatch
    ) -> tuple[ConversationRecord, DispatchKind]:
        """The conversation that takes the dispatch, with what the dispatch says of it."""
        if not self._settings.for_project(item.project).enabled:
            where = f"the project {item.project!r}" if item.project else "items without a project"
            raise ConversationsDisabled(f"Conversations for work are switched off for {where}.")
        kept = await asyncio.to_thread(self._store.get, item)
        how: DispatchKind = "continued"
        if kept is None:
            kept, how = self._new_record(item, wish), "created"
        else:
            await self._killed_turns.add_missing_usage(kept)
            kept.ceilings = wish.ceilings if wish.ceilings is not None else kept.ceilings
            await self._ceilings.check(kept)
            if self._state.has_expired(kept):
                await self._state.detach_and_close(kept, "expired")
            elif kept.done and kept.session and not await self._state.session_exists(kept.session):
                await self._state.detach_session(kept, "lost", "Its transcript is gone.")
            how = "renewed" if kept.session is None and kept.primer is None else "continued"
            await self._make_room_if_needed(kept)
        if kept.session is None and wish.workdir is not None:
            kept.workdir = wish.workdir
        kept.metadata = wish.metadata if wish.metadata is not None else kept.metadata
        kept.lifetime = wish.expires_in or kept.lifetime
        kept.prompt = wish.system_prompt if wish.system_prompt is not None else kept.prompt
        return kept, how

    def _new_record(self, item: WorkItem, wish: Dispatch) -> ConversationRecord:
        if wish.workdir is None:
            raise WorkdirMissing("Say where this conversation is to begin ('workdir').")
        now = self._clock()
        return ConversationRecord(
            key=item.key,
            project=item.project,
            workdir=wish.workdir,
            session=None,
            prompt=wish.system_prompt,
            metadata=wish.metadata or {},
            created=now,
            updated=now,
            expires=now,
            lifetime=wish.expires_in
            or self._settings.for_project(item.project).expiry_hours * 3600,
            ceilings=wish.ceilings or Ceilings(),
        )

    async def _undo(self, item: WorkItem, uuid: str, before: ConversationRecord | None) -> None:
        """It was refused: everything is as it was."""
        if before is None:
            await asyncio.to_thread(self._store.forget, item)
        else:
            await asyncio.to_thread(self._store.put, before)
        await asyncio.to_thread(
            self._store.finish_dispatch, uuid, "refused", None, None, self._clock()
        )

    async def _record_outcome(
        self, item: WorkItem, session_id: str, uuid: str, future: asyncio.Future[DispatchOutcome]
    ) -> DispatchOutcome:
        ended = await future
        now = self._clock()
        await asyncio.to_thread(
            self._store.finish_dispatch,
            uuid,
            ended.outcome,
            ended.tokens,
            ended.cost_usd,
            now,
            ended.tokens_used,
        )
        # who is told that it is over, and asks, hears of all that was said
        await self._sessions.count_messages(session_id)
        async with self._lock(item):
            kept = await self._counted(item, session_id, ended)
            if kept is None:
                return ended
            if kept.session == session_id:
                # one that failed may have left no transcript: then the session has yet to begin
                kept.done += ended.outcome in ("done", "interrupted")
                kept.updated, kept.expires = now, now + kept.lifetime
            await asyncio.to_thread(self._store.put, kept)
        if kept.full and not self._is_closing:
            self._tasks.start(self._make_room_for(item), name=f"conversation:{session_id}:full")
        return ended

    async def _count(
        self, item: WorkItem, session_id: str, uuid: str | None, ended: DispatchOutcome
    ) -> None:
        before = await asyncio.to_thread(self._store.find_dispatch, uuid) if uuid else None
        if before is not None and before[1].outcome == "unknown" and before[1].tokens_used is None:
            return  # a dispatch that a person went on with: it is reckoned from its transcript
        async with self._lock(item):
            # room is made before the next dispatch: a person may be about to say more
            if (kept := await self._counted(item, session_id, ended)) is not None:
                await asyncio.to_thread(self._store.put, kept)

    async def _counted(
        self, item: WorkItem, session_id: str, ended: DispatchOutcome
    ) -> ConversationRecord | None:
        """The conversation with what a turn of it used; None where it is forgotten."""
        self._state.counters["tokens"] += ended.tokens_used
        kept = await asyncio.to_thread(self._store.get, item)
        # another one of the same name may have been begun meanwhile
        if kept is None or self._owners.item_of(session_id) != item:
            return None
        kept.tokens += ended.tokens_used
        kept.cost += ended.cost_usd or 0.0
        if kept.session == session_id and ended.tokens is not None:
            kept.window, kept.model = ended.tokens, ended.model
            kept.full = is_full(kept.window, kept.model, self._settings.for_project(item.project))
        return kept

    # ---- a window that is full ----

    async def _make_room_for(self, item: WorkItem) -> None:
        """At once, while nobody works on the item; otherwise before the next dispatch."""
        async with self._lock(item):
            kept = await asyncio.to_thread(self._store.get, item)
            if kept is not None:
                await self._make_room_if_needed(kept)

    async def _make_room_if_needed(self, kept: ConversationRecord) -> None:
        if self._state.needs_room(kept):
            self._state.counters["tokens"] += await self._window_manager.make_room(kept)


def _to_dispatched(
    item: WorkItem, session_id: str, uuid: str, how: DispatchKind, expires: float
) -> Dispatched:
    return Dispatched(
        key=item.key,
        project=item.project,
        session_id=session_id,
        uuid=uuid,
        how=how,
        expires=iso_of(expires),
    )


def _outcome_of_logged(before: LoggedDispatch, reply: str) -> DispatchOutcome:
    """As much as is known of a turn that ended earlier, maybe under another keeper."""
    known = before.outcome in ("done", "failed", "interrupted")
    return DispatchOutcome(
        outcome=before.outcome if known else "unknown",  # type: ignore[arg-type]
        reply=reply,
        cost_usd=before.cost_usd,
        tokens=before.tokens,
        tokens_used=before.tokens_used or 0,
    )
