"""One tree of errors: each has a stable code, an HTTP status and a sentence for people."""

from __future__ import annotations

from typing import ClassVar

import msgspec


class Fault(msgspec.Struct, frozen=True, gc=False):
    """Why a transcript cannot be shown."""

    code: str
    message: str


class KeeperError(Exception):
    """The root: whatever the program tells a caller about a failure is one of these."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    sentence: ClassVar[str] = "Something went wrong inside the keeper; its log says more."
    # what the caller can do instead, by name
    choices: tuple[str, ...] = ()

    def __init__(
        self,
        message: str | None = None,
        *,
        retry_after: int | None = None,
        choices: tuple[str, ...] = (),
    ) -> None:
        self.message = message or self.sentence
        # seconds, where trying again later will do
        self.retry_after = retry_after
        self.choices = choices or type(self).choices
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


class SpecificationNotFound(NotFound):
    code = "specification_not_found"
    sentence = "No specification is written in the directory of this session."


class SubagentNotFound(NotFound):
    code = "subagent_not_found"
    sentence = "The session has no subagent with this id."


class RequestTooSlow(KeeperError):
    code, status = "request_too_slow", 408
    sentence = "The request's body did not come in time."


class ConversationNotFound(NotFound):
    code = "conversation_not_found"
    sentence = "No conversation has this key."


class ProjectNeeded(KeeperError):
    code, status = "project_needed", 409
    sentence = "This key stands in several projects: say which with 'project'."


class ConversationsDisabled(KeeperError):
    code, status = "conversations_disabled", 403
    sentence = "Conversations for work are switched off for this project."


class CeilingReached(KeeperError):
    code, status = "ceiling_reached", 409
    sentence = "The item has reached its ceiling; a person is asked whether it may go on."


class ConversationEnded(KeeperError):
    code, status = "conversation_ended", 409
    sentence = (
        "A person ended this item when it had reached its ceiling. Delete its conversation to "
        "begin anew."
    )


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


class AttentionNotFound(NotFound):
    code = "attention_not_found"
    sentence = "There is no open question with this id."


class AttentionGone(KeeperError):
    code, status = "attention_gone", 409
    sentence = "This question is settled already."


class GrantForgotten(KeeperError):
    code, status = "grant_forgotten", 409
    sentence = "Claude Code would not keep what is to be allowed for good; allow it once instead."


class WorkdirMissing(KeeperError):
    code, status = "workdir_missing", 400
    sentence = "The working directory does not exist on this machine."


class CommandRefused(KeeperError):
    code, status = "command_refused", 400
    sentence = "This command would leave the session; start a new session instead."


class ModeRefused(KeeperError):
    code, status = "mode_refused", 409
    sentence = "Claude Code refuses this permission mode."


class ModelRefused(KeeperError):
    code, status = "model_refused", 409
    sentence = "Claude Code refuses this model."


class SessionGoesOn(KeeperError):
    code, status = "session_goes_on", 409
    sentence = "The session is at work: it can be given up when the turn has ended."


class MessageTaken(KeeperError):
    code, status = "message_taken", 409
    sentence = "This message is not waiting any more: its turn has begun or is over."


class ForkRefused(KeeperError):
    code, status = "fork_refused", 409
    sentence = "The session cannot be forked there."


class BranchNotFound(KeeperError):
    code, status = "branch_not_found", 404
    sentence = "This session has no such branch."


class NothingInterrupted(KeeperError):
    code, status = "nothing_interrupted", 409
    sentence = "No turn of this session was cut off: there is nothing to continue."


class SessionElsewhere(KeeperError):
    code, status = "session_elsewhere", 409
    sentence = (
        "This session runs elsewhere, and two writers would tear it apart. Watch it, go on in a "
        "copy of it (send with 'fork'), or wait until it ends (send with 'wait')."
    )
    choices = ("watch", "fork", "wait")


class KeeperBusy(KeeperError):
    code, status = "keeper_busy", 429
    sentence = (
        "All places for running sessions are taken by sessions that work or wait for an answer. "
        "Try again later, or send with 'wait' to stand in line."
    )


class KeeperStopping(KeeperError):
    code, status = "keeper_stopping", 503
    sentence = "The keeper is stopping; send again when it is back."


class CliMissing(KeeperError):
    code, status = "cli_missing", 500
    sentence = "The Claude Code program was not found."


class CliFailed(KeeperError):
    code, status = "cli_failed", 500
    sentence = "Claude Code could not be started."


class AsideFailed(KeeperError):
    code, status = "aside_failed", 502
    sentence = "Claude could not be asked."


class CliCrashed(KeeperError):
    code, status = "cli_crashed", 500
    sentence = "Claude Code ended unexpectedly; the next message starts it again."


class NotAWebSocket(KeeperError):
    code, status = "upgrade_required", 426
    sentence = "This address speaks WebSocket only."


class DirectoryUnreadable(KeeperError):
    code, status = "directory_unreadable", 404
    sentence = "There is no such directory, or it cannot be read."
