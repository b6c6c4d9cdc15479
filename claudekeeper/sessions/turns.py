"""Turns: each has exactly one beginning and one end."""

from __future__ import annotations

import asyncio
from typing import Any

from claudekeeper.analysis.recorded_cost import Carried, tokens_of
from claudekeeper.contract.errors import Fault
from claudekeeper.contract.events import (
    CurrentTurnView,
    SessionFailed,
    TurnFinished,
    TurnOutcome,
    TurnStarted,
    TurnStatus,
)
from claudekeeper.core.timestamps import now_iso
from claudekeeper.events.bus import EventBus

# what the CLI calls its errors → our codes
_API_ERRORS = {
    "authentication_failed": "authentication_failed",
    "billing_error": "billing_error",
    "rate_limit": "rate_limited",
    "invalid_request": "api_refused",
    "server_error": "api_error",
    "overloaded": "api_error",
}


_TOO_LONG_PREFIXES = ("prompt is too long", "request too large")


class CurrentTurn:
    """The turn that runs."""

    def __init__(self, uuid: str | None) -> None:
        self.uuid = uuid
        self.started = now_iso()
        self.ended = asyncio.Event()
        # the CLI works on something; it works on this very prompt
        self.confirmed = False
        self.prompt_taken = False
        self.interrupted = False
        # handed to a CLI that was there before; handed over a second time, since that one died
        self.process_reused = False
        self.retried = False
        # the CLI has sent a message since
        self.cli_responded = False
        self.status: TurnStatus | None = None
        # the kind of API error that the CLI reported last
        self.api_error: str | None = None

    @property
    def is_retrying(self) -> bool:
        return self.status is not None and self.status.status == "retrying"

    @property
    def can_retry(self) -> bool:
        """Whether the CLI cannot have begun it, and no other CLI has had it since."""
        return self.process_reused and not (self.retried or self.cli_responded)

    def accepts_result(self, lifecycle: bool) -> bool:
        """Whether a result can be this turn's; `lifecycle`: the CLI says which prompt it takes."""
        return self.uuid is None or self.prompt_taken or not lifecycle


class Turns:
    """The turns of one session, one after another."""

    def __init__(self, session_id: str, bus: EventBus) -> None:
        self._session_id = session_id
        self._bus = bus
        # what all turns so far used, in dollars and tokens
        self._cost_so_far = 0.0
        self._used: int | None = 0
        self.current: CurrentTurn | None = None
        self.last_failure: Fault | None = None

    @property
    def current_view(self) -> CurrentTurnView | None:
        turn = self.current
        return CurrentTurnView(turn.uuid, turn.started, turn.status) if turn is not None else None

    def begin(self, uuid: str | None) -> CurrentTurn:
        self.current = CurrentTurn(uuid)
        self.last_failure = None
        self._bus.publish(TurnStarted(session_id=self._session_id, uuid=uuid))
        return self.current

    def reset_cost(self, carried: Carried) -> None:
        """The CLI goes on counting where the one before it ended in order."""
        self._cost_so_far, self._used = carried.cost, carried.tokens

    def publish_status(self, status: TurnStatus) -> None:
        if self.current is not None and not status.status.startswith("task"):
            self.current.status = None if status.status == "working" else status
        self._bus.publish(status)

    def finish(self, result: dict[str, Any]) -> TurnOutcome:
        """The CLI says that the turn is over."""
        turn = self.current
        interrupted = turn is not None and turn.interrupted
        aborted = str(result.get("terminal_reason") or "").startswith("aborted")
        outcome: TurnOutcome = "done"
        error: Fault | None = None
        if result.get("is_error"):
            if aborted or interrupted:
                outcome = "interrupted"
            else:
                outcome, error = "failed", self._fault_of_result(result)
        elif aborted:
            outcome = "interrupted"
        usage = result.get("usage")
        self._end(
            outcome,
            error,
            usage=usage if isinstance(usage, dict) else None,
            cost=self._cost_of_result(result),
            used=self._tokens(result),
            duration=result.get("duration_ms"),
        )
        return outcome

    def skip(self) -> None:
        """There was nothing to do."""
        self._end("done", None)

    def abort(self, error: Fault | None) -> TurnOutcome:
        """The turn is over and the CLI did not say so; without an error somebody wanted it."""
        if error is None or (self.current is not None and self.current.interrupted):
            self._end("interrupted", None)
            return "interrupted"
        self._end("failed", error)
        return "failed"

    def _end(
        self,
        outcome: TurnOutcome,
        error: Fault | None,
        *,
        usage: dict[str, Any] | None = None,
        cost: float | None = None,
        used: int | None = None,
        duration: int | None = None,
    ) -> None:
        turn, self.current = self.current, None
        if turn is None:
            return
        self.last_failure = error
        if error is not None:
            self._bus.publish(
                SessionFailed(session_id=self._session_id, uuid=turn.uuid, error=error)
            )
        self._bus.publish(
            TurnFinished(
                session_id=self._session_id,
                uuid=turn.uuid,
                outcome=outcome,
                error=error,
                usage=usage,
                cost_usd=cost,
                tokens_used=used,
                duration_ms=duration,
            )
        )
        turn.ended.set()

    def _cost_of_result(self, result: dict[str, Any]) -> float | None:
        total = result.get("total_cost_usd")
        if not isinstance(total, int | float):
            return None
        # one that counts less than was carried began at nothing
        cost, self._cost_so_far = (
            total - (self._cost_so_far if total >= self._cost_so_far else 0.0),
            float(total),
        )
        return round(cost, 6)

    def _tokens(self, result: dict[str, Any]) -> int | None:
        """Subagents and compactions included, of which `usage` says nothing."""
        total = tokens_of(result.get("modelUsage"))
        if total is None:
            return None
        before, self._used = self._used, total
        if before is None:
            return None
        return total - (before if total >= before else 0)

    def _fault_of_result(self, result: dict[str, Any]) -> Fault:
        errors = result.get("errors")
        words = result.get("result") or "; ".join(map(str, errors or [])) or "The turn failed."
        words = str(words)
        kind = self.current.api_error if self.current is not None else None
        if words.lower().startswith(_TOO_LONG_PREFIXES):
            return Fault("prompt_too_long", words)
        if result.get("subtype") == "success":
            return Fault(_API_ERRORS.get(kind or "", "api_error"), words)
        return Fault(str(result.get("subtype") or "turn_failed"), words)
