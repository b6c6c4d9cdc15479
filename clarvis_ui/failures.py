"""What Clarvis refuses, and the one place that puts a refusal on the wire.

The shape is the keeper's own, `{"error": {"code", "message"}}`, so the page reads both alike.
"""

from __future__ import annotations

import logging
from typing import ClassVar

import msgspec
from aiohttp import hdrs, web
from aiohttp.typedefs import Handler

log = logging.getLogger(__name__)


class ClarvisError(Exception):
    """The root: a stable code, an HTTP status and a sentence for people."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    sentence: ClassVar[str] = "Something went wrong inside Clarvis; its log says more."

    def __init__(self, message: str | None = None, *, retry_after: int | None = None) -> None:
        self.message = message or self.sentence
        self.retry_after = retry_after
        super().__init__(self.message)


class InvalidRequest(ClarvisError):
    code, status = "invalid_request", 400
    sentence = "The request could not be understood."


class NotLoggedIn(ClarvisError):
    code, status = "not_logged_in", 401
    sentence = "Log in first: 'claudekeeper open' prints a link."


class WrongCode(ClarvisError):
    code, status = "wrong_code", 401
    sentence = (
        "This code is wrong, was used before or has expired; 'claudekeeper open' gives a new one."
    )


class WrongToken(ClarvisError):
    code, status = "unauthorized", 401
    sentence = "The keeper's token is needed: send it as 'Authorization: Bearer TOKEN'."


class ForeignHost(ClarvisError):
    code, status = "foreign_host", 403
    sentence = "Clarvis does not answer to this Host; '--allowed-host NAME' adds one."


class ForeignOrigin(ClarvisError):
    code, status = "foreign_origin", 403
    sentence = "Requests from pages of another origin are refused."


class NotFound(ClarvisError):
    code, status = "not_found", 404
    sentence = "There is nothing at this address."


class SessionNotFound(NotFound):
    code = "session_not_found"
    sentence = "There is no session with this id."


class AttentionNotFound(NotFound):
    code = "attention_not_found"
    sentence = "There is no open question with this id."


class DirectoryNotFound(NotFound):
    code = "directory_not_found"
    sentence = "There is no such directory among those that Clarvis may use."


class OutsideRoots(ClarvisError):
    code, status = "outside_roots", 403
    sentence = (
        "This directory lies outside those that Clarvis may use; CLARVIS_ALLOWED_ROOTS names them."
    )


class MethodNotAllowed(ClarvisError):
    code, status = "method_not_allowed", 405
    sentence = "This address does not take that method."


class RequestTooSlow(ClarvisError):
    code, status = "request_too_slow", 408
    sentence = "The request's body did not come in time."


class BodyTooLarge(ClarvisError):
    code, status = "body_too_large", 413
    sentence = "The request body is too large."


class UnsupportedMedia(ClarvisError):
    code, status = "unsupported_media_type", 415
    sentence = "Send JSON, with 'Content-Type: application/json'."


class TooManyAttempts(ClarvisError):
    code, status = "too_many_attempts", 429
    sentence = "Too many failed logins; wait a little and try again."


class KeeperUnreachable(ClarvisError):
    code, status = "keeper_unreachable", 502
    sentence = "The keeper does not answer. Is 'claudekeeper serve' running?"


class KeeperRefused(ClarvisError):
    code, status = "keeper_refused", 502
    sentence = (
        "The keeper refused Clarvis's token. Put this keeper's token into the file that Clarvis "
        "reads it from (--token-file); that counts at once, and this page goes on by itself."
    )


def json_response(value: object, status: int = 200) -> web.Response:
    return web.Response(
        body=msgspec.json.encode(value), status=status, content_type="application/json"
    )


def error_response(error: ClarvisError) -> web.Response:
    shape = {"error": {"code": error.code, "message": error.message}}
    response = json_response(shape, error.status)
    if error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def from_http(refusal: web.HTTPException) -> ClarvisError:
    """What aiohttp itself refuses, in our words: its own pages name paths and methods."""
    match refusal.status:
        case 404:
            return NotFound()
        case 405:
            return MethodNotAllowed()
        case 413:
            return BodyTooLarge()
        case _:
            return InvalidRequest()


@web.middleware
async def answer_failures(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Handlers raise; this answers."""
    try:
        return await handler(request)
    except ClarvisError as error:
        return error_response(error)
    except web.HTTPException as refusal:
        answer = error_response(from_http(refusal))
        if hdrs.ALLOW in refusal.headers:
            answer.headers[hdrs.ALLOW] = refusal.headers[hdrs.ALLOW]
        return answer
    except ConnectionResetError:
        # the browser went away in the middle of an answer: nobody is left to tell
        raise
    except Exception:
        log.exception("%s %s failed", request.method, request.path)
        return error_response(ClarvisError())
