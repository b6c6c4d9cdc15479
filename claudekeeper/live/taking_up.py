"""Going on with what was left unfinished, once a person says so."""

from __future__ import annotations

from claudekeeper.live.registry import Registry
from claudekeeper.live.session import LiveSession
from claudekeeper.live.unfinished import Unfinished, outstanding
from claudekeeper.model.commands import Send


async def take_up(registry: Registry, session_id: str, left: Unfinished) -> tuple[LiveSession, str]:
    """What was said and never written is said again, else only to go on; then what had waited."""
    first, *queue = outstanding(left, await registry.written(session_id))
    text, content = (
        (first.content, None) if isinstance(first.content, str) else (None, first.content)
    )
    wish = Send(session_id=session_id, text=text, content=content, uuid=first.uuid)
    session = await registry.send(wish, first=True)
    session.send_on({item.uuid for item in queue})
    return session, first.uuid
