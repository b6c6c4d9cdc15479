"""The subagents of a session, and their messages."""

from __future__ import annotations

from pathlib import Path

from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import HISTORY, SLOW_LANE
from claudekeeper.edge.sessions import readable, row_of
from claudekeeper.edge.wire import Nested, NestedQuery, NoQuery, Subagents, query_of, reply
from claudekeeper.model.errors import (
    MessageNotFound,
    SessionNotFound,
    SubagentNotFound,
    TranscriptUnreadable,
)
from claudekeeper.readers.discovery import Row
from claudekeeper.readers.subagents import Subagent, list_subagents, read_subagent


async def subagents(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    row = await row_of(request)
    with readable():
        return reply(Subagents(await request.app[SLOW_LANE].run(_subagents, row)))


async def subagent(request: web.Request) -> web.Response:
    query = query_of(request, NestedQuery)
    row = await row_of(request)
    wanted = request.match_info["agent_id"]
    with readable():
        known = await request.app[SLOW_LANE].run(_subagents, row)
        # a client that shows a call knows the call's id only
        agent = next((each for each in known if wanted in (each.agent_id, each.tool_use_id)), None)
        if agent is None:
            raise SubagentNotFound
        page = await request.app[SLOW_LANE].run(
            read_subagent,
            request.app[HISTORY],
            Path(row.found.path),
            row.found.id,
            agent.agent_id,
            limit=query.limit,
            before=query.before,
        )
    for message in page.messages:
        message.agent_id = agent.agent_id
        message.parent_tool_use_id = agent.tool_use_id
    return reply(Nested(agent, page.messages, page.before, page.branches))


def _subagents(row: Row) -> list[Subagent]:
    inline = row.summary.sidechains or not row.counted
    return list_subagents(Path(row.found.path), row.found.id, inline=inline)


ENDPOINTS = [
    Endpoint(
        "GET",
        "/sessions/{id}/subagents",
        subagents,
        "The subagents of a session",
        Subagents,
        failures=(SessionNotFound, TranscriptUnreadable),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/subagents/{agent_id}",
        subagent,
        "A subagent's messages, in pages from the end; the id of its call does as well",
        Nested,
        query=NestedQuery,
        failures=(SessionNotFound, SubagentNotFound, MessageNotFound, TranscriptUnreadable),
    ),
]
