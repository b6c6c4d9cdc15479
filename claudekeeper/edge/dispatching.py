"""Conversations that belong to work: dispatch, look, reset, forget."""

from __future__ import annotations

import math

from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import CONVERSATIONS, RECORDS
from claudekeeper.edge.wire import LARGEST_MESSAGE, NoQuery, WorkQuery, body_of, query_of, reply
from claudekeeper.model.dispatch import (
    Dispatch,
    Dispatched,
    Forgotten,
    Reset,
    WholeConversation,
    WorkConversations,
)
from claudekeeper.model.errors import (
    BodyTooLarge,
    CommandRefused,
    ConversationNotFound,
    InvalidRequest,
    KeeperStopping,
    UnsupportedMedia,
    WorkdirMissing,
)

LONGEST_KEY = 200


def key_of(request: web.Request) -> str:
    key = request.match_info["key"]
    if not (1 <= len(key) <= LONGEST_KEY and key.isprintable() and key.strip()):
        raise InvalidRequest(f"A key has 1 to {LONGEST_KEY} printable characters.")
    return key


def place_at(cursor: str) -> tuple[float, str]:
    used, colon, key = cursor.partition(":")
    try:
        if colon and math.isfinite(moment := float(used)):
            return moment, key
    except ValueError:
        pass
    raise InvalidRequest("The cursor is not one that the keeper gave.")


async def dispatch(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    key = key_of(request)
    wish = await body_of(request, Dispatch, LARGEST_MESSAGE)
    dispatched = await request.app[CONVERSATIONS].dispatch(key, wish)
    await request.app[RECORDS].settled()
    return reply(dispatched)


async def list_conversations(request: web.Request) -> web.Response:
    query = query_of(request, WorkQuery)
    after = place_at(query.cursor) if query.cursor is not None else None
    found, more = await request.app[CONVERSATIONS].all(
        query.project, query.state, query.limit, after
    )
    return reply(WorkConversations(found, f"{more[0]!r}:{more[1]}" if more else None))


async def work_conversation(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    return reply(await request.app[CONVERSATIONS].get(key_of(request)))


async def forget_conversation(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    key = key_of(request)
    await request.app[CONVERSATIONS].forget(key)
    return reply(Forgotten(key))


async def reset_conversation(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    key = key_of(request)
    wish = await body_of(request, Reset)
    return reply(await request.app[CONVERSATIONS].reset(key, wish))


_BODY = (UnsupportedMedia, BodyTooLarge)

ENDPOINTS = [
    Endpoint(
        "POST",
        "/conversations/{key}/dispatch",
        dispatch,
        "Work on an item in its own conversation: continued if it lives, begun if not",
        Dispatched,
        takes=Dispatch,
        # not found: what was said under this uuid belonged to a conversation that is forgotten
        failures=(WorkdirMissing, CommandRefused, ConversationNotFound, KeeperStopping, *_BODY),
    ),
    Endpoint(
        "GET",
        "/conversations",
        list_conversations,
        "The conversations of items of work, the one used last first",
        WorkConversations,
        query=WorkQuery,
    ),
    Endpoint(
        "GET",
        "/conversations/{key}",
        work_conversation,
        "The conversation of one item, its earlier sessions and its dispatches",
        WholeConversation,
        failures=(ConversationNotFound,),
    ),
    Endpoint(
        "DELETE",
        "/conversations/{key}",
        forget_conversation,
        "Forget which session an item has, and end what runs of it; transcripts stay",
        Forgotten,
        failures=(ConversationNotFound,),
    ),
    Endpoint(
        "POST",
        "/conversations/{key}/reset",
        reset_conversation,
        "Let the next dispatch begin afresh",
        WholeConversation,
        takes=Reset,
        failures=(ConversationNotFound, *_BODY),
    ),
]
