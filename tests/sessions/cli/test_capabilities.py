"""What a directory offers is asked of a CLI; there are many directories."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from claudekeeper.sessions.cli.capabilities import MAX_CLIS, MAX_DIRECTORIES, CapabilityCache
from claudekeeper.sessions.cli.client import CliClient, CliListener, CliOptions


class Counting:
    """A CLI that says what it can, and how many of its kind run."""

    bypass = False
    pid = None
    stderr_tail = ""
    running = 0
    most = 0
    asked = 0

    async def connect(self) -> None:
        Counting.asked += 1
        Counting.running += 1
        Counting.most = max(Counting.most, Counting.running)

    async def info(self) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {}

    async def close(self) -> None:
        Counting.running -= 1

    async def interrupt(self) -> None: ...
    async def set_model(self, model: str | None) -> None: ...
    async def set_permission_mode(self, mode: str) -> None: ...
    async def send(self, item: Any) -> None: ...


async def make(_opening: CliOptions, _ears: CliListener) -> CliClient:
    return Counting()


async def test_however_many_directories_are_asked_for_few_clis_run(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(MAX_DIRECTORIES + 10)]
    for folder in folders:
        folder.mkdir()
    abilities = CapabilityCache(make)
    await asyncio.gather(*(abilities.of_directory(str(each)) for each in [*folders, *folders[:5]]))
    assert Counting.most == MAX_CLIS
    assert Counting.asked == len(folders)
    # the newest are known, the oldest forgotten
    await abilities.of_directory(str(folders[-1]))
    assert Counting.asked == len(folders)
    await abilities.of_directory(str(folders[0]))
    assert Counting.asked == len(folders) + 1
