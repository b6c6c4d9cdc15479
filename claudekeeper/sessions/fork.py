"""A copy of a session that goes its own way; the SDK writes it."""

from __future__ import annotations

import asyncio

from claudekeeper.contract.errors import ForkRefused, MessageNotFound, SessionNotFound

NOTHING_TO_FORK = (
    "This message has no line of its own in the transcript, so there is nothing to fork from: it "
    "waited in line, belongs to a subagent, or is not written yet."
)


async def fork(session_id: str, at: str | None) -> str:
    """The new session's id."""
    return await asyncio.to_thread(_fork, session_id, at)


def _fork(session_id: str, at: str | None) -> str:
    from claude_agent_sdk import fork_session

    try:
        return fork_session(session_id, up_to_message_id=at).session_id
    except FileNotFoundError as error:
        raise SessionNotFound from error
    except ValueError as error:
        if at is not None and "not found" in str(error):
            raise MessageNotFound(NOTHING_TO_FORK) from error
        raise ForkRefused(f"{ForkRefused.sentence} ({error})") from error
    except OSError as error:
        raise ForkRefused(f"The copy could not be written: {error.strerror}.") from error
