"""A whole history or list, as a client gets it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw
from yarl import URL

from claudekeeper.contract.message import Message
from claudekeeper.transcripts.full_view import BranchPoint
from claudekeeper.transcripts.history import History, View


class ReceivedMessage(Message, rename="camel"):
    """A message out of its JSON."""

    usage: Any = None


def read_stream(
    path: Path, session_id: str, view: View = "full"
) -> tuple[list[Raw], list[BranchPoint]]:
    """Every message as it was sent, and where branches leave."""
    whole = History().stream(path, session_id, view=view)
    try:
        pieces = list(iter(whole.next_chunk, b""))
    finally:
        whole.close()
    sent = msgspec.json.decode(b"[" + b",".join(pieces) + b"]", type=list[Raw])
    assert {msgspec.json.decode(each)["uuid"] for each in sent} == whole.uuids
    return sent, whole.branches


def read_all_messages(path: Path, session_id: str, view: View = "full") -> list[ReceivedMessage]:
    """Every message."""
    sent, _ = read_stream(path, session_id, view)
    return [msgspec.json.decode(each, type=ReceivedMessage) for each in sent]


async def read_pages(
    get: Callable[[str], Awaitable[Any]], path: str, cursor: str = "cursor"
) -> list[Any]:
    """All pages from `path` on. The field named by `cursor` of a page is the query of the next."""
    pages = [await get(path)]
    while (value := pages[-1][cursor]) is not None:
        pages.append(await get(str(URL(path).update_query({cursor: value}))))
    return pages
