"""/metrics, in the text format of Prometheus."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import get_args

from aiohttp import web
from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily as Counter
from prometheus_client.core import GaugeMetricFamily as Gauge
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

import claudekeeper
from claudekeeper.contract.conversations import WorkState
from claudekeeper.contract.errors import StateUnwritable
from claudekeeper.contract.routing import ACTIONS, SCORERS
from claudekeeper.core.proc import PROC
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
from claudekeeper.server.schemas import EmptyQuery, parse_query

# by their names in the service
_CONVERSATION_COUNTERS = {
    "dispatches": "Dispatches that were taken.",
    "tokens": "Tokens that items of work used.",
    "expirations": "Conversations that expired.",
    "renewals": "Dispatches that began a conversation afresh.",
}


@dataclass
class _Collected(Collector):
    """The metrics of one answer. There is no registry: they are read where they are counted."""

    metrics: list[Metric]

    def collect(self) -> list[Metric]:
        return self.metrics


async def metrics(request: web.Request) -> web.Response:
    parse_query(request, EmptyQuery)
    app = request.app
    collected = [
        *_keeper_metrics(app),
        *await _conversation_metrics(app),
        *_routing_metrics(app),
        *app[REQUEST_METRICS].collect(),
        *_process_metrics(),
    ]
    body = generate_latest(_Collected(collected))
    return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})


def _keeper_metrics(app: web.Application) -> Iterator[Metric]:
    authenticator, catalog = app[AUTHENTICATOR], app[CATALOG]
    versions = {"version": claudekeeper.__version__, "cli": app[CLI_VERSION]}
    info = Gauge("claudekeeper_info", "Which version this is.", labels=list(versions))
    info.add_metric(list(versions.values()), 1)
    yield info
    uptime = time.monotonic() - app[STARTED_AT]
    yield Gauge("claudekeeper_uptime_seconds", "Since it started.", uptime)
    yield Gauge("claudekeeper_sessions", "Sessions on disk.", catalog.progress.total)
    counted = catalog.progress.done
    yield Gauge("claudekeeper_sessions_counted", "Sessions read to their end.", counted)
    degraded = catalog.watcher.state.mode == "polling"
    help_text = "1 while changes are found by looking."
    yield Gauge("claudekeeper_watching_degraded", help_text, degraded)
    connections = authenticator.connection_count
    yield Gauge("claudekeeper_sockets", "WebSockets that are open.", connections)
    slow = app[WS_CONNECTIONS].slow_count
    help_text = "WebSockets that did not read, and were closed."
    yield Counter("claudekeeper_sockets_cut_off_total", help_text, slow)
    refused = authenticator.refused_tokens
    yield Counter("claudekeeper_wrong_tokens_total", "Tokens that were refused.", refused)


async def _conversation_metrics(app: web.Application) -> list[Metric]:
    """Conversations of work items: how many there are, and what happened since the start."""
    service = app[CONVERSATIONS]
    collected: list[Metric] = [
        Counter(f"claudekeeper_conversation_{name}_total", help_text, service.counters[name])
        for name, help_text in _CONVERSATION_COUNTERS.items()
    ]
    with contextlib.suppress(StateUnwritable):
        counts = await service.count_by_state()
        help_text = "Conversations for work, by state."
        states = Gauge("claudekeeper_conversations", help_text, labels=["state"])
        for state in get_args(WorkState):
            states.add_metric([state], counts.get(state, 0))
        collected.append(states)
    return collected


def _routing_metrics(app: web.Application) -> Iterator[Metric]:
    """Messages that were sent by a routing decision, since the start."""
    log = app[ROUTING_LOG]
    help_text = "Messages that were routed, by what was decided."
    routings = Counter("claudekeeper_routings_total", help_text, labels=["action", "scorer"])
    for action, scorer in product(ACTIONS, SCORERS):
        routings.add_metric([action, scorer], log.decision_counts[action, scorer])
    yield routings
    help_text = "Of these, messages for which a person chose another way."
    yield Counter("claudekeeper_routings_overruled_total", help_text, log.overruled_count)


def _process_metrics() -> Iterator[Metric]:
    """In the names that every Prometheus client uses; the library reads them on Linux only."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    # the peak, if the present size cannot be read; macOS counts in bytes
    resident = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    with contextlib.suppress(OSError):
        resident = int((PROC / "self/statm").read_text().split()[1]) * resource.getpagesize()
    processor_time = usage.ru_utime + usage.ru_stime
    yield Counter("process_cpu_seconds_total", "Processor time.", processor_time)
    yield Gauge("process_resident_memory_bytes", "Memory in use.", resident)
    with contextlib.suppress(OSError):
        descriptors = len(list((PROC / "self/fd").iterdir()))
        yield Gauge("process_open_fds", "Open descriptors.", descriptors)
    tasks = len(asyncio.all_tasks())
    yield Gauge("claudekeeper_tasks", "Tasks of the event loop.", tasks)


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
