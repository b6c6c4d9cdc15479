"""Runs the turns of a session: one task takes messages from the queue and owns the CLI."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import msgspec

from claudekeeper.contract.attention import Answer
from claudekeeper.contract.errors import CliCrashed, Fault
from claudekeeper.contract.events import Resync, TurnStatus
from claudekeeper.contract.sessions import Presence
from claudekeeper.core.signals import Signal
from claudekeeper.core.tasks import Tasks
from claudekeeper.events.delivery_log import DeliveryLog
from claudekeeper.net.errors import ApiError
from claudekeeper.sessions.cli.client import CliClient, PermissionRequest
from claudekeeper.sessions.cli.process import CliProcess
from claudekeeper.sessions.cli_messages import CliMessageHandler
from claudekeeper.sessions.interrupt import Interrupter
from claudekeeper.sessions.message_queue import MessageQueue, QueuedMessage
from claudekeeper.sessions.recovery.failed_turn import INTERRUPTED_FAULT, describe_exit
from claudekeeper.sessions.recovery.failed_turn_recorder import FailedTurnRecorder
from claudekeeper.sessions.reply_stream import ReplyStream
from claudekeeper.sessions.services import SessionServices
from claudekeeper.sessions.settings import SessionSettings
from claudekeeper.sessions.settings_control import SettingsControl
from claudekeeper.sessions.turns import CurrentTurn, Turns

log = logging.getLogger(__name__)


class TurnRunner:
    """Runs the turns of one session, one after another, on one CLI process at a time."""

    def __init__(
        self,
        session_id: str,
        workdir: str,
        settings: SessionSettings,
        message_queue: MessageQueue,
        delivery_log: DeliveryLog,
        reply_stream: ReplyStream,
        services: SessionServices,
    ) -> None:
        # with the session's id, whenever something about it may be new
        self.changed = Signal[str]()
        self.turns = Turns(session_id, services.bus)
        self.process = CliProcess(session_id, workdir, self, services)
        self.message_handler = CliMessageHandler(delivery_log, reply_stream, self.turns, self)
        self.settings_control = SettingsControl(
            session_id, settings, self.process, self.message_handler, services.preferences
        )
        self.failed_turns = FailedTurnRecorder(
            self.turns,
            message_queue,
            delivery_log,
            reply_stream,
            services.failed_turns,
            services.bus,
        )
        self._session_id = session_id
        self._workdir = workdir
        self._message_queue = message_queue
        self._delivery_log = delivery_log
        self._reply_stream = reply_stream
        self._services = services
        self._tasks = Tasks()
        self.interrupter = Interrupter(
            session_id, self.turns, self.process, self._tasks, self._kill
        )
        self.last_used = asyncio.get_running_loop().time()
        # whether a CLI has begun a turn here
        self.was_confirmed = False
        self.is_closing = False
        self.closed = asyncio.Event()
        self._yield_pending = False
        self._no_turn = asyncio.Event()
        self._no_turn.set()

    def start(self) -> asyncio.Task[Any]:
        return self._tasks.start(self._run(), name=f"session:{self._session_id}")

    # ---- its CLI, as slots and others see it ----

    @property
    def is_idle(self) -> bool:
        """Whether no turn runs and none is about to."""
        return self.turns.current is None and not len(self._message_queue)

    @property
    def pid(self) -> int | None:
        return self.process.pid

    @property
    def holds_slot(self) -> bool:
        """Whether it takes one of the slots for CLIs."""
        return self.process.holds_slot

    @property
    def can_release_cli(self) -> bool:
        """Whether its CLI may be ended to make room: nobody would notice."""
        return self._is_cli_idle and not len(self._message_queue)

    @property
    def is_busy(self) -> bool:
        """Whether it has, or is about to have, a CLI that may not be ended."""
        return not self.is_idle or (self.holds_slot and not self.can_release_cli)

    @property
    def _is_cli_idle(self) -> bool:
        """Whether there is a CLI, and nothing that it does."""
        at_work = self.turns.current is not None or self.message_handler.background_tasks
        return self.process.client is not None and not (at_work or self.process.is_starting)

    async def release_cli(self) -> None:
        """Make room for another session; the CLI comes back with the next message."""
        if self.can_release_cli:
            await self._close_client()

    def yield_to(self, presence: Presence) -> None:
        """Somebody else has resumed this session: our CLI ends, after the turn if one runs."""
        if self.holds_slot and not self._yield_pending:
            self._yield_pending = True
            details = msgspec.to_builtins(presence)
            self.turns.publish_status(
                TurnStatus(session_id=self._session_id, status="elsewhere", details=details)
            )
            self._yield_if_idle()

    def _yield_if_idle(self) -> None:
        if self._yield_pending and self._is_cli_idle:
            self._yield_pending = False
            self._tasks.start(self._close_client(), name=f"session:{self._session_id}:yield")

    def touch(self) -> None:
        """Somebody uses the session now."""
        self.last_used = asyncio.get_running_loop().time()

    async def close(self, *, discard_prompts: bool) -> None:
        """End the CLI and the owner; `discard_prompts`: nobody wants what is lost by that."""
        self.is_closing = True
        if discard_prompts:
            self.failed_turns.discard_prompts()
        self._message_queue.clear()
        await self.interrupter.stop()
        await self._tasks.close()
        await self._close_client(ends_turn=True)
        await self.process.finish()
        # from now on the transcript alone speaks for the session: the list has to know of it
        await self._services.store.refresh(self._session_id)
        self._end_turn(None, None if discard_prompts else INTERRUPTED_FAULT)
        self._mark_closed()

    def _notify(self) -> None:
        self.changed.emit(self._session_id)

    def _mark_closed(self) -> None:
        self.closed.set()
        self._notify()

    # ---- the owner ----

    async def _run(self) -> None:
        while await self._wait_for_message():
            await self._acquire_slot()
            # it may have been withdrawn while there was no slot
            if self._message_queue.is_ready:
                await self._run_turn(self._message_queue.pop())
            else:
                self.process.release_slot()
        self.is_closing = True
        self._mark_closed()

    async def _wait_for_message(self) -> bool:
        """Until a message waits and no turn runs; False when none has come for long."""
        while True:
            await self._no_turn.wait()
            if self._message_queue.is_ready:
                await self._services.presence.wait_until_free(self._session_id)
                if self._message_queue.is_ready and self._no_turn.is_set():
                    return True
                continue
            try:
                async with asyncio.timeout(self._services.idle_seconds):
                    await self._message_queue.wait_until_ready()
            except TimeoutError:
                if self._no_turn.is_set() and not self.message_handler.background_tasks:
                    # what is held waits for a person: for days perhaps, and with no CLI
                    if self.process.client is not None or not self._message_queue.messages:
                        await self._close_client()
                    await self._services.store.refresh(self._session_id)
                    if not self._message_queue.messages:
                        return False

    async def _run_turn(self, message: QueuedMessage) -> None:
        self.failed_turns.begin_turn()
        turn = self._begin_turn(message.uuid)
        # a CLI that runs already may have died since its last message
        turn.process_reused = self.process.client is not None
        await self._send_prompt(turn, message)
        await turn.ended.wait()
        if self.process.has_exited:
            await self._close_client()

    def _begin_turn(self, uuid: str | None) -> CurrentTurn:
        self._no_turn.clear()
        self.touch()
        self._reply_stream.clear_withdrawn()
        turn = self.turns.begin(uuid)
        self._delivery_log.begin_turn()
        self._notify()
        return turn

    async def _send_prompt(self, turn: CurrentTurn, message: QueuedMessage) -> None:
        try:
            client = await self._ensure_client()
            self.message_handler.sent_prompts.add(message.uuid)
            await client.send(message)
            self.interrupter.send_if_requested(turn)
        except asyncio.CancelledError:
            raise
        except ApiError as error:
            await self._fail_turn(error)
        except Exception as error:
            if not self._retry_on_new_process(turn):
                log.exception("a message could not be handed to Claude Code")
                await self._fail_turn(CliCrashed(f"{CliCrashed.sentence} ({error})"))

    def _retry_on_new_process(self, turn: CurrentTurn | None) -> bool:
        """Whether the CLI died before it had this turn, so that a new one is started for it."""
        message = self._message_queue.current
        has_client = not self.is_closing and self.process.client is not None
        if turn is None or message is None or not (turn.can_retry and has_client):
            return False
        turn.retried = True
        self._services.attention.withdraw_blocking(self._session_id)
        self.message_handler.background_tasks.clear()
        # in the slot of the one that died
        self.process.is_starting = True
        self._tasks.start(
            self._restart_and_send(turn, message), name=f"session:{self._session_id}:again"
        )
        return True

    async def _restart_and_send(self, turn: CurrentTurn, message: QueuedMessage) -> None:
        try:
            await self.process.end()
            if turn is self.turns.current:
                await self._send_prompt(turn, message)
        finally:
            self.process.is_starting = False

    async def _acquire_slot(self) -> None:
        """A CLI that can be used, or a slot for one; until then, messages can be withdrawn."""
        if self.process.client is not None and not self.process.is_usable:
            await self._close_client()
        if await self.process.needs_start():
            await self._services.slots.wait_for_slot(self)
            self.process.is_starting = True

    async def _ensure_client(self) -> CliClient:
        """A CLI that runs with the session's settings."""
        if self.process.client is not None:
            return self.process.client
        settings = self.settings_control.current
        client = await self.process.start(settings)
        self.message_handler.reset_for_new_client(self.process.prior_cost)
        # what was changed in the meantime
        await self.settings_control.apply_to_cli(settings)
        return client

    async def _close_client(self, *, ends_turn: bool = False) -> None:
        """`ends_turn`: the caller ends the turn next, and says what is left of it."""
        self._services.attention.withdraw_blocking(self._session_id)
        ended = await self.process.end()
        if not ends_turn:
            in_turn = ended and self.turns.current is not None
            self.failed_turns.discard_unwritten(in_turn=in_turn)
        self.message_handler.background_tasks.clear()
        self._services.slots.notify_changed()
        self._notify()

    # ---- what the CLI says ----

    def handle_message(self, raw: dict[str, Any]) -> None:
        if self.turns.current is not None:
            self.turns.current.cli_responded = True
        self.message_handler.handle(raw)
        self.failed_turns.schedule_write()

    def handle_exit(self, error: Exception | None) -> None:
        self.process.has_exited = True
        if self.process.is_starting:
            return  # whoever connects gets an exception
        if self._retry_on_new_process(self.turns.current):
            return
        how = describe_exit(error, self.process.stderr_tail)
        self._services.attention.withdraw_blocking(self._session_id)
        if self.turns.current is not None:
            self._end_turn(CliCrashed(f"{CliCrashed.sentence} ({how})" if how else None))
            return
        self.failed_turns.discard_unwritten(in_turn=False)
        if self.process.client is not None:
            self._tasks.start(self._close_client(), name=f"session:{self._session_id}:gone")

    async def request_permission(self, request: PermissionRequest) -> Answer:
        self._reply_stream.flush()
        # newer CLIs ask with an empty input; what is approved must be seen all the same
        plan = self.message_handler.plan_of(request.tool_use_id)
        mode = self.message_handler.permission_mode
        answer = await self._services.attention.ask(
            request.to_attention(self._session_id, plan, self._workdir, mode)
        )
        self.settings_control.handle_answer(answer)
        if answer.decision == "deny" and request.tool_use_id is not None:
            self.message_handler.denied_calls.add(request.tool_use_id)
        return answer

    def handle_init(self) -> None:
        self.was_confirmed = True
        # without a turn: a background task begins one by itself
        turn = self.turns.current or self._begin_turn(None)
        if not turn.confirmed:
            turn.confirmed = True
            self.interrupter.send_if_requested(turn)
        self._notify()

    def handle_mode(self, mode: str, before: str | None) -> None:
        self.settings_control.handle_mode(mode, before)
        self._notify()

    def handle_result(self, result: dict[str, Any]) -> None:
        turn = self.turns.current
        if turn is None or not turn.accepts_result(self.message_handler.reports_lifecycle):
            self._reply_stream.withdraw_block()
            return
        if not result.get("is_error"):
            self._reply_stream.withdraw_block()
        if self.failed_turns.finish(turn, result) == "interrupted":
            self._handle_interrupted_turn(turn)
        self._finish_turn()

    def _handle_interrupted_turn(self, turn: CurrentTurn) -> None:
        if not self.message_handler.background_tasks:
            self._services.attention.withdraw_blocking(self._session_id)
        if turn.uuid is not None and not self._delivery_log.has_delivered(turn.uuid):
            # a hook held the prompt back: only the CLI's own queue has it, under another uuid
            self._services.bus.publish(Resync(session_id=self._session_id))

    def handle_repeated_prompt(self) -> None:
        turn = self.turns.current
        if turn is not None and turn.retried:
            # the CLI that died had written it down already
            self._end_turn(CliCrashed())
        elif turn is not None:
            self.turns.skip()
            self._finish_turn()

    # ---- the end of a turn ----

    async def _kill(self) -> None:
        await self._close_client(ends_turn=True)
        self._end_turn(None)

    async def _fail_turn(self, error: ApiError) -> None:
        await self._close_client(ends_turn=True)
        self._end_turn(error)

    def _end_turn(self, error: ApiError | None, reason: Fault | None = None) -> None:
        """The turn is over although the CLI did not say so; `reason`, if nobody stopped it."""
        turn = self.turns.current
        if turn is None:
            self._reply_stream.end_block()
            self.failed_turns.discard_unwritten(in_turn=False)
            return
        fault = Fault(error.code, error.message) if error is not None else None
        self.failed_turns.abort(turn, fault, reason)
        self._finish_turn()
        self.failed_turns.publish_resync()

    def _finish_turn(self) -> None:
        self.interrupter.end_turn()
        self._delivery_log.end_turn()
        if (prompt := self._message_queue.current) is not None:
            self.message_handler.sent_prompts.discard(prompt.uuid)
            self._message_queue.finish_current(
                lost=not self._delivery_log.has_delivered(prompt.uuid)
            )
        self.touch()
        self._yield_if_idle()
        self._no_turn.set()
        self._services.slots.notify_changed()
        self.failed_turns.schedule_write()
        self._notify()
