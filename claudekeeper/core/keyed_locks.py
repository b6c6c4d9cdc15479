"""Locks by name."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Hashable
from weakref import WeakValueDictionary


class KeyedLocks:
    """A lock for each name, for as long as somebody holds it or waits for it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    @contextlib.asynccontextmanager
    async def hold(self, name: Hashable) -> AsyncIterator[None]:
        lock = self._locks.get(name)
        if lock is None:
            lock = self._locks[name] = asyncio.Lock()
        async with lock:
            yield
