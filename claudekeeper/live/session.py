"""One live session: one task owns one CLI, takes messages from the line and sees them through."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Container
from typing import Any

import msgspec

from claudekeeper.live.choosing import Choosing
from claudekeeper.live.client import Client, Question
from claudekeeper.live.failed import INTERRUPTED, FailedTurn, failed_turn, how_it_ended, told_why
from claudekeeper.live.hearing import Hearing
from claudekeeper.live.interrupting import Interrupting
from claudekeeper.live.line import Item, Line
from claudekeeper.live.process import Process
from claudekeeper.live.stream import Stream
from claudekeeper.live.tasks import Tasks
from claudekeeper.live.turns import CurrentTurn, Turns
from claudekeeper.live.world import Choices, World
from claudekeeper.model.attention import Answer
from claudekeeper.model.errors import CliCrashed, Fault, KeeperError
from claudekeeper.model.events import Outcome, Queued, Resync, TurnStatus
from claudekeeper.model.prompts import shortened
from claudekeeper.model.sessions import Liveness, Presence, State, now

log = logging.getLogger(__name__)


class LiveSession:
    """A session that this keeper runs."""

    def __init__(self, session_id: str, workdir: str, choices: Choices, world: World) -> None:
        self.id = session_id
        self.workdir = workdir
        self.started = now()
        self.used = asyncio.get_running_loop().time()
        self.first_words: str | None = None
        self.failure: Fault | None = None
        # the last turn, if it did not come to its end and somebody may want it to go on
        self.unfinished: FailedTurn | None = None
        self.line = Line(session_id, world.bus)
        self.ledger = world.ledger_of(session_id)
        self.stream = Stream(session_id, world.bus)
        self.turns = Turns(session_id, world.bus)
        self._world = world
        self._hearing = Hearing(self.ledger, self.stream, self.turns)
        self._hearing.on_init = self._confirmed
        self._hearing.on_result = self._result
        self._hearing.on_repeat = self._repeated
        self._tasks = Tasks()
        self._process = Process(session_id, workdir, self, world)
        self._choosing = Choosing(session_id, choices, self._process, self._hearing, world)
        self._hearing.on_mode = self._choosing.mode_is
        self._interrupting = Interrupting(
            session_id, self.turns, self._process, self._tasks, self._kill
        )
        self._confirmed_once = False
        # the last CLI ended in mid-turn: what its last lines mean is clear after the next turn
        self._torn = False
        self._ending = False
        # whether nobody wants what was lost here
        self._unwanted = False
        self._making_way = False
        self._quiet = asyncio.Event()
        self._quiet.set()
        self.closed = asyncio.Event()

    def start(self) -> asyncio.Task[Any]:
        return self._tasks.start(self._run(), name=f"session:{self.id}")

    # ---- what others see ----

    @property
    def choices(self) -> Choices:
        return self._choosing.current

    @property
    def state(self) -> State:
        if self._world.desk.of_turn(self.id):
            return "waiting"
        if self.turns.current is None and not len(self.line):
            return "idle"
        ready = (
            self._process.client is not None if self.turns.current is None else self._confirmed_once
        )
        return "running" if ready else "starting"

    @property
    def liveness(self) -> Liveness:
        return Liveness(
            state=self.state,
            origin="gateway" if self.occupies else None,
            workdir=self.workdir,
            started=self.started,
            prompt=self.first_words,
            attention=self._world.desk.count(self.id),
            model=self._hearing.model or self.choices.model,
            permission_mode=self.choices.permission_mode or self._hearing.permission_mode,
            error=self.failure,
        )

    @property
    def occupies(self) -> bool:
        """Whether it takes one of the places for CLIs."""
        return self._process.occupies

    @property
    def spare(self) -> bool:
        """Whether its CLI may be ended to make room: nobody would notice."""
        return self._idles and not len(self.line)

    @property
    def _idles(self) -> bool:
        """Whether there is a CLI, and nothing that it does."""
        at_work = self.turns.current is not None or self._hearing.background
        return self._process.client is not None and not (at_work or self._process.starting)

    @property
    def busy(self) -> bool:
        """Whether it has, or is about to have, a CLI that may not be ended."""
        at_work = self.turns.current is not None or len(self.line) > 0
        return at_work or (self.occupies and not self.spare)

    @property
    def over(self) -> bool:
        return self._ending

    @property
    def queue(self) -> list[Queued]:
        """What waits, and what was taken and does not stand in the conversation yet."""
        taken = self.line.taken
        under_way = taken is not None and not self.ledger.knows(taken.uuid)
        return [*([taken.shown("taken")] if taken and under_way else []), *self.line.shown]

    @property
    def unwritten(self) -> Item | None:
        """The prompt of the turn that runs, while no transcript is known to have it."""
        taken = self.line.taken
        return taken if taken is not None and not self.ledger.wrote(taken.uuid) else None

    @property
    def leaves_now(self) -> FailedTurn | None:
        """What its turn would leave if the keeper ended now, but for the prompt."""
        turn = self.turns.current
        return self._left_of(turn) if turn is not None else None

    def knows(self, uuid: str) -> bool:
        """Whether a message was sent before."""
        return self.line.knows(uuid) or self.ledger.knows(uuid)

    @property
    def prompt_pending(self) -> bool:
        """Whether its CLI was started with another system prompt than the next one will be."""
        opened = self._process.opened
        return opened is not None and opened.system_prompt != self.choices.system_prompt

    @property
    def pid(self) -> int | None:
        return self._process.pid

    @property
    def may_bypass(self) -> bool:
        """Whether its CLI can be told not to ask at all."""
        return self._process.client is not None and self._process.client.bypass

    @property
    def offers(self) -> dict[str, Any]:
        """What its CLI says of itself: commands, models; empty while there was none."""
        return self._process.info

    # ---- what others ask ----

    def send(self, item: Item, *, first: bool = False) -> None:
        """`first`: it is said before all that wait already."""
        self.used = asyncio.get_running_loop().time()
        self.first_words = self.first_words or shortened(item.text)
        self._world.failed.take_prompt(self.id, item.uuid)
        self.line.add(item, first=first)
        self._world.changed(self.id)

    def take_over(self, item: Item) -> None:
        """One that an earlier keeper left waits here now, and did not fail."""
        self._world.failed.take_prompt(self.id, item.uuid)
        self.line.add(item)

    def interrupt(self, *, hold: bool = False) -> bool:
        """Stop the turn that runs; False if none does. `hold`: nothing that waits follows it."""
        stopped = self._interrupting.ask()
        if hold:
            self.line.hold()
        # what is written down for the next keeper says so too
        self._world.changed(self.id)
        return stopped

    def hold(self) -> None:
        """Nothing that waits now is said by itself."""
        self.line.hold()
        self._world.changed(self.id)

    def send_on(self, uuids: Container[str] | None = None) -> list[str]:
        """What is held waits for its turn again."""
        sent = self.line.send_on(uuids)
        self._world.changed(self.id)
        return sent

    def forget_prompt(self, uuid: str) -> None:
        """What its turn failed with was taken back: nothing is left to go on with."""
        left = self.unfinished
        if left is not None and left.prompt is not None and left.prompt.uuid == uuid:
            self.unfinished = self.failure = None
            self._world.changed(self.id)

    async def change(self, choices: Choices) -> None:
        await self._choosing.change(choices)

    async def release(self) -> None:
        """Make room for another session; comes back with the next message."""
        if self.spare:
            await self._drop_client()

    def make_way(self, presence: Presence) -> None:
        """Somebody else has resumed this session: our CLI goes, after the turn if one runs."""
        if self.occupies and not self._making_way:
            self._making_way = True
            details = msgspec.to_builtins(presence)
            self.turns.status(TurnStatus(session_id=self.id, status="elsewhere", details=details))
            self._go_if_idle()

    def _go_if_idle(self) -> None:
        if self._making_way and self._idles:
            self._making_way = False
            self._tasks.start(self._drop_client(), name=f"session:{self.id}:make-way")

    async def close(self, *, unwanted: bool = False) -> None:
        """End the CLI and the owner; what waits in line is taken back.

        `unwanted`: a prompt that no transcript has is taken back too.
        """
        self._ending = True
        self._unwanted = unwanted
        self.unfinished = None if unwanted else self.unfinished
        self.line.clear()
        await self._interrupting.stop()
        await self._tasks.close()
        await self._drop_client(ends_turn=True)
        await self._process.finish()
        await self._be_listed()
        self._end_turn(None, None if unwanted else INTERRUPTED)
        self._leave()

    # ---- the owner ----

    async def _run(self) -> None:
        while await self._next():
            await self._find_place()
            # it may have been taken back while there was no place
            if self.line.ready:
                await self._work(self.line.take())
            else:
                self._process.give_place_back()
        self._ending = True
        self._leave()

    async def _be_listed(self) -> None:
        """From now on the transcript alone speaks for the session: the list has to know of it."""
        await self._world.exists(self.id)

    def _leave(self) -> None:
        self._world.changed(self.id)
        self.closed.set()

    async def _next(self) -> bool:
        """Until a message waits and nothing is being done; False when none has come for long."""
        while True:
            await self._quiet.wait()
            if self.line.ready:
                await self._world.vacant(self.id)
                if self.line.ready and self._quiet.is_set():
                    return True
                continue
            try:
                async with asyncio.timeout(self._world.idle_seconds):
                    await self.line.filled()
            except TimeoutError:
                if self._quiet.is_set() and not self._hearing.background:
                    # what is held waits for a person: for days perhaps, and with no CLI
                    if self._process.client is not None or not self.line.waiting:
                        await self._drop_client()
                    await self._be_listed()
                    if not self.line.waiting:
                        return False

    async def _work(self, item: Item) -> None:
        turn = self._begin(item)
        # one that is there already may have died since it was heard last
        turn.warm = self._process.client is not None
        await self._hand_over(turn, item)
        await turn.over.wait()
        if self._process.gone:
            await self._drop_client()

    async def _hand_over(self, turn: CurrentTurn, item: Item) -> None:
        try:
            client = await self._ready()
            self._hearing.prompts.add(item.uuid)
            await client.send(item)
            self._interrupting.go_on(turn)
        except asyncio.CancelledError:
            raise
        except KeeperError as error:
            await self._fail(error)
        except Exception as error:
            if not self._says_again(turn):
                log.exception("a message could not be handed to Claude Code")
                await self._fail(CliCrashed(f"{CliCrashed.sentence} ({error})"))

    def _says_again(self, turn: CurrentTurn | None) -> bool:
        """Whether the CLI died before it heard of this turn, so that another one is told."""
        item = self.line.taken
        wanted = not self._ending and self._process.client is not None
        if turn is None or item is None or not (turn.unheard and wanted):
            return False
        turn.again = True
        self._world.desk.withdraw_all(self.id)
        self._hearing.background.clear()
        # in the place of the one that died, which nobody needs to hear of
        self._process.starting = True
        self._tasks.start(self._say_again(turn, item), name=f"session:{self.id}:again")
        return True

    async def _say_again(self, turn: CurrentTurn, item: Item) -> None:
        try:
            await self._process.end()
            if turn is self.turns.current:
                await self._hand_over(turn, item)
        finally:
            self._process.starting = False

    def _begin(self, item: Item) -> CurrentTurn:
        self._quiet.clear()
        self.failure = None
        self.unfinished = None
        self.used = asyncio.get_running_loop().time()
        self.stream.whole()
        turn = self.turns.begin(item.uuid)
        self.ledger.work_begins()
        self._world.changed(self.id)
        return turn

    async def _find_place(self) -> None:
        """A CLI that can be used, or a place for one; until then, messages can be taken back."""
        if self._process.client is not None and not self._process.usable:
            await self._drop_client()
        if await self._process.missing():
            await self._world.places.enter(self)
            self._process.starting = True

    async def _ready(self) -> Client:
        """A CLI that runs with what was chosen."""
        if self._process.client is not None:
            return self._process.client
        chosen = self.choices
        client = await self._process.start(chosen)
        self._hearing.begin_client(self._process.carried)
        # what was changed in the meantime
        await self._choosing.tell(chosen)
        return client

    async def _drop_client(self, *, ends_turn: bool = False) -> None:
        """`ends_turn`: whoever asks ends the turn next, and says what is left of it."""
        self._world.desk.withdraw_all(self.id)
        ended = await self._process.end()
        if not ends_turn:
            self._lose_unwritten(in_turn=ended and self.turns.current is not None)
        self._hearing.background.clear()
        self._world.places.left()
        self._world.changed(self.id)

    # ---- what the CLI says ----

    def hear(self, raw: dict[str, Any]) -> None:
        if self.turns.current is not None:
            self.turns.current.heard = True
        self._hearing.hear(raw)
        self._world.failed.hear(self.id)

    def ended(self, error: Exception | None) -> None:
        self._process.gone = True
        if self._process.starting:
            return  # whoever connects is told by an exception
        if self._says_again(self.turns.current):
            return
        how = how_it_ended(error, self._process.last_words)
        self._world.desk.withdraw_all(self.id)
        if self.turns.current is not None:
            self._end_turn(CliCrashed(f"{CliCrashed.sentence} ({how})" if how else None))
            return
        self._lose_unwritten(in_turn=False)
        if self._process.client is not None:
            self._tasks.start(self._drop_client(), name=f"session:{self.id}:gone")

    async def ask(self, question: Question) -> Answer:
        self.stream.flush()
        # newer CLIs ask with an empty input; what is approved must be seen all the same
        plan = self._hearing.plan_of(question.tool_use_id)
        mode = self._hearing.permission_mode
        answer = await self._world.desk.ask(question.shown(self.id, plan, self.workdir, mode))
        self._choosing.answered(answer)
        if answer.decision == "deny" and question.tool_use_id is not None:
            self._hearing.denied.add(question.tool_use_id)
        return answer

    def _confirmed(self) -> None:
        self._confirmed_once = True
        if self.turns.current is None:
            # a background task has something to say: a turn that nobody asked for
            self._quiet.clear()
            self.stream.whole()
            self.turns.begin(None)
            self.ledger.work_begins()
        turn = self.turns.current
        if turn is not None and not turn.confirmed:
            turn.confirmed = True
            self._interrupting.go_on(turn)
        self._world.changed(self.id)

    def _result(self, raw: dict[str, Any]) -> None:
        turn = self.turns.current
        if turn is None or not turn.begun(self._hearing.lifecycle):
            self.stream.withdraw()
            return
        if not raw.get("is_error"):
            self.stream.withdraw()
        left = self._left_of(turn)
        self.stream.end()
        torn = self.ledger.forget_unwritten() or self._torn
        self._torn = False
        outcome = self.turns.finish(raw)
        self.failure = self.turns.last_failure
        kept = self._keep(left, outcome)
        if torn or kept:
            # behind the end of the turn: whoever reads it again reads how it ended
            self._world.bus.publish(Resync(session_id=self.id))
        if outcome == "interrupted":
            self._stopped(turn)
        self._rest()

    def _stopped(self, turn: CurrentTurn) -> None:
        if not self._hearing.background:
            self._world.desk.withdraw_all(self.id)
        if turn.uuid is not None and not self.ledger.knows(turn.uuid):
            # a hook held the prompt back: of it only the CLI's own queue tells, under another uuid
            self._world.bus.publish(Resync(session_id=self.id))

    def _repeated(self) -> None:
        """The CLI knows this prompt from the past, and has nothing to say to it."""
        turn = self.turns.current
        if turn is not None and turn.again:
            # the one that died had come to write it down
            self._end_turn(CliCrashed())
        elif turn is not None:
            self.turns.skip()
            self._rest()

    async def _kill(self) -> None:
        await self._drop_client(ends_turn=True)
        self._end_turn(None)

    async def _fail(self, error: KeeperError) -> None:
        await self._drop_client(ends_turn=True)
        self._end_turn(error)

    def _end_turn(self, error: KeeperError | None, why: Fault | None = None) -> None:
        """The turn is over although the CLI did not say so; `why`, if nobody stopped it."""
        turn = self.turns.current
        if turn is None:
            self.stream.end()
            self._lose_unwritten(in_turn=False)
            return
        left = self._left_of(turn)
        self.stream.end()
        self.ledger.forget_unwritten()
        outcome = self.turns.abort(error)
        self.failure = self.turns.last_failure
        self._keep(left, outcome, why)
        self._rest()
        # it may have written what it had no time to say, and what it said may be in no transcript
        self._torn = True
        self._world.bus.publish(Resync(session_id=self.id))

    def _left_of(self, turn: CurrentTurn) -> FailedTurn:
        """What is left of a turn, before the ledger and the stream forget it."""
        had = turn.confirmed or turn.taken
        return failed_turn(
            turn.uuid, turn.started, self.unwritten, self.ledger, self.stream, had=had
        )

    def _keep(self, left: FailedTurn, outcome: Outcome, why: Fault | None = None) -> bool:
        """What is left of a turn that is over: for everybody, and for going on with it."""
        left = told_why(left, outcome, self.failure or why)
        alone = self.ledger.empty
        if self._unwanted or (self.failure is None and left.had and not (left.said or alone)):
            # a command leaves no prompt in the transcript
            left = msgspec.structs.replace(left, prompt=None)
        if outcome == "done" and (left.words or left.prompt):
            self.failure = left.error
        # one that was stopped is missed only where there is nothing else
        if not self._unwanted and (self.failure is not None or (left.prompt and alone)):
            self.unfinished = left
        crashed = self.failure is not None and self.failure.code == CliCrashed.code
        if not (crashed or left.words or left.prompt is not None):
            return False
        self._world.failed.add(self.id, left)
        return True

    def _rest(self) -> None:
        self._interrupting.over()
        self.ledger.work_ends()
        if (taken := self.line.taken) is not None:
            self._hearing.prompts.discard(taken.uuid)
            self.line.done(lost=not self.ledger.knows(taken.uuid))
        self.used = asyncio.get_running_loop().time()
        self._go_if_idle()
        self._quiet.set()
        self._world.places.left()
        self._world.failed.hear(self.id)
        self._world.changed(self.id)

    def _lose_unwritten(self, *, in_turn: bool) -> None:
        """The CLI is gone; in mid-turn it may also have written what it had no time to say."""
        left = failed_turn(None, now(), None, self.ledger, self.stream, had=True)
        if self.ledger.forget_unwritten():
            self._world.failed.add(self.id, msgspec.structs.replace(left, blocks=[]))
        elif not in_turn:
            return
        # what was told was never written: whoever has it must read again
        self._world.bus.publish(Resync(session_id=self.id))
        self._torn = True
