"""The services of one keeper: what each is made of, who listens to whom, what starts when."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Protocol

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
from claudekeeper.catalog.own_processes import OwnProcesses
from claudekeeper.catalog.presence import PresenceChange, PresenceMonitor
from claudekeeper.core.config import Config
from claudekeeper.core.disk_reserve import DiskReserve
from claudekeeper.core.worker_threads import WorkerThreads
from claudekeeper.coverage.coverage_service import CoverageService
from claudekeeper.dispatch.conversations import ConversationService
from claudekeeper.dispatch.session_reader import SessionReader
from claudekeeper.dispatch.store import ConversationStore
from claudekeeper.events.bus import EventBus
from claudekeeper.events.delivery_log import DeliveryLogs
from claudekeeper.events.transcript_follower import TranscriptFollower
from claudekeeper.resume.ai_recap import AiRecap, SideQuery
from claudekeeper.resume.report import ResumeReporter
from claudekeeper.routing.decision_log import RoutingLog
from claudekeeper.routing.router import Router
from claudekeeper.search.index_service import SearchService
from claudekeeper.server import app_keys as keys
from claudekeeper.server.data_paths import DataPaths
from claudekeeper.sessions.cli.capabilities import CapabilityCache
from claudekeeper.sessions.cli.client import MakeClient
from claudekeeper.sessions.manager import SessionManager
from claudekeeper.sessions.preferences import Preferences
from claudekeeper.sessions.recovery.failed_turn_store import FailedTurnStore
from claudekeeper.sessions.recovery.turn_journal import TurnJournal
from claudekeeper.sessions.session_change import SessionChange
from claudekeeper.sessions.session_owners import SessionOwners
from claudekeeper.sessions.session_store import SessionStore
from claudekeeper.sessions.session_view import SessionViews
from claudekeeper.sessions.shutdown import Shutdown
from claudekeeper.transcripts.history import History
from claudekeeper.usage.timeline import TimelineService
from claudekeeper.usage.usage import UsageService


class Service(Protocol):
    """What starts and ends with the keeper."""

    async def start(self) -> None: ...
    async def close(self) -> None: ...


def add_services(
    app: web.Application,
    config: Config,
    paths: DataPaths,
    make_client: MakeClient,
    query_claude: SideQuery,
    clock: Callable[[], float],
) -> None:
    """Makes every service, from the disk upwards, and puts it where handlers find it."""
    # ---- the disk ----
    workers = WorkerThreads()
    history = History()
    cache = Cache(paths.cache)
    reserve = DiskReserve(paths.home)
    preferences = Preferences(paths.state)
    archive = Archive(paths.projects, paths.home)
    catalog = Catalog(paths.projects, cache, archive.deleted_folder)
    coverage = CoverageService(catalog, cache)
    journal = TurnJournal(paths.turn_journal, reserve)
    failed_turns = FailedTurnStore(paths.failed_turns, reserve)

    # ---- events and questions ----
    bus = EventBus()
    delivery_logs = DeliveryLogs(bus)
    own_processes = OwnProcesses()
    presence = PresenceMonitor(paths.presence, own_processes)
    follower = TranscriptFollower(catalog, delivery_logs, presence, history, bus)
    attention = PendingAttention(bus)
    terminal_prompts = TerminalPrompts(attention, presence, bus, catalog.recent_entries)

    # ---- live sessions ----
    manager = SessionManager(
        SessionStore(catalog, history, archive, journal),
        journal,
        failed_turns,
        preferences,
        presence,
        own_processes,
        attention,
        delivery_logs,
        bus,
        make_client,
        config.limits,
    )
    owners = SessionOwners()
    views = SessionViews(
        catalog,
        archive,
        coverage,
        preferences,
        presence,
        attention,
        journal,
        manager,
        owners,
        bus,
    )
    shutdown = Shutdown(manager, attention, journal)

    # ---- what is made of sessions ----
    conversations = ConversationService(
        ConversationStore(paths.conversations),
        manager,
        bus,
        attention,
        SessionReader(catalog, history, views, journal),
        owners,
        config.conversations,
        clock,
    )
    routing_log = RoutingLog(paths.routing_log)
    router = Router(
        catalog,
        views,
        manager,
        config.routing,
        routing_log,
        belongs_to_item=owners.belongs_to_item,
        clock=clock,
    )
    reporter = ResumeReporter(catalog, history, views, attention, coverage, clock)
    folders = [paths.projects, archive.deleted_folder]
    usage = UsageService(catalog, cache, folders, views.label_of)
    timeline = TimelineService(catalog, cache, usage, views.label_of, coverage)
    search = SearchService(
        paths.search_index, folders, usage.wait_for_first_refresh, workers, history
    )
    families = FamilyService(
        catalog,
        views,
        ChainReader(),
        cache,
        lambda: usage.all_counted,
        workers,
    )

    # ---- who listens to whom; handlers run in this order ----
    def deliver_withheld(change: SessionChange | PresenceChange) -> None:
        follower.deliver_withheld(change.session_id)

    catalog.watcher.files_changed.subscribe(follower.handle_file_changes)
    catalog.watcher.files_changed.subscribe(search.handle_file_changes)
    catalog.row_changed.subscribe(follower.handle_row_change)
    catalog.row_changed.subscribe(usage.handle_row_change)
    catalog.row_changed.subscribe(search.handle_row_change)
    catalog.row_changed.subscribe(coverage.handle_row_change)
    catalog.row_changed.subscribe(preferences.handle_row_change)
    catalog.row_changed.subscribe(archive.handle_row_change)
    catalog.row_changed.subscribe(views.handle_row_change)
    coverage.progress_changed.subscribe(views.publish_counts)
    archive.folders_changed.subscribe(catalog.handle_folder_changes)
    follower.entries_read.subscribe(terminal_prompts.handle_entries)
    attention.changed.subscribe(manager.publish_change)
    # first the journal: an interrupted turn may have just been resumed
    manager.changed.subscribe(journal.handle_session_change)
    manager.changed.subscribe(views.handle_session_change)
    manager.changed.subscribe(shutdown.handle_session_change)
    manager.changed.subscribe(deliver_withheld)
    presence.changed.subscribe(manager.handle_presence_change)
    presence.changed.subscribe(follower.handle_presence_change)
    presence.changed.subscribe(terminal_prompts.handle_presence_change)
    presence.changed.subscribe(views.handle_presence_change)
    presence.changed.subscribe(deliver_withheld)
    owners.changed.subscribe(views.publish_row_change)

    # ---- what starts in this order, and ends in the other ----
    app.cleanup_ctx.append(_stored(workers, preferences, routing_log, journal, failed_turns))
    services: list[Service] = [presence, follower, catalog, archive, usage, coverage, search]
    # the conversations end after the manager: how the last turns ended is still written down
    app.cleanup_ctx.extend(_running(service) for service in (*services, conversations))
    app.cleanup_ctx.append(_closing(manager))

    # ---- what handlers find ----
    app[keys.CONFIG] = config
    app[keys.WORKERS] = workers
    app[keys.HISTORY] = history
    app[keys.PREFERENCES] = preferences
    app[keys.ARCHIVE] = archive
    app[keys.CATALOG] = catalog
    app[keys.COVERAGE] = coverage
    app[keys.JOURNAL] = journal
    app[keys.FAILED_TURNS] = failed_turns
    app[keys.BUS] = bus
    app[keys.PRESENCE] = presence
    app[keys.FOLLOWER] = follower
    app[keys.ATTENTION] = attention
    app[keys.TERMINAL_PROMPTS] = terminal_prompts
    app[keys.GRANT_WRITES] = GrantWrites()
    app[keys.MANAGER] = manager
    app[keys.VIEWS] = views
    app[keys.SHUTDOWN] = shutdown
    app[keys.CAPABILITIES] = CapabilityCache(make_client)
    app[keys.CONVERSATIONS] = conversations
    app[keys.ROUTING_LOG] = routing_log
    app[keys.ROUTER] = router
    app[keys.RESUME_REPORTER] = reporter
    app[keys.AI_RECAP] = AiRecap(query_claude)
    app[keys.USAGE] = usage
    app[keys.TIMELINE] = timeline
    app[keys.SEARCH] = search
    app[keys.FAMILIES] = families
    app[keys.BRANCHES] = BranchService(history, families, workers)


Lifecycle = Callable[[web.Application], AsyncIterator[None]]


def _running(service: Service) -> Lifecycle:
    async def run(_app: web.Application) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.close()

    return run


def _closing(manager: SessionManager) -> Lifecycle:
    async def run(_app: web.Application) -> AsyncIterator[None]:
        yield
        await manager.close()

    return run


def _stored(
    workers: WorkerThreads,
    preferences: Preferences,
    routing_log: RoutingLog,
    journal: TurnJournal,
    failed_turns: FailedTurnStore,
) -> Lifecycle:
    """What is read before anything starts, and written after everything has ended."""

    async def run(_app: web.Application) -> AsyncIterator[None]:
        for store in (preferences, routing_log, journal, failed_turns):
            await asyncio.to_thread(store.load)
        journal.start()
        failed_turns.start(journal.all_interrupted())
        yield
        await failed_turns.close()
        await journal.close()
        await routing_log.wait_until_saved()
        await preferences.wait_until_saved()
        workers.close()

    return run
