"""Background tasks are logged when they fail and end with their owner."""

from __future__ import annotations

import asyncio

import pytest

from claudekeeper.core.tasks import Tasks


class Rounds:
    """Counts its rounds; those in `failing` raise."""

    def __init__(self, *failing: int) -> None:
        self.failing = failing
        self.count = 0
        self.has_run = asyncio.Condition()

    async def work(self) -> None:
        async with self.has_run:
            self.count += 1
            self.has_run.notify_all()
        if self.count in self.failing:
            raise OSError(f"round {self.count}")

    async def wait_for(self, count: int) -> None:
        async with self.has_run:
            await self.has_run.wait_for(lambda: self.count >= count)


async def test_a_failed_task_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    tasks = Tasks()
    tasks.start(Rounds(1).work(), name="reader")
    await tasks.wait_all()
    assert "the task reader failed" in caplog.text
    assert "round 1" in caplog.text


async def wait_and_clean_up(ended: list[str]) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)
        ended.append("cleaned up")


async def test_closing_cancels_what_runs_and_waits_for_its_end() -> None:
    tasks, ended = Tasks(), list[str]()
    task = tasks.start(wait_and_clean_up(ended), name="reader")
    await asyncio.sleep(0)
    await tasks.close()
    assert task.cancelled()
    assert ended == ["cleaned up"]


async def test_every_repeats_until_it_is_closed() -> None:
    tasks, rounds = Tasks(), Rounds()
    tasks.every(0.0, rounds.work, name="sweep")
    await rounds.wait_for(3)
    await tasks.close()
    done = rounds.count
    await asyncio.sleep(0)
    assert rounds.count == done


@pytest.mark.parametrize(("at_once", "count"), [(True, 1), (False, 0)])
async def test_the_first_round_of_every_comes_after_a_pause_or_at_once(
    at_once: bool, count: int
) -> None:
    tasks, rounds = Tasks(), Rounds()
    tasks.every(3600.0, rounds.work, name="sweep", at_once=at_once)
    for _ in range(5):
        await asyncio.sleep(0)
    assert rounds.count == count
    await tasks.close()


async def test_a_failed_round_is_logged_and_the_next_one_comes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tasks, rounds = Tasks(), Rounds(1, 2)
    tasks.every(0.0, rounds.work, name="sweep")
    await rounds.wait_for(4)
    await tasks.close()
    failures = [record for record in caplog.records if "task sweep failed" in record.message]
    assert len(failures) == 2
