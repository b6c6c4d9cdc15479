"""Conversations that belong to work: dispatch, look, reset, forget."""

from __future__ import annotations

import math
from urllib.parse import quote, unquote

from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import CONVERSATIONS, RECORDS
from claudekeeper.edge.wire import (
    LARGEST_MESSAGE,
    ItemQuery,
    TrailQuery,
    WorkQuery,
    body_of,
    query_of,
    reply,
)
from claudekeeper.features.conversation_book import Place
from claudekeeper.model.dispatch import (
    AuditTrail,
    Dispatch,
    Dispatched,
    Forgotten,
    Reset,
    WholeConversation,
    WorkConversations,
)
from claudekeeper.model.errors import (
    BodyTooLarge,
    CeilingReached,
    CommandRefused,
    ConversationEnded,
    ConversationNotFound,
    ConversationsDisabled,
    InvalidRequest,
    KeeperStopping,
    ProjectNeeded,
    UnsupportedMedia,
    WorkdirMissing,
)
from claudekeeper.model.sessions import WorkItem

LONGEST_KEY = 200
ODD_CURSOR = "The cursor is not one that the keeper gave."


def key_of(request: web.Request) -> str:
    key = request.match_info["key"]
    if not (1 <= len(key) <= LONGEST_KEY and key.isprintable() and key.strip()):
        raise InvalidRequest(f"A key has 1 to {LONGEST_KEY} printable characters.")
    return key


def _is_a_name(project: str) -> bool:
    return len(project) <= LONGEST_KEY and project.isprintable()


def place_at(cursor: str) -> Place:
    used, _, rest = cursor.partition(":")
    project, colon, key = rest.partition(":")
    try:
        if colon and math.isfinite(moment := float(used)):
            return moment, WorkItem(key, unquote(project) or None)
    except ValueError:
        pass
    raise InvalidRequest(ODD_CURSOR)


def cursor_of(place: Place) -> str:
    used, item = place
    return f"{used!r}:{quote(item.project or '', safe='')}:{item.key}"


async def dispatch(request: web.Request) -> web.Response:
    project = query_of(request, ItemQuery).project
    key = key_of(request)
    wish = await body_of(request, Dispatch, LARGEST_MESSAGE)
    if project is not None and wish.project not in (None, project):
        raise InvalidRequest("The body names another 'project' than the address.")
    wish.project = wish.project if wish.project is not None else project
    if wish.project is not None and not _is_a_name(wish.project):
        raise InvalidRequest(f"A project has at most {LONGEST_KEY} printable characters.")
    dispatched = await request.app[CONVERSATIONS].dispatch(key, wish)
    await request.app[RECORDS].settled()
    return reply(dispatched)


async def list_conversations(request: web.Request) -> web.Response:
    query = query_of(request, WorkQuery)
    after = place_at(query.cursor) if query.cursor is not None else None
    session_id = query.session_id.lower() if query.session_id is not None else None
    found, more = await request.app[CONVERSATIONS].all(
        query.project, query.state, query.limit, after, session_id
    )
    return reply(WorkConversations(found, cursor_of(more) if more else None))


async def work_conversation(request: web.Request) -> web.Response:
    project = query_of(request, ItemQuery).project
    return reply(await request.app[CONVERSATIONS].get(key_of(request), project))


async def forget_conversation(request: web.Request) -> web.Response:
    project = query_of(request, ItemQuery).project
    item = await request.app[CONVERSATIONS].forget(key_of(request), project)
    return reply(Forgotten(item.key, item.project))


async def reset_conversation(request: web.Request) -> web.Response:
    project = query_of(request, ItemQuery).project
    key = key_of(request)
    wish = await body_of(request, Reset)
    return reply(await request.app[CONVERSATIONS].reset(key, wish, project))


async def audit_trail(request: web.Request) -> web.Response:
    query = query_of(request, TrailQuery)
    before = query.cursor
    if before is not None and not (before.isascii() and before.isdigit() and len(before) <= 18):
        raise InvalidRequest(ODD_CURSOR)
    session_id = query.session_id.lower() if query.session_id is not None else None
    return reply(
        await request.app[CONVERSATIONS].trail(
            query.key, query.project, session_id, query.limit, int(before) if before else None
        )
    )


_BODY = (UnsupportedMedia, BodyTooLarge)

ENDPOINTS = [
    Endpoint(
        "POST",
        "/conversations/{key}/dispatch",
        dispatch,
        "Work on an item in its own conversation: continued if it lives, begun if not",
        Dispatched,
        query=ItemQuery,
        takes=Dispatch,
        failures=(
            WorkdirMissing,
            CommandRefused,
            ConversationsDisabled,
            # what was said under this uuid belonged to a conversation that is forgotten
            ConversationNotFound,
            ProjectNeeded,
            CeilingReached,
            ConversationEnded,
            KeeperStopping,
            *_BODY,
        ),
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
        query=ItemQuery,
        failures=(ConversationNotFound, ProjectNeeded),
    ),
    Endpoint(
        "DELETE",
        "/conversations/{key}",
        forget_conversation,
        "Forget which session an item has, and end what runs of it; transcripts stay",
        Forgotten,
        query=ItemQuery,
        failures=(ConversationNotFound, ProjectNeeded),
    ),
    Endpoint(
        "POST",
        "/conversations/{key}/reset",
        reset_conversation,
        "Let the next dispatch begin afresh",
        WholeConversation,
        query=ItemQuery,
        takes=Reset,
        failures=(ConversationNotFound, ProjectNeeded, *_BODY),
    ),
    Endpoint(
        "GET",
        "/dispatches",
        audit_trail,
        "The audit trail: every dispatch, the last one first, also of forgotten conversations",
        AuditTrail,
        query=TrailQuery,
    ),
]
