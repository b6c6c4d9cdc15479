"""The session manager: finds and opens live sessions, and says what is new about them."""

from __future__ import annotations

import asyncio
import os
from uuid import uuid4

import msgspec

from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.catalog.own_processes import OwnProcesses
from claudekeeper.catalog.presence import PresenceChange, PresenceMonitor
from claudekeeper.contract.errors import (
    KeeperStopping,
    MessageNotFound,
    ModeRefused,
    SessionElsewhere,
    SessionNotFound,
    WorkdirMissing,
)
from claudekeeper.contract.grants import Grants
from claudekeeper.contract.requests import PermissionMode, SendRequest, SettingsChange
from claudekeeper.contract.sessions import AppendedPrompt
from claudekeeper.core.limits import Limits
from claudekeeper.core.signals import Signal
from claudekeeper.events.bus import EventBus
from claudekeeper.events.delivery_log import DeliveryLogs
from claudekeeper.sessions.cli.client import MakeClient
from claudekeeper.sessions.cli_slots import CliSlots
from claudekeeper.sessions.fork import fork
from claudekeeper.sessions.message_queue import QueuedMessage
from claudekeeper.sessions.preferences import Preferences
from claudekeeper.sessions.recovery.failed_turn_store import FailedTurnStore
from claudekeeper.sessions.recovery.turn_journal import TurnJournal
from claudekeeper.sessions.services import SessionServices
from claudekeeper.sessions.session import LiveSession
from claudekeeper.sessions.session_change import SessionChange
from claudekeeper.sessions.session_store import SessionStore
from claudekeeper.sessions.settings import SessionSettings

# seconds after which somebody who was turned away at the end may find the next keeper
RETRY_AFTER_SECONDS = 5


class SessionManager:
    """The live sessions by id."""

    def __init__(
        self,
        store: SessionStore,
        journal: TurnJournal,
        failed_turns: FailedTurnStore,
        preferences: Preferences,
        presence: PresenceMonitor,
        own_processes: OwnProcesses,
        attention: PendingAttention,
        delivery_logs: DeliveryLogs,
        bus: EventBus,
        make_client: MakeClient,
        limits: Limits,
    ) -> None:
        self.changed = Signal[SessionChange]()
        self._store = store
        self._journal = journal
        self._preferences = preferences
        self._presence = presence
        self._own_processes = own_processes
        self._slots = CliSlots(limits.live_sessions)
        self._sessions: dict[str, LiveSession] = {}
        self._last_changes: dict[str, SessionChange] = {}
        self._stopping = False
        self._services = SessionServices(
            bus,
            attention,
            presence,
            delivery_logs,
            store,
            preferences,
            failed_turns,
            self._slots,
            make_client,
            limits.idle_seconds,
        )

    def get(self, session_id: str) -> LiveSession | None:
        return self._sessions.get(session_id)

    def all(self) -> list[LiveSession]:
        return list(self._sessions.values())

    @property
    def live_count(self) -> int:
        """How many CLIs run."""
        return self._slots.used_count

    def find_by_message(self, uuid: str) -> LiveSession | None:
        """The session to which this message was sent before: the answer was lost on the way."""
        return next(
            (each for each in self.all() if not each.is_closing and each.has_message(uuid)), None
        )

    def settings(self, session_id: str) -> SessionSettings:
        session = self._sessions.get(session_id)
        if session is not None:
            return session.settings
        settings = self._preferences.settings_of(session_id)
        if not _is_mode_allowed(settings.permission_mode):
            settings.permission_mode = None
        return settings

    def system_prompt(self, session_id: str) -> AppendedPrompt | None:
        """What a person appended for it, and whether that holds yet."""
        prompt, live = self.settings(session_id).system_prompt, self._sessions.get(session_id)
        pending = live is not None and live.system_prompt_pending
        if prompt is None and not pending:
            return None
        return AppendedPrompt(characters=len(prompt or ""), pending=pending)

    # ---- requests ----

    async def send(
        self,
        request: SendRequest,
        *,
        append_prompt: str | None = None,
        new_id: str | None = None,
        first: bool = False,
    ) -> LiveSession:
        """Take a message; its turn comes when it comes. The same uuid twice is one message.

        `append_prompt` is what a dispatch adds to the system prompt of the session's next process;
        `new_id` the id of a session that is to begin, where somebody has to know it before;
        `first`: it goes before all that wait already.
        """
        assert request.uuid is not None
        _check_mode(request.permission_mode)
        session = await self._session_for(request, new_id)
        if session.has_message(request.uuid):
            return session
        options: dict[str, str | None] = {"model": request.model, "append_prompt": append_prompt}
        changes: dict[str, str | None] = {
            name: value for name, value in options.items() if value is not None
        }
        if request.system_prompt is not msgspec.UNSET:
            changes["system_prompt"] = request.system_prompt
        if changes or request.permission_mode is not None:
            settings = msgspec.structs.replace(session.settings, **changes)
            if request.permission_mode is not None:
                settings = settings.with_mode(request.permission_mode)
            await self._apply_settings(session.id, settings)
            if session.is_closing:
                # it idled away just now
                session = self._open(session.id, session.workdir)
            if session.has_message(request.uuid):
                # sent a second time while the CLI took the settings of the first one
                return session
        content = request.text if request.text is not None else request.content or []
        self._restore_queue(session, but=request.uuid)
        session.send(QueuedMessage(request.uuid, content), first=first or request.interrupt)
        if request.interrupt:
            session.interrupt()
        return session

    async def release_held(
        self, session_id: str, only: list[str] | None = None, *, wait: bool = False
    ) -> list[str]:
        """Held messages wait for their turns again; returns their uuids."""
        session = self._sessions.get(session_id)
        turn = self._journal.interrupted_turn(session_id)
        if session is not None:
            messages = session.message_queue.messages
        else:
            messages = turn.queue if turn is not None else []
        uuids = {message.uuid for message in messages if message.held}
        if only is not None:
            uuids &= {uuid.lower() for uuid in only}
        if not uuids:
            return []
        session = await self._session_for(SendRequest(session_id=session_id, wait=wait), None)
        self._restore_queue(session)
        return session.release_held(uuids)

    def _restore_queue(self, session: LiveSession, but: str | None = None) -> None:
        """Messages that an earlier keeper had queued are not lost: they are held."""
        turn = self._journal.interrupted_turn(session.id)
        for message in turn.messages_to_hold if turn is not None else ():
            if message.uuid != but and not session.has_message(message.uuid):
                session.restore_message(message)

    async def recent_uuids(self, session_id: str) -> set[str]:
        """The uuids of the messages near the end of its transcript."""
        return set(await self._store.recent_uuids(session_id))

    def handle_presence_change(self, change: PresenceChange) -> None:
        """Somebody else runs a session, or does not any more."""
        session = self._sessions.get(change.session_id)
        if session is not None and change.presence is not None:
            session.yield_to(change.presence)

    def interrupt(self, session_id: str, *, hold: bool = False) -> bool:
        session = self._sessions.get(session_id)
        return session.interrupt(hold=hold) if session is not None else False

    def hold_queue(self, session_id: str) -> None:
        """Somebody stops what runs there by another way."""
        session = self._sessions.get(session_id)
        if session is not None:
            session.hold_queue()

    async def change_settings(self, session_id: str, request: SettingsChange) -> None:
        _check_mode(request.permission_mode or None)
        settings = self.settings(session_id)
        if request.model is not msgspec.UNSET:
            settings = msgspec.structs.replace(settings, model=request.model)
        if request.permission_mode is not msgspec.UNSET:
            settings = settings.with_mode(request.permission_mode)
        if request.system_prompt is not msgspec.UNSET:
            settings = msgspec.structs.replace(settings, system_prompt=request.system_prompt)
        await self._apply_settings(session_id, settings)
        self.publish_change(session_id)

    def mode_after_plan(self, session_id: str, written: str | None = None) -> PermissionMode | None:
        """The mode in which a session that plans goes on; None where it does not, or is at work.

        `written`: what its transcript says of its mode, which counts where nobody here knows one.
        A plan that waits for an answer is approved by that answer, and by nothing else.
        """
        settings, live = self.settings(session_id), self._sessions.get(session_id)
        if live is not None and live.state != "idle":
            return None
        mode = settings.permission_mode or (live.live_state.permission_mode if live else None)
        mode = mode or written
        if mode != "plan":
            return None
        before = settings.before_plan
        return before if before is not None and _is_mode_allowed(before) else "default"

    def check_mode_of_answer(self, session_id: str, mode: str) -> None:
        """A process that was not started for it does not take it, and does not say so."""
        _check_mode(mode)
        session = self._sessions.get(session_id)
        if mode == "bypassPermissions" and session is not None and not session.may_bypass:
            raise ModeRefused("Claude Code takes this mode when it starts: change it by itself.")

    async def fork(self, session_id: str, at: str | None = None) -> str:
        """The id of a fork, which goes on with the original's model, mode and system prompt."""
        fork_id = await fork(session_id, at)
        # what was allowed was allowed for one session
        settings = msgspec.structs.replace(
            self.settings(session_id), append_prompt=None, grants=Grants()
        )
        self._preferences.store_settings(fork_id, settings)
        return fork_id

    async def fork_for_message(self, session_id: str, uuid: str) -> str:
        """The id of a fork for this message; the same fork for the same message."""
        if (session := self.find_by_message(uuid)) is not None:
            return session.id
        # sent again after it had idled away, or after a restart
        return await self._store.find_fork_for(session_id, uuid) or await self.fork(session_id)

    def withdraw(self, session_id: str, uuid: str) -> None:
        session = self._sessions.get(session_id)
        if session is None:
            raise MessageNotFound("No message with this uuid is in the queue.")
        session.withdraw(uuid.lower())

    def forget_prompt(self, session_id: str, uuid: str) -> None:
        """A prompt that was not sent, and that nobody wants any more."""
        session = self._sessions.get(session_id)
        if session is not None:
            session.forget_prompt(uuid)

    async def close_session(self, session_id: str) -> None:
        session = self._sessions.get(session_id)
        if session is not None:
            await session.close(discard_prompts=True)

    def stop_new_turns(self) -> None:
        """Turns that run go on; no other one begins."""
        self._stopping = True
        for session in self.all():
            session.message_queue.stop()

    async def close(self) -> None:
        """End everything."""
        self._stopping = True
        await asyncio.gather(*(session.close() for session in self.all()))

    # ---- finding and opening ----

    async def _session_for(self, request: SendRequest, new_id: str | None) -> LiveSession:
        if request.session_id is None:
            return await self._new_session(request, new_id or str(uuid4()))
        session_id = request.session_id
        if not request.wait and await self._presence.refresh_and_get(session_id) is not None:
            raise SessionElsewhere
        while (session := self._sessions.get(session_id)) is not None and session.is_closing:
            # two processes on one transcript would write past each other
            await session.closed.wait()
        if session is not None:
            self._check_open(request, session)
            return session
        turn = self._journal.interrupted_turn(session_id)
        workdir = await self._store.find_workdir(session_id) or (turn.workdir if turn else None)
        if workdir is None:
            raise SessionNotFound
        # a message that was sent before a restart, and is sent again, is the same message
        recent = await self._store.recent_uuids(session_id)
        session = self._sessions.get(session_id)
        self._check_open(request, session)
        if session is None or session.is_closing:
            session = self._open(session_id, workdir)
            session.delivery_log.mark_delivered(recent)
        return session

    async def _new_session(self, request: SendRequest, session_id: str) -> LiveSession:
        workdir = request.workdir or ""
        if not await asyncio.to_thread(os.path.isdir, workdir):
            raise WorkdirMissing(f"There is no directory {workdir!r} on this machine.")
        assert request.uuid is not None
        if (session := self.find_by_message(request.uuid)) is not None:
            return session
        if (begun_id := await self._store.find_begun_with(workdir, request.uuid)) is not None:
            # sent again after it had idled away, or after a restart
            return await self._session_for(
                msgspec.structs.replace(request, session_id=begun_id), None
            )
        if (session := self.find_by_message(request.uuid)) is not None:
            return session
        self._check_open(request, None)
        return self._open(session_id, workdir)

    def _check_open(self, request: SendRequest, session: LiveSession | None) -> None:
        if self._stopping:
            raise KeeperStopping(retry_after=RETRY_AFTER_SECONDS)
        if not request.wait:
            self._slots.check_free(session.runner if session is not None else None)

    def _open(self, session_id: str, workdir: str) -> LiveSession:
        if (closing := self._sessions.get(session_id)) is not None:
            self._remove(closing)
        session = LiveSession(session_id, workdir, self.settings(session_id), self._services)
        self._sessions[session_id] = session
        self._own_processes.add(session_id, session.runner)
        self._slots.add(session.runner)
        session.changed.subscribe(self._handle_session_change)
        session.start()
        return session

    async def _apply_settings(self, session_id: str, settings: SessionSettings) -> None:
        session = self._sessions.get(session_id)
        if session is not None:
            await session.change_settings(settings)
        self._preferences.store_settings(session_id, settings)

    # ---- what is new ----

    def _handle_session_change(self, session_id: str) -> None:
        session = self._sessions.get(session_id)
        if session is not None and session.closed.is_set():
            self._remove(session)
        self.publish_change(session_id)

    def publish_change(self, session_id: str) -> None:
        """Says what is new about a session, if anything is."""
        session = self._sessions.get(session_id)
        if session is None:
            self.changed.emit(SessionChange(session_id=session_id))
            return
        change = SessionChange(
            session_id=session_id,
            live=session.live_state,
            system_prompt=self.system_prompt(session_id),
            unfinished_turn=session.unfinished_turn,
        )
        before = self._last_changes.get(session_id)
        if change != before:
            self._last_changes[session_id] = change
            self.changed.emit(
                msgspec.structs.replace(change, is_visible=not change.looks_like(before))
            )

    def _remove(self, session: LiveSession) -> None:
        del self._sessions[session.id]
        self._last_changes.pop(session.id, None)
        self._own_processes.remove(session.id)
        self._slots.remove(session.runner)


def _check_mode(mode: str | None) -> None:
    if not _is_mode_allowed(mode):
        raise ModeRefused("Claude Code refuses to bypass permissions for root.")


def _is_mode_allowed(mode: str | None) -> bool:
    """Whether Claude Code would start so at all."""
    contained = os.environ.get("IS_SANDBOX") == "1"
    return mode != "bypassPermissions" or os.geteuid() != 0 or contained
