"""One tree of errors: each has a stable code, an HTTP status and a sentence for people."""

from __future__ import annotations

from typing import ClassVar


class KeeperError(Exception):
    """The root: whatever the program tells a caller about a failure is one of these."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    sentence: ClassVar[str] = "Something went wrong inside the keeper; its log says more."

    def __init__(self, message: str | None = None, *, retry_after: int | None = None) -> None:
        self.message = message or self.sentence
        # seconds, where trying again later will do
        self.retry_after = retry_after
        super().__init__(self.message)


class InvalidRequest(KeeperError):
    code, status = "invalid_request", 400
    sentence = "The request could not be understood."


class Unauthorized(KeeperError):
    code, status = "unauthorized", 401
    sentence = "A valid token is needed: send it as 'Authorization: Bearer TOKEN'."


class ScopeTooNarrow(KeeperError):
    code, status = "scope_too_narrow", 403
    sentence = "The token for hooks can raise questions, and nothing else."


class TooManyAttempts(KeeperError):
    code, status = "too_many_attempts", 429
    sentence = "Too many wrong tokens were tried; wait a little. The right one is always answered."


class ForeignHost(KeeperError):
    code, status = "foreign_host", 403
    sentence = "This Host is not one the keeper answers to."


class ForeignOrigin(KeeperError):
    code, status = "foreign_origin", 403
    sentence = "Requests from pages of another origin are refused."


class NotFound(KeeperError):
    code, status = "not_found", 404
    sentence = "There is nothing at this address."


class MethodNotAllowed(KeeperError):
    code, status = "method_not_allowed", 405
    sentence = "This address does not take that method."


class SessionNotFound(NotFound):
    code = "session_not_found"
    sentence = "There is no session with this id."


class MessageNotFound(NotFound):
    code = "message_not_found"
    sentence = "The session has no message with this uuid."


class SubagentNotFound(NotFound):
    code = "subagent_not_found"
    sentence = "The session has no subagent with this id."


class BodyTooLarge(KeeperError):
    code, status = "body_too_large", 413
    sentence = "The request body is too large."


class UnsupportedMedia(KeeperError):
    code, status = "unsupported_media_type", 415
    sentence = "Send JSON, with 'Content-Type: application/json'."


class TranscriptUnreadable(KeeperError):
    code, status = "transcript_unreadable", 422
    sentence = "The transcript of this session cannot be read."


class ConfigInvalid(KeeperError):
    code, status = "config_invalid", 500
    sentence = "The configuration file cannot be used."


class StateUnwritable(KeeperError):
    code, status = "state_unwritable", 507
    sentence = "The change could not be saved; the old value is kept."
