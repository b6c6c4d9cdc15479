"""Somebody who dispatches items of work, and remembers what was said."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import quote

from tests.support.keeper_in_process import InProcessKeeper, text_of


class ShiftedClock:
    """The time, and what a test adds to it."""

    offset = 0.0

    def __call__(self) -> float:
        return time.time() + self.offset


class Orchestrator:
    """Dispatches, and remembers what it said on which item."""

    def __init__(self, keeper: InProcessKeeper) -> None:
        self.keeper = keeper
        self.prompts: dict[str, list[str]] = {}

    async def dispatch(self, key: str, text: str, status: int = 200, **more: Any) -> Any:
        body = {"text": text, "workdir": str(self.keeper.workdir), "wait": True, **more}
        path = f"/conversations/{quote(key, safe='')}/dispatch"
        answer = await self.keeper.post(path, body, status)
        self.prompts.setdefault(key, []).append(text)
        return answer

    async def get(self, key: str) -> Any:
        return await self.keeper.get(f"/conversations/{quote(key, safe='')}")

    async def all_prompts(self, key: str) -> list[str]:
        """Every prompt of the item, through all of its sessions."""
        item = await self.get(key)
        sessions = [each["sessionId"] for each in item["earlier"]]
        sessions += [item["sessionId"]] if item["sessionId"] else []
        return [prompts for each in sessions for prompts in await prompts_of(self.keeper, each)]


async def prompts_of(keeper: InProcessKeeper, session: str) -> list[str]:
    history = await keeper.history(session)
    return [text_of(each) for each in history if each["kind"] == "prompt"]
