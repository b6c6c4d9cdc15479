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
from claudekeeper.contract.conversations import WorkState
from claudekeeper.contract.errors import StateUnwritable
from claudekeeper.contract.routing import ACTIONS, SCORERS
from claudekeeper.server.app_keys import (
    AUTHENTICATOR,
    CATALOG,
    CLI_VERSION,
    CONVERSATIONS,
    REQUEST_METRICS,
    ROUTING_LOG,
    STARTED_AT,
    WS_CONNECTIONS,
)
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.request_metrics import header, sample, single_value
from claudekeeper.server.schemas import EmptyQuery, parse_query

# by what Conversations calls them
_CONVERSATION_COUNTERS = {
    "dispatches": "Dispatches that were taken.",
    "tokens": "Tokens that items of work used.",
    "expirations": "Conversations that expired.",
    "renewals": "Dispatches that began a conversation afresh.",
}
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


async def metrics(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    lines = [
        *_keeper_lines(request.app),
        *await _conversation_lines(request.app),
        *_routing_lines(request.app),
        *request.app[REQUEST_METRICS].render(),
        *_process_lines(),
    ]
    text = "\n".join([*lines, ""])
    return web.Response(body=text.encode(), headers={"Content-Type": CONTENT_TYPE})


def _keeper_lines(app: web.Application) -> Iterable[str]:
    catalog, door = app[CATALOG], app[AUTHENTICATOR]
    progress = catalog.progress
    degraded = int(catalog.watcher.state.mode == "polling")
    version = {"version": claudekeeper.__version__, "cli": app[CLI_VERSION]}
    uptime = time.monotonic() - app[STARTED_AT]
    yield from single_value("claudekeeper_info", "gauge", "Which version this is.", 1, version)
    yield from single_value("claudekeeper_uptime_seconds", "gauge", "Since it started.", uptime)
    yield from single_value("claudekeeper_sessions", "gauge", "Sessions on disk.", progress.total)
    yield from single_value(
        "claudekeeper_sessions_counted", "gauge", "Sessions read to their end.", progress.done
    )
    yield from single_value(
        "claudekeeper_watching_degraded", "gauge", "1 while changes are found by looking.", degraded
    )
    yield from single_value(
        "claudekeeper_sockets", "gauge", "WebSockets that are open.", door.connection_count
    )
    yield from single_value(
        "claudekeeper_sockets_cut_off_total",
        "counter",
        "WebSockets that did not read, and were closed.",
        app[WS_CONNECTIONS].slow_count,
    )
    yield from single_value(
        "claudekeeper_wrong_tokens_total",
        "counter",
        "Tokens that were refused.",
        door.refused_tokens,
    )


async def _conversation_lines(app: web.Application) -> list[str]:
    """Conversations for work: how many there are, and what became of them since the start."""
    work = app[CONVERSATIONS]
    lines: list[str] = []
    with contextlib.suppress(StateUnwritable):
        counts = await work.count_by_state()
        name = "claudekeeper_conversations"
        lines += header(name, "gauge", "Conversations for work, by state.")
        lines += [
            sample(name, counts.get(each, 0), {"state": each}) for each in get_args(WorkState)
        ]
    for name, says in _CONVERSATION_COUNTERS.items():
        whole = f"claudekeeper_conversation_{name}_total"
        lines += single_value(whole, "counter", says, work.counters[name])
    return lines


def _routing_lines(app: web.Application) -> Iterable[str]:
    """Messages that were sent by a decision of the keeper's, since the start."""
    book = app[ROUTING_LOG]
    name = "claudekeeper_routings_total"
    yield from header(name, "counter", "Messages that were routed, by what was decided.")
    for action in ACTIONS:
        for scorer in SCORERS:
            labels = {"action": action, "scorer": scorer}
            yield sample(name, book.decision_counts[action, scorer], labels)
    yield from single_value(
        "claudekeeper_routings_overruled_total",
        "counter",
        "Of these, messages for which a person chose another way.",
        book.overruled_count,
    )


def _process_lines() -> Iterable[str]:
    """In the names that every Prometheus client uses."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    # the most it ever had, where the present is not known; macOS counts in bytes
    resident = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    if statm := _read_file("/proc/self/statm"):
        resident = int(statm.split()[1]) * resource.getpagesize()
    yield from single_value(
        "process_cpu_seconds_total", "counter", "Processor time.", used.ru_utime + used.ru_stime
    )
    yield from single_value("process_resident_memory_bytes", "gauge", "Memory in use.", resident)
    if descriptors := _count_files("/proc/self/fd"):
        yield from single_value("process_open_fds", "gauge", "Open descriptors.", descriptors)
    tasks = len(asyncio.all_tasks())
    yield from single_value("claudekeeper_tasks", "gauge", "Tasks of the event loop.", tasks)


def _read_file(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _count_files(path: str) -> int:
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
        media_type="text/plain",
    )
]
