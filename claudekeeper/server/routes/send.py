"""Sending a message to a session, and routing it."""

from __future__ import annotations

import msgspec
from aiohttp import web

from claudekeeper.contract.errors import (
    CommandRefused,
    ForkRefused,
    KeeperBusy,
    KeeperStopping,
    ModelRefused,
    ModeRefused,
    SessionElsewhere,
    SessionNotFound,
    TranscriptUnreadable,
    WorkdirMissing,
)
from claudekeeper.contract.requests import (
    RouteRequest,
    SendRequest,
)
from claudekeeper.contract.routing import RoutedMessage, RoutingDecision
from claudekeeper.contract.sessions import AppendedPrompt, SessionState
from claudekeeper.net.errors import BodyTooLarge, UnsupportedMedia
from claudekeeper.net.responses import json_response
from claudekeeper.server.app_keys import (
    CATALOG,
    JOURNAL,
    MANAGER,
    PREFERENCES,
    ROUTER,
    ROUTING_LOG,
)
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.routes.sessions import find_session_id
from claudekeeper.server.schemas import (
    LARGEST_MESSAGE,
    EmptyQuery,
    parse_query,
    read_body,
)
from claudekeeper.sessions.session import LiveSession


class SendAccepted(msgspec.Struct, rename="camel"):
    """The message is in line; what becomes of it is told over the socket."""

    session_id: str
    uuid: str
    state: SessionState
    # where the keeper was asked which conversation it belongs to
    routing: RoutingDecision | msgspec.UnsetType = msgspec.UNSET
    # its words ended the planning there: the mode in which the session goes on
    left_plan_for: str | msgspec.UnsetType = msgspec.UNSET
    # where one was sent along: whether it holds yet; null once it is cleared
    system_prompt: AppendedPrompt | msgspec.UnsetType | None = msgspec.UNSET


class RoutingList(msgspec.Struct):
    """Of messages of a session, why they went there, the oldest first."""

    routings: list[RoutedMessage]


async def send(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    body = (await read_body(request, SendRequest, LARGEST_MESSAGE)).validate()
    if body.route:
        live, routed = await request.app[ROUTER].send(body)
        return await _accepted_response(request, body, live, routed)
    if body.fork:
        await fork_for_message(request, body)
    if body.routing is not None:
        return await _accepted_response(
            request, body, *await request.app[ROUTER].send_to_chosen(body)
        )
    return await _accepted_response(request, body, await request.app[MANAGER].send(body))


async def _accepted_response(
    request: web.Request,
    body: SendRequest,
    session: LiveSession,
    routed: RoutedMessage | None = None,
) -> web.Response:
    # who is told that it was taken can rely on it, whatever becomes of the keeper
    await request.app[JOURNAL].wait_until_saved()
    accepted = SendAccepted(session.id, body.uuid or "", session.state)
    if routed is not None:
        await request.app[ROUTING_LOG].wait_until_saved()
        if body.route:
            accepted.routing = routed.routing
        accepted.left_plan_for = routed.left_plan_for or msgspec.UNSET
    if body.system_prompt is not msgspec.UNSET:
        await request.app[PREFERENCES].wait_until_saved()
        accepted.system_prompt = request.app[MANAGER].system_prompt(session.id)
    return json_response(accepted, 202)


async def fork_for_message(request: web.Request, body: SendRequest) -> None:
    """The same message twice goes to the same copy."""
    body.session_id = await request.app[MANAGER].fork_for_message(
        body.session_id or "", body.uuid or ""
    )
    await request.app[CATALOG].row(body.session_id)


async def route(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    body = await read_body(request, RouteRequest)
    return json_response(await request.app[ROUTER].route(body))


async def routings(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    session_id = await find_session_id(request)
    return json_response(RoutingList(request.app[ROUTING_LOG].of_session(session_id)))


_BODY = (UnsupportedMedia, BodyTooLarge)

ENDPOINTS = [
    Endpoint(
        "POST",
        "/send",
        send,
        "Send a message to a session, or start a new one; answers at once",
        SendAccepted,
        status=202,
        request_type=SendRequest,
        errors=(
            SessionNotFound,
            TranscriptUnreadable,
            WorkdirMissing,
            CommandRefused,
            SessionElsewhere,
            ForkRefused,
            ModelRefused,
            ModeRefused,
            KeeperBusy,
            KeeperStopping,
            *_BODY,
        ),
    ),
    Endpoint(
        "POST",
        "/route",
        route,
        "Which recent session a prompt belongs to, if any; nothing is sent",
        RoutingDecision,
        request_type=RouteRequest,
        errors=_BODY,
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/routings",
        routings,
        "The routing decisions behind messages of a session",
        RoutingList,
        errors=(SessionNotFound,),
    ),
]
