"""Talking to sessions: send, interrupt, change, fork, close."""

from __future__ import annotations

import asyncio

import msgspec
from aiohttp import web

from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import (
    ABILITIES,
    ARCHIVE,
    CATALOG,
    FAILED,
    OVERVIEW,
    PREFERENCES,
    RECORDS,
    REGISTRY,
    ROUTER,
    ROUTINGS,
)
from claudekeeper.edge.queue import held_in
from claudekeeper.edge.sessions import known_id, shown
from claudekeeper.edge.wire import (
    LARGEST_MESSAGE,
    CommandsQuery,
    NoQuery,
    body_of,
    optional_body_of,
    query_of,
    reply,
)
from claudekeeper.live.abilities import Offer, offer_of
from claudekeeper.live.session import LiveSession
from claudekeeper.live.taking_up import take_up
from claudekeeper.model.commands import (
    Change,
    Fork,
    Interrupt,
    PermissionMode,
    Route,
    Send,
    checked_prompt,
)
from claudekeeper.model.errors import (
    BodyTooLarge,
    CliFailed,
    CliMissing,
    CommandRefused,
    ForkRefused,
    KeeperBusy,
    KeeperStopping,
    MessageNotFound,
    ModelRefused,
    ModeRefused,
    NothingInterrupted,
    SessionElsewhere,
    SessionNotFound,
    TranscriptUnreadable,
    UnsupportedMedia,
    WorkdirMissing,
)
from claudekeeper.model.routing import Routed, Routing
from claudekeeper.model.sessions import AppendedPrompt, Session, State


class Accepted(msgspec.Struct, rename="camel"):
    """The message is in line; what becomes of it is told over the socket."""

    session_id: str
    uuid: str
    state: State
    # where the keeper was asked which conversation it belongs to
    routing: Routing | msgspec.UnsetType = msgspec.UNSET
    # its words ended the planning there: the mode in which the session goes on
    left_plan_for: str | msgspec.UnsetType = msgspec.UNSET
    # where one was sent along: whether it holds yet; null once it is cleared
    system_prompt: AppendedPrompt | msgspec.UnsetType | None = msgspec.UNSET


class Interrupted(msgspec.Struct):
    """Whether a turn was running, and how many messages are held now."""

    interrupted: bool
    held: int = 0


class SessionSettings(msgspec.Struct, rename="camel"):
    """What people chose for a session; null leaves it to Claude Code.

    `pending`: the process that runs was started with another system prompt.
    """

    model: str | None
    permission_mode: PermissionMode | None
    system_prompt: str | None
    pending: bool


class Routings(msgspec.Struct):
    """Of messages of a session, why they went there, the oldest first."""

    routings: list[Routed]


class Closed(msgspec.Struct, rename="camel"):
    session_id: str


async def send(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    wish = (await body_of(request, Send, LARGEST_MESSAGE)).checked()
    if wish.route:
        live, routed = await request.app[ROUTER].send(wish)
        return await _accepted(request, wish, live, routed)
    if wish.fork:
        await go_on_in_a_copy(request, wish)
    if wish.routing is not None:
        return await _accepted(request, wish, *await request.app[ROUTER].send_chosen(wish))
    return await _accepted(request, wish, await request.app[REGISTRY].send(wish))


async def _accepted(
    request: web.Request,
    wish: Send,
    session: LiveSession,
    routed: Routed | None = None,
) -> web.Response:
    # who is told that it was taken can rely on it, whatever becomes of the keeper
    await request.app[RECORDS].settled()
    accepted = Accepted(session.id, wish.uuid or "", session.state)
    if routed is not None:
        await request.app[ROUTINGS].settled()
        if wish.route:
            accepted.routing = routed.routing
        accepted.left_plan_for = routed.left_plan_for or msgspec.UNSET
    if wish.system_prompt is not msgspec.UNSET:
        await request.app[PREFERENCES].settled()
        accepted.system_prompt = request.app[REGISTRY].system_prompt(session.id)
    return reply(accepted, 202)


async def go_on_in_a_copy(request: web.Request, wish: Send) -> None:
    """The same message twice goes to the same copy."""
    wish.session_id = await request.app[REGISTRY].copy_for(wish.session_id or "", wish.uuid or "")
    await request.app[CATALOG].row(wish.session_id)


async def route(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    wish = await body_of(request, Route)
    return reply(await request.app[ROUTER].find(wish))


async def routings(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    session_id = await known_id(request)
    return reply(Routings(request.app[ROUTINGS].of_session(session_id)))


async def continue_turn(request: web.Request) -> web.Response:
    """Goes on where it was cut off; whatever Claude asked, it asks again."""
    query_of(request, NoQuery)
    session_id = await known_id(request)
    left = request.app[RECORDS].left(session_id)
    if left is None or not left.cut_off:
        raise NothingInterrupted
    session, uuid = await take_up(request.app[REGISTRY], session_id, left)
    await request.app[RECORDS].settled()
    return reply(Accepted(session.id, uuid, session.state), 202)


async def interrupt(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    session_id = await known_id(request)
    wish = await optional_body_of(request, Interrupt)
    stopped = request.app[REGISTRY].interrupt(session_id, hold=wish.hold)
    # what is held now is so whatever becomes of the keeper
    await request.app[RECORDS].settled()
    return reply(Interrupted(stopped, held_in(request, session_id)), 202)


async def settings(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    session_id = await known_id(request)
    chosen = request.app[REGISTRY].choices(session_id)
    prompt = request.app[REGISTRY].system_prompt(session_id)
    pending = prompt is not None and prompt.pending
    return reply(
        SessionSettings(chosen.model, chosen.permission_mode, chosen.system_prompt, pending)
    )


async def change_mode(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    session_id = await known_id(request)
    wish = await body_of(request, Change)
    checked_prompt(wish.system_prompt)
    await request.app[REGISTRY].change(session_id, wish)
    await request.app[PREFERENCES].settled()
    return reply(shown(request, session_id))


async def fork_session(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    session_id = await known_id(request)
    wish = await body_of(request, Fork)
    await _in_reach(request, session_id)
    new_id = await request.app[REGISTRY].fork(session_id, wish.at)
    await request.app[CATALOG].row(new_id)
    return reply(shown(request, new_id), 201)


async def _in_reach(request: web.Request, session_id: str) -> None:
    """Only what lies where Claude Code looks can be copied: a deleted session is put back first."""
    row = request.app[CATALOG].known(session_id)
    if row is not None and request.app[ARCHIVE].has(row):
        await asyncio.to_thread(request.app[ARCHIVE].restore, session_id)


async def close_session(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    session_id = await known_id(request)
    await request.app[REGISTRY].close_session(session_id)
    request.app[RECORDS].forget(session_id)
    request.app[FAILED].take_all_prompts(session_id)
    request.app[OVERVIEW].tell_row(session_id)
    return reply(Closed(session_id), 202)


async def session_commands(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    session_id = await known_id(request)
    live = request.app[REGISTRY].get(session_id)
    if live is not None and live.offers:
        return reply(offer_of(live.offers))
    session = request.app[OVERVIEW].session(session_id)
    if session is None or session.workdir is None:
        raise WorkdirMissing
    return reply(await request.app[ABILITIES].in_directory(session.workdir))


async def directory_commands(request: web.Request) -> web.Response:
    query = query_of(request, CommandsQuery)
    return reply(await request.app[ABILITIES].in_directory(query.workdir))


_BODY = (UnsupportedMedia, BodyTooLarge)

ENDPOINTS = [
    Endpoint(
        "POST",
        "/send",
        send,
        "Say something to a session, or begin a new one; answers at once",
        Accepted,
        status=202,
        takes=Send,
        failures=(
            SessionNotFound,
            TranscriptUnreadable,
            WorkdirMissing,
            CommandRefused,
            SessionElsewhere,
            ForkRefused,
            ModelRefused,
            ModeRefused,
            KeeperBusy,
            KeeperStopping,
            *_BODY,
        ),
    ),
    Endpoint(
        "POST",
        "/route",
        route,
        "Which recent conversation a command belongs to, or that it begins a new one",
        Routing,
        takes=Route,
        failures=_BODY,
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/routings",
        routings,
        "Why messages of a session went there: what was decided, the scores, and by which scorer",
        Routings,
        failures=(SessionNotFound,),
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/continue",
        continue_turn,
        "Go on with a turn in which the keeper was ended; open questions are asked again",
        Accepted,
        status=202,
        failures=(SessionNotFound, NothingInterrupted, KeeperBusy, KeeperStopping),
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/interrupt",
        interrupt,
        "Stop the turn that runs, if one does; what waits goes on, or is held",
        Interrupted,
        status=202,
        takes=Interrupt,
        may_be_empty=True,
        failures=(SessionNotFound, BodyTooLarge),
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/mode",
        change_mode,
        "Change model or mode, also in mid-turn, or the system prompt of the next process",
        Session,
        takes=Change,
        failures=(SessionNotFound, ModeRefused, ModelRefused, *_BODY),
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/fork",
        fork_session,
        "Copy a session, whole or up to a message, into a new one",
        Session,
        status=201,
        takes=Fork,
        failures=(SessionNotFound, MessageNotFound, ForkRefused, *_BODY),
    ),
    Endpoint(
        "POST",
        "/sessions/{id}/close",
        close_session,
        "End what runs of a session; its history stays",
        Closed,
        status=202,
        failures=(SessionNotFound,),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/settings",
        settings,
        "What people chose for a session, its appended system prompt too",
        SessionSettings,
        failures=(SessionNotFound,),
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/commands",
        session_commands,
        "Slash commands, models and modes that a session offers",
        Offer,
        failures=(SessionNotFound, WorkdirMissing, CliMissing, CliFailed),
    ),
    Endpoint(
        "GET",
        "/commands",
        directory_commands,
        "The same for a session that is yet to begin in a directory",
        Offer,
        query=CommandsQuery,
        failures=(WorkdirMissing, CliMissing, CliFailed),
    ),
]
