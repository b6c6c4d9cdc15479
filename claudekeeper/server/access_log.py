"""Every request has an id, is counted, and leaves a line in the log."""

from __future__ import annotations

import logging
import re
import secrets
import time

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from claudekeeper.core.logs import request_id
from claudekeeper.server.request_metrics import RequestMetrics

log = logging.getLogger(__name__)

REQUEST_ID_HEADER = "X-Request-Id"
# what a client or a proxy may call its own request
REQUEST_ID_PATTERN = re.compile(r"[A-Za-z0-9._-]{1,64}")
REQUEST_ID: web.RequestKey[str] = web.RequestKey("request_id", str)
READ_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def access_log_middleware(metrics: RequestMetrics) -> Middleware:
    @web.middleware
    async def observe(request: web.Request, handler: Handler) -> web.StreamResponse:
        header = request.headers.get(REQUEST_ID_HEADER, "")
        own_id = header if REQUEST_ID_PATTERN.fullmatch(header) else secrets.token_hex(8)
        request[REQUEST_ID] = own_id
        inside = request_id.set(own_id)
        began = time.monotonic()
        status = 499  # it went away before there was an answer
        try:
            response = await handler(request)
            status = response.status
        finally:
            _log_request(request, status, time.monotonic() - began, metrics)
            request_id.reset(inside)
        return response

    return observe


async def add_request_id(request: web.Request, response: web.StreamResponse) -> None:
    """For `on_response_prepare`: streams and upgrades are named too."""
    if ours := request.get(REQUEST_ID):
        response.headers[REQUEST_ID_HEADER] = ours
    response.headers.popall("Server", None)  # nobody needs our versions


def _log_request(request: web.Request, status: int, seconds: float, tally: RequestMetrics) -> None:
    resource = request.match_info.route.resource
    # the address as it stands in the table: ids and strangers' paths would never end
    address = resource.canonical if resource else "other"
    tally.record(request.method, address, status, seconds)
    quiet = request.method in READ_METHODS and status < 400
    log.log(
        logging.DEBUG if quiet else logging.INFO,
        "%s %s %d",
        request.method,
        # without the query: it can name directories and what people look for
        request.rel_url.raw_path,
        status,
        extra={"status": status, "milliseconds": round(seconds * 1000, 1)},
    )
