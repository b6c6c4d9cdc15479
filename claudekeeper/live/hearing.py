"""What a CLI says → what is told: messages, pieces of text, turns, states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from claudekeeper.live.ledger import Ledger
from claudekeeper.live.stream import Stream
from claudekeeper.live.translate import said, written
from claudekeeper.live.turns import Turns
from claudekeeper.model.events import TurnStatus
from claudekeeper.readers.carried import NOTHING, Carried

_OVER = frozenset({"completed", "failed", "killed", "stopped", "cancelled"})


class Hearing:
    """Understands the messages of one session's CLIs, one after another."""

    def __init__(self, ledger: Ledger, stream: Stream, turns: Turns) -> None:
        self._ledger = ledger
        self._stream = stream
        self._turns = turns
        # prompts that were sent, by uuid
        self.prompts: set[str] = set()
        # calls that a person did not want: what is said of them does not tell, what is written does
        self.denied: set[str] = set()
        # tasks that go on behind the turns
        self.background: set[str] = set()
        self.model: str | None = None
        self.permission_mode: str | None = None
        # whether this CLI says which prompt it takes
        self.lifecycle = False
        # the plan that was put forward last: the question about it does not say it again
        self._plan: tuple[str, dict[str, Any]] | None = None
        self.on_init: Callable[[], None] = lambda: None
        self.on_result: Callable[[dict[str, Any]], None] = lambda _: None
        # a mode, and the one before it where that is known
        self.on_mode: Callable[[str, str | None], None] = lambda *_: None
        self.on_repeat: Callable[[], None] = lambda: None

    def begin_client(self, carried: Carried = NOTHING) -> None:
        self.lifecycle = False
        self._turns.new_process(carried)

    def hear(self, raw: dict[str, Any]) -> None:
        match raw.get("type"):
            case "stream_event":
                if raw.get("parent_tool_use_id") is None:
                    self._pieces(raw.get("event", {}))
            case "assistant" | "user":
                self._message(raw)
            case "transcript_mirror":
                self._lines(raw)
            case "result":
                self.on_result(raw)
            case "system":
                self._system(raw)
            case "command_lifecycle":
                self._lifecycle(raw)
            case "rate_limit_event":
                self._rate_limit(raw)
            case _:
                pass

    def _pieces(self, event: dict[str, Any]) -> None:
        turn = self._turns.current
        if event.get("type") == "message_start" and turn is not None and turn.retrying:
            self._tell("working")
        self._stream.hear(event)

    def _message(self, raw: dict[str, Any]) -> None:
        turn = self._turns.current
        if turn is not None and raw.get("isReplay") and raw.get("uuid") == turn.uuid:
            begun = turn.taken if self.lifecycle else turn.confirmed
            if not begun:
                self.on_repeat()
                return
        if turn is not None and raw.get("error"):
            turn.api_error = str(raw["error"])
        message = said(raw, self._ledger.session_id, self.prompts, self.denied)
        if raw.get("parent_tool_use_id") is not None:
            if message is not None:
                self._ledger.tell_nested(message)
            return
        if raw["type"] == "assistant":
            self._stream.end(_message_id(raw))
            self._note_plan(raw)
        if message is not None:
            if message.role == "assistant":
                self._stream.whole()
            self._ledger.tell_said(message)

    def plan_of(self, tool_use_id: str | None) -> dict[str, Any]:
        """What a call to leave plan mode was given by the model."""
        if self._plan is None or self._plan[0] != tool_use_id:
            return {}
        return self._plan[1]

    def _note_plan(self, raw: dict[str, Any]) -> None:
        message = raw.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else []:
            match block:
                case {
                    "type": "tool_use",
                    "name": "ExitPlanMode",
                    "id": str(id_),
                    "input": dict(plan),
                }:
                    self._plan = id_, plan

    def _lines(self, raw: dict[str, Any]) -> None:
        """Lines as they were just written; those of subagents came by another way."""
        if not str(raw.get("filePath", "")).endswith(f"{self._ledger.session_id}.jsonl"):
            return
        for line in raw.get("entries") or []:
            if isinstance(line, dict):
                message = written(line, self._ledger.session_id)
                if message is not None:
                    self._stream.flush()
                    self._ledger.tell_written(message)

    def _lifecycle(self, raw: dict[str, Any]) -> None:
        self.lifecycle = True
        turn = self._turns.current
        if turn is not None and raw.get("command_uuid") == turn.uuid:
            turn.taken = turn.taken or raw.get("state") in ("started", "completed")

    def _system(self, raw: dict[str, Any]) -> None:
        match raw.get("subtype"):
            case "init":
                self.model = raw.get("model") or self.model
                self._mode(raw)
                self.on_init()
            case "status":
                self._mode(raw)
                if raw.get("status") == "compacting":
                    self._tell("compacting")
                elif "compact_result" in raw:
                    self._tell("working", details={"compactResult": raw["compact_result"]})
            case "api_retry":
                self._stream.withdraw()
                self._tell(
                    "retrying",
                    attempt=raw.get("attempt"),
                    max_retries=raw.get("max_retries"),
                    delay_ms=raw.get("retry_delay_ms"),
                    error=str(raw.get("error") or raw.get("error_status") or ""),
                )
            case "task_started" | "task_progress" | "task_updated" | "task_notification":
                self._task(raw)
            case _:
                pass

    def _mode(self, raw: dict[str, Any]) -> None:
        mode = raw.get("permissionMode")
        if isinstance(mode, str) and mode != self.permission_mode:
            before, self.permission_mode = self.permission_mode, mode
            self.on_mode(mode, before)

    def _task(self, raw: dict[str, Any]) -> None:
        task_id = str(raw.get("task_id", ""))
        patch = raw.get("patch")
        status = raw.get("status") or (patch.get("status") if isinstance(patch, dict) else None)
        name = {
            "task_started": "taskStarted",
            "task_progress": "taskProgress",
            "task_notification": "taskEnded",
        }.get(raw["subtype"], "taskUpdated")
        if name == "taskEnded" or status in _OVER:
            self.background.discard(task_id)
        elif name == "taskStarted":
            self.background.add(task_id)
        self._tell(
            name,
            task_id=task_id,
            tool_use_id=raw.get("tool_use_id"),
            description=raw.get("description") or raw.get("summary"),
            task_status=status,
        )

    def _rate_limit(self, raw: dict[str, Any]) -> None:
        info = raw.get("rate_limit_info")
        if isinstance(info, dict) and info.get("status") not in (None, "allowed"):
            self._tell("rateLimited", details=info)

    def _tell(self, status: str, **more: Any) -> None:
        self._stream.flush()
        self._turns.status(TurnStatus(session_id=self._ledger.session_id, status=status, **more))


def _message_id(raw: dict[str, Any]) -> str | None:
    message = raw.get("message")
    return message.get("id") if isinstance(message, dict) else None
