"""Errors that both servers answer with: a stable code, an HTTP status and a sentence for people."""

from __future__ import annotations

from typing import ClassVar


class ApiError(Exception):
    """The base class of every error that a client gets."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    sentence: ClassVar[str] = "Something went wrong inside the server; its log says more."
    # the names of what the client can do instead
    choices: tuple[str, ...] = ()

    def __init__(
        self,
        message: str | None = None,
        *,
        retry_after: int | None = None,
        choices: tuple[str, ...] = (),
    ) -> None:
        self.message = message or self.sentence
        # seconds after which the request may be repeated
        self.retry_after = retry_after
        self.choices = choices or type(self).choices
        super().__init__(self.message)


class InvalidRequest(ApiError):
    code, status = "invalid_request", 400
    sentence = "The request could not be understood."


class TooManyAttempts(ApiError):
    code, status = "too_many_attempts", 429
    sentence = "Too many wrong tokens were tried; wait a little. The right one is always answered."


class ForeignHost(ApiError):
    code, status = "foreign_host", 403
    sentence = "This Host is not one the keeper answers to."


class ForeignOrigin(ApiError):
    code, status = "foreign_origin", 403
    sentence = "Requests from pages of another origin are refused."


class NotFound(ApiError):
    code, status = "not_found", 404
    sentence = "There is nothing at this address."


class MethodNotAllowed(ApiError):
    code, status = "method_not_allowed", 405
    sentence = "This address does not take that method."


class RequestTooSlow(ApiError):
    code, status = "request_too_slow", 408
    sentence = "The request's body did not come in time."


class BodyTooLarge(ApiError):
    code, status = "body_too_large", 413
    sentence = "The request body is too large."


class UnsupportedMedia(ApiError):
    code, status = "unsupported_media_type", 415
    sentence = "Send JSON, with 'Content-Type: application/json'."
