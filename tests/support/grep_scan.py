"""Looking for words the plain way: every line decoded, every string of a message looked into."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MessageIds = set[tuple[str, str]]


def read_messages(projects: Path) -> Iterator[tuple[str, str, str]]:
    """Session, uuid and words of every message that is shown; of subagents too."""
    for path in sorted(projects.rglob("*.jsonl")):
        nested = path.name.startswith("agent-")
        for line in path.read_bytes().split(b"\n"):
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if not isinstance(entry, dict) or entry.get("isMeta") or "uuid" not in entry:
                continue
            session = str(entry.get("sessionId") if nested else path.stem)
            yield session, entry["uuid"], "\n".join(_texts_of_entry(entry))


def _texts_of_entry(entry: dict[str, Any]) -> Iterator[str]:
    match entry:
        case {"type": "user" | "assistant", "message": {"content": content}}:
            yield from _texts_in(content)
        case {"type": "system", "subtype": "away_summary", "content": str(content)}:
            yield content
        case {"type": "attachment", "attachment": {"type": "queued_command", "prompt": prompt}}:
            yield from _texts_in(prompt)


def grep(projects: Path, needle: str) -> MessageIds:
    """The messages that hold it, as `grep -i` would find it in their words."""
    needle = needle.lower()
    return {
        (session, uuid) for session, uuid, text in read_messages(projects) if needle in text.lower()
    }


def _texts_in(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else []:
        match block:
            case {"type": "tool_use", "input": given}:
                yield from _strings(given)
            case {"type": "tool_result", "content": result}:
                yield from _texts_in(result)
            case {"type": "thinking", "thinking": text} | {"type": "text", "text": text}:
                yield text


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
