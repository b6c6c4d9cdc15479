"""What was told of a session, and what of it is not on disk yet.

The CLI says a message at once and writes it a moment later. Whoever asks for the history in
between must get it too, and nobody may get it twice.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from weakref import WeakValueDictionary

from claudekeeper.live.bus import Bus
from claudekeeper.model.events import MessageAdded
from claudekeeper.model.messages import Message

# messages of which it is remembered that they were told: in a turn, and when it is over
REMEMBERED = 20_000
KEPT = 1_000
# what is kept of a turn that is over for readings that began in it
MOST_RECENT = 100
MOST_BYTES = 4 * 1024 * 1024
# sessions of which it is remembered what was told
SESSIONS = 256
# of how many of them what was said last is at hand, whole
AWAKE = 16


class Ledger:
    """The main conversation of one live session, as subscribers know it."""

    def __init__(self, session_id: str, bus: Bus) -> None:
        self.session_id = session_id
        self._bus = bus
        self._told: OrderedDict[str, int] = OrderedDict()
        self._unwritten: dict[str, Message] = {}
        # told since the last time nothing was waiting for the disk; a reading that began before
        # may have missed them
        self._recent: list[tuple[int, MessageAdded]] = []
        self._last_written: str | None = None
        # whether our CLI is at work; and the last line of before
        self._at_work = False
        self._before_work: str | None = None
        self._work_began = 0
        # lines that were seen on disk, whether the CLI or the file told of them first
        self._written: OrderedDict[str, None] = OrderedDict()

    def tell_said(self, message: Message) -> None:
        """The CLI said it and will write it."""
        if message.uuid not in self._told:
            self._unwritten[message.uuid] = message
            self._tell(message, None)

    def tell_written(self, message: Message) -> None:
        """It stands in the file; told now, unless it was said before."""
        if message.uuid in self._written:
            return
        self._written[message.uuid] = None
        if len(self._written) > REMEMBERED:
            self._written.popitem(last=False)
        waited = self._unwritten.pop(message.uuid, None)
        if waited is None and message.uuid not in self._told:
            # others that were said already may stand behind it in the file
            self._tell(message, self._last_written if self._unwritten else None)
        self._last_written = message.uuid

    def tell_nested(self, message: Message) -> None:
        """A subagent's message: it stands in a file of its own."""
        if message.uuid not in self._told:
            self._tell(message, None)

    def knows(self, uuid: str) -> bool:
        return uuid in self._told

    def wrote(self, uuid: str) -> bool:
        """Whether it was seen on disk."""
        return uuid in self._written

    @property
    def empty(self) -> bool:
        """Whether no transcript is known to have anything of this session."""
        return self._last_written is None

    def know(self, uuids: Iterable[str]) -> None:
        """They stand in the history already, in this order."""
        for uuid in uuids:
            self._told.setdefault(uuid, 0)
            self._last_written = uuid

    @property
    def unwritten(self) -> list[Message]:
        return list(self._unwritten.values())

    def forget_unwritten(self) -> bool:
        """The CLI is gone; what it did not write is lost. True if something was."""
        lost = bool(self._unwritten)
        for uuid in self._unwritten:
            self._told.pop(uuid, None)
        self._unwritten.clear()
        return lost

    def merge(self, page: list[Message], waiting: list[Message], mark: int) -> list[Message]:
        """A page of the file's end with what was told and had not been written when it was read.

        `waiting` and `mark` are `unwritten` and the bus's number from before the reading.
        """
        whole = any(message.uuid == self._before_work for message in page)
        is_told = self.told_by(self._bus.seq, whole=whole)
        merged = [message for message in page if is_told(message.uuid)]
        known = {message.uuid for message in merged}
        last = max((self._told.get(uuid, 0) for uuid in known), default=0)
        waited = {message.uuid for message in waiting}
        for seq, event in self._recent:
            message = event.message
            if message.uuid in known or message.parent_tool_use_id is not None:
                continue
            # the CLI can say that it wrote a line a moment before the line can be read
            late = self._at_work and seq > max(last, self._work_began) and event.after is None
            if seq > mark or late or message.uuid in waited:
                known.add(message.uuid)
                _put(merged, message, event.after)
        return merged

    @property
    def lately(self) -> list[Message]:
        """What may be missing from a file that is read now, in the order of its telling."""
        told = [event.message for seq, event in self._recent if seq > self._work_began]
        turn = [message for message in told if message.parent_tool_use_id is None]
        return turn if self._at_work else self.unwritten

    def work_begins(self) -> None:
        """From now on, each line that our CLI writes is told as well."""
        self._at_work = True
        self._before_work = self._last_written
        self._work_began = self._bus.seq

    def work_ends(self) -> None:
        self._at_work = False
        self.turn_over()

    def rest(self) -> None:
        """Nothing was said for long: no reading is under way that could have missed anything."""
        if not self._at_work and not self._unwritten:
            self._recent.clear()

    def told_by(self, seq: int, *, whole: bool = True) -> Callable[[str], bool]:
        """For the uuids of messages of the file, in their order: whether each was told by then.

        One that is told later would come twice to whoever reads it now. `whole`: the reading
        begins before our CLI's work, and what stands there needs no telling.
        """
        before_work = self._before_work
        before = whole and before_work is not None
        at_work = self._at_work

        def is_told(uuid: str) -> bool:
            nonlocal before
            told = self._told.get(uuid)
            if told is None:
                return before or not at_work
            before = before and uuid != before_work
            return told <= seq

        return is_told

    def _tell(self, message: Message, after: str | None) -> None:
        event = MessageAdded(session_id=self.session_id, message=message, after=after)
        seq = self._bus.publish(event)
        self._told[message.uuid] = seq
        while len(self._told) > REMEMBERED:
            self._told.popitem(last=False)
        self._recent.append((seq, event))
        if len(self._recent) > REMEMBERED:
            del self._recent[: REMEMBERED // 2]

    def turn_over(self) -> None:
        """What was told long ago is on disk for every reading that begins now."""
        for known in (self._told, self._written):
            # in mid-turn, what is not known to be told counts as untold
            while len(known) > KEPT and not self._at_work:
                known.popitem(last=False)
        size = 0
        for at, (_, event) in enumerate(reversed(self._recent)):
            size += memoryview(event.message.content).nbytes
            if at and (at == MOST_RECENT or size > MOST_BYTES):
                del self._recent[:-at]
                break


class Ledgers:
    """One ledger a session, whoever runs it: so a message is told once, whoever saw it first."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._recent: OrderedDict[str, Ledger] = OrderedDict()
        # those of sessions that run are held by them
        self._held: WeakValueDictionary[str, Ledger] = WeakValueDictionary()

    def of(self, session_id: str) -> Ledger:
        ledger = self._held.get(session_id)
        if ledger is None:
            ledger = self._held[session_id] = Ledger(session_id, self._bus)
            for quiet in list(self._recent.values())[:-AWAKE]:
                quiet.rest()
        self._recent[session_id] = ledger
        self._recent.move_to_end(session_id)
        while len(self._recent) > SESSIONS:
            self._recent.popitem(last=False)
        return ledger


def _put(messages: list[Message], message: Message, after: str | None) -> None:
    places = [index for index, each in enumerate(messages) if each.uuid == after]
    messages.insert(places[-1] + 1 if places else len(messages), message)
