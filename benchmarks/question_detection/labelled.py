"""The labelled endings: how a session ended, what it asks, and what a person would do next.

All of them are our own writing. docs/returning.md says which share was right before the rules were
changed by looking at the others.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import orjson

FILE = Path(__file__).parent / "endings.jsonl"
SESSION = "5e551011-0000-4000-8000-00000000e4d0"

Step = dict[str, Any]


class Ending(msgspec.Struct, frozen=True):
    kind: str
    steps: list[Step]
    # what a person would do next; where two are as good, both
    next: list[str]
    # words of the question that is open
    asks: str | None = None
    # words of its other half
    also: str | None = None

    def write(self, folder: Path) -> Path:
        """The transcript that ends in this way."""
        path = folder / f"{SESSION}.jsonl"
        scribe = Scribe()
        for step in self.steps:
            scribe.take(step)
        path.write_bytes(b"".join(scribe.lines))
        return path


def endings() -> list[Ending]:
    return [msgspec.json.decode(line, type=Ending) for line in FILE.read_bytes().splitlines()]


class Scribe:
    """Writes steps down as Claude Code does."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self._tip: str | None = None

    def take(self, step: Step) -> None:
        match step:
            case {"user": words}:
                self._user(words)
            case {"claude": words}:
                self._assistant({"type": "text", "text": words})
            case {"thinking": words}:
                self._assistant({"type": "thinking", "thinking": words, "signature": ""})
            case {"call": str()}:
                self._call(step)
            case {"todos": items}:
                states = {"x": "completed", ">": "in_progress", "-": "pending"}
                todos = [{"content": each[2:], "status": states[each[0]]} for each in items]
                call_input = {"todos": todos}
                self._call(
                    {"call": "TodoWrite", "input": call_input, "result": "Todos are modified."}
                )
            case {"command": str()}:
                self._command(step)
            case {"bash": command, "output": output}:
                self._user(f"<bash-input>{command}</bash-input>")
                self._user(f"<bash-stdout>{output}</bash-stdout><bash-stderr></bash-stderr>")
            case {"interrupted": by}:
                words = " for tool use" if by == "tool" else ""
                self._user([{"type": "text", "text": f"[Request interrupted by user{words}]"}])
            case {"apiError": words}:
                block = {"type": "text", "text": words}
                self._assistant(block, model="<synthetic>", isApiErrorMessage=True)
            case {"compaction": summary}:
                above, self._tip = self._tip, None
                self._line("system", subtype="compact_boundary", logicalParentUuid=above)
                self._user(f"This session continues. {summary}", isCompactSummary=True)
            case _:
                self._aside(step)

    def _aside(self, step: Step) -> None:
        match step:
            case {"notice": words}:
                self._user(words)
            case {"meta": words}:
                self._user(words, isMeta=True)
            case {"away": words}:
                self._line("system", subtype="away_summary", content=words)
            case {"queued": words}:
                self._line("attachment", attachment={"type": "queued_command", "prompt": words})
            case {"enqueue": words}:
                self._loose("queue-operation", operation="enqueue", content=words)
            case {"dequeue": _}:
                self._loose("queue-operation", operation="dequeue")
            case {"unqueue": _}:
                self._loose("queue-operation", operation="remove")
            case {"title": words}:
                self._loose("ai-title", aiTitle=words)
            case {"snapshot": _}:
                self._loose("file-history-snapshot", snapshot={}, isSnapshotUpdate=False)
            case _:
                raise ValueError(f"nobody knows how to write {step}")

    def _call(self, step: Step) -> None:
        call = f"toolu_{len(self.lines)}"
        call_input = {"type": "tool_use", "id": call, "name": step["call"], "input": step["input"]}
        self._assistant(call_input)
        if step["result"] is not None:
            block = {"type": "tool_result", "tool_use_id": call, "content": step["result"]}
            more = {"toolUseResult": step["toolUseResult"]} if "toolUseResult" in step else {}
            self._user([block | {"is_error": step.get("error", False)}], **more)

    def _command(self, step: Step) -> None:
        """One of Claude Code's own says its name first; one that is put to Claude, its message."""
        slash = step["command"]
        name = f"<command-name>{slash}</command-name>"
        message = f"<command-message>{slash[1:]}</command-message>"
        args = f"<command-args>{step.get('args', '')}</command-args>"
        if "expands" in step:
            self._user(f"{message}\n{name}\n{args}")
            self._user([{"type": "text", "text": step["expands"]}], isMeta=True)
        else:
            self._user("Caveat: The messages below were generated by the user.", isMeta=True)
            self._user(f"{name}\n            {message}\n            {args}")
            self._user(f"<local-command-stdout>{step['output']}</local-command-stdout>")

    def _user(self, content: Any, **fields: Any) -> None:
        self._line("user", message={"role": "user", "content": content}, **fields)

    def _assistant(self, block: Step, model: str = "claude-opus-4-8", **fields: Any) -> None:
        number = len(self.lines)
        usage = {"input_tokens": 10, "output_tokens": 5}
        message = {"id": f"msg_{number}", "role": "assistant", "model": model, "content": [block]}
        self._line("assistant", message=message | {"usage": usage}, **fields)

    def _line(self, type_: str, **fields: Any) -> None:
        number = len(self.lines)
        uuid = f"00000000-0000-4000-8000-{number:012}"
        self._write(parentUuid=self._tip, uuid=uuid, isSidechain=False, type=type_, **fields)
        self._tip = uuid

    def _loose(self, type_: str, **fields: Any) -> None:
        """A line that is no link of the conversation."""
        self._write(type=type_, **fields)

    def _write(self, **fields: Any) -> None:
        number = len(self.lines)
        time = f"2026-03-01T10:{number // 60:02}:{number % 60:02}.000Z"
        where = {"cwd": "/code/shop", "sessionId": SESSION, "version": "2.1.220"}
        line = fields | {"timestamp": time} | where
        self.lines.append(orjson.dumps(line) + b"\n")
