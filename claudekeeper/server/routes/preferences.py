"""What a person prefers, in whichever browser."""

from __future__ import annotations

import msgspec
from aiohttp import web

from claudekeeper.contract.errors import StateUnwritable
from claudekeeper.net.errors import BodyTooLarge, UnsupportedMedia
from claudekeeper.net.responses import json_response
from claudekeeper.server.app_keys import PREFERENCES
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.schemas import EmptyQuery, parse_query, read_body
from claudekeeper.sessions.preferences import RecapLength


class PreferencesBody(msgspec.Struct, forbid_unknown_fields=True):
    """`recap`: how much of a session one is told on coming back; null until that was chosen."""

    recap: RecapLength | None


async def get_preferences(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    return json_response(PreferencesBody(request.app[PREFERENCES].recap))


async def set_preferences(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    body = await read_body(request, PreferencesBody)
    await request.app[PREFERENCES].set_recap(body.recap)
    return json_response(body)


ENDPOINTS = [
    Endpoint("GET", "/preferences", get_preferences, "The person's preferences", PreferencesBody),
    Endpoint(
        "PATCH",
        "/preferences",
        set_preferences,
        "Change preferences, for every browser",
        PreferencesBody,
        request_type=PreferencesBody,
        errors=(UnsupportedMedia, BodyTooLarge, StateUnwritable),
    ),
]
