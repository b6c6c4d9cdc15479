"""The log of delivered messages of a session, and of those that are not on disk yet.

The CLI sends a message at once and writes it a moment later. A client that asks for the history in
between must get it too, and no client may get it twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from weakref import WeakValueDictionary

from claudekeeper.contract.events import MessageAdded
from claudekeeper.contract.message import Message
from claudekeeper.core.bounded import BoundedDict
from claudekeeper.events.bus import EventBus

# delivered messages that are remembered: in a turn, and when it is over
MAX_DELIVERED = 20_000
MAX_DELIVERED_BETWEEN_TURNS = 1_000
# what is kept of a turn that is over for readings that began in it
MAX_RECENT = 100
MAX_BYTES = 4 * 1024 * 1024
# sessions whose logs are kept
MAX_LOGS = 256
# sessions whose last messages are kept whole
MAX_ACTIVE_LOGS = 16


class DeliveryLog:
    """The main conversation of one live session, as subscribers know it."""

    def __init__(self, session_id: str, bus: EventBus) -> None:
        self.session_id = session_id
        self._bus = bus
        self._delivered: BoundedDict[str, int] = BoundedDict(MAX_DELIVERED)
        self._unwritten: dict[str, Message] = {}
        # delivered since everything was on disk the last time: a reading that began before may
        # have missed them
        self._recent: list[tuple[int, MessageAdded]] = []
        self._last_written: str | None = None
        # whether our CLI is at work; and the last message before that
        self._in_turn = False
        self._last_before_turn: str | None = None
        self._turn_start_seq = 0
        # messages that were seen on disk, delivered by the CLI or from the file
        self._written: BoundedDict[str, None] = BoundedDict(MAX_DELIVERED)

    def deliver_live(self, message: Message) -> None:
        """The CLI sent it and will write it."""
        if message.uuid not in self._delivered:
            self._unwritten[message.uuid] = message
            self._deliver(message, None)

    def deliver_from_file(self, message: Message) -> None:
        """The file has it; it is delivered now, unless it was delivered before."""
        if message.uuid in self._written:
            return
        self._written[message.uuid] = None
        waited = self._unwritten.pop(message.uuid, None)
        if waited is None and message.uuid not in self._delivered:
            # messages that were delivered already may come after it in the file
            self._deliver(message, self._last_written if self._unwritten else None)
        self._last_written = message.uuid

    def deliver_from_subagent(self, message: Message) -> None:
        """A subagent's message: it stands in a file of its own."""
        if message.uuid not in self._delivered:
            self._deliver(message, None)

    def has_delivered(self, uuid: str) -> bool:
        return uuid in self._delivered

    def is_written(self, uuid: str) -> bool:
        """Whether it was seen on disk."""
        return uuid in self._written

    @property
    def has_no_transcript(self) -> bool:
        """Whether no transcript is known to have anything of this session."""
        return self._last_written is None

    def mark_delivered(self, uuids: Iterable[str]) -> None:
        """They stand in the history already, in this order."""
        for uuid in uuids:
            self._delivered.setdefault(uuid, 0)
            self._last_written = uuid

    @property
    def unwritten_messages(self) -> list[Message]:
        return list(self._unwritten.values())

    def discard_unwritten(self) -> bool:
        """The CLI is gone; what it did not write is lost. True if something was."""
        lost = bool(self._unwritten)
        for uuid in self._unwritten:
            self._delivered.pop(uuid, None)
        self._unwritten.clear()
        return lost

    def merge_page(
        self, page: list[Message], waiting: list[Message], seq_before: int
    ) -> list[Message]:
        """The last page of the file, with what was delivered and not written when it was read.

        `waiting` and `seq_before` are `unwritten_messages` and the bus's number before the reading.
        """
        whole = any(message.uuid == self._last_before_turn for message in page)
        is_delivered = self.delivered_before(self._bus.seq, whole=whole)
        merged = [message for message in page if is_delivered(message.uuid)]
        uuids = {message.uuid for message in merged}
        last = max((self._delivered.get(uuid, 0) for uuid in uuids), default=0)
        waiting_uuids = {message.uuid for message in waiting}
        for seq, event in self._recent:
            message = event.message
            if message.uuid in uuids or message.parent_tool_use_id is not None:
                continue
            # the CLI can say that it wrote a line a moment before the line can be read
            late = self._in_turn and seq > max(last, self._turn_start_seq) and event.after is None
            if seq > seq_before or late or message.uuid in waiting_uuids:
                uuids.add(message.uuid)
                _insert_after(merged, message, event.after)
        return merged

    @property
    def recent_messages(self) -> list[Message]:
        """What may be missing from a file that is read now, in the order of delivery."""
        messages = [event.message for seq, event in self._recent if seq > self._turn_start_seq]
        turn = [message for message in messages if message.parent_tool_use_id is None]
        return turn if self._in_turn else self.unwritten_messages

    def begin_turn(self) -> None:
        """From now on, our CLI also delivers each message that it writes."""
        self._in_turn = True
        self._last_before_turn = self._last_written
        self._turn_start_seq = self._bus.seq

    def end_turn(self) -> None:
        self._in_turn = False
        self.trim()

    def clear_recent(self) -> None:
        """Nothing was delivered for long: no reading that runs could have missed anything."""
        if not self._in_turn and not self._unwritten:
            self._recent.clear()

    def delivered_before(self, seq: int, *, whole: bool = True) -> Callable[[str], bool]:
        """For the uuids of messages of the file, in order: whether each was delivered by then.

        A message that is delivered later would come twice to a client that reads it now. `whole`:
        the reading begins before our CLI's work, and messages from before need no delivery.
        """
        before_work = self._last_before_turn
        before = whole and before_work is not None
        at_work = self._in_turn

        def was_delivered(uuid: str) -> bool:
            nonlocal before
            delivered_seq = self._delivered.get(uuid)
            if delivered_seq is None:
                return before or not at_work
            before = before and uuid != before_work
            return delivered_seq <= seq

        return was_delivered

    def _deliver(self, message: Message, after: str | None) -> None:
        event = MessageAdded(session_id=self.session_id, message=message, after=after)
        seq = self._bus.publish(event)
        self._delivered[message.uuid] = seq
        self._recent.append((seq, event))
        if len(self._recent) > MAX_DELIVERED:
            del self._recent[: MAX_DELIVERED // 2]

    def trim(self) -> None:
        """What was delivered long ago is on disk for every reading that begins now."""
        for uuids in (self._delivered, self._written):
            # in mid-turn, a message that was forgotten would count as not delivered
            while len(uuids) > MAX_DELIVERED_BETWEEN_TURNS and not self._in_turn:
                uuids.popitem(last=False)
        size = 0
        for at, (_, event) in enumerate(reversed(self._recent)):
            size += memoryview(event.message.content).nbytes
            if at and (at == MAX_RECENT or size > MAX_BYTES):
                del self._recent[:-at]
                break


class DeliveryLogs:
    """One log for each session, whoever runs it: so each message is delivered once."""

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._recent: BoundedDict[str, DeliveryLog] = BoundedDict(MAX_LOGS)
        # those of sessions that run are held by them
        self._logs: WeakValueDictionary[str, DeliveryLog] = WeakValueDictionary()

    def of(self, session_id: str) -> DeliveryLog:
        log = self._logs.get(session_id)
        if log is None:
            log = self._logs[session_id] = DeliveryLog(session_id, self._bus)
            for idle_log in list(self._recent.values())[:-MAX_ACTIVE_LOGS]:
                idle_log.clear_recent()
        self._recent[session_id] = log
        return log


def _insert_after(messages: list[Message], message: Message, after: str | None) -> None:
    indexes = [index for index, each in enumerate(messages) if each.uuid == after]
    messages.insert(indexes[-1] + 1 if indexes else len(messages), message)
