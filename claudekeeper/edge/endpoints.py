"""The table of all addresses: the router and /openapi.json are both made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aiohttp.typedefs import Handler

from claudekeeper.edge.wire import NoQuery
from claudekeeper.model.errors import (
    InvalidRequest,
    KeeperError,
    ScopeTooNarrow,
    TooManyAttempts,
    Unauthorized,
)


@dataclass(frozen=True)
class Endpoint:
    """One method of one address."""

    method: str
    path: str
    handler: Handler
    summary: str
    answers: Any
    status: int = 200
    query: type = NoQuery
    takes: Any = None
    # whether the body may be left out
    may_be_empty: bool = False
    failures: tuple[type[KeeperError], ...] = ()
    open: bool = False
    media: str = "application/json"
    # whether the token for hooks opens it too
    hooks: bool = False

    @property
    def possible_failures(self) -> tuple[type[KeeperError], ...]:
        if self.open:
            return (InvalidRequest, *self.failures)
        narrow = () if self.hooks else (ScopeTooNarrow,)
        return (InvalidRequest, Unauthorized, *narrow, TooManyAttempts, *self.failures)
