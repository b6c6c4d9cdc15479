"""One row of the table of addresses, from which the router and /openapi.json are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aiohttp.typedefs import Handler

from claudekeeper.contract.errors import ScopeTooNarrow, Unauthorized
from claudekeeper.net.errors import ApiError, InvalidRequest, TooManyAttempts
from claudekeeper.server.schemas import EmptyQuery


@dataclass(frozen=True)
class Endpoint:
    """One method of one address."""

    method: str
    path: str
    handler: Handler
    summary: str
    response_type: Any
    status: int = 200
    query_type: type = EmptyQuery
    request_type: Any = None
    # whether the body may be left out
    body_optional: bool = False
    errors: tuple[type[ApiError], ...] = ()
    is_public: bool = False
    media_type: str = "application/json"
    # whether the hook token is accepted too
    allows_hook_token: bool = False
    is_websocket: bool = False

    @property
    def possible_errors(self) -> tuple[type[ApiError], ...]:
        if self.is_public:
            return (InvalidRequest, *self.errors)
        scope_errors = () if self.allows_hook_token else (ScopeTooNarrow,)
        return (InvalidRequest, Unauthorized, *scope_errors, TooManyAttempts, *self.errors)
