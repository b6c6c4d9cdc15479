"""What a person prefers, in whichever browser."""

from __future__ import annotations

import msgspec
from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import PREFERENCES
from claudekeeper.edge.wire import NoQuery, body_of, query_of, reply
from claudekeeper.features.preferences import Telling
from claudekeeper.model.errors import BodyTooLarge, StateUnwritable, UnsupportedMedia


class Preferred(msgspec.Struct, forbid_unknown_fields=True):
    """`recap`: how much of a session one is told on coming back; null until that was chosen."""

    recap: Telling | None


async def preferred(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    return reply(Preferred(request.app[PREFERENCES].recap))


async def prefer(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    wish = await body_of(request, Preferred)
    await request.app[PREFERENCES].prefer(wish.recap)
    return reply(wish)


ENDPOINTS = [
    Endpoint("GET", "/preferences", preferred, "What the person prefers", Preferred),
    Endpoint(
        "PATCH",
        "/preferences",
        prefer,
        "Prefer something else, in every browser",
        Preferred,
        takes=Preferred,
        failures=(UnsupportedMedia, BodyTooLarge, StateUnwritable),
    ),
]
