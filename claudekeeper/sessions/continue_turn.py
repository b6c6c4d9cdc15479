"""Going on with what was left unfinished, once a person says so."""

from __future__ import annotations

from claudekeeper.contract.requests import SendRequest
from claudekeeper.sessions.manager import SessionManager
from claudekeeper.sessions.recovery import InterruptedTurn, messages_to_send
from claudekeeper.sessions.session import LiveSession


async def continue_interrupted_turn(
    registry: SessionManager, session_id: str, left: InterruptedTurn
) -> tuple[LiveSession, str]:
    """What was said and never written is said again, else only to go on; then what had waited."""
    first, *queue = messages_to_send(left, await registry.recent_uuids(session_id))
    text, content = (
        (first.content, None) if isinstance(first.content, str) else (None, first.content)
    )
    wish = SendRequest(session_id=session_id, text=text, content=content, uuid=first.uuid)
    session = await registry.send(wish, first=True)
    session.release_held({item.uuid for item in queue})
    return session, first.uuid
