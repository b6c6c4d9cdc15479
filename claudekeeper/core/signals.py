"""Notifications between services: whoever emits one does not know who listens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Signal(Generic[T]):
    """One kind of change. Handlers run at once, in the order in which they subscribed."""

    def __init__(self) -> None:
        self._handlers: list[Callable[[T], object]] = []

    def subscribe(self, handler: Callable[[T], object]) -> Callable[[], None]:
        """Calls `handler` with every change from now on; the answer undoes that."""
        self._handlers.append(handler)

        def unsubscribe() -> None:
            if handler in self._handlers:
                self._handlers.remove(handler)

        return unsubscribe

    def emit(self, change: T) -> None:
        for handler in tuple(self._handlers):
            handler(change)
