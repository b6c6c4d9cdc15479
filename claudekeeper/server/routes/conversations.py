"""Conversations that belong to work: dispatch, look, reset, forget."""

from __future__ import annotations

import math
from urllib.parse import quote, unquote

from aiohttp import web

from claudekeeper.contract.conversations import (
    AuditTrail,
    ConversationForgotten,
    Dispatch,
    Dispatched,
    ResetRequest,
    WholeConversation,
    WorkConversations,
)
from claudekeeper.contract.errors import (
    CeilingReached,
    CommandRefused,
    ConversationEnded,
    ConversationNotFound,
    ConversationsDisabled,
    KeeperStopping,
    ProjectNeeded,
    WorkdirMissing,
)
from claudekeeper.contract.sessions import WorkItem
from claudekeeper.dispatch.store import ListCursor
from claudekeeper.net.errors import BodyTooLarge, InvalidRequest, UnsupportedMedia
from claudekeeper.net.responses import json_response
from claudekeeper.server.app_keys import CONVERSATIONS, JOURNAL
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.schemas import (
    LARGEST_MESSAGE,
    AuditQuery,
    ConversationQuery,
    ConversationsQuery,
    parse_query,
    read_body,
)

LONGEST_KEY = 200
INVALID_CURSOR = "The cursor is not one that the keeper gave."


def parse_key(request: web.Request) -> str:
    key = request.match_info["key"]
    if not (1 <= len(key) <= LONGEST_KEY and key.isprintable() and key.strip()):
        raise InvalidRequest(f"A key has 1 to {LONGEST_KEY} printable characters.")
    return key


def _is_valid_project(project: str) -> bool:
    return len(project) <= LONGEST_KEY and project.isprintable()


def parse_cursor(cursor: str) -> ListCursor:
    used, _, rest = cursor.partition(":")
    project, colon, key = rest.partition(":")
    try:
        if colon and math.isfinite(moment := float(used)):
            return moment, WorkItem(key, unquote(project) or None)
    except ValueError:
        pass
    raise InvalidRequest(INVALID_CURSOR)


def format_cursor(cursor: ListCursor) -> str:
    used, item = cursor
    return f"{used!r}:{quote(item.project or '', safe='')}:{item.key}"


async def dispatch(request: web.Request) -> web.Response:
    project = parse_query(request, ConversationQuery).project
    key = parse_key(request)
    body = await read_body(request, Dispatch, LARGEST_MESSAGE)
    if project is not None and body.project not in (None, project):
        raise InvalidRequest("The body names another 'project' than the address.")
    body.project = body.project if body.project is not None else project
    if body.project is not None and not _is_valid_project(body.project):
        raise InvalidRequest(f"A project has at most {LONGEST_KEY} printable characters.")
    dispatched = await request.app[CONVERSATIONS].dispatch(key, body)
    await request.app[JOURNAL].wait_until_saved()
    return json_response(dispatched)


async def list_conversations(request: web.Request) -> web.Response:
    query = parse_query(request, ConversationsQuery)
    after = parse_cursor(query.cursor) if query.cursor is not None else None
    session_id = query.session_id.lower() if query.session_id is not None else None
    conversations, next_cursor = await request.app[CONVERSATIONS].all(
        query.project, query.state, query.limit, after, session_id
    )
    return json_response(
        WorkConversations(conversations, format_cursor(next_cursor) if next_cursor else None)
    )


async def work_conversation(request: web.Request) -> web.Response:
    project = parse_query(request, ConversationQuery).project
    return json_response(await request.app[CONVERSATIONS].get(parse_key(request), project))


async def forget_conversation(request: web.Request) -> web.Response:
    project = parse_query(request, ConversationQuery).project
    item = await request.app[CONVERSATIONS].forget(parse_key(request), project)
    return json_response(ConversationForgotten(item.key, item.project))


async def reset_conversation(request: web.Request) -> web.Response:
    project = parse_query(request, ConversationQuery).project
    key = parse_key(request)
    body = await read_body(request, ResetRequest)
    return json_response(await request.app[CONVERSATIONS].reset(key, body, project))


async def audit_trail(request: web.Request) -> web.Response:
    query = parse_query(request, AuditQuery)
    before = query.cursor
    if before is not None and not (before.isascii() and before.isdigit() and len(before) <= 18):
        raise InvalidRequest(INVALID_CURSOR)
    session_id = query.session_id.lower() if query.session_id is not None else None
    return json_response(
        await request.app[CONVERSATIONS].audit_trail(
            query.key, query.project, session_id, query.limit, int(before) if before else None
        )
    )


_BODY = (UnsupportedMedia, BodyTooLarge)

ENDPOINTS = [
    Endpoint(
        "POST",
        "/conversations/{key}/dispatch",
        dispatch,
        "Send a message to the conversation of a work item; the first one creates it",
        Dispatched,
        query_type=ConversationQuery,
        request_type=Dispatch,
        errors=(
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
        query_type=ConversationsQuery,
    ),
    Endpoint(
        "GET",
        "/conversations/{key}",
        work_conversation,
        "The conversation of one item, its earlier sessions and its dispatches",
        WholeConversation,
        query_type=ConversationQuery,
        errors=(ConversationNotFound, ProjectNeeded),
    ),
    Endpoint(
        "DELETE",
        "/conversations/{key}",
        forget_conversation,
        "Delete the conversation of an item and close its session; transcripts stay",
        ConversationForgotten,
        query_type=ConversationQuery,
        errors=(ConversationNotFound, ProjectNeeded),
    ),
    Endpoint(
        "POST",
        "/conversations/{key}/reset",
        reset_conversation,
        "Let the next dispatch start a new session",
        WholeConversation,
        query_type=ConversationQuery,
        request_type=ResetRequest,
        errors=(ConversationNotFound, ProjectNeeded, *_BODY),
    ),
    Endpoint(
        "GET",
        "/dispatches",
        audit_trail,
        "The audit trail: every dispatch, the last one first, also of forgotten conversations",
        AuditTrail,
        query_type=AuditQuery,
    ),
]
