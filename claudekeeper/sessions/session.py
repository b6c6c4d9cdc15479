"""A live session: what others see of it, and ask of it."""

from __future__ import annotations

import asyncio
from collections.abc import Container
from typing import Any

from claudekeeper.contract.events import QueuedPrompt
from claudekeeper.contract.sessions import LiveState, Presence, SessionState
from claudekeeper.core.timestamps import now_iso
from claudekeeper.sessions.message_queue import MessageQueue, QueuedMessage
from claudekeeper.sessions.recovery.interrupted_turn import InterruptedTurn
from claudekeeper.sessions.reply_stream import ReplyStream
from claudekeeper.sessions.services import SessionServices
from claudekeeper.sessions.settings import SessionSettings
from claudekeeper.sessions.turn_runner import TurnRunner
from claudekeeper.transcripts.prompts import shorten_prompt


class LiveSession:
    """A session that this keeper runs."""

    def __init__(
        self, session_id: str, workdir: str, settings: SessionSettings, services: SessionServices
    ) -> None:
        self.id = session_id
        self.workdir = workdir
        self.started = now_iso()
        self.first_prompt: str | None = None
        self.message_queue = MessageQueue(session_id, services.bus)
        self.delivery_log = services.delivery_logs.of(session_id)
        self.reply_stream = ReplyStream(session_id, services.bus)
        self.runner = TurnRunner(
            session_id,
            workdir,
            settings,
            self.message_queue,
            self.delivery_log,
            self.reply_stream,
            services,
        )
        self.turns = self.runner.turns
        self.closed = self.runner.closed
        self.changed = self.runner.changed
        self._attention = services.attention
        self._failed_turn_store = services.failed_turns

    def start(self) -> asyncio.Task[Any]:
        return self.runner.start()

    # ---- what others see ----

    @property
    def settings(self) -> SessionSettings:
        return self.runner.settings_control.current

    @property
    def state(self) -> SessionState:
        if self._attention.blocking(self.id):
            return "waiting"
        if self.runner.is_idle:
            return "idle"
        if self.turns.current is None:
            return "running" if self.runner.process.client is not None else "starting"
        return "running" if self.runner.was_confirmed else "starting"

    @property
    def live_state(self) -> LiveState:
        cli, settings = self.runner.message_handler, self.settings
        return LiveState(
            state=self.state,
            origin="gateway" if self.runner.holds_slot else None,
            workdir=self.workdir,
            started=self.started,
            prompt=self.first_prompt,
            attention=self._attention.count(self.id),
            model=cli.model or settings.model,
            permission_mode=settings.permission_mode or cli.permission_mode,
            error=self.runner.failed_turns.failure,
        )

    @property
    def unfinished_turn(self) -> InterruptedTurn | None:
        """What would be lost if the keeper ended now, or was lost already."""
        turn, queue = self.turns.current, self.message_queue.messages
        if self.runner.is_idle:
            return self._unfinished_when_idle(queue)
        return InterruptedTurn(
            turn.uuid if turn is not None else None,
            turn.started if turn is not None else self.started,
            self._attention.blocking(self.id),
            queue,
            self.runner.failed_turns.unwritten_prompt,
            self.workdir,
            begun=turn is not None,
            stopped=turn is not None and turn.interrupted,
        )

    def _unfinished_when_idle(self, held: list[QueuedMessage]) -> InterruptedTurn | None:
        """No turn runs and none is about to: the turn that failed, and the messages on hold."""
        failed_turn = self.runner.failed_turns.last_failed_turn
        if failed_turn is None and not held:
            return None
        unfinished = InterruptedTurn(
            None, self.started, queue=held, workdir=self.workdir, begun=False
        )
        if failed_turn is not None:
            unfinished.uuid, unfinished.prompt = failed_turn.uuid, failed_turn.prompt
            unfinished.error = self.runner.failed_turns.failure or failed_turn.error
            unfinished.begun = True
        return unfinished

    @property
    def pid(self) -> int | None:
        """The process of its CLI, where it has one."""
        return self.runner.pid

    @property
    def is_busy(self) -> bool:
        """Whether something runs there, or is about to."""
        return self.runner.is_busy

    @property
    def is_closing(self) -> bool:
        return self.runner.is_closing

    @property
    def queued_prompts(self) -> list[QueuedPrompt]:
        """What waits, and what was taken and is not among the messages yet."""
        prompt = self.message_queue.current
        is_taken = prompt is not None and not self.delivery_log.has_delivered(prompt.uuid)
        return [
            *([prompt.to_queued_prompt("taken")] if prompt and is_taken else []),
            *self.message_queue.queued_prompts,
        ]

    def has_message(self, uuid: str) -> bool:
        """Whether a message was sent before."""
        return self.message_queue.has_message(uuid) or self.delivery_log.has_delivered(uuid)

    @property
    def system_prompt_pending(self) -> bool:
        """Whether its CLI was started with another system prompt than the next one will be."""
        current = self.runner.process.start_settings
        return current is not None and current.system_prompt != self.settings.system_prompt

    @property
    def may_bypass(self) -> bool:
        """Whether its CLI can switch to bypassing permissions."""
        client = self.runner.process.client
        return client is not None and client.bypass

    @property
    def cli_info(self) -> dict[str, Any]:
        """What its CLI says of itself: commands, models; empty while there was none."""
        return self.runner.process.info

    # ---- what others ask ----

    def send(self, message: QueuedMessage, *, first: bool = False) -> None:
        """Adds to the queue; `first`: before all that waits already."""
        self.runner.touch()
        self.first_prompt = self.first_prompt or shorten_prompt(message.text)
        self.restore_message(message, first=first)
        self.changed.emit(self.id)

    def restore_message(self, message: QueuedMessage, *, first: bool = False) -> None:
        """A message that an earlier keeper had queued waits here now, and did not fail."""
        self._failed_turn_store.pop_prompt(self.id, message.uuid)
        self.message_queue.push(message, first=first)

    def interrupt(self, *, hold: bool = False) -> bool:
        """Stop the turn that runs; False if none does. `hold`: nothing that waits follows it."""
        is_running = self.runner.interrupter.request()
        if hold:
            self.message_queue.hold()
        self.changed.emit(self.id)
        return is_running

    def withdraw(self, uuid: str) -> None:
        """Takes a message out of the queue."""
        self.message_queue.withdraw(uuid)
        self.changed.emit(self.id)

    def hold_queue(self) -> None:
        """Nothing that waits now is sent by itself."""
        self.message_queue.hold()
        self.changed.emit(self.id)

    def release_held(self, uuids: Container[str] | None = None) -> list[str]:
        """Held messages wait for their turns again."""
        released = self.message_queue.release(uuids)
        self.changed.emit(self.id)
        return released

    def forget_prompt(self, uuid: str) -> None:
        """The prompt of its failed turn was withdrawn."""
        if self.runner.failed_turns.forget_prompt(uuid):
            self.changed.emit(self.id)

    async def change_settings(self, settings: SessionSettings) -> None:
        await self.runner.settings_control.change(settings)
        self.changed.emit(self.id)

    def yield_to(self, presence: Presence) -> None:
        """Somebody else has resumed this session."""
        self.runner.yield_to(presence)

    async def close(self, *, discard_prompts: bool = False) -> None:
        """End what runs; the queue is withdrawn.

        `discard_prompts`: a prompt that no transcript has is withdrawn too.
        """
        await self.runner.close(discard_prompts=discard_prompts)
