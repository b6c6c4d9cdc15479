"""The subagents of a session, and their messages."""

from __future__ import annotations

from pathlib import Path

from aiohttp import web

from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.contract.errors import (
    MessageNotFound,
    SessionNotFound,
    SubagentNotFound,
    TranscriptUnreadable,
)
from claudekeeper.net.responses import json_response
from claudekeeper.server.app_keys import HISTORY, WORKERS
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.routes.sessions import find_row, translate_read_errors
from claudekeeper.server.schemas import (
    EmptyQuery,
    SubagentList,
    SubagentPage,
    SubagentQuery,
    parse_query,
)
from claudekeeper.transcripts.subagents import Subagent, list_subagents, read_subagent


async def subagents(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    row = await find_row(request)
    with translate_read_errors():
        return json_response(SubagentList(await request.app[WORKERS].run(_find_subagents, row)))


async def subagent(request: web.Request) -> web.Response:
    query = parse_query(request, SubagentQuery)
    row = await find_row(request)
    agent_id = request.match_info["agent_id"]
    with translate_read_errors():
        agents = await request.app[WORKERS].run(_find_subagents, row)
        # a client that shows a call knows the call's id only
        agent = next(
            (each for each in agents if agent_id in (each.agent_id, each.tool_use_id)), None
        )
        if agent is None:
            raise SubagentNotFound
        page = await request.app[WORKERS].run(
            read_subagent,
            request.app[HISTORY],
            Path(row.file.path),
            row.file.id,
            agent.agent_id,
            limit=query.limit,
            before=query.before,
        )
    for message in page.messages:
        message.agent_id = agent.agent_id
        message.parent_tool_use_id = agent.tool_use_id
    return json_response(SubagentPage(agent, page.messages, page.before, page.branches))


def _find_subagents(row: SessionRow) -> list[Subagent]:
    inline = row.summary.has_sidechains or not row.is_fully_scanned
    return list_subagents(Path(row.file.path), row.file.id, inline=inline)


ENDPOINTS = [
    Endpoint(
        "GET",
        "/sessions/{id}/subagents",
        subagents,
        "The subagents of a session",
        SubagentList,
        errors=(SessionNotFound, TranscriptUnreadable),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/subagents/{agent_id}",
        subagent,
        "A subagent's messages, in pages from the end; by its id or that of its tool call",
        SubagentPage,
        query_type=SubagentQuery,
        errors=(SessionNotFound, SubagentNotFound, MessageNotFound, TranscriptUnreadable),
    ),
]
