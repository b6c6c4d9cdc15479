"""Going on with an interrupted turn, once a person says so."""

from __future__ import annotations

from claudekeeper.contract.requests import SendRequest
from claudekeeper.sessions.manager import SessionManager
from claudekeeper.sessions.recovery.interrupted_turn import InterruptedTurn, messages_to_send
from claudekeeper.sessions.session import LiveSession


async def continue_interrupted_turn(
    manager: SessionManager, session_id: str, turn: InterruptedTurn
) -> tuple[LiveSession, str]:
    """Sends what no transcript has, else only asks to go on; then what waited in the queue."""
    first, *queue = messages_to_send(turn, await manager.recent_uuids(session_id))
    text, content = (
        (first.content, None) if isinstance(first.content, str) else (None, first.content)
    )
    request = SendRequest(session_id=session_id, text=text, content=content, uuid=first.uuid)
    session = await manager.send(request, first=True)
    session.release_held({message.uuid for message in queue})
    return session, first.uuid
