"""Waiting until a condition holds: as soon as it does, and not without end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

# no busy machine takes longer; most tests have a shorter limit of their own
DEADLINE_SECONDS = 200
PAUSE_SECONDS = 0.005


async def wait_until(holds: Callable[[], object]) -> None:
    """For what happens in another thread or program and is announced by no event."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not holds():  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(PAUSE_SECONDS)


async def read_until(
    read: Callable[[], Awaitable[Any]], matches: Callable[[Any], object]
) -> list[Any]:
    """Reads again and again, as fast as the answers come; returns all of them, the match last."""
    values = []
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not values or not matches(values[-1]):
            values.append(await read())
            await asyncio.sleep(0)
    return values


async def wait_for(read: Callable[[], Awaitable[Any]], matches: Callable[[Any], object]) -> Any:
    """The first value read that matches."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not matches(value := await read()):  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(PAUSE_SECONDS)
    return value


def block_until(holds: Callable[[], object]) -> None:
    """The same as `wait_until`, for tests that run without an event loop."""
    block_for(holds, bool)


def block_for(read: Callable[[], Any], matches: Callable[[Any], object]) -> Any:
    """The same as `wait_for`, for tests that run without an event loop."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not matches(value := read()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"still {value!r}")
        time.sleep(PAUSE_SECONDS)
    return value
