"""Questions that wait for a person."""

from __future__ import annotations

import asyncio

import msgspec
from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import CONVERSATIONS, DESK, OVERVIEW, RECORDS, REGISTRY
from claudekeeper.edge.wire import NoQuery, body_of, query_of, reply
from claudekeeper.model.attention import Attention, Decision, Resolve, answer_to
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
    if wish.decision == "allow" and wish.updated_permissions:
        await check_grant(request, wish)
    asked = request.app[DESK].get(wish.attention_id)
    answer = request.app[DESK].resolve(wish)
    if asked is not None and answer.interrupt and wish.hold:
        request.app[REGISTRY].hold(asked.session_id)
        await request.app[RECORDS].settled()
    # an answer of which nothing waits but the book is one only when it is written down
    await request.app[CONVERSATIONS].answer_written(wish.attention_id)
    return reply(Settled(wish.attention_id, answer.decision))


async def check_grant(request: web.Request, wish: Resolve) -> None:
    """Refuses what Claude Code would drop without a word; the question stays open."""
    attention = request.app[DESK].get(wish.attention_id)
    if attention is None:
        return
    live = request.app[REGISTRY].get(attention.session_id)
    session = request.app[OVERVIEW].session(attention.session_id)
    workdir = live.workdir if live is not None else session and session.workdir
    for change in answer_to(attention, wish).permissions:
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
