"""One live session: one task owns one CLI, takes messages from the line and sees them through."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Container
from typing import Any

import msgspec

from claudekeeper.contract.attention import Answer
from claudekeeper.contract.errors import CliCrashed, Fault
from claudekeeper.contract.events import QueuedPrompt, Resync, TurnOutcome, TurnStatus
from claudekeeper.contract.sessions import LiveState, Presence, SessionState
from claudekeeper.core.tasks import Tasks
from claudekeeper.core.timestamps import now_iso
from claudekeeper.net.errors import ApiError
from claudekeeper.sessions.cli.client import CliClient, PermissionRequest
from claudekeeper.sessions.cli.process import CliProcess
from claudekeeper.sessions.cli_messages import CliMessageHandler
from claudekeeper.sessions.failed_turn import (
    INTERRUPTED_FAULT,
    FailedTurn,
    build_failed_turn,
    describe_exit,
    with_reason,
)
from claudekeeper.sessions.interrupt import Interrupter
from claudekeeper.sessions.message_queue import MessageQueue, QueuedMessage
from claudekeeper.sessions.reply_stream import ReplyStream
from claudekeeper.sessions.settings import SettingsControl
from claudekeeper.sessions.turns import CurrentTurn, Turns
from claudekeeper.sessions.world import SessionServices, SessionSettings
from claudekeeper.transcripts.prompts import shorten_prompt

log = logging.getLogger(__name__)


class LiveSession:
    """A session that this keeper runs."""

    def __init__(
        self, session_id: str, workdir: str, choices: SessionSettings, world: SessionServices
    ) -> None:
        self.id = session_id
        self.workdir = workdir
        self.started = now_iso()
        self.last_used = asyncio.get_running_loop().time()
        self.first_prompt: str | None = None
        self.failure: Fault | None = None
        # the last turn, if it did not come to its end and somebody may want it to go on
        self.last_failed_turn: FailedTurn | None = None
        self.message_queue = MessageQueue(session_id, world.bus)
        self.delivery_log = world.delivery_log_of(session_id)
        self.reply_stream = ReplyStream(session_id, world.bus)
        self.turns = Turns(session_id, world.bus)
        self._services = world
        self._message_handler = CliMessageHandler(self.delivery_log, self.reply_stream, self.turns)
        self._message_handler.on_init = self._handle_init
        self._message_handler.on_result = self._handle_result
        self._message_handler.on_repeated_prompt = self._handle_repeated_prompt
        self._tasks = Tasks()
        self._process = CliProcess(session_id, workdir, self, world)
        self._settings_control = SettingsControl(
            session_id, choices, self._process, self._message_handler, world
        )
        self._message_handler.on_mode = self._settings_control.handle_mode
        self._interrupter = Interrupter(
            session_id, self.turns, self._process, self._tasks, self._kill
        )
        self._was_confirmed = False
        # the last CLI ended in mid-turn: what its last lines mean is clear after the next turn
        self._resync_after_next_turn = False
        self._is_closing = False
        # whether nobody wants what was lost here
        self._discard_prompts = False
        self._yield_pending = False
        self._no_turn = asyncio.Event()
        self._no_turn.set()
        self.closed = asyncio.Event()

    def start(self) -> asyncio.Task[Any]:
        return self._tasks.start(self._run(), name=f"session:{self.id}")

    # ---- what others see ----

    @property
    def settings(self) -> SessionSettings:
        return self._settings_control.current

    @property
    def state(self) -> SessionState:
        if self._services.attention.blocking(self.id):
            return "waiting"
        if self.turns.current is None and not len(self.message_queue):
            return "idle"
        ready = (
            self._process.client is not None if self.turns.current is None else self._was_confirmed
        )
        return "running" if ready else "starting"

    @property
    def live_state(self) -> LiveState:
        return LiveState(
            state=self.state,
            origin="gateway" if self.holds_slot else None,
            workdir=self.workdir,
            started=self.started,
            prompt=self.first_prompt,
            attention=self._services.attention.count(self.id),
            model=self._message_handler.model or self.settings.model,
            permission_mode=self.settings.permission_mode or self._message_handler.permission_mode,
            error=self.failure,
        )

    @property
    def holds_slot(self) -> bool:
        """Whether it takes one of the places for CLIs."""
        return self._process.holds_slot

    @property
    def can_release_cli(self) -> bool:
        """Whether its CLI may be ended to make room: nobody would notice."""
        return self._is_cli_idle and not len(self.message_queue)

    @property
    def _is_cli_idle(self) -> bool:
        """Whether there is a CLI, and nothing that it does."""
        at_work = self.turns.current is not None or self._message_handler.background_tasks
        return self._process.client is not None and not (at_work or self._process.is_starting)

    @property
    def is_busy(self) -> bool:
        """Whether it has, or is about to have, a CLI that may not be ended."""
        at_work = self.turns.current is not None or len(self.message_queue) > 0
        return at_work or (self.holds_slot and not self.can_release_cli)

    @property
    def is_closing(self) -> bool:
        return self._is_closing

    @property
    def queued_prompts(self) -> list[QueuedPrompt]:
        """What waits, and what was taken and does not stand in the conversation yet."""
        taken = self.message_queue.current
        under_way = taken is not None and not self.delivery_log.has_delivered(taken.uuid)
        return [
            *([taken.to_queued_prompt("taken")] if taken and under_way else []),
            *self.message_queue.queued_prompts,
        ]

    @property
    def unwritten_prompt(self) -> QueuedMessage | None:
        """The prompt of the turn that runs, while no transcript is known to have it."""
        taken = self.message_queue.current
        return taken if taken is not None and not self.delivery_log.is_written(taken.uuid) else None

    @property
    def failed_turn_now(self) -> FailedTurn | None:
        """What its turn would leave if the keeper ended now, but for the prompt."""
        turn = self.turns.current
        return self._build_failed_turn(turn) if turn is not None else None

    def has_message(self, uuid: str) -> bool:
        """Whether a message was sent before."""
        return self.message_queue.has_message(uuid) or self.delivery_log.has_delivered(uuid)

    @property
    def system_prompt_pending(self) -> bool:
        """Whether its CLI was started with another system prompt than the next one will be."""
        opened = self._process.start_settings
        return opened is not None and opened.system_prompt != self.settings.system_prompt

    @property
    def pid(self) -> int | None:
        return self._process.pid

    @property
    def may_bypass(self) -> bool:
        """Whether its CLI can be told not to ask at all."""
        return self._process.client is not None and self._process.client.bypass

    @property
    def cli_info(self) -> dict[str, Any]:
        """What its CLI says of itself: commands, models; empty while there was none."""
        return self._process.info

    # ---- what others ask ----

    def send(self, item: QueuedMessage, *, first: bool = False) -> None:
        """`first`: it is said before all that wait already."""
        self.last_used = asyncio.get_running_loop().time()
        self.first_prompt = self.first_prompt or shorten_prompt(item.text)
        self._services.failed_turns.pop_prompt(self.id, item.uuid)
        self.message_queue.push(item, first=first)
        self._services.notify_change(self.id)

    def restore_message(self, item: QueuedMessage) -> None:
        """One that an earlier keeper left waits here now, and did not fail."""
        self._services.failed_turns.pop_prompt(self.id, item.uuid)
        self.message_queue.push(item)

    def interrupt(self, *, hold: bool = False) -> bool:
        """Stop the turn that runs; False if none does. `hold`: nothing that waits follows it."""
        stopped = self._interrupter.request()
        if hold:
            self.message_queue.hold()
        # what is written down for the next keeper says so too
        self._services.notify_change(self.id)
        return stopped

    def hold_queue(self) -> None:
        """Nothing that waits now is said by itself."""
        self.message_queue.hold()
        self._services.notify_change(self.id)

    def release_held(self, uuids: Container[str] | None = None) -> list[str]:
        """What is held waits for its turn again."""
        sent = self.message_queue.release(uuids)
        self._services.notify_change(self.id)
        return sent

    def forget_prompt(self, uuid: str) -> None:
        """What its turn failed with was taken back: nothing is left to go on with."""
        left = self.last_failed_turn
        if left is not None and left.prompt is not None and left.prompt.uuid == uuid:
            self.last_failed_turn = self.failure = None
            self._services.notify_change(self.id)

    async def change_settings(self, choices: SessionSettings) -> None:
        await self._settings_control.change(choices)

    async def release_cli(self) -> None:
        """Make room for another session; comes back with the next message."""
        if self.can_release_cli:
            await self._close_client()

    def yield_to(self, presence: Presence) -> None:
        """Somebody else has resumed this session: our CLI goes, after the turn if one runs."""
        if self.holds_slot and not self._yield_pending:
            self._yield_pending = True
            details = msgspec.to_builtins(presence)
            self.turns.publish_status(
                TurnStatus(session_id=self.id, status="elsewhere", details=details)
            )
            self._yield_if_idle()

    def _yield_if_idle(self) -> None:
        if self._yield_pending and self._is_cli_idle:
            self._yield_pending = False
            self._tasks.start(self._close_client(), name=f"session:{self.id}:make-way")

    async def close(self, *, discard_prompts: bool = False) -> None:
        """End the CLI and the owner; what waits in line is taken back.

        `unwanted`: a prompt that no transcript has is taken back too.
        """
        self._is_closing = True
        self._discard_prompts = discard_prompts
        self.last_failed_turn = None if discard_prompts else self.last_failed_turn
        self.message_queue.clear()
        await self._interrupter.stop()
        await self._tasks.close()
        await self._close_client(ends_turn=True)
        await self._process.finish()
        await self._refresh_catalog()
        self._end_turn(None, None if discard_prompts else INTERRUPTED_FAULT)
        self._mark_closed()

    # ---- the owner ----

    async def _run(self) -> None:
        while await self._wait_for_message():
            await self._acquire_slot()
            # it may have been taken back while there was no place
            if self.message_queue.is_ready:
                await self._run_turn(self.message_queue.pop())
            else:
                self._process.release_slot()
        self._is_closing = True
        self._mark_closed()

    async def _refresh_catalog(self) -> None:
        """From now on the transcript alone speaks for the session: the list has to know of it."""
        await self._services.transcript_exists(self.id)

    def _mark_closed(self) -> None:
        self._services.notify_change(self.id)
        self.closed.set()

    async def _wait_for_message(self) -> bool:
        """Until a message waits and nothing is being done; False when none has come for long."""
        while True:
            await self._no_turn.wait()
            if self.message_queue.is_ready:
                await self._services.wait_until_vacant(self.id)
                if self.message_queue.is_ready and self._no_turn.is_set():
                    return True
                continue
            try:
                async with asyncio.timeout(self._services.idle_seconds):
                    await self.message_queue.wait_until_ready()
            except TimeoutError:
                if self._no_turn.is_set() and not self._message_handler.background_tasks:
                    # what is held waits for a person: for days perhaps, and with no CLI
                    if self._process.client is not None or not self.message_queue.messages:
                        await self._close_client()
                    await self._refresh_catalog()
                    if not self.message_queue.messages:
                        return False

    async def _run_turn(self, item: QueuedMessage) -> None:
        turn = self._begin_turn(item)
        # one that is there already may have died since it was heard last
        turn.process_reused = self._process.client is not None
        await self._send_prompt(turn, item)
        await turn.ended.wait()
        if self._process.has_exited:
            await self._close_client()

    async def _send_prompt(self, turn: CurrentTurn, item: QueuedMessage) -> None:
        try:
            client = await self._ensure_client()
            self._message_handler.sent_prompts.add(item.uuid)
            await client.send(item)
            self._interrupter.send_if_requested(turn)
        except asyncio.CancelledError:
            raise
        except ApiError as error:
            await self._fail_turn(error)
        except Exception as error:
            if not self._retry_on_new_process(turn):
                log.exception("a message could not be handed to Claude Code")
                await self._fail_turn(CliCrashed(f"{CliCrashed.sentence} ({error})"))

    def _retry_on_new_process(self, turn: CurrentTurn | None) -> bool:
        """Whether the CLI died before it heard of this turn, so that another one is told."""
        item = self.message_queue.current
        wanted = not self._is_closing and self._process.client is not None
        if turn is None or item is None or not (turn.can_retry and wanted):
            return False
        turn.retried = True
        self._services.attention.withdraw_blocking(self.id)
        self._message_handler.background_tasks.clear()
        # in the place of the one that died, which nobody needs to hear of
        self._process.is_starting = True
        self._tasks.start(self._restart_and_send(turn, item), name=f"session:{self.id}:again")
        return True

    async def _restart_and_send(self, turn: CurrentTurn, item: QueuedMessage) -> None:
        try:
            await self._process.end()
            if turn is self.turns.current:
                await self._send_prompt(turn, item)
        finally:
            self._process.is_starting = False

    def _begin_turn(self, item: QueuedMessage) -> CurrentTurn:
        self._no_turn.clear()
        self.failure = None
        self.last_failed_turn = None
        self.last_used = asyncio.get_running_loop().time()
        self.reply_stream.clear_withdrawn()
        turn = self.turns.begin(item.uuid)
        self.delivery_log.begin_turn()
        self._services.notify_change(self.id)
        return turn

    async def _acquire_slot(self) -> None:
        """A CLI that can be used, or a place for one; until then, messages can be taken back."""
        if self._process.client is not None and not self._process.is_usable:
            await self._close_client()
        if await self._process.needs_start():
            await self._services.cli_slots.wait_for_slot(self)
            self._process.is_starting = True

    async def _ensure_client(self) -> CliClient:
        """A CLI that runs with what was chosen."""
        if self._process.client is not None:
            return self._process.client
        chosen = self.settings
        client = await self._process.start(chosen)
        self._message_handler.reset_for_new_client(self._process.prior_cost)
        # what was changed in the meantime
        await self._settings_control.apply_to_cli(chosen)
        return client

    async def _close_client(self, *, ends_turn: bool = False) -> None:
        """`ends_turn`: whoever asks ends the turn next, and says what is left of it."""
        self._services.attention.withdraw_blocking(self.id)
        ended = await self._process.end()
        if not ends_turn:
            self._discard_unwritten(in_turn=ended and self.turns.current is not None)
        self._message_handler.background_tasks.clear()
        self._services.cli_slots.notify_slots_changed()
        self._services.notify_change(self.id)

    # ---- what the CLI says ----

    def handle_message(self, raw: dict[str, Any]) -> None:
        if self.turns.current is not None:
            self.turns.current.cli_responded = True
        self._message_handler.handle(raw)
        self._services.failed_turns.schedule_write(self.id)

    def handle_exit(self, error: Exception | None) -> None:
        self._process.has_exited = True
        if self._process.is_starting:
            return  # whoever connects is told by an exception
        if self._retry_on_new_process(self.turns.current):
            return
        how = describe_exit(error, self._process.stderr_tail)
        self._services.attention.withdraw_blocking(self.id)
        if self.turns.current is not None:
            self._end_turn(CliCrashed(f"{CliCrashed.sentence} ({how})" if how else None))
            return
        self._discard_unwritten(in_turn=False)
        if self._process.client is not None:
            self._tasks.start(self._close_client(), name=f"session:{self.id}:gone")

    async def request_permission(self, question: PermissionRequest) -> Answer:
        self.reply_stream.flush()
        # newer CLIs ask with an empty input; what is approved must be seen all the same
        plan = self._message_handler.plan_of(question.tool_use_id)
        mode = self._message_handler.permission_mode
        answer = await self._services.attention.ask(
            question.to_attention(self.id, plan, self.workdir, mode)
        )
        self._settings_control.handle_answer(answer)
        if answer.decision == "deny" and question.tool_use_id is not None:
            self._message_handler.denied_calls.add(question.tool_use_id)
        return answer

    def _handle_init(self) -> None:
        self._was_confirmed = True
        if self.turns.current is None:
            # a background task has something to say: a turn that nobody asked for
            self._no_turn.clear()
            self.reply_stream.clear_withdrawn()
            self.turns.begin(None)
            self.delivery_log.begin_turn()
        turn = self.turns.current
        if turn is not None and not turn.confirmed:
            turn.confirmed = True
            self._interrupter.send_if_requested(turn)
        self._services.notify_change(self.id)

    def _handle_result(self, raw: dict[str, Any]) -> None:
        turn = self.turns.current
        if turn is None or not turn.accepts_result(self._message_handler.reports_lifecycle):
            self.reply_stream.withdraw_block()
            return
        if not raw.get("is_error"):
            self.reply_stream.withdraw_block()
        left = self._build_failed_turn(turn)
        self.reply_stream.end_block()
        torn = self.delivery_log.discard_unwritten() or self._resync_after_next_turn
        self._resync_after_next_turn = False
        outcome = self.turns.finish(raw)
        self.failure = self.turns.last_failure
        kept = self._record_failed_turn(left, outcome)
        if torn or kept:
            # behind the end of the turn: whoever reads it again reads how it ended
            self._services.bus.publish(Resync(session_id=self.id))
        if outcome == "interrupted":
            self._handle_stopped_turn(turn)
        self._finish_turn()

    def _handle_stopped_turn(self, turn: CurrentTurn) -> None:
        if not self._message_handler.background_tasks:
            self._services.attention.withdraw_blocking(self.id)
        if turn.uuid is not None and not self.delivery_log.has_delivered(turn.uuid):
            # a hook held the prompt back: of it only the CLI's own queue tells, under another uuid
            self._services.bus.publish(Resync(session_id=self.id))

    def _handle_repeated_prompt(self) -> None:
        """The CLI knows this prompt from the past, and has nothing to say to it."""
        turn = self.turns.current
        if turn is not None and turn.retried:
            # the one that died had come to write it down
            self._end_turn(CliCrashed())
        elif turn is not None:
            self.turns.skip()
            self._finish_turn()

    async def _kill(self) -> None:
        await self._close_client(ends_turn=True)
        self._end_turn(None)

    async def _fail_turn(self, error: ApiError) -> None:
        await self._close_client(ends_turn=True)
        self._end_turn(error)

    def _end_turn(self, error: ApiError | None, why: Fault | None = None) -> None:
        """The turn is over although the CLI did not say so; `why`, if nobody stopped it."""
        turn = self.turns.current
        if turn is None:
            self.reply_stream.end_block()
            self._discard_unwritten(in_turn=False)
            return
        left = self._build_failed_turn(turn)
        self.reply_stream.end_block()
        self.delivery_log.discard_unwritten()
        outcome = self.turns.abort(error)
        self.failure = self.turns.last_failure
        self._record_failed_turn(left, outcome, why)
        self._finish_turn()
        # it may have written what it had no time to say, and what it said may be in no transcript
        self._resync_after_next_turn = True
        self._services.bus.publish(Resync(session_id=self.id))

    def _build_failed_turn(self, turn: CurrentTurn) -> FailedTurn:
        """What is left of a turn, before the ledger and the stream forget it."""
        had = turn.confirmed or turn.prompt_taken
        return build_failed_turn(
            turn.uuid,
            turn.started,
            self.unwritten_prompt,
            self.delivery_log,
            self.reply_stream,
            prompt_received=had,
        )

    def _record_failed_turn(
        self, left: FailedTurn, outcome: TurnOutcome, why: Fault | None = None
    ) -> bool:
        """What is left of a turn that is over: for everybody, and for going on with it."""
        left = with_reason(left, outcome, self.failure or why)
        alone = self.delivery_log.has_no_transcript
        if self._discard_prompts or (
            self.failure is None and left.had and not (left.said or alone)
        ):
            # a command leaves no prompt in the transcript
            left = msgspec.structs.replace(left, prompt=None)
        if outcome == "done" and (left.has_reply or left.prompt):
            self.failure = left.error
        # one that was stopped is missed only where there is nothing else
        if not self._discard_prompts and (self.failure is not None or (left.prompt and alone)):
            self.last_failed_turn = left
        crashed = self.failure is not None and self.failure.code == CliCrashed.code
        if not (crashed or left.has_reply or left.prompt is not None):
            return False
        self._services.failed_turns.add(self.id, left)
        return True

    def _finish_turn(self) -> None:
        self._interrupter.end_turn()
        self.delivery_log.end_turn()
        if (taken := self.message_queue.current) is not None:
            self._message_handler.sent_prompts.discard(taken.uuid)
            self.message_queue.finish_current(lost=not self.delivery_log.has_delivered(taken.uuid))
        self.last_used = asyncio.get_running_loop().time()
        self._yield_if_idle()
        self._no_turn.set()
        self._services.cli_slots.notify_slots_changed()
        self._services.failed_turns.schedule_write(self.id)
        self._services.notify_change(self.id)

    def _discard_unwritten(self, *, in_turn: bool) -> None:
        """The CLI is gone; in mid-turn it may also have written what it had no time to say."""
        left = build_failed_turn(
            None, now_iso(), None, self.delivery_log, self.reply_stream, prompt_received=True
        )
        if self.delivery_log.discard_unwritten():
            self._services.failed_turns.add(self.id, msgspec.structs.replace(left, blocks=[]))
        elif not in_turn:
            return
        # what was told was never written: whoever has it must read again
        self._services.bus.publish(Resync(session_id=self.id))
        self._resync_after_next_turn = True
