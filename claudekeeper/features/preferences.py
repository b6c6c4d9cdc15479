"""What people set: names, models and modes of sessions, what those may, how much one is told
on coming back, and which sessions were given up. Kept in state.json, replaced whole."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Literal, get_args

import msgspec

from claudekeeper.files import discard_leftovers, read_file, set_aside, write_whole
from claudekeeper.live.tasks import Tasks
from claudekeeper.live.world import Choices
from claudekeeper.model.commands import PermissionMode
from claudekeeper.model.errors import StateUnwritable
from claudekeeper.model.grants import Grants

log = logging.getLogger(__name__)


# sessions for which it is remembered what was chosen; the one chosen first is forgotten first
REMEMBERED = 10_000


# how much of a session one is told on coming back to it
Telling = Literal["detailed", "quick", "dive"]


class Chosen(msgspec.Struct, rename="camel", omit_defaults=True, frozen=True):
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


class State(msgspec.Struct, rename="camel"):
    """The content of state.json; fields of newer versions are kept as they are."""

    names: dict[str, str] = {}
    choices: dict[str, Chosen] = {}
    recap: str | None = None
    given_up: dict[str, GivenUp] = {}


class Preferences:
    """Reads state.json once and writes it at every change."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writing = asyncio.Lock()
        self._raw: dict[str, msgspec.Raw] = {}
        self._state = State()
        self._tasks = Tasks()

    def load(self) -> None:
        """Blocks. A file that cannot be understood is set aside, and said so."""
        discard_leftovers(self._path)
        try:
            content = read_file(self._path)
        except FileNotFoundError:
            return
        except OSError as error:
            if self._path.is_file():
                raise
            # a folder, as containers make of a file that they were to mount and did not find
            self._set_aside(error.strerror)
            return
        try:
            self._raw = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
            self._state = msgspec.json.decode(content, type=State)
        except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
            self._raw = {}
            self._set_aside(fault)

    def _set_aside(self, fault: object) -> None:
        aside = set_aside(self._path)
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
            await self._change(msgspec.structs.replace(self._state, names=names))

    @property
    def recap(self) -> Telling | None:
        """None where nobody chose yet; a newer version may know others."""
        return next((each for each in get_args(Telling) if each == self._state.recap), None)

    async def prefer(self, recap: Telling | None) -> None:
        """Set or clear how much is told; returns when it is on disk."""
        async with self._writing:
            await self._change(msgspec.structs.replace(self._state, recap=recap))

    def given_up(self, session_id: str) -> str | None:
        """When the session was given up, if it was."""
        mark = self._state.given_up.get(session_id)
        return mark.at if mark is not None else None

    async def give_up(self, session_id: str, mark: GivenUp | None) -> None:
        """Mark the session as given up, or not any more; returns when it is on disk."""
        async with self._writing:
            marks = {key: each for key, each in self._state.given_up.items() if key != session_id}
            if mark is not None:
                marks[session_id] = mark
            while len(marks) > REMEMBERED:
                del marks[next(iter(marks))]
            await self._change(msgspec.structs.replace(self._state, given_up=marks))

    def went_on(self, session_id: str, messages: int | None = None) -> bool:
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

    def choices_of(self, session_id: str) -> Choices:
        chosen = self._state.choices.get(session_id) or Chosen()
        return Choices(
            chosen.model,
            chosen.permission_mode,
            grants=chosen.grants or Grants(),
            system_prompt=chosen.system_prompt,
            before_plan=chosen.before_plan,
        )

    def choose(self, session_id: str, choices: Choices) -> None:
        """Holds at once; it is on disk a moment later."""
        known = self._state.choices
        grants = choices.grants if choices.grants != Grants() else None
        chosen = Chosen(
            choices.model,
            choices.permission_mode,
            grants,
            choices.system_prompt,
            choices.before_plan,
        )
        if known.get(session_id, Chosen()) == chosen:
            return
        known.pop(session_id, None)
        if chosen != Chosen():
            known[session_id] = chosen
        while len(known) > REMEMBERED:
            del known[next(iter(known))]
        self._tasks.start(self._save(), name="preferences:save")

    async def settled(self) -> None:
        """Until everything that was chosen is on disk, or cannot be."""
        await self._tasks.finish()

    async def _save(self) -> None:
        async with self._writing:
            try:
                await self._write(self._state)
            except OSError as error:
                # the session goes on with it all the same
                log.warning("what was chosen for a session could not be saved: %s", error)

    async def _change(self, state: State) -> None:
        try:
            await self._write(state)
        except OSError as error:
            raise StateUnwritable(
                f"The change could not be saved ({error.strerror}); the old value is kept."
            ) from error
        self._state = state

    async def _write(self, state: State) -> None:
        whole = {**self._raw, "names": msgspec.Raw(msgspec.json.encode(state.names))}
        if state.choices or "choices" in whole:
            whole["choices"] = msgspec.Raw(msgspec.json.encode(state.choices))
        if state.given_up or "givenUp" in whole:
            whole["givenUp"] = msgspec.Raw(msgspec.json.encode(state.given_up))
        if state.recap or "recap" in whole:
            whole["recap"] = msgspec.Raw(msgspec.json.encode(state.recap))
        await asyncio.to_thread(write_whole, self._path, msgspec.json.encode(whole))
        self._raw = whole
