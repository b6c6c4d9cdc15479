"""Whole transcripts, read: a few in a thread, gigabytes in a process that ends with the work."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import Callable
from functools import partial

from claudekeeper.catalog import full_scan_worker
from claudekeeper.catalog.full_scan_worker import Counts, RowToScan

log = logging.getLogger(__name__)

# bytes from which a process is worth its start
MIN_PROCESS_BYTES = 64 * 1024 * 1024

WorkerProcess = subprocess.Popen[bytes]


class FullScanRunner:
    """Counts sessions for the catalog; asked by one task at a time."""

    def __init__(self) -> None:
        self._process: WorkerProcess | None = None
        self._failed = False

    async def scan(self, batch: list[RowToScan], total_bytes: int) -> Counts:
        """`left` is how many bytes there are to be read in all."""
        if self._process is None and total_bytes > MIN_PROCESS_BYTES and not self._failed:
            await _run_to_end(self._start_process)
            self._failed = self._process is None
        if self._process is not None:
            try:
                return await asyncio.to_thread(_request_counts, self._process, batch)
            except (OSError, EOFError) as error:
                # killed, or out of memory: what it was at is read here, as if it had never been
                log.warning("the reading process is gone (%s): reading goes on without", error)
                self._failed = True
                await self.stop_process()
        return await asyncio.to_thread(full_scan_worker.scan_rows, batch)

    def _start_process(self) -> None:
        self._process = _spawn_worker()

    @property
    def has_process(self) -> bool:
        return self._process is not None

    async def stop_process(self) -> None:
        """Nothing is to be read for now: the process goes, which holds nothing of worth."""
        process, self._process = self._process, None
        if process is not None:
            # first of all: a thread may be waiting for its answer
            process.kill()
            await _run_to_end(partial(_reap, process))


async def _run_to_end(work: Callable[[], None]) -> None:
    """In a thread, to its end, also if nobody waits for it any more: no process is left over."""
    working = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        await working
        raise


def _spawn_worker() -> WorkerProcess | None:
    try:
        # -P: no module of the directory in which the keeper happens to run
        return subprocess.Popen(
            [sys.executable, "-P", "-m", full_scan_worker.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
    except OSError as error:
        log.warning("no process could be started to read transcripts: %s", error)
        return None


def _request_counts(process: WorkerProcess, batch: list[RowToScan]) -> Counts:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(full_scan_worker.frame(full_scan_worker.encode(batch)))
    process.stdin.flush()
    size = int.from_bytes(process.stdout.read(full_scan_worker.FRAME_HEADER_BYTES), "big")
    answer = process.stdout.read(size)
    if not size or len(answer) < size:
        raise EOFError("it said nothing more")
    counts: Counts = full_scan_worker.decode_counts(answer)
    return counts


def _reap(process: WorkerProcess) -> None:
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                # what it did not take any more
                continue
