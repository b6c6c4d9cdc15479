"""A month of work in one project, for pictures that no session of a minute could show."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

TITLE = "Watering by the weather"
_BEGAN = datetime(2026, 10, 19, 9, tzinfo=UTC)
_DAYS = 26
_ASKED = (
    "Read the soil sensors every ten minutes and keep a day of values",
    "Why does bed 4 report 0 % since yesterday?",
    "Skip watering when more than 4 mm of rain are forecast",
    "Add a test for the forecast that never comes",
    "The valve stayed open after the restart. Close all of them first",
    "Draw the week on one page, a line for each bed",
    "What did we decide about the frost limit?",
    "Make the pump wait until the tank is a third full",
    "Rename zone to bed everywhere, also in the database",
    "Explain the moving average to somebody who gardens",
)


def write_a_month(projects: Path, workdir: Path) -> str:
    """The transcript of a session; its id."""
    chance = random.Random(7)
    session = str(UUID(int=chance.getrandbits(128), version=4))
    lines: list[dict[str, Any]] = []

    def add(type_: str, at: datetime, **fields: Any) -> None:
        lines.append(
            {
                "parentUuid": lines[-1]["uuid"] if lines else None,
                "isSidechain": False,
                "type": type_,
                "uuid": str(UUID(int=chance.getrandbits(128), version=4)),
                "timestamp": f"{at:%Y-%m-%dT%H:%M:%S.000Z}",
                "cwd": str(workdir),
                "sessionId": session,
                "version": "2.1.325",
                **fields,
            }
        )

    count = 0
    for day in range(_DAYS):
        morning = _BEGAN + timedelta(days=day)
        if morning.weekday() > 4 and chance.random() < 0.8:
            continue
        for turn in range(chance.choice((1, 2, 3, 5, 8))):
            at = morning + timedelta(minutes=40 * turn)
            text = _ASKED[count % len(_ASKED)]
            count += 1
            add("user", at, message={"role": "user", "content": text})
            for call in range(chance.randrange(2, 14)):
                at += timedelta(minutes=1)
                _work(add, at, f"{day}-{turn}-{call}", edits=chance.random() < 0.4)
        if chance.random() < 0.2:
            add("system", at, subtype="compact_boundary", content="Conversation compacted")
    lines.append({"type": "custom-title", "customTitle": TITLE, "sessionId": session})
    folder = projects / "".join(each if each.isalnum() else "-" for each in str(workdir))
    folder.mkdir(parents=True, exist_ok=True)
    content = b"".join(orjson.dumps(line) + b"\n" for line in lines)
    (folder / f"{session}.jsonl").write_bytes(content)
    return session


def _work(add: Any, at: datetime, name: str, *, edits: bool) -> None:
    """One call and its result."""
    tool_input = {"file_path": "beds.py", "old_string": "a", "new_string": "b"}
    tool = ("Edit", tool_input) if edits else ("Bash", {"command": "make check"})
    call = {"type": "tool_use", "id": f"toolu_{name}", "name": tool[0], "input": tool[1]}
    message = {
        "id": f"msg_{name}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": [call],
        "usage": {"input_tokens": 900, "output_tokens": 700, "cache_read_input_tokens": 60_000},
    }
    add("assistant", at, message=message)
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "ok"}
    add("user", at, message={"role": "user", "content": [result]})
