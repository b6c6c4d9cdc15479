"""What hooks of Claude Codes elsewhere tell and ask; opened by the hooks' own token too."""

from __future__ import annotations

from typing import Any

import msgspec
from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import TERMINALS
from claudekeeper.edge.wire import NoQuery, body_of, query_of, reply
from claudekeeper.model.errors import BodyTooLarge, KeeperStopping, UnsupportedMedia
from claudekeeper.model.hooks import HookCall

# a question may show a whole file that is to be written; it is held until somebody answers
LARGEST_CALL = 8 * 1024 * 1024


class HookAnswer(msgspec.Struct):
    """What the hook prints; null: the terminal decides."""

    output: dict[str, Any] | None


async def permission(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    call = await body_of(request, HookCall, LARGEST_CALL)

    def still_there() -> bool:
        return request.transport is not None and not request.transport.is_closing()

    return reply(HookAnswer(await request.app[TERMINALS].ask(call, still_there)))


async def event(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    await request.app[TERMINALS].notify(await body_of(request, HookCall))
    return reply(HookAnswer(None))


ENDPOINTS = [
    Endpoint(
        "POST",
        "/hooks/permission",
        permission,
        "A permission request of a terminal; answered when a person here or there answers it",
        HookAnswer,
        takes=HookCall,
        failures=(KeeperStopping, UnsupportedMedia, BodyTooLarge),
        hooks=True,
    ),
    Endpoint(
        "POST",
        "/hooks/event",
        event,
        "Something that happened in a terminal: a notification, a stop, a beginning, an end",
        HookAnswer,
        takes=HookCall,
        failures=(UnsupportedMedia, BodyTooLarge),
        hooks=True,
    ),
]
