"""What people set: names of sessions. Kept in state.json, replaced whole, never half written."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from claudekeeper.files import discard_leftovers, write_whole
from claudekeeper.model.errors import StateUnwritable

log = logging.getLogger(__name__)


class State(msgspec.Struct, rename="camel"):
    """The content of state.json; fields of newer versions are kept as they are."""

    names: dict[str, str] = {}


class Preferences:
    """Reads state.json once and writes it at every change."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writing = asyncio.Lock()
        self._raw: dict[str, msgspec.Raw] = {}
        self._state = State()

    def load(self) -> None:
        """Blocks. A file that cannot be understood is set aside, and said so."""
        discard_leftovers(self._path)
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return
        try:
            self._raw = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
            self._state = msgspec.json.decode(content, type=State)
        except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
            self._raw = {}
            stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
            aside = self._path.with_name(f"{self._path.name}.corrupt-{stamp}")
            self._path.rename(aside)
            log.warning("%s is corrupt (%s): kept as %s, begun anew", self._path, fault, aside)

    def name_of(self, session_id: str) -> str | None:
        return self._state.names.get(session_id)

    async def rename(self, session_id: str, name: str | None) -> None:
        """Set or clear the name; returns when it is on disk."""
        async with self._writing:
            names = dict(self._state.names)
            if name is None:
                names.pop(session_id, None)
            else:
                names[session_id] = name
            state = State(names=names)
            raw = {**self._raw, "names": msgspec.Raw(msgspec.json.encode(names))}
            try:
                await asyncio.to_thread(write_whole, self._path, msgspec.json.encode(raw))
            except OSError as error:
                raise StateUnwritable(
                    f"The change could not be saved ({error.strerror}); the old value is kept."
                ) from error
            self._state, self._raw = state, raw
