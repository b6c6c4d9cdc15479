"""Messages as the contract has them, for keepers of tests."""

from __future__ import annotations

from itertools import count
from typing import Any

_numbers = count(1)


def message(kind: str, role: str, content: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    number = next(_numbers)
    made: dict[str, Any] = {
        "uuid": f"10000000-0000-4000-8000-{number:012d}",
        "sessionId": "any",
        "role": role,
        "content": content,
        "timestamp": "2025-10-01T09:00:00Z",
        "kind": kind,
        "messageId": None,
        "parentUuid": None,
        "model": None,
        "usage": None,
        "agentId": None,
        "parentToolUseId": None,
        "branch": None,
        "deniedBy": None,
    }
    return made | more


def prompt(text: str, **more: Any) -> dict[str, Any]:
    return message("prompt", "user", [{"type": "text", "text": text}], **more)


def reply(text: str, **more: Any) -> dict[str, Any]:
    return message("reply", "assistant", [{"type": "text", "text": text}], **more)


def text_message(kind: str, text: str, role: str = "system") -> dict[str, Any]:
    return message(kind, role, [{"type": "text", "text": text}])


def tool_call(
    tool: str, tool_input: dict[str, Any], result: Any = "done", *, failed: bool = False
) -> list[dict[str, Any]]:
    """A call and its result."""
    call_id = f"toolu_{next(_numbers)}"
    use = {"type": "tool_use", "id": call_id, "name": tool, "input": tool_input}
    came = {
        "type": "tool_result",
        "tool_use_id": call_id,
        "content": result,
        "is_error": failed,
    }
    return [message("reply", "assistant", [use]), message("toolResult", "user", [came])]
