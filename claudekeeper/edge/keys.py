"""What handlers find in the application."""

from __future__ import annotations

from aiohttp import web

from claudekeeper.config import Config
from claudekeeper.edge.auth import Door
from claudekeeper.features.preferences import Preferences
from claudekeeper.live.catalog import Catalog
from claudekeeper.readers.history import History

CONFIG: web.AppKey[Config] = web.AppKey("config", Config)
DOOR: web.AppKey[Door] = web.AppKey("door", Door)
CATALOG: web.AppKey[Catalog] = web.AppKey("catalog", Catalog)
HISTORY: web.AppKey[History] = web.AppKey("history", History)
PREFERENCES: web.AppKey[Preferences] = web.AppKey("preferences", Preferences)
STARTED: web.AppKey[float] = web.AppKey("started", float)
CLI_VERSION: web.AppKey[str] = web.AppKey("cli_version", str)
EPOCH: web.AppKey[str] = web.AppKey("epoch", str)
