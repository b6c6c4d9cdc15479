"""Questions that wait for a person."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from aiohttp import web

from claudekeeper.attention.permission_files import find_grant_obstacle
from claudekeeper.contract.attention import Answer, Attention, Decision, Resolve, answer_to
from claudekeeper.contract.errors import (
    AttentionGone,
    AttentionNotFound,
    GrantForgotten,
    ModeRefused,
    StateUnwritable,
)
from claudekeeper.net.errors import BodyTooLarge, UnsupportedMedia
from claudekeeper.net.responses import json_response
from claudekeeper.server.app_keys import (
    ATTENTION,
    CONVERSATIONS,
    GRANT_WRITES,
    JOURNAL,
    MANAGER,
    VIEWS,
)
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.schemas import EmptyQuery, parse_query, read_body


class AttentionList(msgspec.Struct):
    """Every open question, the oldest first."""

    attention: list[Attention]


class Resolved(msgspec.Struct, rename="camel"):
    attention_id: str
    decision: Decision


async def list_attention(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    return json_response(AttentionList(request.app[ATTENTION].all()))


async def resolve(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    resolution = await read_body(request, Resolve)
    attention = request.app[ATTENTION].get(resolution.attention_id)
    if attention is not None and resolution.decision == "allow" and resolution.updated_permissions:
        answer = await resolve_with_grants(request, resolution, attention)
    else:
        answer = request.app[ATTENTION].resolve(resolution)
    if attention is not None and answer.interrupt and resolution.hold:
        request.app[MANAGER].hold_queue(attention.session_id)
        await request.app[JOURNAL].wait_until_saved()
    # the answer to a ceiling question changes only the conversation store: it has to be stored
    await request.app[CONVERSATIONS].wait_until_answer_saved(resolution.attention_id)
    return json_response(Resolved(resolution.attention_id, answer.decision))


async def resolve_with_grants(
    request: web.Request, resolution: Resolve, attention: Attention
) -> Answer:
    """Answers with what is allowed for good; it is written down before the next one begins."""
    live = request.app[MANAGER].get(attention.session_id)
    session = request.app[VIEWS].session(attention.session_id)
    running = live if live is not None else session
    workdir = running.workdir if running is not None else None
    changes = answer_to(attention, resolution).permissions
    async with request.app[GRANT_WRITES].lock_until_written(workdir, changes):
        await check_grants(request, attention, workdir, changes)
        return request.app[ATTENTION].resolve(resolution)


async def check_grants(
    request: web.Request,
    attention: Attention,
    workdir: str | None,
    changes: list[dict[str, Any]],
) -> None:
    """Refuses what Claude Code would drop without a word; the question stays open."""
    for change in changes:
        scope, mode = change["destination"], change.get("mode")
        if mode is not None:
            request.app[MANAGER].check_mode_of_answer(attention.session_id, mode)
        if scope.endswith("Settings") and workdir:
            fault = await asyncio.to_thread(find_grant_obstacle, scope, workdir)
            if fault is not None:
                raise GrantForgotten(f"This cannot be allowed for good. {fault} Allow it once.")


ENDPOINTS = [
    Endpoint(
        "GET", "/attention", list_attention, "Questions that wait for a person", AttentionList
    ),
    Endpoint(
        "POST",
        "/resolve",
        resolve,
        "Answer a question; the first answer counts",
        Resolved,
        request_type=Resolve,
        errors=(
            AttentionNotFound,
            AttentionGone,
            GrantForgotten,
            ModeRefused,
            UnsupportedMedia,
            BodyTooLarge,
            StateUnwritable,
        ),
    ),
]
