"""Which sessions run: finding, opening, limits."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Protocol
from uuid import uuid4

import msgspec

from claudekeeper.live.attention import Desk
from claudekeeper.live.bus import Bus
from claudekeeper.live.client import MakeClient
from claudekeeper.live.failed import FailedTurn
from claudekeeper.live.failed_turns import FailedTurns
from claudekeeper.live.forking import fork
from claudekeeper.live.ledger import Ledgers
from claudekeeper.live.line import Item
from claudekeeper.live.session import LiveSession
from claudekeeper.live.unfinished import Unfinished
from claudekeeper.live.world import Choices, World
from claudekeeper.model.commands import Change, PermissionMode, Send
from claudekeeper.model.errors import (
    KeeperBusy,
    KeeperStopping,
    MessageNotFound,
    ModeRefused,
    SessionElsewhere,
    SessionNotFound,
    WorkdirMissing,
)
from claudekeeper.model.grants import Grants
from claudekeeper.model.limits import Limits
from claudekeeper.model.sessions import AppendedPrompt, Liveness, Presence
from claudekeeper.readers.carried import Carried
from claudekeeper.readers.presence import Process

# seconds after which somebody who was turned away at the end may find the next keeper
BACK_SOON = 5


class Disk(msgspec.Struct, frozen=True):
    """What the transcripts tell of a session."""

    # its working directory; None when there is no such session
    workdir: Callable[[str], Awaitable[str | None]]
    # what an earlier keeper, or a CLI that is gone, left unfinished there
    left: Callable[[str], Unfinished | None]
    # the session in this directory that a message with this uuid began
    begun_with: Callable[[str, str], Awaitable[str | None]]
    # the copy of this session that was made for a message with this uuid
    copied_for: Callable[[str, str], Awaitable[str | None]]
    # the uuids of the messages near its end
    recent: Callable[[str], Awaitable[list[str]]]
    # who else runs it at this moment; and until nobody does
    elsewhere: Callable[[str], Awaitable[Presence | None]]
    vacant: Callable[[str], Awaitable[None]]
    # what its processes cost together, as the last one wrote it down
    carried: Callable[[str], Awaitable[Carried]]


class Memory(Protocol):
    """Who remembers what was chosen for a session, longer than this keeper runs."""

    def choices_of(self, session_id: str) -> Choices: ...
    def choose(self, session_id: str, choices: Choices) -> None: ...


class Registry:
    """The live sessions by id."""

    def __init__(
        self,
        bus: Bus,
        desk: Desk,
        disk: Disk,
        ledgers: Ledgers,
        make_client: MakeClient,
        limits: Limits,
        memory: Memory,
        failed: FailedTurns,
    ) -> None:
        self._desk = desk
        self._disk = disk
        self._limits = limits
        self._memory = memory
        self._sessions: dict[str, LiveSession] = {}
        self._moved = asyncio.Event()
        self._stopping = False
        # who shows sessions: called with the id of one that is not what it was
        self.changed: Callable[[str], None] = lambda _: None
        self._world = World(
            bus,
            desk,
            make_client,
            self,
            self._exists,
            self._session_changed,
            ledgers.of,
            disk.vacant,
            memory.choose,
            limits.idle_seconds,
            disk.carried,
            failed,
        )

    def get(self, session_id: str) -> LiveSession | None:
        return self._sessions.get(session_id)

    def all(self) -> list[LiveSession]:
        return list(self._sessions.values())

    @property
    def live(self) -> int:
        """How many CLIs run."""
        return sum(session.occupies for session in self._sessions.values())

    def knowing(self, uuid: str) -> LiveSession | None:
        """The session to which this message was sent before: the answer was lost on the way."""
        return next((each for each in self.all() if not each.over and each.knows(uuid)), None)

    def liveness(self, session_id: str) -> Liveness | None:
        session = self._sessions.get(session_id)
        return session.liveness if session is not None else None

    def leaves_now(self, session_id: str) -> FailedTurn | None:
        """What its turn would leave if the keeper ended now; None where none runs."""
        session = self._sessions.get(session_id)
        return session.leaves_now if session is not None else None

    def choices(self, session_id: str) -> Choices:
        session = self._sessions.get(session_id)
        if session is not None:
            return session.choices
        choices = self._memory.choices_of(session_id)
        if not _may_be(choices.permission_mode):
            choices.permission_mode = None
        return choices

    def system_prompt(self, session_id: str) -> AppendedPrompt | None:
        """What a person appended for it, and whether that holds yet."""
        prompt, live = self.choices(session_id).system_prompt, self._sessions.get(session_id)
        pending = live is not None and live.prompt_pending
        if prompt is None and not pending:
            return None
        return AppendedPrompt(characters=len(prompt or ""), pending=pending)

    # ---- asking ----

    async def send(
        self,
        wish: Send,
        *,
        append_prompt: str | None = None,
        new_id: str | None = None,
        first: bool = False,
    ) -> LiveSession:
        """Take a message; its turn comes when it comes. The same uuid twice is one message.

        `append_prompt` is what a dispatch adds to the system prompt of the session's next process;
        `new_id` the id of a session that is to begin, where somebody has to know it before;
        `first`: it is said before all that wait already.
        """
        assert wish.uuid is not None
        _check_mode(wish.permission_mode)
        session = await self._session_for(wish, new_id)
        if session.knows(wish.uuid):
            return session
        changed: dict[str, str | None] = {
            "model": wish.model,
            "append_prompt": append_prompt,
        }
        given: dict[str, str | None] = {
            name: value for name, value in changed.items() if value is not None
        }
        if wish.system_prompt is not msgspec.UNSET:
            given["system_prompt"] = wish.system_prompt
        if given or wish.permission_mode is not None:
            choices = msgspec.structs.replace(session.choices, **given)
            if wish.permission_mode is not None:
                choices = choices.in_mode(wish.permission_mode)
            await self._choose(session.id, choices)
            if session.over:
                # it idled away just now
                session = self._open(session.id, session.workdir)
            if session.knows(wish.uuid):
                # sent a second time while the CLI was told of the first one's choices
                return session
        item = Item(wish.uuid, wish.text if wish.text is not None else wish.content or [])
        self._take_over(session, but=item.uuid)
        session.send(item, first=first or wish.interrupt)
        if wish.interrupt:
            session.interrupt()
        return session

    async def send_on(
        self, session_id: str, only: list[str] | None = None, *, wait: bool = False
    ) -> list[str]:
        """What is held there waits for its turn again; the uuids of those that do."""
        session = self._sessions.get(session_id)
        left = self._disk.left(session_id)
        items = session.line.waiting if session is not None else left.queue if left else []
        uuids = {item.uuid for item in items if item.held}
        if only is not None:
            uuids &= {uuid.lower() for uuid in only}
        if not uuids:
            return []
        session = await self._session_for(Send(session_id=session_id, wait=wait), None)
        self._take_over(session)
        return session.send_on(uuids)

    def _take_over(self, session: LiveSession, but: str | None = None) -> None:
        """What an earlier keeper left there is not lost with what is said now: it is held."""
        left = self._disk.left(session.id)
        for item in left.waiting if left is not None else ():
            if item.uuid != but and not session.knows(item.uuid):
                session.take_over(item)

    async def written(self, session_id: str) -> set[str]:
        """The uuids of the messages near the end of its transcript."""
        return set(await self._disk.recent(session_id))

    def runs(self, process: Process) -> bool:
        """Whether this Claude Code is one that this keeper started."""
        session = self._sessions.get(process.session_id)
        if session is not None and session.pid == process.presence.pid:
            return True
        if process.kept_for is not None:
            alone = session is None and process.parent != os.getpid()
            return process.kept_for == process.session_id and not alone
        # where a process's environment cannot be seen: one that comes while ours is started
        starting = session is not None and session.occupies and session.pid is None
        return starting and process.presence.entrypoint.startswith("sdk")

    @property
    def pids(self) -> set[int]:
        return {session.pid for session in self.all() if session.pid is not None}

    def make_way(self, session_id: str, presence: Presence | None) -> None:
        """Somebody else runs this session now."""
        session = self._sessions.get(session_id)
        if session is not None and presence is not None:
            session.make_way(presence)

    def interrupt(self, session_id: str, *, hold: bool = False) -> bool:
        session = self._sessions.get(session_id)
        return session.interrupt(hold=hold) if session is not None else False

    def hold(self, session_id: str) -> None:
        """Somebody stops what runs there by another way."""
        session = self._sessions.get(session_id)
        if session is not None:
            session.hold()

    async def change(self, session_id: str, wish: Change) -> None:
        _check_mode(wish.permission_mode or None)
        choices = self.choices(session_id)
        if wish.model is not msgspec.UNSET:
            choices = msgspec.structs.replace(choices, model=wish.model)
        if wish.permission_mode is not msgspec.UNSET:
            choices = choices.in_mode(wish.permission_mode)
        if wish.system_prompt is not msgspec.UNSET:
            choices = msgspec.structs.replace(choices, system_prompt=wish.system_prompt)
        await self._choose(session_id, choices)
        self.changed(session_id)

    def mode_after_plan(self, session_id: str, written: str | None = None) -> PermissionMode | None:
        """The mode in which a session that plans goes on; None where it does not, or is at work.

        `written`: what its transcript says of its mode, which counts where nobody here knows one.
        A plan that waits for an answer is approved by that answer, and by nothing else.
        """
        choices, live = self.choices(session_id), self._sessions.get(session_id)
        if live is not None and live.state != "idle":
            return None
        mode = choices.permission_mode or (live.liveness.permission_mode if live else None)
        mode = mode or written
        if mode != "plan":
            return None
        before = choices.before_plan
        return before if before is not None and _may_be(before) else "default"

    def check_mode_set_by_an_answer(self, session_id: str, mode: str) -> None:
        """A process that was not started for it does not take it, and does not say so."""
        _check_mode(mode)
        session = self._sessions.get(session_id)
        if mode == "bypassPermissions" and session is not None and not session.may_bypass:
            raise ModeRefused("Claude Code takes this mode when it starts: change it by itself.")

    async def fork(self, session_id: str, at: str | None = None) -> str:
        """The id of a copy, which goes on with the original's model, mode and system prompt."""
        copy = await fork(session_id, at)
        chosen = self.choices(session_id)
        # what was allowed was allowed for one session
        kept = msgspec.structs.replace(chosen, append_prompt=None, grants=Grants())
        self._memory.choose(copy, kept)
        return copy

    async def copy_for(self, session_id: str, uuid: str) -> str:
        """The id of a copy in which this message is said; the same one for the same message."""
        if (session := self.knowing(uuid)) is not None:
            return session.id
        # sent again after it had idled away, or after a restart
        return await self._disk.copied_for(session_id, uuid) or await self.fork(session_id)

    def take_back(self, session_id: str, uuid: str) -> None:
        session = self._sessions.get(session_id)
        if session is None:
            raise MessageNotFound("No message with this uuid waits in line.")
        session.line.take_back(uuid.lower())

    def forget_prompt(self, session_id: str, uuid: str) -> None:
        """One that was not said, and that nobody wants any more."""
        session = self._sessions.get(session_id)
        if session is not None:
            session.forget_prompt(uuid)

    async def close_session(self, session_id: str) -> None:
        session = self._sessions.get(session_id)
        if session is not None:
            await session.close(unwanted=True)

    def take_no_more(self) -> None:
        """Turns that run go on; no other one begins."""
        self._stopping = True
        for session in self.all():
            session.line.take_no_more()

    async def close(self) -> None:
        """End everything."""
        self._stopping = True
        await asyncio.gather(*(session.close() for session in self.all()))

    # ---- places for CLIs ----

    async def enter(self, session: LiveSession) -> None:
        while True:
            others = [each for each in self.all() if each is not session and each.occupies]
            if len(others) < self._limits.live_sessions:
                return
            spare = sorted((each for each in others if each.spare), key=lambda each: each.used)
            if spare:
                await spare[0].release()
                continue
            self._moved.clear()
            await self._moved.wait()

    def left(self) -> None:
        self._moved.set()

    def _check_room(self, session: LiveSession | None) -> None:
        """Refuses when every place is taken by somebody who works, waits or is about to."""
        taken = [each for each in self.all() if each is not session and each.busy]
        if len(taken) >= self._limits.live_sessions and not (session and session.occupies):
            raise KeeperBusy

    # ---- finding and opening ----

    async def _session_for(self, wish: Send, new_id: str | None) -> LiveSession:
        if wish.session_id is None:
            return await self._new_session(wish, new_id or str(uuid4()))
        session_id = wish.session_id
        if not wish.wait and await self._disk.elsewhere(session_id) is not None:
            raise SessionElsewhere
        while (session := self._sessions.get(session_id)) is not None and session.over:
            # two processes on one transcript would write past each other
            await session.closed.wait()
        if session is not None:
            self._check_open(wish, session)
            return session
        left = self._disk.left(session_id)
        workdir = await self._disk.workdir(session_id) or (left.workdir if left else None)
        if workdir is None:
            raise SessionNotFound
        # a message that was sent before a restart, and is sent again, is not said twice
        recent = await self._disk.recent(session_id)
        session = self._sessions.get(session_id)
        self._check_open(wish, session)
        if session is None or session.over:
            session = self._open(session_id, workdir)
            session.ledger.know(recent)
        return session

    async def _new_session(self, wish: Send, session_id: str) -> LiveSession:
        workdir = wish.workdir or ""
        if not await asyncio.to_thread(os.path.isdir, workdir):
            raise WorkdirMissing(f"There is no directory {workdir!r} on this machine.")
        assert wish.uuid is not None
        if (session := self.knowing(wish.uuid)) is not None:
            return session
        if (begun := await self._disk.begun_with(workdir, wish.uuid)) is not None:
            # sent again after it had idled away, or after a restart
            return await self._session_for(msgspec.structs.replace(wish, session_id=begun), None)
        if (session := self.knowing(wish.uuid)) is not None:
            return session
        self._check_open(wish, None)
        return self._open(session_id, workdir)

    def _check_open(self, wish: Send, session: LiveSession | None) -> None:
        if self._stopping:
            raise KeeperStopping(retry_after=BACK_SOON)
        if not wish.wait:
            self._check_room(session)

    def _open(self, session_id: str, workdir: str) -> LiveSession:
        session = LiveSession(session_id, workdir, self.choices(session_id), self._world)
        self._sessions[session_id] = session
        session.start()
        return session

    async def _choose(self, session_id: str, choices: Choices) -> None:
        session = self._sessions.get(session_id)
        if session is not None:
            await session.change(choices)
        self._memory.choose(session_id, choices)

    async def _exists(self, session_id: str) -> bool:
        return await self._disk.workdir(session_id) is not None

    def _session_changed(self, session_id: str) -> None:
        session = self._sessions.get(session_id)
        if session is not None and session.over and not session.occupies:
            del self._sessions[session_id]
        self.changed(session_id)


def _check_mode(mode: str | None) -> None:
    if not _may_be(mode):
        raise ModeRefused("Claude Code refuses to bypass permissions for root.")


def _may_be(mode: str | None) -> bool:
    """Whether Claude Code would start so at all."""
    contained = os.environ.get("IS_SANDBOX") == "1"
    return mode != "bypassPermissions" or os.geteuid() != 0 or contained
