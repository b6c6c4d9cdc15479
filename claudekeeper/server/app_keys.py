"""What handlers find in the application."""

from __future__ import annotations

from aiohttp import web

from claudekeeper.archive.archive import Archive
from claudekeeper.attention.grant_writes import GrantWrites
from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.attention.terminal_prompts import TerminalPrompts
from claudekeeper.branches.branches import BranchService
from claudekeeper.branches.family import FamilyService
from claudekeeper.catalog.catalog import Catalog
from claudekeeper.catalog.presence import PresenceMonitor
from claudekeeper.core.config import Config
from claudekeeper.core.worker_threads import WorkerThreads
from claudekeeper.coverage.coverage_service import CoverageService
from claudekeeper.dispatch.conversations import ConversationService
from claudekeeper.events.bus import EventBus
from claudekeeper.events.transcript_follower import TranscriptFollower
from claudekeeper.resume.ai_recap import AiRecap
from claudekeeper.resume.report import ResumeReporter
from claudekeeper.routing.decision_log import RoutingLog
from claudekeeper.routing.router import Router
from claudekeeper.search.index_service import SearchService
from claudekeeper.server.auth import Authenticator
from claudekeeper.server.request_metrics import RequestMetrics
from claudekeeper.server.ws_connection import WsConnections
from claudekeeper.sessions.cli.capabilities import CapabilityCache
from claudekeeper.sessions.manager import SessionManager
from claudekeeper.sessions.preferences import Preferences
from claudekeeper.sessions.recovery.failed_turn_store import FailedTurnStore
from claudekeeper.sessions.recovery.turn_journal import TurnJournal
from claudekeeper.sessions.session_view import SessionViews
from claudekeeper.sessions.shutdown import Shutdown
from claudekeeper.transcripts.history import History
from claudekeeper.usage.timeline import TimelineService
from claudekeeper.usage.usage import UsageService

CONFIG: web.AppKey[Config] = web.AppKey("config", Config)
AUTHENTICATOR: web.AppKey[Authenticator] = web.AppKey("authenticator", Authenticator)
ARCHIVE: web.AppKey[Archive] = web.AppKey("archive", Archive)
BRANCHES: web.AppKey[BranchService] = web.AppKey("branches", BranchService)
FAMILIES: web.AppKey[FamilyService] = web.AppKey("families", FamilyService)
CATALOG: web.AppKey[Catalog] = web.AppKey("catalog", Catalog)
WORKERS: web.AppKey[WorkerThreads] = web.AppKey("workers", WorkerThreads)
HISTORY: web.AppKey[History] = web.AppKey("history", History)
PREFERENCES: web.AppKey[Preferences] = web.AppKey("preferences", Preferences)
REQUEST_METRICS: web.AppKey[RequestMetrics] = web.AppKey("request_metrics", RequestMetrics)
STARTED_AT: web.AppKey[float] = web.AppKey("started_at", float)
CLI_VERSION: web.AppKey[str] = web.AppKey("cli_version", str)
BUS: web.AppKey[EventBus] = web.AppKey("bus", EventBus)
GRANT_WRITES: web.AppKey[GrantWrites] = web.AppKey("grant_writes", GrantWrites)
ATTENTION: web.AppKey[PendingAttention] = web.AppKey("attention", PendingAttention)
FOLLOWER: web.AppKey[TranscriptFollower] = web.AppKey("follower", TranscriptFollower)
PRESENCE: web.AppKey[PresenceMonitor] = web.AppKey("presence", PresenceMonitor)
TERMINAL_PROMPTS: web.AppKey[TerminalPrompts] = web.AppKey("terminal_prompts", TerminalPrompts)
MANAGER: web.AppKey[SessionManager] = web.AppKey("manager", SessionManager)
JOURNAL: web.AppKey[TurnJournal] = web.AppKey("journal", TurnJournal)
FAILED_TURNS: web.AppKey[FailedTurnStore] = web.AppKey("failed_turns", FailedTurnStore)
SHUTDOWN: web.AppKey[Shutdown] = web.AppKey("shutdown", Shutdown)
VIEWS: web.AppKey[SessionViews] = web.AppKey("views", SessionViews)
CONVERSATIONS: web.AppKey[ConversationService] = web.AppKey("conversations", ConversationService)
COVERAGE: web.AppKey[CoverageService] = web.AppKey("coverage", CoverageService)
ROUTING_LOG: web.AppKey[RoutingLog] = web.AppKey("routing_log", RoutingLog)
RESUME_REPORTER: web.AppKey[ResumeReporter] = web.AppKey("resume_reporter", ResumeReporter)
AI_RECAP: web.AppKey[AiRecap] = web.AppKey("ai_recap", AiRecap)
ROUTER: web.AppKey[Router] = web.AppKey("router", Router)
SEARCH: web.AppKey[SearchService] = web.AppKey("search", SearchService)
CAPABILITIES: web.AppKey[CapabilityCache] = web.AppKey("capabilities", CapabilityCache)
TIMELINE: web.AppKey[TimelineService] = web.AppKey("timeline", TimelineService)
USAGE: web.AppKey[UsageService] = web.AppKey("usage", UsageService)
WS_CONNECTIONS: web.AppKey[WsConnections] = web.AppKey("ws_connections", WsConnections)
