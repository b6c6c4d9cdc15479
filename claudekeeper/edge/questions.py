"""Questions that wait for a person."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import CONVERSATIONS, DESK, GRANTING, OVERVIEW, RECORDS, REGISTRY
from claudekeeper.edge.wire import NoQuery, body_of, query_of, reply
from claudekeeper.model.attention import Answer, Attention, Decision, Resolve, answer_to
from claudekeeper.model.errors import (
    AttentionGone,
    AttentionNotFound,
    BodyTooLarge,
    GrantForgotten,
    ModeRefused,
    StateUnwritable,
    UnsupportedMedia,
)
from claudekeeper.readers.permission_files import hindrance


class Open(msgspec.Struct):
    """Every open question, the oldest first."""

    attention: list[Attention]


class Settled(msgspec.Struct, rename="camel"):
    attention_id: str
    decision: Decision


async def list_attention(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    return reply(Open(request.app[DESK].all()))


async def resolve(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    wish = await body_of(request, Resolve)
    asked = request.app[DESK].get(wish.attention_id)
    if asked is not None and wish.decision == "allow" and wish.updated_permissions:
        answer = await grant(request, wish, asked)
    else:
        answer = request.app[DESK].resolve(wish)
    if asked is not None and answer.interrupt and wish.hold:
        request.app[REGISTRY].hold(asked.session_id)
        await request.app[RECORDS].settled()
    # an answer of which nothing waits but the book is one only when it is written down
    await request.app[CONVERSATIONS].answer_written(wish.attention_id)
    return reply(Settled(wish.attention_id, answer.decision))


async def grant(request: web.Request, wish: Resolve, attention: Attention) -> Answer:
    """Answers with what is allowed for good; it is written down before the next one begins."""
    live = request.app[REGISTRY].get(attention.session_id)
    session = request.app[OVERVIEW].session(attention.session_id)
    known = live if live is not None else session
    workdir = known.workdir if known is not None else None
    changes = answer_to(attention, wish).permissions
    async with request.app[GRANTING].in_turn(workdir, changes):
        await check_grant(request, attention, workdir, changes)
        return request.app[DESK].resolve(wish)


async def check_grant(
    request: web.Request,
    attention: Attention,
    workdir: str | None,
    changes: list[dict[str, Any]],
) -> None:
    """Refuses what Claude Code would drop without a word; the question stays open."""
    for change in changes:
        scope, mode = change["destination"], change.get("mode")
        if mode is not None:
            request.app[REGISTRY].check_mode_set_by_an_answer(attention.session_id, mode)
        if scope.endswith("Settings") and workdir:
            fault = await asyncio.to_thread(hindrance, scope, workdir)
            if fault is not None:
                raise GrantForgotten(f"This cannot be allowed for good. {fault} Allow it once.")


ENDPOINTS = [
    Endpoint("GET", "/attention", list_attention, "Questions that wait for a person", Open),
    Endpoint(
        "POST",
        "/resolve",
        resolve,
        "Answer a question; of two answers the first counts",
        Settled,
        takes=Resolve,
        failures=(
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
