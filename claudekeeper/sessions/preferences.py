"""What people set: names and settings of sessions, the length of recaps, sessions given up.

It is kept in state.json, which is replaced whole."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Literal, get_args

import msgspec

from claudekeeper.catalog.catalog import RowChange
from claudekeeper.contract.errors import StateUnwritable
from claudekeeper.contract.grants import Grants
from claudekeeper.contract.requests import PermissionMode
from claudekeeper.core.atomic_files import (
    quarantine,
    read_file,
    remove_temporary_files,
    replace_file,
)
from claudekeeper.core.tasks import Tasks
from claudekeeper.sessions.settings import SessionSettings

log = logging.getLogger(__name__)


# sessions for which it is remembered what was chosen; the one chosen first is forgotten first
MAX_SESSIONS = 10_000


# how much a recap says
RecapLength = Literal["detailed", "quick", "dive"]


class StoredSettings(msgspec.Struct, rename="camel", omit_defaults=True, frozen=True):
    """With what a session goes on; None leaves it to Claude Code."""

    model: str | None = None
    permission_mode: PermissionMode | None = None
    grants: Grants | None = None
    system_prompt: str | None = None
    before_plan: PermissionMode | None = None


class GivenUp(msgspec.Struct, rename="camel", frozen=True):
    """When a session was given up, and how many messages it had by then."""

    at: str
    messages: int | None = None


class StateFile(msgspec.Struct, rename="camel"):
    """The content of state.json; fields of newer versions are kept as they are."""

    names: dict[str, str] = {}
    choices: dict[str, StoredSettings] = {}
    recap: str | None = None
    given_up: dict[str, GivenUp] = {}


class Preferences:
    """Reads state.json once and writes it at every change."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._write_lock = asyncio.Lock()
        self._raw: dict[str, msgspec.Raw] = {}
        self._state = StateFile()
        self._tasks = Tasks()

    def load(self) -> None:
        """Blocks. A file that cannot be read is set aside, which is logged."""
        remove_temporary_files(self._path)
        try:
            content = read_file(self._path)
        except FileNotFoundError:
            return
        except OSError as error:
            if self._path.is_file():
                raise
            # a folder, as containers make of a file that they were to mount and did not find
            self._quarantine(error.strerror)
            return
        try:
            self._raw = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
            self._state = msgspec.json.decode(content, type=StateFile)
        except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
            self._raw = {}
            self._quarantine(fault)

    def _quarantine(self, fault: object) -> None:
        aside = quarantine(self._path)
        log.warning("%s is corrupt (%s): kept as %s, begun anew", self._path, fault, aside)

    def name_of(self, session_id: str) -> str | None:
        return self._state.names.get(session_id)

    async def rename(self, session_id: str, name: str | None) -> None:
        """Set or clear the name; returns when it is on disk."""
        async with self._write_lock:
            names = dict(self._state.names)
            if name is None:
                names.pop(session_id, None)
            else:
                names[session_id] = name
            await self._replace_state(msgspec.structs.replace(self._state, names=names))

    @property
    def recap(self) -> RecapLength | None:
        """None where nobody chose yet; a newer version may know others."""
        return next((each for each in get_args(RecapLength) if each == self._state.recap), None)

    async def set_recap(self, recap: RecapLength | None) -> None:
        """Set or clear the length of recaps; returns when it is on disk."""
        async with self._write_lock:
            await self._replace_state(msgspec.structs.replace(self._state, recap=recap))

    def given_up_at(self, session_id: str) -> str | None:
        """When the session was given up, if it was."""
        mark = self._state.given_up.get(session_id)
        return mark.at if mark is not None else None

    async def set_given_up(self, session_id: str, mark: GivenUp | None) -> None:
        """Mark the session as given up, or not any more; returns when it is on disk."""
        async with self._write_lock:
            marks = {key: each for key, each in self._state.given_up.items() if key != session_id}
            if mark is not None:
                marks[session_id] = mark
            while len(marks) > MAX_SESSIONS:
                del marks[next(iter(marks))]
            await self._replace_state(msgspec.structs.replace(self._state, given_up=marks))

    def handle_row_change(self, change: RowChange) -> None:
        """Takes back the mark of a session that got another message; a title is none."""
        row = change.after
        if row is not None and row.is_fully_scanned and self.given_up_at(change.session_id):
            self.clear_given_up(change.session_id, row.summary.messages)

    def clear_given_up(self, session_id: str, messages: int | None = None) -> bool:
        """Something was said in this session, which is no longer given up then. `messages`: how
        many it has now. Whether it was given up."""
        mark = self._state.given_up.get(session_id)
        if mark is None:
            return False
        if messages is not None and mark.messages is None:
            # it was not read to its end by then
            self._state.given_up[session_id] = GivenUp(mark.at, messages)
        elif messages is not None and messages <= (mark.messages or 0):
            return False
        else:
            del self._state.given_up[session_id]
        self._tasks.start(self._save(), name="preferences:save")
        return True

    def settings_of(self, session_id: str) -> SessionSettings:
        stored = self._state.choices.get(session_id) or StoredSettings()
        return SessionSettings(
            stored.model,
            stored.permission_mode,
            grants=stored.grants or Grants(),
            system_prompt=stored.system_prompt,
            before_plan=stored.before_plan,
        )

    def store_settings(self, session_id: str, settings: SessionSettings) -> None:
        """Holds at once; it is on disk a moment later."""
        settings_by_session = self._state.choices
        grants = settings.grants if settings.grants != Grants() else None
        stored = StoredSettings(
            settings.model,
            settings.permission_mode,
            grants,
            settings.system_prompt,
            settings.before_plan,
        )
        if settings_by_session.get(session_id, StoredSettings()) == stored:
            return
        settings_by_session.pop(session_id, None)
        if stored != StoredSettings():
            settings_by_session[session_id] = stored
        while len(settings_by_session) > MAX_SESSIONS:
            del settings_by_session[next(iter(settings_by_session))]
        self._tasks.start(self._save(), name="preferences:save")

    async def wait_until_saved(self) -> None:
        """Until everything that was chosen is on disk, or cannot be."""
        await self._tasks.wait_all()

    async def _save(self) -> None:
        async with self._write_lock:
            try:
                await self._write(self._state)
            except OSError as error:
                # the session goes on with it all the same
                log.warning("the settings of a session could not be saved: %s", error)

    async def _replace_state(self, state: StateFile) -> None:
        try:
            await self._write(state)
        except OSError as error:
            raise StateUnwritable(
                f"The change could not be saved ({error.strerror}); the old value is kept."
            ) from error
        self._state = state

    async def _write(self, state: StateFile) -> None:
        whole = {**self._raw, "names": msgspec.Raw(msgspec.json.encode(state.names))}
        if state.choices or "choices" in whole:
            whole["choices"] = msgspec.Raw(msgspec.json.encode(state.choices))
        if state.given_up or "givenUp" in whole:
            whole["givenUp"] = msgspec.Raw(msgspec.json.encode(state.given_up))
        if state.recap or "recap" in whole:
            whole["recap"] = msgspec.Raw(msgspec.json.encode(state.recap))
        await asyncio.to_thread(replace_file, self._path, msgspec.json.encode(whole))
        self._raw = whole
