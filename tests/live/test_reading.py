"""Gigabytes are read by a process of their own, which leaves nothing behind."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from claudekeeper.live import reading
from claudekeeper.live.catalog import Catalog
from claudekeeper.live.reading import Reader
from claudekeeper.readers.cache import Cache
from claudekeeper.readers.counting import Uncounted, count
from claudekeeper.readers.discovery import first_look, transcripts
from tests.waiting import until
from tests.writing import Transcript, projects_folder, uuid_of

# more than is folded with the first look
LONG = "word " * 10_000


def uncounted(sessions: int) -> list[Uncounted]:
    for number in range(sessions):
        transcript = Transcript(uuid_of(number))
        transcript.prompt(f"number {number}")
        transcript.prompt(LONG)
        transcript.write(projects_folder())
    looks = [first_look(found) for found in transcripts(str(projects_folder() / "-code-shop"))]
    rows = [look for look in looks if look is not None]
    assert not any(row.counted for row in rows)
    return [(row, None) for row in rows]


@pytest.fixture
async def reader(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Reader]:
    monkeypatch.setattr(reading, "MUCH", 0)
    reader = Reader()
    yield reader
    await reader.rest()


async def test_the_process_counts_what_a_thread_would(reader: Reader) -> None:
    batch = uncounted(3)
    counts = await reader.count(batch, left=1)
    assert reader._process is not None
    assert counts == count(batch)
    assert [after.summary.messages for after in counts[0] if after] == [2, 2, 2]


async def test_a_transcript_that_is_gone_is_told_as_gone(reader: Reader) -> None:
    batch = uncounted(1)
    Path(batch[0][0].found.path).unlink()
    assert await reader.count(batch, left=1) == ([None], [None])


async def test_little_is_read_without_a_process() -> None:
    reader = Reader()
    counts = await reader.count(uncounted(1), left=1)
    assert counts[0][0] is not None
    assert reader._process is None


async def test_a_killed_process_costs_nothing_but_itself(
    reader: Reader, caplog: pytest.LogCaptureFixture
) -> None:
    batch = uncounted(2)
    await reader.count(batch, left=1)
    assert reader._process is not None
    os.kill(reader._process.pid, signal.SIGKILL)
    with caplog.at_level(logging.WARNING):
        assert await reader.count(batch, left=1) == count(batch)
    assert "reading goes on without" in caplog.text
    assert reader._process is None


async def test_the_process_ends_with_the_work(reader: Reader) -> None:
    await reader.count(uncounted(1), left=1)
    assert reader._process is not None
    pid = reader._process.pid
    await reader.rest()
    assert not Path(f"/proc/{pid}").exists()


async def test_everything_is_counted_and_no_process_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MUCH", 0)
    uncounted(5)
    catalog = Catalog(projects_folder(), Cache(tmp_path / "cache.db"))
    await catalog.start()
    try:
        await catalog.rows()
        await until(lambda: catalog.progress.done == catalog.progress.total == 5)
        await until(lambda: catalog._reader._process is None)
    finally:
        await catalog.close()


async def test_closing_in_the_middle_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MUCH", 0)
    uncounted(5)
    catalog = Catalog(projects_folder(), Cache(tmp_path / "cache.db"))
    await catalog.start()
    await until(lambda: catalog._reader._process is not None)
    process = catalog._reader._process
    assert process is not None
    await catalog.close()
    assert process.returncode is not None
