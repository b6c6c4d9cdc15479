"""The outcomes of turns, gathered from the events of their sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec

from claudekeeper.analysis.prices import cost_of
from claudekeeper.analysis.summary import SYNTHETIC_MODEL
from claudekeeper.contract.conversations import DispatchOutcome
from claudekeeper.contract.events import MessageAdded, QueueUpdated, TurnFinished, TurnStarted
from claudekeeper.contract.message import Message
from claudekeeper.core.signals import Signal
from claudekeeper.events.bus import EventBus, PublishedEvent
from claudekeeper.transcripts.entries import EntryUsage, blocks_of, usage_of


class _Turn(msgspec.Struct):
    """What the events say of the turn under way in a session."""

    uuid: str | None
    message_id: str | None = None
    texts: list[str] = []
    tokens: int | None = None
    model: str | None = None
    # what each of its replies used, in case the CLI ends before it sums them up
    usage_by_message: dict[str, tuple[int, float]] = {}


class UnexpectedTurn(msgspec.Struct, frozen=True):
    """A finished turn in an item's session that no dispatch waits for."""

    session_id: str
    # of the prompt; None where a background task began the turn
    uuid: str | None
    outcome: DispatchOutcome


class TurnResults:
    """Follows the turns of sessions in which a dispatch waits, and of all sessions of items."""

    def __init__(self, bus: EventBus, belongs_to_item: Callable[[str], bool]) -> None:
        self.unexpected: Signal[UnexpectedTurn] = Signal()
        self._bus = bus
        self._belongs_to_item = belongs_to_item
        self._futures: dict[str, asyncio.Future[DispatchOutcome]] = {}
        # by session: how many of its turns are waited for, and the turn under way
        self._expected_counts: dict[str, int] = {}
        self._turns: dict[str, _Turn] = {}
        bus.subscribe(self)

    def expect(self, session_id: str, uuid: str) -> asyncio.Future[DispatchOutcome]:
        """Must be called before the prompt is sent, so that no event is missed."""
        future = self._futures.get(uuid)
        if future is None:
            future = self._futures[uuid] = asyncio.get_running_loop().create_future()
            self._expected_counts[session_id] = self._expected_counts.get(session_id, 0) + 1
            future.add_done_callback(lambda _: self._forget(session_id, uuid))
        return future

    def find_expected(self, uuid: str) -> asyncio.Future[DispatchOutcome] | None:
        """The future of a dispatch that already waits under this uuid."""
        return self._futures.get(uuid)

    def close(self) -> None:
        self._bus.unsubscribe(self)
        for future in list(self._futures.values()):
            if not future.done():
                future.set_result(DispatchOutcome(outcome="unknown"))

    def handle_event(self, published: PublishedEvent) -> None:
        session_id = published.session_id
        if not self._follows(session_id):
            return
        turn = self._turns.get(session_id)
        match published.event:
            case TurnStarted(uuid=uuid):
                self._turns[session_id] = _Turn(uuid)
            case MessageAdded(message=message) if turn is not None:
                _add_reply(turn, message)
            case QueueUpdated(queue=queue):
                for prompt in queue:
                    if prompt.state == "cancelled":
                        self._set_result(prompt.uuid, DispatchOutcome(outcome="cancelled"))
            case TurnFinished() as finished:
                self._turns.pop(session_id, None)
                outcome = _outcome_of(finished, turn or _Turn(finished.uuid))
                if finished.uuid is None or not self._set_result(finished.uuid, outcome):
                    self.unexpected.emit(UnexpectedTurn(session_id, finished.uuid, outcome))
            case _:
                pass

    def _set_result(self, uuid: str, ended: DispatchOutcome) -> bool:
        """Returns whether a dispatch waits for it."""
        future = self._futures.get(uuid)
        if future is not None and not future.done():
            future.set_result(ended)
        return future is not None

    def _follows(self, session_id: str) -> bool:
        return session_id in self._expected_counts or self._belongs_to_item(session_id)

    def _forget(self, session_id: str, uuid: str) -> None:
        self._futures.pop(uuid, None)
        count = self._expected_counts.get(session_id, 1) - 1
        if count > 0:
            self._expected_counts[session_id] = count
        else:
            self._expected_counts.pop(session_id, None)
            if not self._belongs_to_item(session_id):
                self._turns.pop(session_id, None)


def _add_reply(turn: _Turn, message: Message) -> None:
    if message.kind != "reply" or message.model == SYNTHETIC_MODEL:
        # the CLI writes these itself for a turn that was cut off before, sometimes late
        return
    usage = usage_of(message.usage)
    if usage is not None:
        cost = cost_of(message.model, usage)
        turn.usage_by_message[message.message_id or ""] = usage.total, cost
    if message.parent_tool_use_id is not None:
        return
    if usage is not None:
        turn.tokens = usage.total
        turn.model = message.model or turn.model
    texts = [block.text for block in blocks_of(message.content) if block.text]
    if texts and message.message_id != turn.message_id:
        # the last message is the reply; its blocks come one by one
        turn.message_id, turn.texts = message.message_id, []
    turn.texts += texts


def _tokens_used(event: TurnFinished, turn: _Turn) -> int:
    """The CLI's own sum, which includes subagents and compactions; otherwise that of the events."""
    if event.tokens_used is not None:
        return event.tokens_used
    total = sum(tokens for tokens, _ in turn.usage_by_message.values())
    try:
        return max(total, msgspec.convert(event.usage or {}, EntryUsage).total)
    except msgspec.ValidationError:
        return total


def _cost_of(event: TurnFinished, turn: _Turn) -> float | None:
    """The CLI's own figure; at list prices where it ended before it gave one."""
    if event.cost_usd is not None or not turn.usage_by_message:
        return event.cost_usd
    return round(sum(cost for _, cost in turn.usage_by_message.values()), 6)


def _outcome_of(event: TurnFinished, turn: _Turn) -> DispatchOutcome:
    return DispatchOutcome(
        outcome=event.outcome,
        reply="\n".join(turn.texts),
        error=event.error,
        usage=event.usage,
        cost_usd=_cost_of(event, turn),
        duration_ms=event.duration_ms,
        tokens=turn.tokens,
        tokens_used=_tokens_used(event, turn),
        model=turn.model,
    )
