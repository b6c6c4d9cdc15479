"""What became of a message: its turn followed from beginning to end, by listening."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import msgspec

from claudekeeper.analysis.prices import cost_of
from claudekeeper.analysis.summary import SYNTHETIC_MODEL
from claudekeeper.contract.conversations import DispatchOutcome
from claudekeeper.contract.errors import Fault
from claudekeeper.events.bus import EventBus, PublishedEvent
from claudekeeper.transcripts.entries import EntryUsage, blocks_of

log = logging.getLogger(__name__)

_EVENT_TYPES = (
    b'"type":"turn/started"',
    b'"type":"turn/finished"',
    b'"type":"message/added"',
    b'"type":"queue/updated"',
)
# the position stands before the type
_HEAD_BYTES = 96


class _Usage(EntryUsage):
    @property
    def total(self) -> int:
        return (
            (self.input_tokens or 0)
            + (self.output_tokens or 0)
            + (self.cache_read_input_tokens or 0)
            + (self.cache_creation_input_tokens or 0)
        )


class _Message(msgspec.Struct, rename="camel"):
    kind: str
    content: msgspec.Raw
    message_id: str | None = None
    model: str | None = None
    usage: _Usage | None = None
    parent_tool_use_id: str | None = None


class _Queued(msgspec.Struct):
    uuid: str
    state: str


class _Event(msgspec.Struct, rename="camel"):
    """As much of an event as matters here."""

    type: str
    uuid: str | None = None
    message: _Message | None = None
    queue: list[_Queued] = []
    outcome: str | None = None
    error: Fault | None = None
    usage: dict[str, Any] | None = None
    cost_usd: float | None = None
    tokens_used: int | None = None
    duration_ms: int | None = None


class _Turn(msgspec.Struct):
    """What was heard of the turn that runs in a session."""

    uuid: str | None
    message_id: str | None = None
    texts: list[str] = []
    tokens: int | None = None
    model: str | None = None
    # what each of its replies used, in case the CLI does not see the turn through
    usage_by_message: dict[str, tuple[int, float]] = {}


class TurnResults:
    """Listens to the sessions in which somebody waits for something, and to those of items."""

    def __init__(
        self,
        bus: EventBus,
        owns: Callable[[str], bool] = lambda _: False,
        unexpected: Callable[[str, str | None, DispatchOutcome], None] = lambda *_: None,
    ) -> None:
        self._bus = bus
        # whether a session is an item's; called with each of its turns for which nobody waits
        self._owns = owns
        self._unexpected = unexpected
        self._futures: dict[str, asyncio.Future[DispatchOutcome]] = {}
        # by session: how many of its messages are waited for, and the turn that runs
        self._expected_counts: dict[str, int] = {}
        self._turns: dict[str, _Turn] = {}
        self._decoder = msgspec.json.Decoder(_Event)
        bus.subscribe(self)

    def expect(self, session_id: str, uuid: str) -> asyncio.Future[DispatchOutcome]:
        """Called before the message is sent, so that nothing is missed."""
        future = self._futures.get(uuid)
        if future is None:
            future = self._futures[uuid] = asyncio.get_running_loop().create_future()
            self._expected_counts[session_id] = self._expected_counts.get(session_id, 0) + 1
            future.add_done_callback(lambda _: self._forget(session_id, uuid))
        return future

    def find_expected(self, uuid: str) -> asyncio.Future[DispatchOutcome] | None:
        """What somebody waits for already."""
        return self._futures.get(uuid)

    def close(self) -> None:
        self._bus.unsubscribe(self)
        for future in list(self._futures.values()):
            if not future.done():
                future.set_result(DispatchOutcome(outcome="unknown"))

    def handle_event(self, told: PublishedEvent) -> None:
        if not self._follows(told.session_id):
            return
        head = told.payload[:_HEAD_BYTES]
        if not any(kind in head for kind in _EVENT_TYPES):
            return
        try:
            event = self._decoder.decode(told.payload)
        except msgspec.MsgspecError as error:
            # a message of some unheard-of shape; the end of its turn is an event of our own
            log.warning("an event was not understood: %s", error)
            return
        self._update_turn(told.session_id, event)

    def _update_turn(self, session_id: str, event: _Event) -> None:
        turn = self._turns.get(session_id)
        match event.type:
            case "turn/started":
                self._turns[session_id] = _Turn(event.uuid)
            case "message/added":
                if turn is not None and event.message is not None:
                    _add_reply(turn, event.message)
            case "queue/updated":
                for each in event.queue:
                    if each.state == "cancelled":
                        self._set_result(each.uuid, DispatchOutcome(outcome="cancelled"))
            case _:
                heard = self._turns.pop(session_id, None) or _Turn(event.uuid)
                ended = _outcome_of(event, heard)
                if event.uuid is None or not self._set_result(event.uuid, ended):
                    self._unexpected(session_id, event.uuid, ended)

    def _set_result(self, uuid: str, ended: DispatchOutcome) -> bool:
        """Whether somebody waits for it."""
        future = self._futures.get(uuid)
        if future is not None and not future.done():
            future.set_result(ended)
        return future is not None

    def _follows(self, session_id: str) -> bool:
        return session_id in self._expected_counts or self._owns(session_id)

    def _forget(self, session_id: str, uuid: str) -> None:
        self._futures.pop(uuid, None)
        left = self._expected_counts.get(session_id, 1) - 1
        if left > 0:
            self._expected_counts[session_id] = left
        else:
            self._expected_counts.pop(session_id, None)
            if not self._owns(session_id):
                self._turns.pop(session_id, None)


def _add_reply(turn: _Turn, message: _Message) -> None:
    if message.kind != "reply" or message.model == SYNTHETIC_MODEL:
        # the CLI's own words, to a turn that was cut off before: they may be told late
        return
    if message.usage is not None:
        cost = cost_of(message.model, message.usage)
        turn.usage_by_message[message.message_id or ""] = message.usage.total, cost
    if message.parent_tool_use_id is not None:
        return
    if message.usage is not None:
        turn.tokens = message.usage.total
        turn.model = message.model or turn.model
    texts = [block.text for block in blocks_of(message.content) if block.text]
    if texts and message.message_id != turn.message_id:
        # the reply is what was said last; its blocks come one by one
        turn.message_id, turn.texts = message.message_id, []
    turn.texts += texts


def _tokens_used(event: _Event, turn: _Turn) -> int:
    """As the CLI sums it up, which knows of subagents and compactions too; or what was heard."""
    if event.tokens_used is not None:
        return event.tokens_used
    heard = sum(tokens for tokens, _ in turn.usage_by_message.values())
    try:
        return max(heard, msgspec.convert(event.usage or {}, _Usage).total)
    except msgspec.ValidationError:
        return heard


def _cost_of(event: _Event, turn: _Turn) -> float | None:
    """As the CLI says; by list prices where it ended before it could."""
    if event.cost_usd is not None or not turn.usage_by_message:
        return event.cost_usd
    return round(sum(cost for _, cost in turn.usage_by_message.values()), 6)


def _outcome_of(event: _Event, turn: _Turn) -> DispatchOutcome:
    outcome = event.outcome
    return DispatchOutcome(
        outcome=outcome if outcome in ("done", "interrupted", "failed") else "unknown",  # type: ignore[arg-type]
        reply="\n".join(turn.texts),
        error=event.error,
        usage=event.usage,
        cost_usd=_cost_of(event, turn),
        duration_ms=event.duration_ms,
        tokens=turn.tokens,
        tokens_used=_tokens_used(event, turn),
        model=turn.model,
    )
