"""Telling at once: whatever is read in threads, nobody who wants little is kept waiting for it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# seconds for which a thread may go on while another one, most often the loop, has something to do;
# Python's own 5 ms are longer than all else between the CLI's pipe and a client
SWITCH_INTERVAL = 0.0005
# how many long readings go on at once; more would only take from each other
WORKER_COUNT = 2


def set_switch_interval() -> None:
    sys.setswitchinterval(SWITCH_INTERVAL)


class WorkerThreads:
    """Threads for what may take long. The list and a page have others, and so never stand behind
    a dozen whole transcripts."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(WORKER_COUNT, "slow-lane")

    async def run(self, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        call = partial(copy_context().run, work, *args, **named)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
