"""What every live session works with."""

from __future__ import annotations

import msgspec

from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.catalog.presence import PresenceMonitor
from claudekeeper.events.bus import EventBus
from claudekeeper.events.delivery_log import DeliveryLogs
from claudekeeper.sessions.cli.client import MakeClient
from claudekeeper.sessions.cli_slots import CliSlots
from claudekeeper.sessions.preferences import Preferences
from claudekeeper.sessions.recovery.failed_turn_store import FailedTurnStore
from claudekeeper.sessions.session_store import SessionStore


class SessionServices(msgspec.Struct, frozen=True):
    """The services that all live sessions share."""

    bus: EventBus
    attention: PendingAttention
    presence: PresenceMonitor
    delivery_logs: DeliveryLogs
    store: SessionStore
    preferences: Preferences
    failed_turns: FailedTurnStore
    slots: CliSlots
    make_client: MakeClient
    # seconds after which a session that nobody uses gives up its CLI
    idle_seconds: float
