"""Which sessions run: finding, opening, limits."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Protocol
from uuid import uuid4

import msgspec

from claudekeeper.analysis.recorded_cost import Carried
from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.catalog.presence_files import RunningClaude
from claudekeeper.contract.errors import (
    KeeperBusy,
    KeeperStopping,
    MessageNotFound,
    ModeRefused,
    SessionElsewhere,
    SessionNotFound,
    WorkdirMissing,
)
from claudekeeper.contract.grants import Grants
from claudekeeper.contract.requests import PermissionMode, SendRequest, SettingsChange
from claudekeeper.contract.sessions import AppendedPrompt, LiveState, Presence
from claudekeeper.core.limits import Limits
from claudekeeper.events.bus import EventBus
from claudekeeper.events.delivery_log import DeliveryLogs
from claudekeeper.sessions.cli.client import MakeClient
from claudekeeper.sessions.failed_turn import FailedTurn
from claudekeeper.sessions.failed_turn_store import FailedTurnStore
from claudekeeper.sessions.fork import fork
from claudekeeper.sessions.message_queue import QueuedMessage
from claudekeeper.sessions.recovery import InterruptedTurn
from claudekeeper.sessions.session import LiveSession
from claudekeeper.sessions.world import SessionServices, SessionSettings

# seconds after which somebody who was turned away at the end may find the next keeper
RETRY_AFTER_SECONDS = 5


class SessionStore(msgspec.Struct, frozen=True):
    """What the transcripts tell of a session."""

    # its working directory; None when there is no such session
    find_workdir: Callable[[str], Awaitable[str | None]]
    # what an earlier keeper, or a CLI that is gone, left unfinished there
    interrupted_turn: Callable[[str], InterruptedTurn | None]
    # the session in this directory that a message with this uuid began
    find_begun_with: Callable[[str, str], Awaitable[str | None]]
    # the copy of this session that was made for a message with this uuid
    find_fork_for: Callable[[str, str], Awaitable[str | None]]
    # the uuids of the messages near its end
    recent_uuids: Callable[[str], Awaitable[list[str]]]
    # who else runs it at this moment; and until nobody does
    find_presence: Callable[[str], Awaitable[Presence | None]]
    wait_until_vacant: Callable[[str], Awaitable[None]]
    # what its processes cost together, as the last one wrote it down
    prior_cost: Callable[[str], Awaitable[Carried]]


class PreferenceStore(Protocol):
    """Who remembers what was chosen for a session, longer than this keeper runs."""

    def settings_of(self, session_id: str) -> SessionSettings: ...
    def store_settings(self, session_id: str, choices: SessionSettings) -> None: ...


class SessionManager:
    """The live sessions by id."""

    def __init__(
        self,
        bus: EventBus,
        desk: PendingAttention,
        disk: SessionStore,
        ledgers: DeliveryLogs,
        make_client: MakeClient,
        limits: Limits,
        memory: PreferenceStore,
        failed: FailedTurnStore,
    ) -> None:
        self._attention = desk
        self._store = disk
        self._limits = limits
        self._preferences = memory
        self._sessions: dict[str, LiveSession] = {}
        self._slots_changed = asyncio.Event()
        self._stopping = False
        # who shows sessions: called with the id of one that is not what it was
        self.on_change: Callable[[str], None] = lambda _: None
        self._services = SessionServices(
            bus,
            desk,
            make_client,
            self,
            self._transcript_exists,
            self._handle_session_change,
            ledgers.of,
            disk.wait_until_vacant,
            memory.store_settings,
            limits.idle_seconds,
            disk.prior_cost,
            failed,
        )

    def get(self, session_id: str) -> LiveSession | None:
        return self._sessions.get(session_id)

    def all(self) -> list[LiveSession]:
        return list(self._sessions.values())

    @property
    def live_count(self) -> int:
        """How many CLIs run."""
        return sum(session.holds_slot for session in self._sessions.values())

    def find_by_message(self, uuid: str) -> LiveSession | None:
        """The session to which this message was sent before: the answer was lost on the way."""
        return next(
            (each for each in self.all() if not each.is_closing and each.has_message(uuid)), None
        )

    def live_state(self, session_id: str) -> LiveState | None:
        session = self._sessions.get(session_id)
        return session.live_state if session is not None else None

    def failed_turn_now(self, session_id: str) -> FailedTurn | None:
        """What its turn would leave if the keeper ended now; None where none runs."""
        session = self._sessions.get(session_id)
        return session.failed_turn_now if session is not None else None

    def settings(self, session_id: str) -> SessionSettings:
        session = self._sessions.get(session_id)
        if session is not None:
            return session.settings
        choices = self._preferences.settings_of(session_id)
        if not _is_mode_allowed(choices.permission_mode):
            choices.permission_mode = None
        return choices

    def system_prompt(self, session_id: str) -> AppendedPrompt | None:
        """What a person appended for it, and whether that holds yet."""
        prompt, live = self.settings(session_id).system_prompt, self._sessions.get(session_id)
        pending = live is not None and live.system_prompt_pending
        if prompt is None and not pending:
            return None
        return AppendedPrompt(characters=len(prompt or ""), pending=pending)

    # ---- asking ----

    async def send(
        self,
        wish: SendRequest,
        *,
        append_prompt: str | None = None,
        new_id: str | None = None,
        first: bool = False,
    ) -> LiveSession:
        """Take a message; its turn comes when it comes. The same uuid twice is one message.

        `append_prompt` is what a dispatch adds to the system prompt of the session's next process;
        `new_id` the id of a session that is to begin, where somebody has to know it before;
        `first`: it is said before all that wait already.
        """
        assert wish.uuid is not None
        _check_mode(wish.permission_mode)
        session = await self._session_for(wish, new_id)
        if session.has_message(wish.uuid):
            return session
        changed: dict[str, str | None] = {
            "model": wish.model,
            "append_prompt": append_prompt,
        }
        given: dict[str, str | None] = {
            name: value for name, value in changed.items() if value is not None
        }
        if wish.system_prompt is not msgspec.UNSET:
            given["system_prompt"] = wish.system_prompt
        if given or wish.permission_mode is not None:
            choices = msgspec.structs.replace(session.settings, **given)
            if wish.permission_mode is not None:
                choices = choices.with_mode(wish.permission_mode)
            await self._apply_settings(session.id, choices)
            if session.is_closing:
                # it idled away just now
                session = self._open(session.id, session.workdir)
            if session.has_message(wish.uuid):
                # sent a second time while the CLI was told of the first one's choices
                return session
        item = QueuedMessage(wish.uuid, wish.text if wish.text is not None else wish.content or [])
        self._restore_queue(session, but=item.uuid)
        session.send(item, first=first or wish.interrupt)
        if wish.interrupt:
            session.interrupt()
        return session

    async def release_held(
        self, session_id: str, only: list[str] | None = None, *, wait: bool = False
    ) -> list[str]:
        """What is held there waits for its turn again; the uuids of those that do."""
        session = self._sessions.get(session_id)
        left = self._store.interrupted_turn(session_id)
        items = (
            session.message_queue.messages if session is not None else left.queue if left else []
        )
        uuids = {item.uuid for item in items if item.held}
        if only is not None:
            uuids &= {uuid.lower() for uuid in only}
        if not uuids:
            return []
        session = await self._session_for(SendRequest(session_id=session_id, wait=wait), None)
        self._restore_queue(session)
        return session.release_held(uuids)

    def _restore_queue(self, session: LiveSession, but: str | None = None) -> None:
        """What an earlier keeper left there is not lost with what is said now: it is held."""
        left = self._store.interrupted_turn(session.id)
        for item in left.messages_to_hold if left is not None else ():
            if item.uuid != but and not session.has_message(item.uuid):
                session.restore_message(item)

    async def recent_uuids(self, session_id: str) -> set[str]:
        """The uuids of the messages near the end of its transcript."""
        return set(await self._store.recent_uuids(session_id))

    def is_ours(self, process: RunningClaude) -> bool:
        """Whether this Claude Code is one that this keeper started."""
        session = self._sessions.get(process.session_id)
        if session is not None and session.pid == process.presence.pid:
            return True
        if process.keeper_session is not None:
            alone = session is None and process.parent_pid != os.getpid()
            return process.keeper_session == process.session_id and not alone
        # where a process's environment cannot be seen: one that comes while ours is started
        starting = session is not None and session.holds_slot and session.pid is None
        return starting and process.presence.entrypoint.startswith("sdk")

    @property
    def pids(self) -> set[int]:
        return {session.pid for session in self.all() if session.pid is not None}

    def yield_to(self, session_id: str, presence: Presence | None) -> None:
        """Somebody else runs this session now."""
        session = self._sessions.get(session_id)
        if session is not None and presence is not None:
            session.yield_to(presence)

    def interrupt(self, session_id: str, *, hold: bool = False) -> bool:
        session = self._sessions.get(session_id)
        return session.interrupt(hold=hold) if session is not None else False

    def hold_queue(self, session_id: str) -> None:
        """Somebody stops what runs there by another way."""
        session = self._sessions.get(session_id)
        if session is not None:
            session.hold_queue()

    async def change_settings(self, session_id: str, wish: SettingsChange) -> None:
        _check_mode(wish.permission_mode or None)
        choices = self.settings(session_id)
        if wish.model is not msgspec.UNSET:
            choices = msgspec.structs.replace(choices, model=wish.model)
        if wish.permission_mode is not msgspec.UNSET:
            choices = choices.with_mode(wish.permission_mode)
        if wish.system_prompt is not msgspec.UNSET:
            choices = msgspec.structs.replace(choices, system_prompt=wish.system_prompt)
        await self._apply_settings(session_id, choices)
        self.on_change(session_id)

    def mode_after_plan(self, session_id: str, written: str | None = None) -> PermissionMode | None:
        """The mode in which a session that plans goes on; None where it does not, or is at work.

        `written`: what its transcript says of its mode, which counts where nobody here knows one.
        A plan that waits for an answer is approved by that answer, and by nothing else.
        """
        choices, live = self.settings(session_id), self._sessions.get(session_id)
        if live is not None and live.state != "idle":
            return None
        mode = choices.permission_mode or (live.live_state.permission_mode if live else None)
        mode = mode or written
        if mode != "plan":
            return None
        before = choices.before_plan
        return before if before is not None and _is_mode_allowed(before) else "default"

    def check_mode_of_answer(self, session_id: str, mode: str) -> None:
        """A process that was not started for it does not take it, and does not say so."""
        _check_mode(mode)
        session = self._sessions.get(session_id)
        if mode == "bypassPermissions" and session is not None and not session.may_bypass:
            raise ModeRefused("Claude Code takes this mode when it starts: change it by itself.")

    async def fork(self, session_id: str, at: str | None = None) -> str:
        """The id of a copy, which goes on with the original's model, mode and system prompt."""
        copy = await fork(session_id, at)
        chosen = self.settings(session_id)
        # what was allowed was allowed for one session
        kept = msgspec.structs.replace(chosen, append_prompt=None, grants=Grants())
        self._preferences.store_settings(copy, kept)
        return copy

    async def fork_for_message(self, session_id: str, uuid: str) -> str:
        """The id of a copy in which this message is said; the same one for the same message."""
        if (session := self.find_by_message(uuid)) is not None:
            return session.id
        # sent again after it had idled away, or after a restart
        return await self._store.find_fork_for(session_id, uuid) or await self.fork(session_id)

    def withdraw(self, session_id: str, uuid: str) -> None:
        session = self._sessions.get(session_id)
        if session is None:
            raise MessageNotFound("No message with this uuid waits in line.")
        session.message_queue.withdraw(uuid.lower())

    def forget_prompt(self, session_id: str, uuid: str) -> None:
        """One that was not said, and that nobody wants any more."""
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

    # ---- places for CLIs ----

    async def wait_for_slot(self, session: LiveSession) -> None:
        while True:
            others = [each for each in self.all() if each is not session and each.holds_slot]
            if len(others) < self._limits.live_sessions:
                return
            spare = sorted(
                (each for each in others if each.can_release_cli), key=lambda each: each.last_used
            )
            if spare:
                await spare[0].release_cli()
                continue
            self._slots_changed.clear()
            await self._slots_changed.wait()

    def notify_slots_changed(self) -> None:
        self._slots_changed.set()

    def _check_free_slot(self, session: LiveSession | None) -> None:
        """Refuses when every place is taken by somebody who works, waits or is about to."""
        taken = [each for each in self.all() if each is not session and each.is_busy]
        if len(taken) >= self._limits.live_sessions and not (session and session.holds_slot):
            raise KeeperBusy

    # ---- finding and opening ----

    async def _session_for(self, wish: SendRequest, new_id: str | None) -> LiveSession:
        if wish.session_id is None:
            return await self._new_session(wish, new_id or str(uuid4()))
        session_id = wish.session_id
        if not wish.wait and await self._store.find_presence(session_id) is not None:
            raise SessionElsewhere
        while (session := self._sessions.get(session_id)) is not None and session.is_closing:
            # two processes on one transcript would write past each other
            await session.closed.wait()
        if session is not None:
            self._check_open(wish, session)
            return session
        left = self._store.interrupted_turn(session_id)
        workdir = await self._store.find_workdir(session_id) or (left.workdir if left else None)
        if workdir is None:
            raise SessionNotFound
        # a message that was sent before a restart, and is sent again, is not said twice
        recent = await self._store.recent_uuids(session_id)
        session = self._sessions.get(session_id)
        self._check_open(wish, session)
        if session is None or session.is_closing:
            session = self._open(session_id, workdir)
            session.delivery_log.mark_delivered(recent)
        return session

    async def _new_session(self, wish: SendRequest, session_id: str) -> LiveSession:
        workdir = wish.workdir or ""
        if not await asyncio.to_thread(os.path.isdir, workdir):
            raise WorkdirMissing(f"There is no directory {workdir!r} on this machine.")
        assert wish.uuid is not None
        if (session := self.find_by_message(wish.uuid)) is not None:
            return session
        if (begun := await self._store.find_begun_with(workdir, wish.uuid)) is not None:
            # sent again after it had idled away, or after a restart
            return await self._session_for(msgspec.structs.replace(wish, session_id=begun), None)
        if (session := self.find_by_message(wish.uuid)) is not None:
            return session
        self._check_open(wish, None)
        return self._open(session_id, workdir)

    def _check_open(self, wish: SendRequest, session: LiveSession | None) -> None:
        if self._stopping:
            raise KeeperStopping(retry_after=RETRY_AFTER_SECONDS)
        if not wish.wait:
            self._check_free_slot(session)

    def _open(self, session_id: str, workdir: str) -> LiveSession:
        session = LiveSession(session_id, workdir, self.settings(session_id), self._services)
        self._sessions[session_id] = session
        session.start()
        return session

    async def _apply_settings(self, session_id: str, choices: SessionSettings) -> None:
        session = self._sessions.get(session_id)
        if session is not None:
            await session.change_settings(choices)
        self._preferences.store_settings(session_id, choices)

    async def _transcript_exists(self, session_id: str) -> bool:
        return await self._store.find_workdir(session_id) is not None

    def _handle_session_change(self, session_id: str) -> None:
        session = self._sessions.get(session_id)
        if session is not None and session.is_closing and not session.holds_slot:
            del self._sessions[session_id]
        self.on_change(session_id)


def _check_mode(mode: str | None) -> None:
    if not _is_mode_allowed(mode):
        raise ModeRefused("Claude Code refuses to bypass permissions for root.")


def _is_mode_allowed(mode: str | None) -> bool:
    """Whether Claude Code would start so at all."""
    contained = os.environ.get("IS_SANDBOX") == "1"
    return mode != "bypassPermissions" or os.geteuid() != 0 or contained
