"""What handlers find in the application."""

from __future__ import annotations

from aiohttp import web

from claudekeeper.config import Config
from claudekeeper.edge.auth import Door
from claudekeeper.edge.sockets import Sockets
from claudekeeper.edge.tally import Tally
from claudekeeper.features.archive import Archive
from claudekeeper.features.branching import Branching
from claudekeeper.features.conversations import Conversations
from claudekeeper.features.coverage import CoverageBook
from claudekeeper.features.family import Families
from claudekeeper.features.granting import Granting
from claudekeeper.features.preferences import Preferences
from claudekeeper.features.resuming import Resuming
from claudekeeper.features.retelling import Retelling
from claudekeeper.features.router import Router
from claudekeeper.features.routing_book import RoutingBook
from claudekeeper.features.searching import Search
from claudekeeper.features.timeline import Timelines
from claudekeeper.features.usage import UsageBook
from claudekeeper.live.abilities import Abilities
from claudekeeper.live.attention import Desk
from claudekeeper.live.bus import Bus
from claudekeeper.live.catalog import Catalog
from claudekeeper.live.ending import Ending
from claudekeeper.live.failed_turns import FailedTurns
from claudekeeper.live.follow import Follow
from claudekeeper.live.overview import Overview
from claudekeeper.live.presence import Presences
from claudekeeper.live.promptness import SlowLane
from claudekeeper.live.registry import Registry
from claudekeeper.live.terminals import Terminals
from claudekeeper.live.unfinished import Records
from claudekeeper.readers.history import History

CONFIG: web.AppKey[Config] = web.AppKey("config", Config)
DOOR: web.AppKey[Door] = web.AppKey("door", Door)
ARCHIVE: web.AppKey[Archive] = web.AppKey("archive", Archive)
BRANCHING: web.AppKey[Branching] = web.AppKey("branching", Branching)
FAMILIES: web.AppKey[Families] = web.AppKey("families", Families)
CATALOG: web.AppKey[Catalog] = web.AppKey("catalog", Catalog)
SLOW_LANE: web.AppKey[SlowLane] = web.AppKey("slow_lane", SlowLane)
HISTORY: web.AppKey[History] = web.AppKey("history", History)
PREFERENCES: web.AppKey[Preferences] = web.AppKey("preferences", Preferences)
TALLY: web.AppKey[Tally] = web.AppKey("tally", Tally)
STARTED: web.AppKey[float] = web.AppKey("started", float)
CLI_VERSION: web.AppKey[str] = web.AppKey("cli_version", str)
BUS: web.AppKey[Bus] = web.AppKey("bus", Bus)
GRANTING: web.AppKey[Granting] = web.AppKey("granting", Granting)
DESK: web.AppKey[Desk] = web.AppKey("desk", Desk)
FOLLOW: web.AppKey[Follow] = web.AppKey("follow", Follow)
PRESENCES: web.AppKey[Presences] = web.AppKey("presences", Presences)
TERMINALS: web.AppKey[Terminals] = web.AppKey("terminals", Terminals)
REGISTRY: web.AppKey[Registry] = web.AppKey("registry", Registry)
RECORDS: web.AppKey[Records] = web.AppKey("records", Records)
FAILED: web.AppKey[FailedTurns] = web.AppKey("failed", FailedTurns)
ENDING: web.AppKey[Ending] = web.AppKey("ending", Ending)
OVERVIEW: web.AppKey[Overview] = web.AppKey("overview", Overview)
CONVERSATIONS: web.AppKey[Conversations] = web.AppKey("conversations", Conversations)
COVERAGE: web.AppKey[CoverageBook] = web.AppKey("coverage", CoverageBook)
ROUTINGS: web.AppKey[RoutingBook] = web.AppKey("routings", RoutingBook)
RESUMING: web.AppKey[Resuming] = web.AppKey("resuming", Resuming)
RETELLING: web.AppKey[Retelling] = web.AppKey("retelling", Retelling)
ROUTER: web.AppKey[Router] = web.AppKey("router", Router)
SEARCH: web.AppKey[Search] = web.AppKey("search", Search)
ABILITIES: web.AppKey[Abilities] = web.AppKey("abilities", Abilities)
TIMELINES: web.AppKey[Timelines] = web.AppKey("timelines", Timelines)
USAGE: web.AppKey[UsageBook] = web.AppKey("usage", UsageBook)
SOCKETS: web.AppKey[Sockets] = web.AppKey("sockets", Sockets)
