"""Locks by name: whatever is done under one of them is done by one at a time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Hashable
from weakref import WeakValueDictionary


class KeyedLocks:
    def __init__(self) -> None:
        # each lives as long as somebody holds it or waits for it
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    @contextlib.asynccontextmanager
    async def hold(self, name: Hashable) -> AsyncIterator[None]:
        lock = self._locks.get(name)
        if lock is None:
            lock = self._locks[name] = asyncio.Lock()
        async with lock:
            yield
