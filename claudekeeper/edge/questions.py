"""Questions that wait for a person."""

from __future__ import annotations

import msgspec
from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import DESK
from claudekeeper.edge.wire import NoQuery, body_of, query_of, reply
from claudekeeper.model.attention import Attention, Decision, Resolve
from claudekeeper.model.errors import (
    AttentionGone,
    AttentionNotFound,
    BodyTooLarge,
    UnsupportedMedia,
)


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
    answer = request.app[DESK].resolve(wish)
    return reply(Settled(wish.attention_id, answer.decision))


ENDPOINTS = [
    Endpoint("GET", "/attention", list_attention, "Questions that wait for a person", Open),
    Endpoint(
        "POST",
        "/resolve",
        resolve,
        "Answer a question; of two answers the first counts",
        Settled,
        takes=Resolve,
        failures=(AttentionNotFound, AttentionGone, UnsupportedMedia, BodyTooLarge),
    ),
]
