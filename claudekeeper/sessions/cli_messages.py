"""The CLI's messages → events: messages, deltas, turns, statuses."""

from __future__ import annotations

from typing import Any, Protocol

from claudekeeper.analysis.recorded_cost import NOTHING, Carried
from claudekeeper.contract.events import TurnStatus
from claudekeeper.events.delivery_log import DeliveryLog
from claudekeeper.sessions.cli.sdk_messages import message_of_line, message_of_sdk
from claudekeeper.sessions.reply_stream import ReplyStream
from claudekeeper.sessions.turns import Turns

_ENDED_TASK_STATES = frozenset({"completed", "failed", "killed", "stopped", "cancelled"})


class CliEvents(Protocol):
    """Who runs the turns: the live session."""

    def handle_init(self) -> None:
        """The CLI begins a turn."""

    def handle_result(self, result: dict[str, Any]) -> None:
        """The CLI ends a turn."""

    def handle_mode(self, mode: str, before: str | None) -> None:
        """The CLI is in another permission mode; `before` where that is known."""

    def handle_repeated_prompt(self) -> None:
        """The CLI knows the prompt from the past, and has nothing to say to it."""


class CliMessageHandler:
    """Handles the messages of one session's CLIs, one after another."""

    def __init__(
        self, delivery_log: DeliveryLog, reply_stream: ReplyStream, turns: Turns, events: CliEvents
    ) -> None:
        self._delivery_log = delivery_log
        self._reply_stream = reply_stream
        self._turns = turns
        self._events = events
        # prompts that were sent, by uuid
        self.sent_prompts: set[str] = set()
        # calls that a person denied: what the CLI says of them is not shown, what it writes is
        self.denied_calls: set[str] = set()
        # tasks that go on between turns
        self.background_tasks: set[str] = set()
        self.model: str | None = None
        self.permission_mode: str | None = None
        # whether this CLI says which prompt it works on
        self.reports_lifecycle = False
        # the plan that was proposed last: the question about it does not repeat it
        self._plan: tuple[str, dict[str, Any]] | None = None

    def reset_for_new_client(self, carried: Carried = NOTHING) -> None:
        self.reports_lifecycle = False
        self._turns.reset_cost(carried)

    def handle(self, raw: dict[str, Any]) -> None:
        match raw.get("type"):
            case "stream_event":
                if raw.get("parent_tool_use_id") is None:
                    self._handle_stream_event(raw.get("event", {}))
            case "assistant" | "user":
                self._handle_message(raw)
            case "transcript_mirror":
                self._handle_written_entries(raw)
            case "result":
                self._events.handle_result(raw)
            case "system":
                self._handle_system(raw)
            case "command_lifecycle":
                self._handle_lifecycle(raw)
            case "rate_limit_event":
                self._handle_rate_limit(raw)
            case _:
                pass

    def _handle_stream_event(self, event: dict[str, Any]) -> None:
        turn = self._turns.current
        if event.get("type") == "message_start" and turn is not None and turn.is_retrying:
            self._publish_status("working")
        self._reply_stream.handle_stream_event(event)

    def _handle_message(self, raw: dict[str, Any]) -> None:
        turn = self._turns.current
        if turn is not None and raw.get("isReplay") and raw.get("uuid") == turn.uuid:
            begun = turn.prompt_taken if self.reports_lifecycle else turn.confirmed
            if not begun:
                self._events.handle_repeated_prompt()
                return
        if turn is not None and raw.get("error"):
            turn.api_error = str(raw["error"])
        message = message_of_sdk(
            raw, self._delivery_log.session_id, self.sent_prompts, self.denied_calls
        )
        if raw.get("parent_tool_use_id") is not None:
            if message is not None:
                self._delivery_log.deliver_from_subagent(message)
            return
        if raw["type"] == "assistant":
            self._reply_stream.end_block(_message_id(raw))
            self._store_plan(raw)
        if message is not None:
            if message.role == "assistant":
                self._reply_stream.clear_withdrawn()
            self._delivery_log.deliver_live(message)

    def plan_of(self, tool_use_id: str | None) -> dict[str, Any]:
        """The input of a call to leave plan mode, as the model made it."""
        if self._plan is None or self._plan[0] != tool_use_id:
            return {}
        return self._plan[1]

    def _store_plan(self, raw: dict[str, Any]) -> None:
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

    def _handle_written_entries(self, raw: dict[str, Any]) -> None:
        """Lines that were just written; those of subagents come as messages."""
        if not str(raw.get("filePath", "")).endswith(f"{self._delivery_log.session_id}.jsonl"):
            return
        for line in raw.get("entries") or []:
            if isinstance(line, dict):
                message = message_of_line(line, self._delivery_log.session_id)
                if message is not None:
                    self._reply_stream.flush()
                    self._delivery_log.deliver_from_file(message)

    def _handle_lifecycle(self, raw: dict[str, Any]) -> None:
        self.reports_lifecycle = True
        turn = self._turns.current
        if turn is not None and raw.get("command_uuid") == turn.uuid:
            turn.prompt_taken = turn.prompt_taken or raw.get("state") in ("started", "completed")

    def _handle_system(self, raw: dict[str, Any]) -> None:
        match raw.get("subtype"):
            case "init":
                self.model = raw.get("model") or self.model
                self._handle_mode(raw)
                self._events.handle_init()
            case "status":
                self._handle_mode(raw)
                if raw.get("status") == "compacting":
                    self._publish_status("compacting")
                elif "compact_result" in raw:
                    self._publish_status(
                        "working", details={"compactResult": raw["compact_result"]}
                    )
            case "api_retry":
                self._reply_stream.withdraw_block()
                self._publish_status(
                    "retrying",
                    attempt=raw.get("attempt"),
                    max_retries=raw.get("max_retries"),
                    delay_ms=raw.get("retry_delay_ms"),
                    error=str(raw.get("error") or raw.get("error_status") or ""),
                )
            case "task_started" | "task_progress" | "task_updated" | "task_notification":
                self._handle_task(raw)
            case _:
                pass

    def _handle_mode(self, raw: dict[str, Any]) -> None:
        mode = raw.get("permissionMode")
        if isinstance(mode, str) and mode != self.permission_mode:
            before, self.permission_mode = self.permission_mode, mode
            self._events.handle_mode(mode, before)

    def _handle_task(self, raw: dict[str, Any]) -> None:
        task_id = str(raw.get("task_id", ""))
        patch = raw.get("patch")
        status = raw.get("status") or (patch.get("status") if isinstance(patch, dict) else None)
        name = {
            "task_started": "taskStarted",
            "task_progress": "taskProgress",
            "task_notification": "taskEnded",
        }.get(raw["subtype"], "taskUpdated")
        if name == "taskEnded" or status in _ENDED_TASK_STATES:
            self.background_tasks.discard(task_id)
        elif name == "taskStarted":
            self.background_tasks.add(task_id)
        self._publish_status(
            name,
            task_id=task_id,
            tool_use_id=raw.get("tool_use_id"),
            description=raw.get("description") or raw.get("summary"),
            task_status=status,
        )

    def _handle_rate_limit(self, raw: dict[str, Any]) -> None:
        info = raw.get("rate_limit_info")
        if isinstance(info, dict) and info.get("status") not in (None, "allowed"):
            self._publish_status("rateLimited", details=info)

    def _publish_status(self, status: str, **more: Any) -> None:
        self._reply_stream.flush()
        self._turns.publish_status(
            TurnStatus(session_id=self._delivery_log.session_id, status=status, **more)
        )


def _message_id(raw: dict[str, Any]) -> str | None:
    message = raw.get("message")
    return message.get("id") if isinstance(message, dict) else None
