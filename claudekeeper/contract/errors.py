"""The errors of the API: each has a stable code, an HTTP status and a sentence for people."""

from __future__ import annotations

import msgspec

from claudekeeper.net.errors import ApiError, NotFound


class Fault(msgspec.Struct, frozen=True, gc=False):
    """An error of a session or a turn: a stable code, and a sentence for people."""

    code: str
    message: str


class Unauthorized(ApiError):
    code, status = "unauthorized", 401
    sentence = "A valid token is needed: send it as 'Authorization: Bearer TOKEN'."


class ScopeTooNarrow(ApiError):
    code, status = "scope_too_narrow", 403
    sentence = "The hook token can only raise questions."


class SessionNotFound(NotFound):
    code = "session_not_found"
    sentence = "There is no session with this id."


class MessageNotFound(NotFound):
    code = "message_not_found"
    sentence = "The session has no message with this uuid."


class SpecificationNotFound(NotFound):
    code = "specification_not_found"
    sentence = "There is no specification in the directory of this session."


class SubagentNotFound(NotFound):
    code = "subagent_not_found"
    sentence = "The session has no subagent with this id."


class ConversationNotFound(NotFound):
    code = "conversation_not_found"
    sentence = "No conversation has this key."


class ProjectNeeded(ApiError):
    code, status = "project_needed", 409
    sentence = "Several projects have this key: name one with 'project'."


class ConversationsDisabled(ApiError):
    code, status = "conversations_disabled", 403
    sentence = "Conversations of work items are disabled for this project."


class CeilingReached(ApiError):
    code, status = "ceiling_reached", 409
    sentence = "The item has reached its ceiling; a person is asked whether it may continue."


class ConversationEnded(ApiError):
    code, status = "conversation_ended", 409
    sentence = (
        "A person ended this item when it had reached its ceiling. Delete its conversation to "
        "start again."
    )


class TranscriptUnreadable(ApiError):
    code, status = "transcript_unreadable", 422
    sentence = "The transcript of this session cannot be read."


class ConfigInvalid(ApiError):
    code, status = "config_invalid", 500
    sentence = "The configuration file cannot be used."


class StateUnwritable(ApiError):
    code, status = "state_unwritable", 507
    sentence = "The change could not be saved; the old value still holds."


class AttentionNotFound(NotFound):
    code = "attention_not_found"
    sentence = "There is no open question with this id."


class AttentionGone(ApiError):
    code, status = "attention_gone", 409
    sentence = "This question is settled already."


class GrantForgotten(ApiError):
    code, status = "grant_forgotten", 409
    sentence = "Claude Code did not store this grant; allow it once instead."


class WorkdirMissing(ApiError):
    code, status = "workdir_missing", 400
    sentence = "The working directory does not exist on this machine."


class CommandRefused(ApiError):
    code, status = "command_refused", 400
    sentence = "This command would leave the session; start a new session instead."


class ModeRefused(ApiError):
    code, status = "mode_refused", 409
    sentence = "Claude Code refuses this permission mode."


class ModelRefused(ApiError):
    code, status = "model_refused", 409
    sentence = "Claude Code refuses this model."


class SessionGoesOn(ApiError):
    code, status = "session_goes_on", 409
    sentence = "A turn of this session is running: it can be given up when the turn has ended."


class MessageTaken(ApiError):
    code, status = "message_taken", 409
    sentence = "This message is no longer in the queue: its turn has begun or is over."


class ForkRefused(ApiError):
    code, status = "fork_refused", 409
    sentence = "The session cannot be forked there."


class BranchNotFound(ApiError):
    code, status = "branch_not_found", 404
    sentence = "This session has no such branch."


class NothingInterrupted(ApiError):
    code, status = "nothing_interrupted", 409
    sentence = "No turn of this session was interrupted: there is nothing to continue."


class SessionElsewhere(ApiError):
    code, status = "session_elsewhere", 409
    sentence = (
        "Another Claude Code runs this session, and two would damage its transcript. Watch it, "
        "continue in a copy (send with 'fork'), or wait until it ends (send with 'wait')."
    )
    choices = ("watch", "fork", "wait")


class KeeperBusy(ApiError):
    code, status = "keeper_busy", 429
    sentence = (
        "The limit of running sessions is reached, and all of them work or wait for an answer. "
        "Try again later, or send with 'wait' to queue the message."
    )


class KeeperStopping(ApiError):
    code, status = "keeper_stopping", 503
    sentence = "The keeper is shutting down; send again when it is back."


class CliMissing(ApiError):
    code, status = "cli_missing", 500
    sentence = "The Claude Code program was not found."


class CliFailed(ApiError):
    code, status = "cli_failed", 500
    sentence = "Claude Code could not be started."


class AsideFailed(ApiError):
    code, status = "aside_failed", 502
    sentence = "The side query to Claude failed."


class CliCrashed(ApiError):
    code, status = "cli_crashed", 500
    sentence = "Claude Code ended unexpectedly; the next message starts it again."


class NotAWebSocket(ApiError):
    code, status = "upgrade_required", 426
    sentence = "This address is only for WebSockets."


class DirectoryUnreadable(ApiError):
    code, status = "directory_unreadable", 404
    sentence = "There is no such directory, or it cannot be read."
