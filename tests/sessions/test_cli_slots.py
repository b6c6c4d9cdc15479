"""Slots: so many CLIs at once, and the one that idles longest makes room."""

from __future__ import annotations

import asyncio

import pytest

from claudekeeper.contract.errors import KeeperBusy
from claudekeeper.sessions.cli_slots import CliSlots


class Holder:
    """A session as the slots see it."""

    def __init__(self, *, holds_slot: bool = True, idle: bool = False, last_used: float = 0):
        self.holds_slot = holds_slot
        self.can_release_cli = idle
        self.last_used = last_used

    @property
    def is_busy(self) -> bool:
        return self.holds_slot and not self.can_release_cli

    async def release_cli(self) -> None:
        self.holds_slot = False


def slots_with(limit: int, *holders: Holder) -> CliSlots:
    slots = CliSlots(limit)
    for holder in holders:
        slots.add(holder)
    return slots


async def test_the_cli_that_was_used_least_recently_makes_room() -> None:
    newer, older = Holder(idle=True, last_used=2), Holder(idle=True, last_used=1)
    await slots_with(2, newer, older).wait_for_slot(Holder(holds_slot=False))
    assert (newer.holds_slot, older.holds_slot) == (True, False)


async def test_a_cli_at_work_is_waited_for() -> None:
    working = Holder()
    slots = slots_with(1, working)
    waiting = asyncio.create_task(slots.wait_for_slot(Holder(holds_slot=False)))
    await asyncio.sleep(0)
    assert not waiting.done()
    working.holds_slot = False
    slots.notify_changed()
    await waiting
    assert slots.used_count == 0


def test_where_all_are_busy_another_one_is_refused() -> None:
    working = Holder()
    slots = slots_with(1, working)
    with pytest.raises(KeeperBusy):
        slots.check_free(None)
    # whoever has a slot keeps it
    slots.check_free(working)


def test_an_idle_cli_keeps_nobody_out() -> None:
    slots_with(1, Holder(idle=True)).check_free(None)


def test_a_session_that_is_gone_takes_no_slot() -> None:
    working = Holder()
    slots = slots_with(1, working)
    slots.remove(working)
    slots.check_free(None)
    assert slots.used_count == 0
