"""JSON answers of both servers, and their one format of errors."""

from __future__ import annotations

import logging

import msgspec
from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware

from claudekeeper.net.errors import (
    ApiError,
    BodyTooLarge,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
)

log = logging.getLogger(__name__)


class ErrorBody(msgspec.Struct, omit_defaults=True):
    """The code and the sentence of an error; `choices` are what can be done instead."""

    code: str
    message: str
    choices: tuple[str, ...] = ()


class ErrorAnswer(msgspec.Struct, rename="camel"):
    """The body of every error."""

    error: ErrorBody


_ERRORS_BY_STATUS: dict[int, type[ApiError]] = {
    404: NotFound,
    405: MethodNotAllowed,
    413: BodyTooLarge,
}


def json_response(value: object, status: int = 200) -> web.Response:
    return web.Response(
        body=msgspec.json.encode(value), status=status, content_type="application/json"
    )


def error_response(error: ApiError) -> web.Response:
    body = ErrorAnswer(ErrorBody(error.code, error.message, error.choices))
    response = json_response(body, error.status)
    if error.retry_after is not None:
        response.headers[hdrs.RETRY_AFTER] = str(error.retry_after)
    return response


def error_middleware(server_name: str) -> Middleware:
    """Turns raised errors into answers; an unexpected error is logged and not shown."""

    @web.middleware
    async def answer_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except ApiError as error:
            return error_response(error)
        except web.HTTPException as error:
            if error.status < 400:
                raise
            # aiohttp's own pages name paths and methods
            response = error_response(_ERRORS_BY_STATUS.get(error.status, InvalidRequest)())
            if hdrs.ALLOW in error.headers:
                response.headers[hdrs.ALLOW] = error.headers[hdrs.ALLOW]
            return response
        except ConnectionResetError:
            # the client went away during the answer
            raise
        except Exception:
            log.exception("%s %s failed", request.method, request.path)
            sentence = f"Something went wrong inside {server_name}; its log says more."
            return error_response(ApiError(sentence))

    return answer_errors
