"""The application: what it is made of, and what starts and ends with it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from claudekeeper.config import Config
from claudekeeper.credentials import Credentials, CredentialsSource
from claudekeeper.edge import (
    archiving,
    branching,
    conversations,
    directories,
    dispatching,
    health,
    hooks,
    metrics,
    openapi,
    preferences,
    questions,
    queue,
    resuming,
    searching,
    sessions,
    subagents,
    talking,
    timeline,
    usage,
    ws,
)
from claudekeeper.edge.auth import Door
from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.failures import answer_failures
from claudekeeper.edge.keys import (
    ABILITIES,
    ARCHIVE,
    BRANCHING,
    BUS,
    CATALOG,
    CLI_VERSION,
    CONFIG,
    CONVERSATIONS,
    COVERAGE,
    DESK,
    DOOR,
    ENDING,
    FAILED,
    FAMILIES,
    FOLLOW,
    GRANTING,
    HISTORY,
    OVERVIEW,
    PREFERENCES,
    PRESENCES,
    RECORDS,
    REGISTRY,
    RESUMING,
    RETELLING,
    ROUTER,
    ROUTINGS,
    SEARCH,
    SLOW_LANE,
    SOCKETS,
    STARTED,
    TALLY,
    TERMINALS,
    TIMELINES,
    USAGE,
)
from claudekeeper.edge.observing import name_answer, observed
from claudekeeper.edge.sockets import Sockets
from claudekeeper.edge.tally import Tally
from claudekeeper.edge.ties import disk_of, label_of, recent_lines, sessions_of, tie_together
from claudekeeper.edge.wire import LARGEST_MESSAGE
from claudekeeper.features.archive import Archive
from claudekeeper.features.branching import Branching
from claudekeeper.features.conversation_book import Book
from claudekeeper.features.conversations import Conversations
from claudekeeper.features.coverage import CoverageBook
from claudekeeper.features.family import Families
from claudekeeper.features.granting import Granting
from claudekeeper.features.preferences import Preferences
from claudekeeper.features.resuming import Resuming
from claudekeeper.features.retelling import Ask, Retelling
from claudekeeper.features.router import Router
from claudekeeper.features.routing_book import RoutingBook
from claudekeeper.features.searching import Search
from claudekeeper.features.timeline import Timelines
from claudekeeper.features.usage import UsageBook
from claudekeeper.live.abilities import Abilities
from claudekeeper.live.aside import ask_aside
from claudekeeper.live.attention import Desk
from claudekeeper.live.bus import Bus
from claudekeeper.live.catalog import Catalog
from claudekeeper.live.client import MakeClient, make_sdk_client
from claudekeeper.live.ending import Ending
from claudekeeper.live.failed_turns import FailedTurns
from claudekeeper.live.follow import Follow
from claudekeeper.live.ledger import Ledgers
from claudekeeper.live.overview import Overview
from claudekeeper.live.presence import Presences
from claudekeeper.live.promptness import SlowLane
from claudekeeper.live.registry import Registry
from claudekeeper.live.terminals import Terminals
from claudekeeper.live.unfinished import Records, under_way
from claudekeeper.readers.cache import Cache
from claudekeeper.readers.chains import Chains
from claudekeeper.readers.history import History
from claudekeeper.reserve import DiskReserve
from doorway.gate import Gate

GOING_AWAY = 1001
# where a message that is sent again is looked for
RECENT_MESSAGES = 200
RECENT_SESSIONS = 20


@dataclass(frozen=True)
class Places:
    """The files that a keeper works with."""

    projects: Path
    state: Path
    cache: Path

    @property
    def words(self) -> Path:
        """The index of everything that was said; a cache too."""
        return self.cache.with_name(f"words-{self.cache.name}")

    @property
    def book(self) -> Path:
        """The conversations of items of work."""
        return self.state.with_name("conversations.db")

    @property
    def routings(self) -> Path:
        """Why messages went where they did."""
        return self.state.with_name("routings.jsonl")

    @property
    def turns(self) -> Path:
        """What is under way, for the next keeper."""
        return self.state.with_name("turns.json")

    @property
    def failed(self) -> Path:
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
        talking,
        queue,
        dispatching,
        questions,
        directories,
        hooks,
        archiving,
        branching,
        resuming,
        preferences,
        usage,
        timeline,
        searching,
        ws,
    )
    table = [endpoint for subject in subjects for endpoint in subject.ENDPOINTS]
    return [*table, openapi.endpoint_for(table)]


def create_app(
    config: Config,
    places: Places,
    cli_version: str,
    *,
    gate: Gate | None = None,
    credentials: CredentialsSource | None = None,
    make_client: MakeClient = make_sdk_client,
    ask: Ask = ask_aside,
    clock: Callable[[], float] = time.time,
) -> web.Application:
    """`credentials` where they can change while it runs."""
    table = endpoints()
    door = Door(
        gate or Gate(config.host, config.allowed_hosts),
        credentials or (lambda: Credentials.of(config)),
        table,
    )
    tally = Tally()
    app = web.Application(
        middlewares=[observed(tally), answer_failures, door.middleware],
        client_max_size=LARGEST_MESSAGE,
    )
    app.on_response_prepare.append(name_answer)
    app[DOOR] = door
    app[TALLY] = tally
    app[CONFIG] = config
    app[CLI_VERSION] = cli_version
    app[STARTED] = time.monotonic()
    app[HISTORY] = history = History()
    app[SLOW_LANE] = lane = SlowLane()
    app[PREFERENCES] = preferences = Preferences(places.state)
    app[ARCHIVE] = archive = Archive(places.projects, places.state.parent)
    cache = Cache(places.cache)
    app[CATALOG] = catalog = Catalog(places.projects, cache, archive.gone)
    app[BUS] = bus = Bus()
    app[DESK] = desk = Desk(bus)
    # Claude Code keeps them beside the projects
    app[PRESENCES] = presences = Presences(places.projects.parent / "sessions")
    ledgers = Ledgers(bus)
    reserve = DiskReserve(places.state.parent)
    app[FAILED] = failed = FailedTurns(
        places.failed, lambda session_id: app[REGISTRY].leaves_now(session_id), reserve
    )
    app[REGISTRY] = registry = Registry(
        bus, desk, disk_of(app), ledgers, make_client, config.limits, preferences, failed
    )
    app[FOLLOW] = Follow(catalog.watcher, places.projects, catalog.known, ledgers, history, bus)
    app[ABILITIES] = Abilities(make_client)
    app[RECORDS] = records = Records(
        places.turns,
        lambda session_id: under_way(registry.get(session_id), desk),
        reserve,
        lambda session_id: registry.get(session_id) is not None,
    )
    app[ENDING] = Ending(registry, desk, records)
    app[GRANTING] = Granting()
    app[OVERVIEW] = overview = Overview(
        catalog, registry, preferences.name_of, presences, desk, bus, records.left
    )
    app[CONVERSATIONS] = work = Conversations(
        Book(places.book),
        registry,
        bus,
        desk,
        sessions_of(catalog, history, overview, records),
        config.conversations,
        clock,
    )
    app[COVERAGE] = coverage = CoverageBook(catalog, cache)
    app[RESUMING] = Resuming(catalog, history, overview, desk, coverage, clock)
    folders = [places.projects, archive.gone]
    app[USAGE] = book = UsageBook(catalog, cache, folders, label_of(overview))
    app[TIMELINES] = Timelines(catalog, cache, book, label_of(overview), coverage)
    app[FAMILIES] = families = Families(
        catalog, overview.session, Chains(), cache.sharing, lambda: book.all_seen, lane
    )
    app[BRANCHING] = Branching(history, families, lane)
    app[RETELLING] = Retelling(ask)
    app[ROUTINGS] = routings = RoutingBook(places.routings)
    app[ROUTER] = Router(
        catalog, overview, registry, config.routing, routings, taken=work.owns, clock=clock
    )
    app[SEARCH] = Search(places.words, folders, book.looked, lane, history)
    app[TERMINALS] = Terminals(desk, presences, bus, recent_lines(catalog))
    app[SOCKETS] = Sockets()
    tie_together(app)
    app.cleanup_ctx.extend(
        [
            door.watch,
            _slow_lane,
            _preferences,
            _records,
            *_running(PRESENCES, FOLLOW, CATALOG, ARCHIVE, USAGE, COVERAGE, SEARCH),
            # ends after the registry: what became of the last turns is still written down
            *_running(CONVERSATIONS),
            _registry,
        ]
    )
    app.on_shutdown.append(_say_goodbye)
    for endpoint in table:
        app.router.add_route(endpoint.method, endpoint.path, endpoint.handler)
    return app


def _running(*keys: web.AppKey[Any]) -> Iterator[Callable[[web.Application], AsyncIterator[None]]]:
    """Services that are started in this order, and closed in the other."""

    def context(key: web.AppKey[Any]) -> Callable[[web.Application], AsyncIterator[None]]:
        async def run(app: web.Application) -> AsyncIterator[None]:
            await app[key].start()
            yield
            await app[key].close()

        return run

    return map(context, keys)


async def _slow_lane(app: web.Application) -> AsyncIterator[None]:
    yield
    app[SLOW_LANE].close()


async def _preferences(app: web.Application) -> AsyncIterator[None]:
    await asyncio.to_thread(app[PREFERENCES].load)
    await asyncio.to_thread(app[ROUTINGS].load)
    yield
    await app[ROUTINGS].settled()
    await app[PREFERENCES].settled()


async def _records(app: web.Application) -> AsyncIterator[None]:
    await asyncio.to_thread(app[RECORDS].load)
    await asyncio.to_thread(app[FAILED].load)
    app[RECORDS].start()
    app[FAILED].start(app[RECORDS].all_left())
    yield
    await app[FAILED].close()
    await app[RECORDS].close()


async def _registry(app: web.Application) -> AsyncIterator[None]:
    yield
    await app[REGISTRY].close()


async def _say_goodbye(app: web.Application) -> None:
    await app[TERMINALS].close()
    app[SOCKETS].cut_off(GOING_AWAY, b"the keeper goes away")
