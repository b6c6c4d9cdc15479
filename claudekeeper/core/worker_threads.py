"""Threads for long reads, so that short requests do not wait behind them."""

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

# seconds for which a thread keeps the interpreter while another one waits, mostly the event loop;
# Python's default of 5 ms is longer than everything else between the CLI's pipe and a client
SWITCH_INTERVAL = 0.0005
# more long reads at once would only slow each other down
WORKER_COUNT = 2


def set_switch_interval() -> None:
    sys.setswitchinterval(SWITCH_INTERVAL)


class WorkerThreads:
    """Threads for long reads. The list and single pages use other threads."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(WORKER_COUNT, "slow-lane")

    async def run(self, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        call = partial(copy_context().run, work, *args, **named)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
