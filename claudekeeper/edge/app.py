"""The application: what it is made of, and what starts and ends with it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

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
    DESK,
    DOOR,
    ENDING,
    FAMILIES,
    FOLLOW,
    HISTORY,
    OVERVIEW,
    PREFERENCES,
    PRESENCES,
    RECORDS,
    REGISTRY,
    RESUMING,
    RETELLING,
    ROUTER,
    SEARCH,
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
from claudekeeper.edge.wire import LARGEST_MESSAGE
from claudekeeper.features.archive import Archive
from claudekeeper.features.branching import Branching
from claudekeeper.features.conversation_book import Book
from claudekeeper.features.conversations import Conversations
from claudekeeper.features.family import Families
from claudekeeper.features.preferences import Preferences
from claudekeeper.features.resuming import Resuming
from claudekeeper.features.retelling import Ask, Retelling
from claudekeeper.features.router import Router
from claudekeeper.features.searching import Search
from claudekeeper.features.succession import LastWords, Sessions, last_words_of, reply_of
from claudekeeper.features.timeline import Timelines
from claudekeeper.features.usage import UsageBook
from claudekeeper.live.abilities import Abilities
from claudekeeper.live.aside import ask_aside
from claudekeeper.live.attention import Desk
from claudekeeper.live.bus import Bus
from claudekeeper.live.catalog import Catalog
from claudekeeper.live.client import MakeClient, make_sdk_client
from claudekeeper.live.ending import Ending
from claudekeeper.live.follow import Follow
from claudekeeper.live.ledger import Ledgers
from claudekeeper.live.overview import Overview
from claudekeeper.live.presence import Presences
from claudekeeper.live.registry import Disk, Registry
from claudekeeper.live.terminals import Terminals
from claudekeeper.live.unfinished import Records, under_way
from claudekeeper.model.entries import Entry
from claudekeeper.model.errors import TranscriptUnreadable
from claudekeeper.readers.cache import Cache
from claudekeeper.readers.chains import Chains
from claudekeeper.readers.discovery import Row
from claudekeeper.readers.glance import first_that_begins_with
from claudekeeper.readers.history import History
from claudekeeper.readers.tail import last_lines
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
    def turns(self) -> Path:
        """What is under way, for the next keeper."""
        return self.state.with_name("turns.json")


def endpoints() -> list[Endpoint]:
    """Every address of the keeper."""
    subjects = (
        health,
        metrics,
        sessions,
        conversations,
        subagents,
        talking,
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
    app[PREFERENCES] = preferences = Preferences(places.state)
    app[ARCHIVE] = archive = Archive(places.projects, places.state.parent)
    cache = Cache(places.cache)
    app[CATALOG] = catalog = Catalog(places.projects, cache, archive.gone)
    app[BUS] = bus = Bus()
    app[DESK] = desk = Desk(bus)
    # Claude Code keeps them beside the projects
    app[PRESENCES] = presences = Presences(places.projects.parent / "sessions")
    ledgers = Ledgers(bus)
    app[REGISTRY] = registry = Registry(
        bus, desk, _disk(app), ledgers, make_client, config.limits, preferences
    )
    app[FOLLOW] = Follow(catalog.watcher, places.projects, catalog.known, ledgers, history, bus)
    app[ABILITIES] = Abilities(make_client)
    app[RECORDS] = records = Records(
        places.turns,
        lambda session_id: under_way(registry.get(session_id), desk),
        lambda session_id: registry.get(session_id) is not None,
    )
    app[ENDING] = Ending(registry, desk, records)
    app[OVERVIEW] = overview = Overview(
        catalog, registry, preferences.name_of, presences, desk, bus, records.left
    )
    app[CONVERSATIONS] = work = Conversations(
        Book(places.book),
        registry,
        bus,
        _sessions(catalog, history, overview),
        config.conversations,
        clock,
    )
    app[RESUMING] = Resuming(catalog, history, overview, desk, clock)
    folders = [places.projects, archive.gone]
    app[USAGE] = book = UsageBook(catalog, cache, folders, _label_of(overview))
    app[TIMELINES] = Timelines(catalog, cache, book, _label_of(overview))
    app[FAMILIES] = families = Families(catalog, overview.session, Chains(), cache.sharing)
    app[BRANCHING] = Branching(history, families)
    app[RETELLING] = Retelling(ask)
    app[ROUTER] = Router(catalog, overview, registry, config.routing, taken=work.owns, clock=clock)
    app[SEARCH] = Search(places.words, folders, book.looked)
    app[TERMINALS] = Terminals(desk, presences, bus, _recent_lines(catalog))
    app[SOCKETS] = Sockets()
    _tie_together(app)
    app.cleanup_ctx.append(door.watch)
    app.cleanup_ctx.append(_preferences)
    app.cleanup_ctx.append(_records)
    app.cleanup_ctx.append(_presences)
    app.cleanup_ctx.append(_follow)
    app.cleanup_ctx.append(_catalog)
    app.cleanup_ctx.append(_archive)
    app.cleanup_ctx.append(_usage)
    app.cleanup_ctx.append(_search)
    # ends after the registry: what became of the last turns is still written down
    app.cleanup_ctx.append(_conversations)
    app.cleanup_ctx.append(_registry)
    app.on_shutdown.append(_say_goodbye)
    for endpoint in table:
        app.router.add_route(endpoint.method, endpoint.path, endpoint.handler)
    return app


def _tie_together(app: web.Application) -> None:
    """Who is told of what: this keeper's CLIs, others', and the files that both write."""
    registry, presences, follow = app[REGISTRY], app[PRESENCES], app[FOLLOW]
    overview, catalog = app[OVERVIEW], app[CATALOG]
    archive, search = app[ARCHIVE], app[SEARCH]
    records, ending, terminals = app[RECORDS], app[ENDING], app[TERMINALS]

    def session_changed(session_id: str) -> None:
        # first: what was left unfinished may have just been taken up again
        records.note(session_id)
        overview.tell(session_id)
        ending.note(session_id)
        follow.settle(session_id)

    def presence_changed(session_id: str) -> None:
        registry.make_way(session_id, presences.of(session_id))
        follow.attend(session_id)
        terminals.presence_changed(session_id)
        session_changed(session_id)

    def row_changed(before: Row | None, row: Row | None) -> None:
        follow.row_changed(before, row)
        app[USAGE].note(row)
        search.row_changed(before, row)
        if row is None:
            archive.nudge()

    def touched(paths: Iterable[str]) -> None:
        paths = list(paths)
        follow.touched(paths)
        search.touched(paths)

    def told_by_its_own(session_id: str) -> bool:
        live = registry.get(session_id)
        return live is not None and live.occupies and session_id not in presences

    catalog.changed = overview.tell_row
    # a first reading of everything would push all else out of what is kept
    catalog.reads_much = lambda much: app[BUS].keep(not much)
    overview.is_archived = archive.has
    overview.archived_since = archive.since
    registry.changed = app[DESK].changed = session_changed
    presences.ours = registry.runs
    presences.changed = presence_changed
    catalog.watcher.touched = touched
    catalog.row_changed = row_changed
    archive.moved = catalog.look_at
    follow.told_otherwise = told_by_its_own
    follow.heard = terminals.heard
    terminals.runs = lambda session_id, pid: pid in registry.pids or told_by_its_own(session_id)


def _disk(app: web.Application) -> Disk:
    """What the registry asks of the transcripts, and of what never came to one."""
    catalog, history, presences = app[CATALOG], app[HISTORY], app[PRESENCES]
    archive = app[ARCHIVE]

    async def workdir(session_id: str) -> str | None:
        row = await catalog.row(session_id)
        if row is not None and archive.has(row):
            # Claude Code can go on only with what lies where it looks
            await asyncio.to_thread(archive.restore, session_id)
            row = await catalog.row(session_id)
        if row is None:
            return None
        if row.fault is not None:
            # Claude Code cannot read it either: it would end without a word
            raise TranscriptUnreadable(f"{row.fault.message} Claude Code cannot go on with it.")
        return row.summary.workdir or str(Path.home())

    def begun(session_id: str) -> str | None:
        left = app[RECORDS].left(session_id)
        return left.workdir if left is not None else None

    async def begun_with(workdir: str, uuid: str) -> str | None:
        if (left := app[RECORDS].of_prompt(uuid)) is not None:
            return left
        rows = (row for row in await catalog.rows() if row.summary.workdir == workdir)
        paths = {row.found.path: row.found.id for row in islice(rows, RECENT_SESSIONS)}
        first = await asyncio.to_thread(first_that_begins_with, paths, uuid)
        return paths[first] if first is not None else None

    async def recent(session_id: str) -> list[str]:
        row = await catalog.row(session_id)
        if row is None or row.fault is not None:
            return []
        page = await asyncio.to_thread(
            history.page, Path(row.found.path), session_id, limit=RECENT_MESSAGES
        )
        return [message.uuid for message in page.messages]

    return Disk(workdir, begun, begun_with, recent, presences.now, presences.vacant)


def _sessions(catalog: Catalog, history: History, overview: Overview) -> Sessions:
    """What conversations of work ask of sessions."""

    async def exists(session_id: str) -> bool:
        return await catalog.row(session_id) is not None

    def messages(session_id: str) -> int | None:
        session = overview.session(session_id)
        return session.message_count if session is not None else None

    async def last_words(session_id: str, most: int) -> LastWords:
        row = await catalog.row(session_id)
        if row is None or row.fault is not None:
            return LastWords([], 0)
        return await asyncio.to_thread(
            last_words_of, history, Path(row.found.path), session_id, most
        )

    async def reply_to(session_id: str, uuid: str) -> str | None:
        row = await catalog.row(session_id)
        if row is None or row.fault is not None:
            return None
        return await asyncio.to_thread(reply_of, history, Path(row.found.path), session_id, uuid)

    return Sessions(exists, messages, last_words, reply_to)


async def _conversations(app: web.Application) -> AsyncIterator[None]:
    await app[CONVERSATIONS].start()
    yield
    await app[CONVERSATIONS].close()


async def _records(app: web.Application) -> AsyncIterator[None]:
    await asyncio.to_thread(app[RECORDS].load)
    app[RECORDS].start()
    yield
    await app[RECORDS].close()


async def _registry(app: web.Application) -> AsyncIterator[None]:
    yield
    await app[REGISTRY].close()


def _recent_lines(catalog: Catalog) -> Callable[[str], Awaitable[list[Entry]]]:
    async def recent(session_id: str) -> list[Entry]:
        row = await catalog.row(session_id)
        return await asyncio.to_thread(last_lines, row.found.path) if row is not None else []

    return recent


async def _say_goodbye(app: web.Application) -> None:
    await app[TERMINALS].close()
    app[SOCKETS].cut_off(GOING_AWAY, b"the keeper goes away")


async def _preferences(app: web.Application) -> AsyncIterator[None]:
    await asyncio.to_thread(app[PREFERENCES].load)
    yield
    await app[PREFERENCES].settled()


async def _presences(app: web.Application) -> AsyncIterator[None]:
    await app[PRESENCES].start()
    yield
    await app[PRESENCES].close()


async def _follow(app: web.Application) -> AsyncIterator[None]:
    await app[FOLLOW].start()
    yield
    await app[FOLLOW].close()


async def _search(app: web.Application) -> AsyncIterator[None]:
    await app[SEARCH].start()
    yield
    await app[SEARCH].close()


async def _archive(app: web.Application) -> AsyncIterator[None]:
    await app[ARCHIVE].start()
    yield
    await app[ARCHIVE].close()


def _label_of(overview: Overview) -> Callable[[str], str | None]:
    def label(session_id: str) -> str | None:
        session = overview.session(session_id)
        return (session.name or session.title or session.first_prompt) if session else None

    return label


async def _usage(app: web.Application) -> AsyncIterator[None]:
    await app[USAGE].start()
    yield
    await app[USAGE].close()


async def _catalog(app: web.Application) -> AsyncIterator[None]:
    await app[CATALOG].start()
    yield
    await app[CATALOG].close()
