"""Dispatches: one prompt after another to the conversation of a work item."""

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
from claudekeeper.dispatch.context_window import WindowManager, is_full
from claudekeeper.dispatch.conversation_state import ConversationState
from claudekeeper.dispatch.record import ConversationRecord
from claudekeeper.dispatch.session_reader import SessionReader
from claudekeeper.dispatch.store import ConversationStore
from claudekeeper.dispatch.turn_results import TurnResults, UnexpectedTurn
from claudekeeper.net.errors import InvalidRequest
from claudekeeper.sessions.manager import SessionManager
from claudekeeper.sessions.session_owners import SessionOwners

UUID_TAKEN = "This uuid is that of another message; a dispatch needs one of its own."


class DispatchService:
    """Accepts dispatches, one at a time for an item, and stores their outcomes."""

    def __init__(
        self,
        store: ConversationStore,
        manager: SessionManager,
        turn_results: TurnResults,
        sessions: SessionReader,
        state: ConversationState,
        owners: SessionOwners,
        ceilings: CeilingQuestions,
        locks: KeyedLocks,
        settings: ConversationSettings,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._manager = manager
        self._turn_results = turn_results
        self._sessions = sessions
        self._state = state
        self._owners = owners
        self._ceilings = ceilings
        self._lock = locks.hold
        self._settings = settings
        self._clock = clock
        self._window_manager = WindowManager(
            store, manager, turn_results, sessions, settings, state, clock
        )
        self._outcome_tasks = Tasks()
        self._tasks = Tasks()
        self._is_closing = False
        # by item: the tasks that wait for the outcomes of its dispatches
        self._open_dispatches: dict[WorkItem, set[asyncio.Task[DispatchOutcome]]] = {}

    async def stop(self) -> None:
        """No further room is made in full windows."""
        self._is_closing = True
        await self._tasks.close()

    async def finish(self) -> None:
        """Waits until the outcomes of the last turns are stored."""
        await self._outcome_tasks.wait_all()

    def count_unexpected(self, turn: UnexpectedTurn) -> None:
        """Adds a turn that was not dispatched, but begun by a person or a background task."""
        item = self._owners.item_of(turn.session_id)
        if item is not None:
            self._outcome_tasks.start(
                self._count_unexpected(item, turn), name=f"dispatch:beside:{turn.session_id}"
            )

    async def dispatch(self, key: str, request: Dispatch) -> Dispatched:
        # validated before anything is changed for it
        send = SendRequest(text=request.text, session_id=str(uuid4()), uuid=request.uuid)
        uuid = send.validate().uuid or ""
        async with self._lock(uuid):
            before = await self._find_dispatch(uuid if request.uuid else None)
            if before is not None and before[0].key == key and request.project is None:
                # a repeated dispatch is for the item of the first one
                item = before[0]
            else:
                item = await self._state.find_item(key, request.project)
            if before is not None and before[0] != item:
                raise InvalidRequest(UUID_TAKEN)
            logged = before[1] if before is not None else None
            dispatched, outcome = await self._dispatch_in_order(item, uuid, request, logged)
        if request.wait:
            # the outcome is stored even if the caller goes away
            dispatched.ended = await asyncio.shield(outcome)
        return dispatched

    # ---- a dispatch ----

    async def _dispatch_in_order(
        self, item: WorkItem, uuid: str, request: Dispatch, before: LoggedDispatch | None
    ) -> tuple[Dispatched, Awaitable[DispatchOutcome]]:
        """Under a cost ceiling a dispatch waits for the turns before it, to count their cost."""
        while True:
            async with self._lock(item):
                waiting = self._open_dispatches.get(item)
                if (
                    not waiting
                    or not await self._has_cost_ceiling(item, request)
                    or (before is not None and self._turn_results.find_expected(uuid) is not None)
                ):
                    return await self._dispatch(item, uuid, request, before)
                waiting = set(waiting)
            await asyncio.wait(waiting)

    async def _has_cost_ceiling(self, item: WorkItem, request: Dispatch) -> bool:
        record = await asyncio.to_thread(self._store.get, item)
        if record is None:
            return False
        record.ceilings = request.ceilings or record.ceilings
        return self._state.ceilings(record).cost_usd is not None

    async def _dispatch(
        self, item: WorkItem, uuid: str, request: Dispatch, before: LoggedDispatch | None
    ) -> tuple[Dispatched, Awaitable[DispatchOutcome]]:
        if (
            before is not None
            and (again := await self._find_earlier_result(item, before)) is not None
        ):
            return again
        record, how = await self._prepare(item, request)
        was = msgspec.structs.replace(record) if how != "created" else None
        begins = record.session is None or not await self._state.session_exists(record.session)
        if begins and record.session is not None and record.primer is None:
            # a keeper or a CLI ended before the session had a transcript
            earlier, _, _ = await asyncio.to_thread(self._store.read_log, record)
            how = "renewed" if earlier else "created"
        record.session = record.session or str(uuid4())
        if before is not None and before.session_id != record.session:
            # the item no longer has that session, which never got the prompt: send it here
            await self._manager.close_session(before.session_id)
            self._sessions.forget_interrupted(before.session_id)
        now = self._clock()
        record.updated, record.expires = now, now + record.lifetime
        record.dispatches += 1
        send = SendRequest(
            session_id=None if begins else record.session,
            workdir=record.workdir if begins else None,
            text=request.text,
            uuid=uuid,
            # a dispatch waits for a free CLI slot instead of being refused
            wait=True,
        ).validate()
        # stored before it is sent, so that a keeper that is killed now finds the session again
        self._owners.set_owners({record.session: item})
        await asyncio.to_thread(self._store.begin_dispatch, record, uuid, how, request.text, now)
        future = self._turn_results.expect(record.session, uuid)
        try:
            session = await self._manager.send(
                send, append_prompt=record.append_prompt, new_id=record.session
            )
            if session.id != record.session:
                raise InvalidRequest(UUID_TAKEN)
        except BaseException:
            future.cancel()
            if was is None:
                self._owners.set_owners({record.session: None})
            await asyncio.shield(self._undo(item, uuid, was))
            raise
        if not session.is_busy and not future.done():
            # it was sent there before by other means and is over: no event will follow
            future.set_result(DispatchOutcome(outcome="unknown"))
        self._state.publish_update(record, how, request.text[:200])
        self._state.counters["dispatches"] += 1
        self._state.counters["renewals"] += how == "renewed"
        task = self._outcome_tasks.start(
            self._record_outcome(item, record.session, uuid, future), name=f"dispatch:{uuid}"
        )
        self._open_dispatches.setdefault(item, set()).add(task)
        task.add_done_callback(lambda task: self._remove_open(item, task))
        return _to_dispatched(item, record.session, uuid, how, record.expires), task

    def _remove_open(self, item: WorkItem, task: asyncio.Task[DispatchOutcome]) -> None:
        running = self._open_dispatches.get(item, set())
        running.discard(task)
        if not running:
            self._open_dispatches.pop(item, None)

    async def _find_dispatch(self, uuid: str | None) -> tuple[WorkItem, LoggedDispatch] | None:
        return await asyncio.to_thread(self._store.find_dispatch, uuid) if uuid else None

    async def _find_earlier_result(
        self, item: WorkItem, before: LoggedDispatch
    ) -> tuple[Dispatched, Awaitable[DispatchOutcome]] | None:
        """The result of a dispatch that is repeated; None if its prompt was never sent."""
        ended: Awaitable[DispatchOutcome] | None = self._turn_results.find_expected(before.uuid)
        if ended is None:
            reply = await self._sessions.reply_to(before.session_id, before.uuid)
            if reply is None and before.outcome != "done":
                return None
            ended = asyncio.get_running_loop().create_future()
            ended.set_result(_outcome_of_logged(before, reply or ""))
        record = await self._state.get_record(item)
        return _to_dispatched(
            item, before.session_id, before.uuid, before.how, record.expires
        ), ended

    async def _prepare(
        self, item: WorkItem, request: Dispatch
    ) -> tuple[ConversationRecord, DispatchKind]:
        """The conversation that takes the dispatch, with the settings of the request."""
        if not self._settings.for_project(item.project).enabled:
            where = f"the project {item.project!r}" if item.project else "items without a project"
            raise ConversationsDisabled(f"Conversations for work are switched off for {where}.")
        record = await asyncio.to_thread(self._store.get, item)
        how: DispatchKind = "continued"
        if record is None:
            record, how = self._new_record(item, request), "created"
        else:
            await self._state.add_missing_usage(record)
            record.ceilings = request.ceilings if request.ceilings is not None else record.ceilings
            await self._ceilings.check(record)
            if self._state.has_expired(record):
                await self._state.detach_and_close(record, "expired")
            elif (
                record.done
                and record.session
                and not await self._state.session_exists(record.session)
            ):
                await self._state.detach_session(record, "lost", "Its transcript is gone.")
            how = "renewed" if record.session is None and record.primer is None else "continued"
            await self._make_room_if_needed(record)
        if record.session is None and request.workdir is not None:
            record.workdir = request.workdir
        record.metadata = request.metadata if request.metadata is not None else record.metadata
        record.lifetime = request.expires_in or record.lifetime
        record.prompt = (
            request.system_prompt if request.system_prompt is not None else record.prompt
        )
        return record, how

    def _new_record(self, item: WorkItem, request: Dispatch) -> ConversationRecord:
        if request.workdir is None:
            raise WorkdirMissing("Say where this conversation is to begin ('workdir').")
        now = self._clock()
        return ConversationRecord(
            key=item.key,
            project=item.project,
            workdir=request.workdir,
            session=None,
            prompt=request.system_prompt,
            metadata=request.metadata or {},
            created=now,
            updated=now,
            expires=now,
            lifetime=request.expires_in
            or self._settings.for_project(item.project).expiry_hours * 3600,
            ceilings=request.ceilings or Ceilings(),
        )

    async def _undo(self, item: WorkItem, uuid: str, before: ConversationRecord | None) -> None:
        """Restores the conversation as it was before a refused dispatch."""
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
        # whoever learns that the turn is over gets the final count of messages
        await self._sessions.count_messages(session_id)
        async with self._lock(item):
            record = await self._add_usage(item, session_id, ended)
            if record is None:
                return ended
            if record.session == session_id:
                # a failed turn may leave no transcript: then the session is yet to begin
                record.done += ended.outcome in ("done", "interrupted")
                record.updated, record.expires = now, now + record.lifetime
            await asyncio.to_thread(self._store.put, record)
        if record.full and not self._is_closing:
            self._tasks.start(self._make_room_for(item), name=f"conversation:{session_id}:full")
        return ended

    async def _count_unexpected(self, item: WorkItem, turn: UnexpectedTurn) -> None:
        before = await self._find_dispatch(turn.uuid)
        if before is not None and before[1].outcome == "unknown" and before[1].tokens_used is None:
            return  # a person continued this dispatch: it is counted from its transcript
        async with self._lock(item):
            # room is made before the next dispatch: a person may be about to send more
            record = await self._add_usage(item, turn.session_id, turn.outcome)
            if record is not None:
                await asyncio.to_thread(self._store.put, record)

    async def _add_usage(
        self, item: WorkItem, session_id: str, ended: DispatchOutcome
    ) -> ConversationRecord | None:
        """The conversation with the usage of a turn added; None where it is forgotten."""
        self._state.counters["tokens"] += ended.tokens_used
        record = await asyncio.to_thread(self._store.get, item)
        # the session may belong to another item by now
        if record is None or self._owners.item_of(session_id) != item:
            return None
        record.tokens += ended.tokens_used
        record.cost += ended.cost_usd or 0.0
        if record.session == session_id and ended.tokens is not None:
            record.window, record.model = ended.tokens, ended.model
            record.full = is_full(
                record.window, record.model, self._settings.for_project(item.project)
            )
        return record

    # ---- a window that is full ----

    async def _make_room_for(self, item: WorkItem) -> None:
        """At once, while no turn of the item is under way; otherwise before the next dispatch."""
        async with self._lock(item):
            record = await asyncio.to_thread(self._store.get, item)
            if record is not None:
                await self._make_room_if_needed(record)

    async def _make_room_if_needed(self, record: ConversationRecord) -> None:
        if self._state.needs_room(record):
            self._state.counters["tokens"] += await self._window_manager.make_room(record)


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
    """What is stored of a turn that ended earlier, maybe under another keeper."""
    is_final = before.outcome in ("done", "failed", "interrupted")
    return DispatchOutcome(
        outcome=before.outcome if is_final else "unknown",  # type: ignore[arg-type]
        reply=reply,
        cost_usd=before.cost_usd,
        tokens=before.tokens,
        tokens_used=before.tokens_used or 0,
    )
