"""The application: what it is made of, and what starts and ends with it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from claudekeeper.archive.archive import Archive
from claudekeeper.attention.grant_writes import GrantWrites
from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.attention.terminal_prompts import TerminalPrompts
from claudekeeper.branches.branches import BranchService
from claudekeeper.branches.chain_reader import ChainReader
from claudekeeper.branches.family import FamilyService
from claudekeeper.catalog.cache import Cache
from claudekeeper.catalog.catalog import Catalog
from claudekeeper.catalog.presence import PresenceMonitor
from claudekeeper.core.config import Config
from claudekeeper.core.credentials import Credentials, CredentialsSource
from claudekeeper.core.disk_reserve import DiskReserve
from claudekeeper.core.worker_threads import WorkerThreads
from claudekeeper.coverage.coverage_service import CoverageService
from claudekeeper.dispatch.conversations import ConversationService
from claudekeeper.dispatch.session_owners import SessionOwners
from claudekeeper.dispatch.session_reader import SessionReader
from claudekeeper.dispatch.store import ConversationStore
from claudekeeper.events.bus import EventBus
from claudekeeper.events.delivery_log import DeliveryLogs
from claudekeeper.events.transcript_follower import TranscriptFollower
from claudekeeper.net.host_guard import HostGuard
from claudekeeper.net.responses import error_middleware
from claudekeeper.resume.ai_recap import AiRecap, SideQuery
from claudekeeper.resume.report import ResumeReporter
from claudekeeper.routing.decision_log import RoutingLog
from claudekeeper.routing.router import Router
from claudekeeper.search.index_service import SearchService
from claudekeeper.server import metrics, openapi, websocket
from claudekeeper.server.access_log import access_log_middleware, add_request_id
from claudekeeper.server.app_keys import (
    AI_RECAP,
    ARCHIVE,
    ATTENTION,
    AUTHENTICATOR,
    BRANCHES,
    BUS,
    CAPABILITIES,
    CATALOG,
    CLI_VERSION,
    CONFIG,
    CONVERSATIONS,
    COVERAGE,
    FAILED_TURNS,
    FAMILIES,
    FOLLOWER,
    GRANT_WRITES,
    HISTORY,
    JOURNAL,
    MANAGER,
    PREFERENCES,
    PRESENCE,
    REQUEST_METRICS,
    RESUME_REPORTER,
    ROUTER,
    ROUTING_LOG,
    SEARCH,
    SHUTDOWN,
    STARTED_AT,
    TERMINAL_PROMPTS,
    TIMELINE,
    USAGE,
    VIEWS,
    WORKERS,
    WS_CONNECTIONS,
)
from claudekeeper.server.auth import Authenticator
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.request_metrics import RequestMetrics
from claudekeeper.server.routes import (
    archive as archiving,
)
from claudekeeper.server.routes import (
    attention,
    branches,
    directories,
    health,
    hooks,
    preferences,
    queue,
    resume,
    search,
    send,
    sessions,
    subagents,
    timeline,
    usage,
)
from claudekeeper.server.routes import (
    conversations as dispatching,
)
from claudekeeper.server.routes import (
    history as conversations,
)
from claudekeeper.server.schemas import LARGEST_MESSAGE
from claudekeeper.server.services import (
    connect_services,
    label_of,
    recent_entries,
    session_store,
)
from claudekeeper.server.ws_connection import WsConnections
from claudekeeper.sessions.capabilities import CapabilityCache
from claudekeeper.sessions.cli.client import MakeClient, make_sdk_client
from claudekeeper.sessions.cli.side_query import side_query
from claudekeeper.sessions.failed_turn_store import FailedTurnStore
from claudekeeper.sessions.manager import SessionManager
from claudekeeper.sessions.preferences import Preferences
from claudekeeper.sessions.recovery import TurnJournal, snapshot_turn
from claudekeeper.sessions.session_view import SessionViews
from claudekeeper.sessions.shutdown import Shutdown
from claudekeeper.transcripts.history import History
from claudekeeper.usage.timeline import TimelineService
from claudekeeper.usage.usage import UsageService

GOING_AWAY = 1001
# where a message that is sent again is looked for
RECENT_MESSAGES = 200
RECENT_SESSIONS = 20


@dataclass(frozen=True)
class DataPaths:
    """The files that a keeper works with."""

    projects: Path
    state: Path
    cache: Path

    @property
    def search_index(self) -> Path:
        """The index of everything that was said; a cache too."""
        return self.cache.with_name(f"words-{self.cache.name}")

    @property
    def conversations(self) -> Path:
        """The conversations of items of work."""
        return self.state.with_name("conversations.db")

    @property
    def routing_log(self) -> Path:
        """Why messages went where they did."""
        return self.state.with_name("routings.jsonl")

    @property
    def turn_journal(self) -> Path:
        """What is under way, for the next keeper."""
        return self.state.with_name("turns.json")

    @property
    def failed_turns(self) -> Path:
        """What failed turns left, for every client and every later keeper."""
        return self.state.with_name("failed-turns.json")


def endpoints() -> list[Endpoint]:
    """Every address of the keeper."""
    subjects = (
        health,
        metrics,
        sessions,
        conversations,
        subagents,
        send,
        queue,
        dispatching,
        attention,
        directories,
        hooks,
        archiving,
        branches,
        resume,
        preferences,
        usage,
        timeline,
        search,
        websocket,
    )
    table = [endpoint for subject in subjects for endpoint in subject.ENDPOINTS]
    return [*table, openapi.openapi_endpoint(table)]


def create_app(
    config: Config,
    places: DataPaths,
    cli_version: str,
    *,
    host_guard: HostGuard | None = None,
    credentials: CredentialsSource | None = None,
    make_client: MakeClient = make_sdk_client,
    query_claude: SideQuery = side_query,
    clock: Callable[[], float] = time.time,
) -> web.Application:
    """`credentials` where they can change while it runs."""
    table = endpoints()
    door = Authenticator(
        host_guard or HostGuard(config.host, config.allowed_hosts),
        credentials or (lambda: Credentials.from_config(config)),
        table,
    )
    tally = RequestMetrics()
    app = web.Application(
        middlewares=[access_log_middleware(tally), error_middleware("the keeper"), door.middleware],
        client_max_size=LARGEST_MESSAGE,
    )
    app.on_response_prepare.append(add_request_id)
    app[AUTHENTICATOR] = door
    app[REQUEST_METRICS] = tally
    app[CONFIG] = config
    app[CLI_VERSION] = cli_version
    app[STARTED_AT] = time.monotonic()
    app[HISTORY] = history = History()
    app[WORKERS] = lane = WorkerThreads()
    app[PREFERENCES] = preferences = Preferences(places.state)
    app[ARCHIVE] = archive = Archive(places.projects, places.state.parent)
    cache = Cache(places.cache)
    app[CATALOG] = catalog = Catalog(places.projects, cache, archive.deleted_folder)
    app[BUS] = bus = EventBus()
    app[ATTENTION] = desk = PendingAttention(bus)
    # Claude Code keeps them beside the projects
    app[PRESENCE] = presences = PresenceMonitor(places.projects.parent / "sessions")
    ledgers = DeliveryLogs(bus)
    reserve = DiskReserve(places.state.parent)
    app[FAILED_TURNS] = failed = FailedTurnStore(
        places.failed_turns, lambda session_id: app[MANAGER].failed_turn_now(session_id), reserve
    )
    app[MANAGER] = registry = SessionManager(
        bus, desk, session_store(app), ledgers, make_client, config.limits, preferences, failed
    )
    app[FOLLOWER] = TranscriptFollower(
        catalog.watcher, places.projects, catalog.peek_row, ledgers, history, bus
    )
    app[CAPABILITIES] = CapabilityCache(make_client)
    app[JOURNAL] = records = TurnJournal(
        places.turn_journal,
        lambda session_id: snapshot_turn(registry.get(session_id), desk),
        reserve,
        lambda session_id: registry.get(session_id) is not None,
    )
    app[SHUTDOWN] = Shutdown(registry, desk, records)
    app[GRANT_WRITES] = GrantWrites()
    app[VIEWS] = overview = SessionViews(
        catalog, registry, preferences.name_of, presences, desk, bus, records.interrupted_turn
    )
    app[CONVERSATIONS] = work = ConversationService(
        ConversationStore(places.conversations),
        registry,
        bus,
        desk,
        SessionReader(catalog, history, overview, records),
        SessionOwners(),
        config.conversations,
        clock,
    )
    app[COVERAGE] = coverage = CoverageService(catalog, cache)
    app[RESUME_REPORTER] = ResumeReporter(catalog, history, overview, desk, coverage, clock)
    folders = [places.projects, archive.deleted_folder]
    app[USAGE] = book = UsageService(catalog, cache, folders, label_of(overview))
    app[TIMELINE] = TimelineService(catalog, cache, book, label_of(overview), coverage)
    app[FAMILIES] = families = FamilyService(
        catalog,
        overview.session,
        ChainReader(),
        cache.paths_sharing_replies,
        lambda: book.all_counted,
        lane,
    )
    app[BRANCHES] = BranchService(history, families, lane)
    app[AI_RECAP] = AiRecap(query_claude)
    app[ROUTING_LOG] = routings = RoutingLog(places.routing_log)
    app[ROUTER] = Router(
        catalog,
        overview,
        registry,
        config.routing,
        routings,
        belongs_to_item=work.owners.belongs_to_item,
        clock=clock,
    )
    app[SEARCH] = SearchService(
        places.search_index, folders, book.wait_for_first_refresh, lane, history
    )
    app[TERMINAL_PROMPTS] = TerminalPrompts(desk, presences, bus, recent_entries(catalog))
    app[WS_CONNECTIONS] = WsConnections()
    connect_services(app)
    app.cleanup_ctx.extend(
        [
            door.watch_rotation,
            _workers_lifecycle,
            _preferences_lifecycle,
            _journal_lifecycle,
            *_lifecycles(PRESENCE, FOLLOWER, CATALOG, ARCHIVE, USAGE, COVERAGE, SEARCH),
            # ends after the registry: what became of the last turns is still written down
            *_lifecycles(CONVERSATIONS),
            _manager_lifecycle,
        ]
    )
    app.on_shutdown.append(_close_connections)
    for endpoint in table:
        app.router.add_route(endpoint.method, endpoint.path, endpoint.handler)
    return app


def _lifecycles(
    *keys: web.AppKey[Any],
) -> Iterator[Callable[[web.Application], AsyncIterator[None]]]:
    """Services that are started in this order, and closed in the other."""

    def context(key: web.AppKey[Any]) -> Callable[[web.Application], AsyncIterator[None]]:
        async def run(app: web.Application) -> AsyncIterator[None]:
            await app[key].start()
            yield
            await app[key].close()

        return run

    return map(context, keys)


async def _workers_lifecycle(app: web.Application) -> AsyncIterator[None]:
    yield
    app[WORKERS].close()


async def _preferences_lifecycle(app: web.Application) -> AsyncIterator[None]:
    await asyncio.to_thread(app[PREFERENCES].load)
    await asyncio.to_thread(app[ROUTING_LOG].load)
    yield
    await app[ROUTING_LOG].wait_until_saved()
    await app[PREFERENCES].wait_until_saved()


async def _journal_lifecycle(app: web.Application) -> AsyncIterator[None]:
    await asyncio.to_thread(app[JOURNAL].load)
    await asyncio.to_thread(app[FAILED_TURNS].load)
    app[JOURNAL].start()
    app[FAILED_TURNS].start(app[JOURNAL].all_interrupted())
    yield
    await app[FAILED_TURNS].close()
    await app[JOURNAL].close()


async def _manager_lifecycle(app: web.Application) -> AsyncIterator[None]:
    yield
    await app[MANAGER].close()


async def _close_connections(app: web.Application) -> None:
    await app[TERMINAL_PROMPTS].close()
    app[WS_CONNECTIONS].close_all(GOING_AWAY, b"the keeper goes away")
