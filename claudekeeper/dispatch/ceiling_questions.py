"""Ceilings: an item that has reached one goes on only when a person allows it.

The question is stored with its conversation, so that the next keeper asks it again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from uuid import uuid4

import msgspec

from claudekeeper.attention.pending_attention import PendingAttention
from claudekeeper.contract.attention import DEFAULT_DENIAL_MESSAGE, Answer, Attention
from claudekeeper.contract.ceilings import Ceilings, CeilingUsage, allowance, reached_ceilings
from claudekeeper.contract.errors import CeilingReached, ConversationEnded
from claudekeeper.contract.sessions import WorkItem
from claudekeeper.core.keyed_locks import KeyedLocks
from claudekeeper.core.tasks import Tasks
from claudekeeper.core.timestamps import now_iso
from claudekeeper.dispatch.conversation_state import ConversationState
from claudekeeper.dispatch.record import ConversationRecord
from claudekeeper.dispatch.store import ConversationStore
from claudekeeper.net.errors import ApiError

log = logging.getLogger(__name__)

TOOL = "Ceiling"


class CeilingQuestions:
    """Checks an item against its ceilings and asks a person once one is reached."""

    def __init__(
        self,
        store: ConversationStore,
        state: ConversationState,
        attention: PendingAttention,
        locks: KeyedLocks,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._state = state
        self._attention = attention
        self._locks = locks
        self._clock = clock
        self._tasks = Tasks()
        self._question_tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self) -> None:
        """Asks the questions again that an earlier keeper had no answer to."""
        for record in await asyncio.to_thread(self._store.with_open_question):
            if record.question is not None:
                self._ask(record.item, record.question)

    async def close(self) -> None:
        await self._tasks.close()

    async def check(self, record: ConversationRecord) -> None:
        """Refuses a dispatch of an item that may not go on; the caller holds the item's lock."""
        if record.ended is not None:
            raise ConversationEnded
        if record.question is None:
            used = record.usage_at(self._clock())
            over = reached_ceilings(used, self._state.ceilings(record))
            if not over.as_dict:
                return
            session_id = record.session or await self._last_session(record)
            base = self._state.base_ceilings(record)
            record.question = question_about(record.item, session_id, used, over, base)
            await asyncio.to_thread(self._store.put, record)
            await self._state.record_act(
                record, "ceiling", record.question.description or "", session_id
            )
            self._ask(record.item, record.question)
        raise CeilingReached(
            f"{record.question.title}. {record.question.description} A person is asked (question "
            f"{record.question.id}); dispatch again when it is answered."
        )

    def withdraw(self, record: ConversationRecord) -> None:
        """The item is forgotten: its question goes too."""
        if record.question is not None:
            self._attention.withdraw(record.question.id)

    async def wait_until_answer_saved(self, attention_id: str) -> None:
        """Waits until an answer is saved; raises if it could not be."""
        task = self._question_tasks.get(attention_id)
        if task is not None:
            await asyncio.shield(task)

    # ---- a question ----

    def _ask(self, item: WorkItem, question: Attention) -> None:
        task = self._tasks.start(
            self._wait_for_answer(item, question), name=f"ceiling:{question.id}"
        )
        self._question_tasks[question.id] = task
        task.add_done_callback(lambda _: self._question_tasks.pop(question.id, None))

    async def _wait_for_answer(self, item: WorkItem, question: Attention) -> None:
        answer = await self._attention.ask(question)
        try:
            async with self._locks.hold(item):
                await self._record_answer(item, question, answer)
        except ApiError:
            # without the saved answer the item stays blocked, so the question is asked again
            again = msgspec.structs.replace(question, id=str(uuid4()), raised=now_iso())
            log.warning("the answer about %s was not saved: asked again", item.display_name)
            self._ask(item, again)
            raise

    async def _record_answer(self, item: WorkItem, question: Attention, answer: Answer) -> None:
        record = await asyncio.to_thread(self._store.get, item)
        if record is None or record.question is None:
            return
        at = self._clock()
        record.question = None
        if answer.decision == "allow":
            further = msgspec.convert(answer.input["further"], Ceilings)
            record.allowed = allowance(record.usage_at(at), further, record.allowed)
            amounts = " and ".join(_amount_text(*each) for each in further.as_dict.items())
            what, details = "allowed", f"{amounts} more, allowed by {answer.by}."
        else:
            record.ended = at
            why = f" {answer.message}" if answer.message != DEFAULT_DENIAL_MESSAGE else ""
            what, details = "ended", f"Ended by {answer.by}.{why}"
        await asyncio.to_thread(self._store.put, record)
        session_id = record.session or question.session_id
        await self._state.record_act(record, what, details, session_id)  # type: ignore[arg-type]

    async def _last_session(self, record: ConversationRecord) -> str:
        earlier, _, _ = await asyncio.to_thread(self._store.read_log, record)
        return earlier[-1].session_id if earlier else str(uuid4())


def question_about(
    item: WorkItem, session_id: str, used: CeilingUsage, over: Ceilings, base: Ceilings
) -> Attention:
    """The question; it offers as much again as the item had in the beginning."""
    names = over.as_dict.keys()
    so_far = {name: value for name, value in msgspec.to_builtins(used).items() if name in names}
    further = {name: value for name, value in base.as_dict.items() if name in names}
    facts = " and ".join(
        _usage_text(name, so_far[name], ceiling) for name, ceiling in over.as_dict.items()
    )
    more = " and ".join(_amount_text(name, value) for name, value in further.items())
    return Attention(
        id=str(uuid4()),
        session_id=session_id,
        tool_use_id=None,
        tool=TOOL,
        input={
            "key": item.key,
            "project": item.project,
            "used": so_far,
            "ceilings": over.as_dict,
            "further": further,
        },
        kind="ceiling",
        title=f"{item.display_name} has reached its ceiling",
        description=f"It has used {facts}. May it go on with {more} more?",
        suggestions=[],
        blocked_path=None,
        reason=None,
        agent_id=None,
        origin="gateway",
        raised=now_iso(),
    )


def _usage_text(name: str, used: float, ceiling: float) -> str:
    match name:
        case "costUsd":
            return f"{_dollars(used)} of {_dollars(ceiling)}"
        case "turns":
            return f"{used:g} of {_amount_text(name, ceiling)}"
        case _:
            return f"{used:.3g} of {_amount_text(name, ceiling)}"


def _amount_text(name: str, amount: float) -> str:
    if name == "costUsd":
        return _dollars(amount)
    unit = name if amount != 1 else name.removesuffix("s")
    return f"{amount:.10g} {unit}"


def _dollars(amount: float) -> str:
    """Rounded to cents; amounts below a cent have more digits."""
    return f"${amount:,.2f}" if amount >= 0.01 else f"${amount:.6f}".rstrip("0")
