"""/metrics, in the text format of Prometheus."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

from aiohttp import web

import claudekeeper
from claudekeeper.edge.endpoints import Endpoint
from claudekeeper.edge.keys import (
    CATALOG,
    CLI_VERSION,
    CONVERSATIONS,
    DOOR,
    ROUTINGS,
    SOCKETS,
    STARTED,
    TALLY,
)
from claudekeeper.edge.tally import header, sample, single
from claudekeeper.edge.wire import NoQuery, query_of
from claudekeeper.model.dispatch import WorkState
from claudekeeper.model.errors import StateUnwritable
from claudekeeper.model.routing import ACTIONS, SCORERS

# by what Conversations calls them
_OF_CONVERSATIONS = {
    "dispatches": "Dispatches that were taken.",
    "tokens": "Tokens that items of work used.",
    "expirations": "Conversations that expired.",
    "renewals": "Dispatches that began a conversation afresh.",
}
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


async def metrics(request: web.Request) -> web.Response:
    query_of(request, NoQuery)
    lines = [
        *_keeper(request.app),
        *await _conversations(request.app),
        *_routings(request.app),
        *request.app[TALLY].lines(),
        *_process(),
    ]
    text = "\n".join([*lines, ""])
    return web.Response(body=text.encode(), headers={"Content-Type": CONTENT_TYPE})


def _keeper(app: web.Application) -> Iterable[str]:
    catalog, door = app[CATALOG], app[DOOR]
    progress = catalog.progress
    degraded = int(catalog.watcher.state.mode == "polling")
    version = {"version": claudekeeper.__version__, "cli": app[CLI_VERSION]}
    uptime = time.monotonic() - app[STARTED]
    yield from single("claudekeeper_info", "gauge", "Which version this is.", 1, version)
    yield from single("claudekeeper_uptime_seconds", "gauge", "Since it started.", uptime)
    yield from single("claudekeeper_sessions", "gauge", "Sessions on disk.", progress.total)
    yield from single(
        "claudekeeper_sessions_counted", "gauge", "Sessions read to their end.", progress.done
    )
    yield from single(
        "claudekeeper_watching_degraded", "gauge", "1 while changes are found by looking.", degraded
    )
    yield from single("claudekeeper_sockets", "gauge", "WebSockets that are open.", door.guests)
    yield from single(
        "claudekeeper_sockets_cut_off_total",
        "counter",
        "WebSockets that did not read, and were closed.",
        app[SOCKETS].slow,
    )
    yield from single(
        "claudekeeper_wrong_tokens_total", "counter", "Tokens that were refused.", door.refused
    )


async def _conversations(app: web.Application) -> list[str]:
    """Conversations for work: how many there are, and what became of them since the start."""
    work = app[CONVERSATIONS]
    lines: list[str] = []
    with contextlib.suppress(StateUnwritable):
        counts = await work.counted()
        name = "claudekeeper_conversations"
        lines += header(name, "gauge", "Conversations for work, by state.")
        lines += [
            sample(name, counts.get(each, 0), {"state": each}) for each in get_args(WorkState)
        ]
    for name, says in _OF_CONVERSATIONS.items():
        whole = f"claudekeeper_conversation_{name}_total"
        lines += single(whole, "counter", says, work.tally[name])
    return lines


def _routings(app: web.Application) -> Iterable[str]:
    """Messages that were sent by a decision of the keeper's, since the start."""
    book = app[ROUTINGS]
    name = "claudekeeper_routings_total"
    yield from header(name, "counter", "Messages that were routed, by what was decided.")
    for action in ACTIONS:
        for scorer in SCORERS:
            labels = {"action": action, "scorer": scorer}
            yield sample(name, book.counted[action, scorer], labels)
    yield from single(
        "claudekeeper_routings_overruled_total",
        "counter",
        "Of these, messages for which a person chose another way.",
        book.overruled,
    )


def _process() -> Iterable[str]:
    """In the names that every Prometheus client uses."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    # the most it ever had, where the present is not known; macOS counts in bytes
    resident = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    if statm := _read("/proc/self/statm"):
        resident = int(statm.split()[1]) * resource.getpagesize()
    yield from single(
        "process_cpu_seconds_total", "counter", "Processor time.", used.ru_utime + used.ru_stime
    )
    yield from single("process_resident_memory_bytes", "gauge", "Memory in use.", resident)
    if descriptors := _count("/proc/self/fd"):
        yield from single("process_open_fds", "gauge", "Open descriptors.", descriptors)
    tasks = len(asyncio.all_tasks())
    yield from single("claudekeeper_tasks", "gauge", "Tasks of the event loop.", tasks)


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _count(path: str) -> int:
    try:
        return len(os.listdir(path))  # noqa: PTH208 - names are enough
    except OSError:
        return 0


ENDPOINTS = [
    Endpoint(
        "GET",
        "/metrics",
        metrics,
        "Counters and gauges, in the text format of Prometheus",
        str,
        media="text/plain",
    )
]
