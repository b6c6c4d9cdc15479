"""Whole transcripts, read: a few in a thread, gigabytes in a process that ends with the work."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import Callable
from functools import partial

from claudekeeper.readers import counting
from claudekeeper.readers.counting import Counts, Uncounted

log = logging.getLogger(__name__)

# bytes from which a process is worth its start
MUCH = 64 * 1024 * 1024

Process = subprocess.Popen[bytes]


class Reader:
    """Counts sessions for the catalog; asked by one task at a time."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._failed = False

    async def count(self, batch: list[Uncounted], left: int) -> Counts:
        """`left` is how many bytes there are to be read in all."""
        if self._process is None and left > MUCH and not self._failed:
            await _seen_through(self._begin)
            self._failed = self._process is None
        if self._process is not None:
            try:
                return await asyncio.to_thread(_ask, self._process, batch)
            except (OSError, EOFError) as error:
                # killed, or out of memory: what it was at is read here, as if it had never been
                log.warning("the reading process is gone (%s): reading goes on without", error)
                self._failed = True
                await self.rest()
        return await asyncio.to_thread(counting.count, batch)

    def _begin(self) -> None:
        self._process = _begun()

    @property
    def reads_much(self) -> bool:
        return self._process is not None

    async def rest(self) -> None:
        """Nothing is to be read for now: the process goes, which holds nothing of worth."""
        process, self._process = self._process, None
        if process is not None:
            # first of all: a thread may be waiting for its answer
            process.kill()
            await _seen_through(partial(_end, process))


async def _seen_through(work: Callable[[], None]) -> None:
    """In a thread, to its end, also if nobody waits for it any more: no process is left over."""
    working = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        await working
        raise


def _begun() -> Process | None:
    try:
        # -P: no module of the directory in which the keeper happens to run
        return subprocess.Popen(
            [sys.executable, "-P", "-m", counting.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
    except OSError as error:
        log.warning("no process could be started to read transcripts: %s", error)
        return None


def _ask(process: Process, batch: list[Uncounted]) -> Counts:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(counting.framed(counting.encode(batch)))
    process.stdin.flush()
    size = int.from_bytes(process.stdout.read(counting.HEAD), "big")
    answer = process.stdout.read(size)
    if not size or len(answer) < size:
        raise EOFError("it said nothing more")
    counts: Counts = counting.decode_counts(answer)
    return counts


def _end(process: Process) -> None:
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                # what it did not take any more
                continue
