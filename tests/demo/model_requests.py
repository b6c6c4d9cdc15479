"""Requests as the CLI writes them, for tests that need no CLI."""

from __future__ import annotations

from typing import Any

import msgspec

from claudekeeper.demo.model_request import ModelRequest, parse_request

REMINDER = "<system-reminder>\nAttribution for git commits: none.\n</system-reminder>\n"
ENVIRONMENT = (
    "# Environment\n - Primary working directory: /code/shop\n - Is a git repository: true\n\n"
    "The following deferred tools are now available via ToolSearch:\nExitPlanMode\nTaskCreate\n\n"
    "Available agent types"
)


def request(*turns: dict[str, Any], **fields: Any) -> ModelRequest:
    return parse_request(raw(*turns, **fields))


def raw(*turns: dict[str, Any], **fields: Any) -> bytes:
    body = {
        "model": "claude-opus-5-5",
        "system": [{"type": "text", "text": "You are a Claude agent."}],
        "tools": [{"name": "Bash", "input_schema": {}}, {"name": "Agent"}],
        "messages": list(turns),
        "stream": True,
    }
    return msgspec.json.encode({**body, **fields})


def prompt(text: str) -> dict[str, Any]:
    """The first prompt of a session, with what the CLI puts before it."""
    return user({"type": "text", "text": REMINDER}, {"type": "text", "text": text})


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def environment() -> dict[str, Any]:
    return {"role": "system", "content": ENVIRONMENT}


def assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def called(tool: str, call_id: str = "toolu_1", **tool_input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": tool, "input": tool_input}


def result(content: Any, call_id: str = "toolu_1", *, failed: bool = False) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_use_id": call_id,
        "content": content,
        "is_error": failed,
    }
