"""The frames of the WebSocket: requests of a client, answers of the server, and its events."""

from __future__ import annotations

from typing import Annotated

import msgspec

from claudekeeper.contract.conversations import ConversationUpdated
from claudekeeper.contract.errors import Fault
from claudekeeper.contract.events import (
    AttentionRaised,
    AttentionSettled,
    MessageAdded,
    MessageDelta,
    MessageWithdrawn,
    QueueUpdated,
    Resync,
    SessionFailed,
    SessionNotified,
    SessionRemoved,
    SessionUpdated,
    TurnFinished,
    TurnStarted,
    TurnStatus,
)

PROTOCOL_VERSION = 1

SessionIds = Annotated[
    list[Annotated[str, msgspec.Meta(max_length=64)]], msgspec.Meta(max_length=1000)
]


class Subscribe(msgspec.Struct, tag="subscribe", forbid_unknown_fields=True):
    """Asks for the events of these sessions, or of all (`*`); `since` is a position."""

    sessions: SessionIds
    since: str | None = None


class Unsubscribe(msgspec.Struct, tag="unsubscribe", forbid_unknown_fields=True):
    """Ends the subscription to these sessions, or to all (`*`)."""

    sessions: SessionIds


class Ping(msgspec.Struct, tag="ping", forbid_unknown_fields=True):
    """Asks for a `pong`."""


class Hello(msgspec.Struct, tag="hello"):
    """The first frame of the server."""

    version: int
    position: str


class Subscribed(msgspec.Struct, tag="subscribed"):
    """The answer to `subscribe`: so many missed events follow."""

    replayed: int
    position: str


class ResyncAll(msgspec.Struct, tag="resync"):
    """The answer to `subscribe` if `since` is too old: read every session again over REST."""


class Pong(msgspec.Struct, tag="pong"):
    """The answer to `ping`."""


class WsError(msgspec.Struct, tag="error"):
    """The answer to a frame that the server could not use."""

    error: Fault


ClientFrame = Subscribe | Unsubscribe | Ping
ServerAnswer = Hello | Subscribed | ResyncAll | Pong | WsError
ServerEvent = (
    SessionUpdated
    | SessionRemoved
    | Resync
    | SessionNotified
    | SessionFailed
    | MessageAdded
    | MessageDelta
    | MessageWithdrawn
    | TurnStarted
    | TurnStatus
    | TurnFinished
    | QueueUpdated
    | AttentionRaised
    | AttentionSettled
    | ConversationUpdated
)
