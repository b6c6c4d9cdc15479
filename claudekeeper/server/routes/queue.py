"""Messages that wait in a session: read, taken back, held ones sent on."""

from __future__ import annotations

import contextlib
from typing import Any, Literal

import msgspec
from aiohttp import web

from claudekeeper.contract.errors import (
    KeeperBusy,
    KeeperStopping,
    MessageNotFound,
    MessageTaken,
    SessionElsewhere,
    SessionNotFound,
    TranscriptUnreadable,
)
from claudekeeper.contract.events import QueueState, QueueUpdated
from claudekeeper.contract.requests import SendHeldRequest
from claudekeeper.net.errors import BodyTooLarge
from claudekeeper.net.responses import json_response
from claudekeeper.server.app_keys import BUS, CATALOG, FAILED_TURNS, JOURNAL, MANAGER, VIEWS
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.routes.sessions import find_session_id
from claudekeeper.server.schemas import EmptyQuery, parse_query, read_optional_body
from claudekeeper.sessions.message_queue import QueuedMessage


class Withdrawn(msgspec.Struct):
    uuid: str
    state: str


class QueueQuery(msgspec.Struct, forbid_unknown_fields=True):
    """Without `state`: whatever waits."""

    state: Literal["queued", "held"] | None = None


class QueueEntry(msgspec.Struct):
    """A message as it was sent, images included."""

    uuid: str
    state: QueueState
    content: list[dict[str, Any]]


class QueueList(msgspec.Struct, rename="camel"):
    """What waits, in its order: whoever takes one of them back has its words before it is gone."""

    session_id: str
    messages: list[QueueEntry]


class AllWithdrawn(msgspec.Struct, rename="camel"):
    """What waited, in its order: whoever wants to say it in other words has it here."""

    session_id: str
    messages: list[QueueEntry]


class HeldSent(msgspec.Struct, rename="camel"):
    """Which messages wait for their turn again."""

    session_id: str
    uuids: list[str]


def queued_messages(request: web.Request, session_id: str) -> list[QueuedMessage]:
    live = request.app[MANAGER].get(session_id)
    if live is not None:
        return live.message_queue.messages
    interrupted = request.app[JOURNAL].interrupted_turn(session_id)
    return interrupted.queue if interrupted is not None else []


def held_count(request: web.Request, session_id: str) -> int:
    return sum(message.held for message in queued_messages(request, session_id))


async def list_queue(request: web.Request) -> web.Response:
    query = parse_query(request, QueueQuery)
    session_id = await find_session_id(request)
    items = _matching_messages(request, session_id, query)
    messages = [QueueEntry(each.uuid, each.to_queued_prompt().state, each.blocks) for each in items]
    return json_response(QueueList(session_id, messages))


def _matching_messages(
    request: web.Request, session_id: str, query: QueueQuery
) -> list[QueuedMessage]:
    held_states = {None: (True, False), "held": (True,), "queued": (False,)}[query.state]
    return [
        message for message in queued_messages(request, session_id) if message.held in held_states
    ]


async def withdraw(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    session_id = await find_session_id(request)
    uuid = request.match_info["uuid"].lower()
    _withdraw(request, session_id, uuid)
    await request.app[FAILED_TURNS].wait_until_saved()
    await request.app[JOURNAL].wait_until_saved()
    return json_response(Withdrawn(uuid, "cancelled"))


async def withdraw_all(request: web.Request) -> web.Response:
    query = parse_query(request, QueueQuery)
    session_id = await find_session_id(request)
    withdrawn: list[QueueEntry] = []
    for message in _matching_messages(request, session_id, query):
        # a session that consists of one message alone keeps it
        with contextlib.suppress(MessageNotFound):
            _withdraw(request, session_id, message.uuid)
            withdrawn.append(QueueEntry(message.uuid, "cancelled", message.blocks))
    # what was discarded does not come back with the next keeper
    await request.app[JOURNAL].wait_until_saved()
    return json_response(AllWithdrawn(session_id, withdrawn))


def _withdraw(request: web.Request, session_id: str, uuid: str) -> None:
    failed_prompt = request.app[FAILED_TURNS].pop_prompt(session_id, uuid)
    message = failed_prompt or request.app[JOURNAL].withdraw(session_id, uuid)
    if failed_prompt is not None and request.app[CATALOG].peek_row(session_id) is not None:
        # nor is it said by going on; a session that consists of it alone keeps it
        request.app[JOURNAL].forget_prompt(session_id, uuid)
        request.app[MANAGER].forget_prompt(session_id, uuid)
    if message is None:
        request.app[MANAGER].withdraw(session_id, uuid)
        return
    interrupted = request.app[JOURNAL].interrupted_turn(session_id)
    held = (
        [held_message.to_queued_prompt() for held_message in interrupted.held_messages]
        if interrupted is not None
        else []
    )
    queue = [message.to_queued_prompt("cancelled"), *held]
    request.app[BUS].publish(QueueUpdated(session_id=session_id, queue=queue))
    # nothing else may be left of the session
    request.app[VIEWS].publish_row_change(session_id)


async def send_held(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    session_id = await find_session_id(request)
    body = await read_optional_body(request, SendHeldRequest)
    uuids = await request.app[MANAGER].release_held(session_id, body.uuids, wait=body.wait)
    await request.app[JOURNAL].wait_until_saved()
    return json_response(HeldSent(session_id, uuids), 202)


ENDPOINTS = [
    Endpoint(
        "GET",
        "/sessions/{id}/queue",
        list_queue,
        "The messages in the queue, also held ones, as they were sent",
        QueueList,
        query_type=QueueQuery,
        errors=(SessionNotFound,),
    ),
    Endpoint(
        "DELETE",
        "/sessions/{id}/queue/{uuid}",
        withdraw,
        "Take back a message from the queue",
        Withdrawn,
        errors=(SessionNotFound, MessageNotFound, MessageTaken),
    ),
    Endpoint(
        "DELETE",
        "/sessions/{id}/queue",
        withdraw_all,
        "Take back all messages from the queue, also held ones",
        AllWithdrawn,
        query_type=QueueQuery,
        errors=(SessionNotFound,),
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/queue/send",
        send_held,
        "Send on the messages that are held",
        HeldSent,
        status=202,
        request_type=SendHeldRequest,
        body_optional=True,
        errors=(
            SessionNotFound,
            TranscriptUnreadable,
            SessionElsewhere,
            KeeperBusy,
            KeeperStopping,
            BodyTooLarge,
        ),
    ),
]
