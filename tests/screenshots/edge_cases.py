"""A session of odd measures: a title without end, two directions of writing, endless output."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

_WHY = "Why does the import of last year's invoices stop at the first one without a number, "
TITLE = (_WHY * 4)[:300]
PROMPT = "למה הייבוא נעצר אחרי `invoice_0417`?"
REPLY = "הוא נעצר כי למסמך הזה אין מספר. ב־`import.py` חסרה בדיקה אחת."
LINES = 10_000
FILES = 60
BEFORE = "def read(row):\n    return Invoice(row.number)\n"
AFTER = BEFORE.replace("return", "if row.number is None:\n        return None\n    return", 1)
DONE = {"type": "tool_result", "content": "The file has been updated."}


def write_odd_measures(projects: Path, workdir: Path) -> str:
    """The transcript of a session; its id."""
    chance = random.Random(11)
    session = str(UUID(int=chance.getrandbits(128), version=4))
    now = datetime.now(UTC)
    lines: list[dict[str, Any]] = []

    def add(type_: str, **message: Any) -> None:
        lines.append(
            {
                "parentUuid": lines[-1]["uuid"] if lines else None,
                "isSidechain": False,
                "type": type_,
                "uuid": str(UUID(int=chance.getrandbits(128), version=4)),
                "timestamp": f"{now:%Y-%m-%dT%H:%M:%S.000Z}",
                "cwd": str(workdir),
                "sessionId": session,
                "version": "2.1.325",
                "message": message,
            }
        )

    def reply(name: str, block: dict[str, Any]) -> None:
        usage = {"input_tokens": 900, "output_tokens": 700, "cache_read_input_tokens": 60_000}
        add(
            "assistant",
            id=name,
            type="message",
            role="assistant",
            model="claude-sonnet-5",
            content=[block],
            usage=usage,
        )

    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash"}
    output = "\n".join(f"invoice_{number:04d}.pdf  ok" for number in range(LINES))
    add("user", role="user", content=PROMPT)
    reply("msg_1", call | {"input": {"command": "python import.py --verbose"}})
    add(
        "user",
        role="user",
        content=[{"type": "tool_result", "tool_use_id": "toolu_1", "content": output}],
    )
    for number in range(FILES):
        path = f"{workdir}/readers/reader_{number:02d}.py"
        edit = {"file_path": path, "old_string": BEFORE, "new_string": AFTER}
        name = f"toolu_edit_{number}"
        reply(f"msg_edit_{number}", call | {"id": name, "name": "Edit", "input": edit})
        add("user", role="user", content=[{**DONE, "tool_use_id": name}])
    reply("msg_2", {"type": "text", "text": REPLY})
    lines.append({"type": "custom-title", "customTitle": TITLE, "sessionId": session})
    folder = projects / "".join(each if each.isalnum() else "-" for each in str(workdir))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{session}.jsonl").write_bytes(
        b"".join(orjson.dumps(line) + b"\n" for line in lines)
    )
    return session
