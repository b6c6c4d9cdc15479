"""Messages that wait in a session: read, taken back, held ones sent on."""

from __future__ import annotations

import contextlib
from typing import Any, Literal

import msgspec
from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import BUS, CATALOG, FAILED, OVERVIEW, RECORDS, REGISTRY
from claudekeeper.edge.sessions import known_id
from claudekeeper.edge.wire import NoQuery, optional_body_of, query_of, reply
from claudekeeper.live.line import Item
from claudekeeper.model.commands import SendOn
from claudekeeper.model.errors import (
    BodyTooLarge,
    KeeperBusy,
    KeeperStopping,
    MessageNotFound,
    MessageTaken,
    SessionElsewhere,
    SessionNotFound,
    TranscriptUnreadable,
)
from claudekeeper.model.events import QueueState, QueueUpdated


class TakenBack(msgspec.Struct):
    uuid: str
    state: str


class WaitingQuery(msgspec.Struct, forbid_unknown_fields=True):
    """Without `state`: whatever waits."""

    state: Literal["queued", "held"] | None = None


class WaitingMessage(msgspec.Struct):
    """A message as it was sent, images included."""

    uuid: str
    state: QueueState
    content: list[dict[str, Any]]


class Waiting(msgspec.Struct, rename="camel"):
    """What waits, in its order: whoever takes one of them back has its words before it is gone."""

    session_id: str
    messages: list[WaitingMessage]


class AllTakenBack(msgspec.Struct, rename="camel"):
    """What waited, in its order: whoever wants to say it in other words has it here."""

    session_id: str
    messages: list[WaitingMessage]


class HeldSentOn(msgspec.Struct, rename="camel"):
    """Which messages wait for their turn again."""

    session_id: str
    uuids: list[str]


def waiting_in(request: web.Request, session_id: str) -> list[Item]:
    live = request.app[REGISTRY].get(session_id)
    if live is not None:
        return live.line.waiting
    left = request.app[RECORDS].left(session_id)
    return left.queue if left is not None else []


def held_in(request: web.Request, session_id: str) -> int:
    return sum(item.held for item in waiting_in(request, session_id))


async def waiting(request: web.Request) -> web.Response:
    query = query_of(request, WaitingQuery)
    session_id = await known_id(request)
    items = _wanted(request, session_id, query)
    messages = [WaitingMessage(each.uuid, each.shown().state, each.blocks) for each in items]
    return reply(Waiting(session_id, messages))


def _wanted(request: web.Request, session_id: str, query: WaitingQuery) -> list[Item]:
    wanted = {None: (True, False), "held": (True,), "queued": (False,)}[query.state]
    return [item for item in waiting_in(request, session_id) if item.held in wanted]


async def take_back(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    session_id = await known_id(request)
    uuid = request.match_info["uuid"].lower()
    _take_back(request, session_id, uuid)
    await request.app[FAILED].settled()
    await request.app[RECORDS].settled()
    return reply(TakenBack(uuid, "cancelled"))


async def take_all_back(request: web.Request) -> web.Response:
    query = query_of(request, WaitingQuery)
    session_id = await known_id(request)
    taken: list[WaitingMessage] = []
    for item in _wanted(request, session_id, query):
        # a session that consists of one message alone keeps it
        with contextlib.suppress(MessageNotFound):
            _take_back(request, session_id, item.uuid)
            taken.append(WaitingMessage(item.uuid, "cancelled", item.blocks))
    # what was discarded does not come back with the next keeper
    await request.app[RECORDS].settled()
    return reply(AllTakenBack(session_id, taken))


def _take_back(request: web.Request, session_id: str, uuid: str) -> None:
    failed = request.app[FAILED].take_prompt(session_id, uuid)
    left = failed or request.app[RECORDS].take_back(session_id, uuid)
    if failed is not None and request.app[CATALOG].known(session_id) is not None:
        # nor is it said by going on; a session that consists of it alone keeps it
        request.app[RECORDS].forget_prompt(session_id, uuid)
        request.app[REGISTRY].forget_prompt(session_id, uuid)
    if left is None:
        request.app[REGISTRY].take_back(session_id, uuid)
        return
    still = request.app[RECORDS].left(session_id)
    held = [item.shown() for item in still.held] if still is not None else []
    queue = [left.shown("cancelled"), *held]
    request.app[BUS].publish(QueueUpdated(session_id=session_id, queue=queue))
    # nothing else may be left of the session
    request.app[OVERVIEW].tell_row(session_id)


async def send_on(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    session_id = await known_id(request)
    wish = await optional_body_of(request, SendOn)
    uuids = await request.app[REGISTRY].send_on(session_id, wish.uuids, wait=wish.wait)
    await request.app[RECORDS].settled()
    return reply(HeldSentOn(session_id, uuids), 202)


ENDPOINTS = [
    Endpoint(
        "GET",
        "/sessions/{id}/queue",
        waiting,
        "What waits in line, or what is held there, as it was sent",
        Waiting,
        query=WaitingQuery,
        failures=(SessionNotFound,),
    ),
    Endpoint(
        "DELETE",
        "/sessions/{id}/queue/{uuid}",
        take_back,
        "Take back a message that waits in line",
        TakenBack,
        failures=(SessionNotFound, MessageNotFound, MessageTaken),
    ),
    Endpoint(
        "DELETE",
        "/sessions/{id}/queue",
        take_all_back,
        "Take back what waits in line, or what is held there",
        AllTakenBack,
        query=WaitingQuery,
        failures=(SessionNotFound,),
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/queue/send",
        send_on,
        "Send on the messages that are held",
        HeldSentOn,
        status=202,
        takes=SendOn,
        may_be_empty=True,
        failures=(
            SessionNotFound,
            TranscriptUnreadable,
            SessionElsewhere,
            KeeperBusy,
            KeeperStopping,
            BodyTooLarge,
        ),
    ),
]
