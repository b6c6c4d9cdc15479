"""What hooks of Claude Codes elsewhere tell and ask; opened by the hooks' own token too."""

from __future__ import annotations

from typing import Any

import msgspec
from aiohttp import web

from claudekeeper.attention.hook_calls import HookCall
from claudekeeper.contract.errors import KeeperStopping
from claudekeeper.net.errors import BodyTooLarge, UnsupportedMedia
from claudekeeper.net.responses import json_response
from claudekeeper.server.app_keys import TERMINAL_PROMPTS
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.schemas import EmptyQuery, parse_query, read_body

# a question may show a whole file that is to be written; it is held until somebody answers
LARGEST_CALL = 8 * 1024 * 1024


class HookAnswer(msgspec.Struct):
    """What the hook prints; null: the terminal decides."""

    output: dict[str, Any] | None


async def permission(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    call = await read_body(request, HookCall, LARGEST_CALL)

    def still_there() -> bool:
        return request.transport is not None and not request.transport.is_closing()

    return json_response(
        HookAnswer(await request.app[TERMINAL_PROMPTS].handle_permission_request(call, still_there))
    )


async def event(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    await request.app[TERMINAL_PROMPTS].handle_notification(await read_body(request, HookCall))
    return json_response(HookAnswer(None))


ENDPOINTS = [
    Endpoint(
        "POST",
        "/hooks/permission",
        permission,
        "Ask about a permission request of a terminal; waits until a person answers here or there",
        HookAnswer,
        request_type=HookCall,
        errors=(KeeperStopping, UnsupportedMedia, BodyTooLarge),
        allows_hook_token=True,
    ),
    Endpoint(
        "POST",
        "/hooks/event",
        event,
        "Report a hook event of a terminal: a notification, a stop, a start or an end",
        HookAnswer,
        request_type=HookCall,
        errors=(UnsupportedMedia, BodyTooLarge),
        allows_hook_token=True,
    ),
]
