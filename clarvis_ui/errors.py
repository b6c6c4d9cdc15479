"""Errors of Clarvis alone; those of both servers are in `claudekeeper.net.errors`."""

from __future__ import annotations

from claudekeeper.net.errors import ApiError, NotFound

FOREIGN_HOST = "Clarvis does not answer to this Host; '--allowed-host NAME' adds one."
TOO_MANY_LOGINS = "Too many failed logins; wait a little and try again."


class NotLoggedIn(ApiError):
    code, status = "not_logged_in", 401
    sentence = "Log in first: 'claudekeeper open' prints a link."


class WrongCode(ApiError):
    code, status = "wrong_code", 401
    sentence = (
        "This code is wrong, was used before or has expired; 'claudekeeper open' gives a new one."
    )


class WrongToken(ApiError):
    code, status = "unauthorized", 401
    sentence = "The keeper's token is needed: send it as 'Authorization: Bearer TOKEN'."


class SessionOutsideRoots(NotFound):
    """The error for a session that does not exist, so that nobody learns what is outside."""

    code = "session_not_found"
    sentence = "There is no session with this id."


class AttentionOutsideRoots(NotFound):
    code = "attention_not_found"
    sentence = "There is no open question with this id."


class DirectoryNotFound(NotFound):
    code = "directory_not_found"
    sentence = "There is no such directory among those that Clarvis may use."


class OutsideRoots(ApiError):
    code, status = "outside_roots", 403
    sentence = (
        "This directory lies outside those that Clarvis may use; CLARVIS_ALLOWED_ROOTS names them."
    )


class KeeperUnreachable(ApiError):
    code, status = "keeper_unreachable", 502
    sentence = "The keeper does not answer. Is 'claudekeeper serve' running?"


class KeeperRefused(ApiError):
    code, status = "keeper_refused", 502
    sentence = (
        "The keeper refused Clarvis's token. Put this keeper's token into the file that Clarvis "
        "reads it from (--token-file); that counts at once, and this page goes on by itself."
    )
