"""Open questions: each waits until a person answers it, or until it is withdrawn."""

from __future__ import annotations

import asyncio

from claudekeeper.contract.attention import Answer, Attention, AttentionOutcome, Resolve, answer_to
from claudekeeper.contract.errors import AttentionGone, AttentionNotFound
from claudekeeper.contract.events import AttentionRaised, AttentionSettled
from claudekeeper.core.bounded import BoundedDict
from claudekeeper.core.signals import Signal
from claudekeeper.events.bus import EventBus

# how many settled ones are remembered, so that a late answer learns that it was late
MAX_SETTLED = 1_000


class PendingAttention:
    """All open questions of the machine. Exactly one answer wins."""

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._open: dict[str, tuple[Attention, asyncio.Future[Answer]]] = {}
        self._settled: BoundedDict[str, str] = BoundedDict(MAX_SETTLED)
        # with the id of a session that has a question more or less
        self.changed = Signal[str]()

    def all(self, session_id: str | None = None) -> list[Attention]:
        return [
            attention
            for attention, _ in self._open.values()
            if session_id in (None, attention.session_id)
        ]

    def get(self, attention_id: str) -> Attention | None:
        """One that is open."""
        attention, _ = self._open.get(attention_id, (None, None))
        return attention

    def blocking(self, session_id: str) -> list[Attention]:
        """Those without whose answer a turn of the session does not go on."""
        return [each for each in self.all(session_id) if each.kind != "ceiling"]

    def count(self, session_id: str) -> int:
        return sum(attention.session_id == session_id for attention, _ in self._open.values())

    async def ask(self, attention: Attention) -> Answer:
        """Waits for a person, for as long as that takes."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[attention.id] = attention, answer
        self._bus.publish(AttentionRaised(session_id=attention.session_id, attention=attention))
        self.changed.emit(attention.session_id)
        try:
            return await answer
        finally:
            # the caller has gone away: the card must not stay
            self.withdraw(attention.id)

    def resolve(self, request: Resolve) -> Answer:
        """Answer; of two answers the first one counts."""
        if request.attention_id not in self._open:
            by = self._settled.get(request.attention_id)
            if by is None:
                raise AttentionNotFound
            raise AttentionGone(f"This question is settled already ({by}).")
        attention, waiting = self._open[request.attention_id]
        answer = answer_to(attention, request)
        self._settle(attention.id, answer.decision, answer.by)
        waiting.set_result(answer)
        return answer

    def withdraw(self, attention_id: str) -> None:
        """Nobody needs an answer any more."""
        self.settle(attention_id, "withdrawn", "keeper")

    def settle(self, attention_id: str, decision: AttentionOutcome, by: str) -> None:
        """It was answered elsewhere; whoever asked here need not wait."""
        if attention_id in self._open:
            _, waiting = self._open[attention_id]
            self._settle(attention_id, decision, by)
            waiting.cancel()

    def correct(self, attention: Attention, decision: AttentionOutcome, by: str) -> None:
        """It was settled already, and has turned out otherwise."""
        self._publish_settled(attention, decision, by)

    def withdraw_blocking(self, session_id: str) -> None:
        """What its CLI asked; the keeper's own questions outlive a process."""
        for attention in self.blocking(session_id):
            self.withdraw(attention.id)

    def _settle(self, attention_id: str, decision: AttentionOutcome, by: str) -> None:
        attention, _ = self._open.pop(attention_id)
        self._publish_settled(attention, decision, by)
        self.changed.emit(attention.session_id)

    def _publish_settled(self, attention: Attention, decision: AttentionOutcome, by: str) -> None:
        self._settled[attention.id] = "taken back" if decision == "withdrawn" else f"by {by}"
        self._bus.publish(
            AttentionSettled(
                session_id=attention.session_id,
                attention_id=attention.id,
                decision=decision,
                by=by,
            )
        )
