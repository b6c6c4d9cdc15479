"""Writing transcripts for tests, line by line as Claude Code does."""

from __future__ import annotations

import json
import os
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

SESSION_ID = "5e551011-0000-4000-8000-000000000001"
_numbers = count(1)

Line = dict[str, Any]


def uuid_of(number: int) -> str:
    return str(UUID(int=number, version=4))


class TranscriptWriter:
    """A transcript in the making; each line hangs on the one before unless told otherwise."""

    def __init__(self, session_id: str = SESSION_ID, workdir: str = "/code/shop") -> None:
        self.session_id = session_id
        self.workdir = workdir
        self.lines: list[bytes] = []
        self.tip: str | None = None
        self._clock = count(1)

    def raw_entry(self, **fields: Any) -> Line:
        """Any line, written as it is."""
        text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        self.lines.append(text.encode())
        return fields

    def raw_bytes(self, content: bytes) -> None:
        self.lines.append(content)

    def entry(self, type_: str, *, parent: str | type[Ellipsis] | None = ..., **fields: Any) -> str:  # type: ignore[valid-type]
        """A line of the chain; returns its uuid."""
        uuid = fields.pop("uuid", None) or uuid_of(next(_numbers))
        second = next(self._clock)
        time = f"2026-03-01T10:{second // 60 % 60:02}:{second % 60:02}.000Z"
        self.raw_entry(
            parentUuid=self.tip if parent is ... else parent,
            isSidechain=fields.pop("isSidechain", False),
            type=type_,
            uuid=uuid,
            timestamp=fields.pop("timestamp", time),
            cwd=self.workdir,
            sessionId=self.session_id,
            version="2.1.220",
            gitBranch="main",
            **fields,
        )
        self.tip = uuid
        return uuid

    def prompt(self, text: Any, **fields: Any) -> str:
        return self.entry("user", message={"role": "user", "content": text}, **fields)

    def reply(self, text: str = "Done.", *, message_id: str | None = None, **fields: Any) -> str:
        return self.block({"type": "text", "text": text}, message_id, **fields)

    def call(self, call_id: str, *, message_id: str | None = None, **fields: Any) -> str:
        block = {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": "ls"}}
        return self.block(block, message_id, **fields)

    def block(self, block: Line, message_id: str | None, **fields: Any) -> str:
        message: Line = {
            "id": message_id or f"msg_{next(_numbers)}",
            "type": "message",
            "role": "assistant",
            "model": fields.pop("model", "claude-opus-4-8"),
            "content": [block],
            "usage": fields.pop("usage", {"input_tokens": 10, "output_tokens": 5}),
        }
        return self.entry("assistant", message=message, **fields)

    def result(self, call_id: str, content: Any = "ok", **fields: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        return self.entry("user", message={"role": "user", "content": [block]}, **fields)

    def write(
        self, projects: Path, folder: str = "-code-shop", *, final_newline: bool = True
    ) -> Path:
        path = projects / folder / f"{self.session_id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\n".join(self.lines) + (b"\n" if final_newline and self.lines else b""))
        return path


def projects_folder() -> Path:
    """The projects folder of the test's own home."""
    return Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects"
