"""Lines written by others: the time until they are on the socket, and the cost of waiting."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from uuid import UUID

import aiohttp
import orjson

from benchmarks.corpus.corpus import Corpus
from benchmarks.harness.measure import MAX_SECONDS, Figure, below, milliseconds
from benchmarks.harness.server import Keeper, keeper

APPENDS = 300
# seconds between two lines, as of a model; a burst would be read at once
PAUSE = 0.02
IDLE_SECONDS = 20.0
SESSION = str(UUID(int=7, version=4))
FOLDER = "-bench-follow"


def follow(corpus: Corpus, environment: Mapping[str, str]) -> list[Figure]:
    folder = Path(environment["CLAUDE_CONFIG_DIR"], "projects", FOLDER)
    folder.mkdir()
    path = folder / f"{SESSION}.jsonl"
    path.write_bytes(_line(0))
    try:
        with keeper(environment) as running:
            running.read_to_the_end()
            # work left from the start is not the cost of waiting
            time.sleep(2)
            idle = _processor_time(running, IDLE_SECONDS)
            taken = sorted(asyncio.run(_append(running, path)))
    finally:
        shutil.rmtree(folder)
    slow = f"one in twenty takes {milliseconds(taken[-APPENDS // 20])}"
    return [
        below(
            f"a line appended to one of {corpus.sessions:,} sessions, until the socket has it",
            median(taken) * 1000,
            10,
            "ms",
            f"median of {APPENDS}; {slow}",
        ),
        below(
            f"idle, with {corpus.sessions:,} sessions watched",
            idle * 100,
            1,
            "% of a core",
            f"processor time over {IDLE_SECONDS:.0f} s",
        ),
    ]


async def _append(running: Keeper, path: Path) -> list[float]:
    taken = []
    async with (
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {running.token}"}) as client,
        asyncio.timeout(MAX_SECONDS),
        client.ws_connect(f"http://127.0.0.1:{running.port}/ws") as socket,
    ):
        await socket.send_json({"type": "subscribe", "sessions": [SESSION]})
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
        try:
            for number in range(1, APPENDS + 1):
                line, expected = _line(number), _uuid(number)
                start = time.perf_counter()
                os.write(descriptor, line)
                async for frame in socket:
                    if expected in frame.data and '"message/added"' in frame.data:
                        break
                taken.append(time.perf_counter() - start)
                await asyncio.sleep(PAUSE)
        finally:
            os.close(descriptor)
    return taken


def _processor_time(running: Keeper, seconds: float) -> float:
    """The share of a core that the keeper takes while nothing happens."""
    before = _spent(running)
    time.sleep(seconds)
    return (_spent(running) - before) / seconds


def _spent(running: Keeper) -> float:
    fields = Path(f"/proc/{running.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _uuid(number: int) -> str:
    return str(UUID(int=1_000_000 + number, version=4))


def _line(number: int) -> bytes:
    line = {
        "parentUuid": _uuid(number - 1) if number else None,
        "isSidechain": False,
        "type": "assistant",
        "uuid": _uuid(number),
        "timestamp": "2026-03-01T10:00:00.000Z",
        "cwd": "/code/bench",
        "sessionId": SESSION,
        "message": {
            "id": f"msg_{number}",
            "role": "assistant",
            "model": "claude-opus-4-8",
            "content": [{"type": "text", "text": "a few words " * 40}],
        },
    }
    return orjson.dumps(line) + b"\n"
