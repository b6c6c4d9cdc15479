"""Waiting for something to become true, without guessing how long it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def wait_until(holds: Callable[[], bool]) -> None:
    """Returns as soon as it holds; the test's own time limit ends what never does."""
    while not holds():  # noqa: ASYNC110 - what is waited for happens in another program
        await asyncio.sleep(0.005)
