"""What the turns of one live session leave when they break off."""

from __future__ import annotations

import msgspec

from claudekeeper.contract.errors import CliCrashed, Fault
from claudekeeper.contract.events import Resync, TurnOutcome
from claudekeeper.core.timestamps import now_iso
from claudekeeper.events.bus import EventBus
from claudekeeper.events.delivery_log import DeliveryLog
from claudekeeper.sessions.message_queue import MessageQueue, QueuedMessage
from claudekeeper.sessions.recovery.failed_turn import (
    FailedTurn,
    build_failed_turn,
    with_reason,
)
from claudekeeper.sessions.recovery.failed_turn_store import FailedTurnStore
from claudekeeper.sessions.reply_stream import ReplyStream
from claudekeeper.sessions.turns import CurrentTurn, Turns


class FailedTurnRecorder:
    """Takes what a turn leaves before others forget it, and stores it once the turn is over."""

    def __init__(
        self,
        turns: Turns,
        message_queue: MessageQueue,
        delivery_log: DeliveryLog,
        reply_stream: ReplyStream,
        store: FailedTurnStore,
        bus: EventBus,
    ) -> None:
        self._turns = turns
        self._message_queue = message_queue
        self._delivery_log = delivery_log
        self._reply_stream = reply_stream
        self._store = store
        self._bus = bus
        self._session_id = delivery_log.session_id
        self.failure: Fault | None = None
        # the last turn, if it broke off and somebody may want it to go on
        self.last_failed_turn: FailedTurn | None = None
        # nobody wants the prompts that are lost here
        self._discard_prompts = False
        # the last CLI ended in mid-turn: what its last lines mean is clear after the next turn
        self._resync_after_next_turn = False

    @property
    def unwritten_prompt(self) -> QueuedMessage | None:
        """The prompt of the turn that runs, while no transcript is known to have it."""
        prompt = self._message_queue.current
        return prompt if prompt and not self._delivery_log.is_written(prompt.uuid) else None

    def snapshot(self) -> FailedTurn | None:
        """What the turn that runs would leave if the keeper ended now; None where none runs."""
        turn = self._turns.current
        return self._build(turn) if turn is not None else None

    def schedule_write(self) -> None:
        """What the turn that runs would leave is written down soon."""
        self._store.schedule_write(self._session_id, self.snapshot)

    def begin_turn(self) -> None:
        self.failure = self.last_failed_turn = None

    def discard_prompts(self) -> None:
        """A person closes the session: prompts that are lost now were not wanted."""
        self._discard_prompts = True
        self.last_failed_turn = None

    def forget_prompt(self, uuid: str) -> bool:
        """A failed prompt was withdrawn: nothing is left to go on with. Whether it was here."""
        turn = self.last_failed_turn
        is_here = turn is not None and turn.prompt is not None and turn.prompt.uuid == uuid
        if is_here:
            self.begin_turn()
        return is_here

    def finish(self, turn: CurrentTurn, result: dict[str, object]) -> TurnOutcome:
        """The CLI says that the turn is over."""
        failed_turn = self._build(turn)
        self._reply_stream.end_block()
        incomplete = self._delivery_log.discard_unwritten() or self._resync_after_next_turn
        self._resync_after_next_turn = False
        outcome = self._turns.finish(result)
        self.failure = self._turns.last_failure
        if self._record(failed_turn, outcome) or incomplete:
            # behind the end of the turn: whoever reads it again reads how it ended
            self._bus.publish(Resync(session_id=self._session_id))
        return outcome

    def abort(self, turn: CurrentTurn, error: Fault | None, reason: Fault | None) -> None:
        """The turn is over although the CLI did not say so; `reason`, if nobody stopped it."""
        failed_turn = self._build(turn)
        self._reply_stream.end_block()
        self._delivery_log.discard_unwritten()
        outcome = self._turns.abort(error)
        self.failure = self._turns.last_failure
        self._record(failed_turn, outcome, reason)

    def publish_resync(self) -> None:
        """Clients must read again: the transcript may have more, or less, than was published."""
        self._resync_after_next_turn = True
        self._bus.publish(Resync(session_id=self._session_id))

    def discard_unwritten(self, *, in_turn: bool) -> None:
        """The CLI is gone; in mid-turn it may also have written what it had no time to say."""
        failed_turn = build_failed_turn(
            None, now_iso(), None, self._delivery_log, self._reply_stream, prompt_received=True
        )
        if self._delivery_log.discard_unwritten():
            self._store.add(self._session_id, msgspec.structs.replace(failed_turn, blocks=[]))
        elif not in_turn:
            return
        # clients have messages that were never written: they must read again
        self.publish_resync()

    def _build(self, turn: CurrentTurn) -> FailedTurn:
        return build_failed_turn(
            turn.uuid,
            turn.started,
            self.unwritten_prompt,
            self._delivery_log,
            self._reply_stream,
            prompt_received=turn.confirmed or turn.prompt_taken,
        )

    def _record(
        self, failed_turn: FailedTurn, outcome: TurnOutcome, reason: Fault | None = None
    ) -> bool:
        """Keeps what is left of a turn that is over, for everybody; whether something is."""
        turn = with_reason(failed_turn, outcome, self.failure or reason)
        no_transcript = self._delivery_log.has_no_transcript
        if self._discard_prompts or (
            self.failure is None and turn.had and not (turn.said or no_transcript)
        ):
            # a command leaves no prompt in the transcript
            turn = msgspec.structs.replace(turn, prompt=None)
        if outcome == "done" and (turn.has_reply or turn.prompt):
            self.failure = turn.error
        # one that was stopped is missed only where there is nothing else
        is_missed = self.failure is not None or (turn.prompt and no_transcript)
        if not self._discard_prompts and is_missed:
            self.last_failed_turn = turn
        crashed = self.failure is not None and self.failure.code == CliCrashed.code
        if not (crashed or turn.has_reply or turn.prompt is not None):
            return False
        self._store.add(self._session_id, turn)
        return True
