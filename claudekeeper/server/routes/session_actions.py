"""Actions on a session: continue, interrupt, settings, fork, close; and what it offers."""

from __future__ import annotations

import asyncio

import msgspec
from aiohttp import web

from claudekeeper.contract.errors import (
    CliFailed,
    CliMissing,
    ForkRefused,
    KeeperBusy,
    KeeperStopping,
    MessageNotFound,
    ModelRefused,
    ModeRefused,
    NothingInterrupted,
    SessionNotFound,
    WorkdirMissing,
)
from claudekeeper.contract.requests import (
    ForkRequest,
    InterruptRequest,
    PermissionMode,
    SettingsChange,
    check_system_prompt,
)
from claudekeeper.contract.sessions import Session
from claudekeeper.net.errors import BodyTooLarge, UnsupportedMedia
from claudekeeper.net.responses import json_response
from claudekeeper.server.app_keys import (
    ARCHIVE,
    CAPABILITIES,
    CATALOG,
    FAILED_TURNS,
    JOURNAL,
    MANAGER,
    PREFERENCES,
    VIEWS,
)
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.routes.queue import held_count
from claudekeeper.server.routes.send import SendAccepted
from claudekeeper.server.routes.sessions import find_session, find_session_id
from claudekeeper.server.schemas import (
    CommandsQuery,
    EmptyQuery,
    parse_query,
    read_body,
    read_optional_body,
)
from claudekeeper.sessions.cli.capabilities import Capabilities, capabilities_of
from claudekeeper.sessions.recovery.continue_turn import continue_interrupted_turn


class InterruptResult(msgspec.Struct):
    """Whether a turn was running, and how many messages are held now."""

    interrupted: bool
    held: int = 0


class SettingsBody(msgspec.Struct, rename="camel"):
    """What people chose for a session; null leaves it to Claude Code.

    `pending`: the process that runs was started with another system prompt.
    """

    model: str | None
    permission_mode: PermissionMode | None
    system_prompt: str | None
    pending: bool


class CloseResult(msgspec.Struct, rename="camel"):
    session_id: str


async def continue_turn(request: web.Request) -> web.Response:
    """Goes on where it was cut off; whatever Claude asked, it asks again."""
    parse_query(request, EmptyQuery)
    session_id = await find_session_id(request)
    interrupted = request.app[JOURNAL].interrupted_turn(session_id)
    if interrupted is None or not interrupted.can_continue:
        raise NothingInterrupted
    session, uuid = await continue_interrupted_turn(request.app[MANAGER], session_id, interrupted)
    await request.app[JOURNAL].wait_until_saved()
    return json_response(SendAccepted(session.id, uuid, session.state), 202)


async def interrupt(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    session_id = await find_session_id(request)
    body = await read_optional_body(request, InterruptRequest)
    interrupted = request.app[MANAGER].interrupt(session_id, hold=body.hold)
    # what is held now is so whatever becomes of the keeper
    await request.app[JOURNAL].wait_until_saved()
    return json_response(InterruptResult(interrupted, held_count(request, session_id)), 202)


async def settings(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    session_id = await find_session_id(request)
    current = request.app[MANAGER].settings(session_id)
    prompt = request.app[MANAGER].system_prompt(session_id)
    pending = prompt is not None and prompt.pending
    return json_response(
        SettingsBody(current.model, current.permission_mode, current.system_prompt, pending)
    )


async def change_mode(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    session_id = await find_session_id(request)
    body = await read_body(request, SettingsChange)
    check_system_prompt(body.system_prompt)
    await request.app[MANAGER].change_settings(session_id, body)
    await request.app[PREFERENCES].wait_until_saved()
    return json_response(find_session(request, session_id))


async def fork_session(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    session_id = await find_session_id(request)
    body = await read_body(request, ForkRequest)
    await _restore_if_archived(request, session_id)
    new_id = await request.app[MANAGER].fork(session_id, body.at)
    await request.app[CATALOG].row(new_id)
    return json_response(find_session(request, new_id), 201)


async def _restore_if_archived(request: web.Request, session_id: str) -> None:
    """Only what lies where Claude Code looks can be copied: a deleted session is put back first."""
    row = request.app[CATALOG].peek_row(session_id)
    if row is not None and request.app[ARCHIVE].is_archived(row):
        await asyncio.to_thread(request.app[ARCHIVE].restore, session_id)


async def close_session(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    session_id = await find_session_id(request)
    await request.app[MANAGER].close_session(session_id)
    request.app[JOURNAL].forget(session_id)
    request.app[FAILED_TURNS].clear_prompts(session_id)
    request.app[VIEWS].publish_row_change(session_id)
    return json_response(CloseResult(session_id), 202)


async def session_commands(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    session_id = await find_session_id(request)
    live = request.app[MANAGER].get(session_id)
    if live is not None and live.cli_info:
        return json_response(capabilities_of(live.cli_info))
    session = request.app[VIEWS].session(session_id)
    if session is None or session.workdir is None:
        raise WorkdirMissing
    return json_response(await request.app[CAPABILITIES].of_directory(session.workdir))


async def directory_commands(request: web.Request) -> web.Response:
    query = parse_query(request, CommandsQuery)
    return json_response(await request.app[CAPABILITIES].of_directory(query.workdir))


_BODY = (UnsupportedMedia, BodyTooLarge)

ENDPOINTS = [
    Endpoint(
        "POST",
        "/sessions/{id}/continue",
        continue_turn,
        "Continue the interrupted turn of a session; open questions are asked again",
        SendAccepted,
        status=202,
        errors=(SessionNotFound, NothingInterrupted, KeeperBusy, KeeperStopping),
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/interrupt",
        interrupt,
        "Stop the running turn, if there is one; the queue continues, or is held",
        InterruptResult,
        status=202,
        request_type=InterruptRequest,
        body_optional=True,
        errors=(SessionNotFound, BodyTooLarge),
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/mode",
        change_mode,
        "Change model or mode, also in mid-turn, or the system prompt of the next process",
        Session,
        request_type=SettingsChange,
        errors=(SessionNotFound, ModeRefused, ModelRefused, *_BODY),
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/fork",
        fork_session,
        "Copy a session, whole or up to a message, into a new one",
        Session,
        status=201,
        request_type=ForkRequest,
        errors=(SessionNotFound, MessageNotFound, ForkRefused, *_BODY),
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/close",
        close_session,
        "Close the process of a session; its history stays",
        CloseResult,
        status=202,
        errors=(SessionNotFound,),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/settings",
        settings,
        "The settings of a session, with its appended system prompt",
        SettingsBody,
        errors=(SessionNotFound,),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/commands",
        session_commands,
        "Slash commands, models and modes of a session",
        Capabilities,
        errors=(SessionNotFound, WorkdirMissing, CliMissing, CliFailed),
    ),
    Endpoint(
        "GET",
        "/commands",
        directory_commands,
        "Slash commands, models and modes of a new session in a directory",
        Capabilities,
        query_type=CommandsQuery,
        errors=(WorkdirMissing, CliMissing, CliFailed),
    ),
]
