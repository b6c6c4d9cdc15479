"""Full scans: every line of transcripts is read; a few in a thread, gigabytes in a process."""

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

# bytes from which starting a process pays off
MIN_PROCESS_BYTES = 64 * 1024 * 1024

WorkerProcess = subprocess.Popen[bytes]


class FullScanRunner:
    """Reads transcripts to their end for the catalog; used by one task at a time."""

    def __init__(self) -> None:
        self._process: WorkerProcess | None = None
        self._failed = False

    async def scan(self, batch: list[RowToScan], total_bytes: int) -> Counts:
        """Read these; `total_bytes` is how much there is to be read in all."""
        if self._process is None and total_bytes > MIN_PROCESS_BYTES and not self._failed:
            await _run_to_end(self._start_process)
            self._failed = self._process is None
        if self._process is not None:
            try:
                return await asyncio.to_thread(_request_counts, self._process, batch)
            except (OSError, EOFError) as error:
                # killed, or out of memory: its batch is read here
                log.warning("the scan process is gone (%s); scanning goes on in a thread", error)
                self._failed = True
                await self.stop_process()
        return await asyncio.to_thread(full_scan_worker.scan_rows, batch)

    def _start_process(self) -> None:
        self._process = _spawn_worker()

    @property
    def has_process(self) -> bool:
        return self._process is not None

    async def stop_process(self) -> None:
        """End the process, when there is nothing to be read."""
        process, self._process = self._process, None
        if process is not None:
            # kill it first: a thread may be waiting for its answer
            process.kill()
            await _run_to_end(partial(_reap, process))


async def _run_to_end(work: Callable[[], None]) -> None:
    """Run in a thread, to the end even when cancelled, so that no process stays behind."""
    working = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        await working
        raise


def _spawn_worker() -> WorkerProcess | None:
    try:
        # -P: import nothing from the current directory
        return subprocess.Popen(
            [sys.executable, "-P", "-m", full_scan_worker.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
    except OSError as error:
        log.warning("cannot start a process for the full scan: %s", error)
        return None


def _request_counts(process: WorkerProcess, batch: list[RowToScan]) -> Counts:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(full_scan_worker.frame(full_scan_worker.encode(batch)))
    process.stdin.flush()
    size = int.from_bytes(process.stdout.read(full_scan_worker.FRAME_HEADER_BYTES), "big")
    answer = process.stdout.read(size)
    if not size or len(answer) < size:
        raise EOFError("its output ended")
    counts: Counts = full_scan_worker.decode_counts(answer)
    return counts


def _reap(process: WorkerProcess) -> None:
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                # it did not read all of its input
                continue
