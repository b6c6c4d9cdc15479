"""The one place where an exception becomes an answer."""

from __future__ import annotations

import logging

from aiohttp import web
from aiohttp.typedefs import Handler

from claudekeeper.edge.wire import Failure, Refusal, reply
from claudekeeper.model.errors import (
    BodyTooLarge,
    InvalidRequest,
    KeeperError,
    MethodNotAllowed,
    NotFound,
)

log = logging.getLogger(__name__)

_BY_STATUS: dict[int, type[KeeperError]] = {
    404: NotFound,
    405: MethodNotAllowed,
    413: BodyTooLarge,
}


def failure(error: KeeperError) -> web.Response:
    answer = reply(Failure(Refusal(error.code, error.message, error.choices)), error.status)
    if error.retry_after is not None:
        answer.headers["Retry-After"] = str(error.retry_after)
    return answer


@web.middleware
async def answer_failures(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every error is JSON with a stable code; what we did not foresee is logged, not told."""
    try:
        return await handler(request)
    except KeeperError as error:
        return failure(error)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        known = _BY_STATUS.get(error.status, InvalidRequest)
        answer = failure(known())
        if "Allow" in error.headers:
            answer.headers["Allow"] = error.headers["Allow"]
        return answer
    except ConnectionResetError:
        # the client went away in the middle of a stream: nobody is left to tell
        raise
    except Exception:
        log.exception("%s %s failed", request.method, request.path)
        return failure(KeeperError())
