"""A whole history, as a client gets it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw

from claudekeeper.model.branches import Departure
from claudekeeper.model.messages import Message
from claudekeeper.readers.history import History, View


class Received(Message, rename="camel"):
    """A message out of its JSON."""

    usage: Any = None


def received(path: Path, session_id: str, view: View = "full") -> tuple[list[Raw], list[Departure]]:
    """Every message as it was sent, and where branches leave."""
    whole = History().whole(path, session_id, view=view)
    try:
        pieces = list(iter(whole.next_piece, b""))
    finally:
        whole.close()
    sent = msgspec.json.decode(b"[" + b",".join(pieces) + b"]", type=list[Raw])
    assert {msgspec.json.decode(each)["uuid"] for each in sent} == whole.uuids
    return sent, whole.branches


def everything(path: Path, session_id: str, view: View = "full") -> list[Received]:
    """Every message."""
    sent, _ = received(path, session_id, view)
    return [msgspec.json.decode(each, type=Received) for each in sent]
