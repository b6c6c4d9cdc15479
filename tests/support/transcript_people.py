"""Somebody who watches a session, and somebody else who writes it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.keeper_in_process import Event, InProcessKeeper, SocketListener
from tests.support.transcript_writer import SESSION_ID


class SessionWatcher:
    """A client with one session open: what it has read, and what was told since."""

    def __init__(
        self, keeper: InProcessKeeper, session: str, listener: SocketListener, page: list[Any]
    ) -> None:
        self.keeper = keeper
        self.session = session
        self.listener = listener
        self.messages: list[Any] = page
        self.subagent_messages: list[Any] = []
        self.resync_count = 0

    @classmethod
    async def open(cls, keeper: InProcessKeeper, session: str = SESSION_ID) -> SessionWatcher:
        answer = await keeper.get(f"/sessions/{session}?limit=1000")
        listener = await keeper.listen(session, since=answer["position"])
        return cls(keeper, session, listener, answer["messages"])

    @property
    def uuids(self) -> list[str]:
        return [message["uuid"] for message in self.messages]

    async def wait_until(self, holds: Callable[[], bool]) -> None:
        """Reads on until it holds; fails when nothing is said any more."""
        while not holds():
            await self.handle_event(await self.listener.next_event())

    async def handle_event(self, event: Event) -> None:
        if event["type"] == "resync":
            self.resync_count += 1
            await self.reload()
        elif event["type"] == "message/added":
            message = event["message"]
            if message["parentToolUseId"] is not None:
                self.subagent_messages.append(message)
                return
            self._put(message, event["after"])

    async def reload(self) -> None:
        async with self.keeper.client.get(f"/sessions/{self.session}?limit=1000") as answer:
            self.messages = (await answer.json())["messages"] if answer.status == 200 else []

    def _put(self, message: Any, after: str | None) -> None:
        uuids = self.uuids
        if message["uuid"] in uuids and after is None:
            self.messages[uuids.index(message["uuid"])] = message
            return
        self.messages = [each for each in self.messages if each["uuid"] != message["uuid"]]
        uuids = self.uuids
        index = uuids.index(after) + 1 if after in uuids else len(uuids)
        self.messages.insert(index, message)


async def wait_for_session_update(listener: SocketListener, session: str, **fields: Any) -> Any:
    """The session as soon as it is told to be so; what was told last counts too."""

    def matches(event: Event) -> bool:
        return (
            event["type"] == "session/updated"
            and event["sessionId"] == session
            and all(event["session"][name] == value for name, value in fields.items())
        )

    last = listener.events_of("session/updated", session)[-1:]
    if last and matches(last[0]):
        return last[0]["session"]
    return (await listener.wait_for(matches))["session"]


def append_lines(path: Path, *lines: bytes) -> None:
    with path.open("ab", buffering=0) as file:
        file.write(b"".join(line + b"\n" for line in lines))


def write_presence(pid: int, session: str = SESSION_ID, **fields: Any) -> Path:
    """What a Claude Code with this pid would say of itself."""
    start = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    path = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "sessions" / f"{pid}.json"
    path.parent.mkdir(exist_ok=True)
    standard = {
        "pid": pid,
        "sessionId": session,
        "procStart": start,
        "entrypoint": "cli",
        "kind": "interactive",
        "status": "idle",
        "statusUpdatedAt": 1_794_963_612_407,
    }
    path.write_text(json.dumps(standard | fields))
    return path


async def start_stranger() -> asyncio.subprocess.Process:
    """A process that is none of ours."""
    return await asyncio.create_subprocess_exec("sleep", "1000")
