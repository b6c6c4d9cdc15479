"""State is written in the background: once for many changes, and a last time at the end."""

from __future__ import annotations

import asyncio

import pytest

from claudekeeper.core.background_writer import BackgroundWriter


class Disk:
    """Takes `state`, one write for each permit; the writes numbered in `failing` raise."""

    def __init__(self, *failing: int, permits: int = 100) -> None:
        self.state = ""
        self.written: list[str] = []
        self.permits = asyncio.Semaphore(permits)
        self.failing = failing
        self.writes = 0

    async def write(self) -> None:
        self.writes += 1
        state = self.state
        await self.permits.acquire()
        if self.writes in self.failing:
            raise OSError("no room")
        self.written.append(state)


def change(disk: Disk, writer: BackgroundWriter, state: str) -> None:
    disk.state = state
    writer.schedule()


async def test_a_change_is_written() -> None:
    disk = Disk()
    writer = BackgroundWriter(disk.write, name="state")
    await writer.wait_until_saved()
    change(disk, writer, "a")
    await writer.wait_until_saved()
    assert disk.written == ["a"]


async def test_changes_during_a_write_share_the_next_one() -> None:
    disk = Disk(permits=0)
    writer = BackgroundWriter(disk.write, name="state")
    change(disk, writer, "a")
    await asyncio.sleep(0)
    change(disk, writer, "b")
    change(disk, writer, "c")
    disk.permits.release()
    disk.permits.release()
    await writer.wait_until_saved()
    assert disk.written == ["a", "c"]


async def test_whoever_waits_sees_its_own_change_written_and_not_only_an_earlier_one() -> None:
    disk = Disk(permits=0)
    writer = BackgroundWriter(disk.write, name="state")
    change(disk, writer, "a")
    first = asyncio.create_task(writer.wait_until_saved())
    await asyncio.sleep(0)
    change(disk, writer, "b")
    second = asyncio.create_task(writer.wait_until_saved())
    disk.permits.release()
    await first
    assert disk.written == ["a"]
    disk.permits.release()
    await second
    assert disk.written == ["a", "b"]


async def test_a_failed_write_is_logged_and_holds_up_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    disk = Disk(1)
    writer = BackgroundWriter(disk.write, name="state")
    change(disk, writer, "a")
    await writer.wait_until_saved()
    assert "the write state failed" in caplog.text
    change(disk, writer, "b")
    await writer.wait_until_saved()
    assert disk.written == ["b"]


async def test_closing_does_not_wait_for_the_pause_and_writes_what_came_in_it() -> None:
    disk = Disk()
    writer = BackgroundWriter(disk.write, name="state", pause=3600.0)
    change(disk, writer, "a")
    await writer.wait_until_saved()
    change(disk, writer, "b")
    await writer.close()
    assert disk.written == ["a", "b"]


async def test_closing_waits_for_the_write_that_is_under_way() -> None:
    disk = Disk(permits=0)
    writer = BackgroundWriter(disk.write, name="state")
    change(disk, writer, "a")
    await asyncio.sleep(0)
    disk.state = "b"
    closing = asyncio.create_task(writer.close())
    await asyncio.sleep(0)
    disk.permits.release()
    disk.permits.release()
    await closing
    assert disk.written == ["a", "b"]


async def test_nothing_is_written_after_the_end_and_nobody_waits_for_it() -> None:
    disk = Disk()
    writer = BackgroundWriter(disk.write, name="state")
    await writer.close()
    await writer.close()
    change(disk, writer, "late")
    await writer.wait_until_saved()
    assert disk.written == [""]


async def test_who_waits_during_the_last_write_is_answered_after_it() -> None:
    written: list[int] = []
    may_write = asyncio.Event()

    async def write() -> None:
        await may_write.wait()
        written.append(1)

    writer = BackgroundWriter(write, name="test")
    closing = asyncio.create_task(writer.close())
    await asyncio.sleep(0)
    writer.schedule()
    waiting = asyncio.create_task(writer.wait_until_saved())
    await asyncio.sleep(0)
    assert not waiting.done()
    may_write.set()
    await closing
    await waiting
    assert len(written) == 2
