"""Gigabytes are read by a process of their own, which leaves nothing behind."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from claudekeeper.catalog import full_scan
from claudekeeper.catalog.cache import Cache
from claudekeeper.catalog.catalog import Catalog
from claudekeeper.catalog.discovery import quick_scan_file
from claudekeeper.catalog.full_scan import FullScanRunner
from claudekeeper.catalog.full_scan_worker import RowToScan, scan_rows
from claudekeeper.transcripts.layout import list_transcripts
from tests.support.transcript_writer import TranscriptWriter, projects_folder, uuid_of
from tests.support.waiting import wait_until

# more than is folded with the first look
LONG = "word " * 10_000


def uncounted(sessions: int) -> list[RowToScan]:
    for number in range(sessions):
        transcript = TranscriptWriter(uuid_of(number))
        transcript.prompt(f"number {number}")
        transcript.prompt(LONG)
        transcript.write(projects_folder())
    looks = [
        quick_scan_file(transcript_file)
        for transcript_file in list_transcripts(str(projects_folder() / "-code-shop"))
    ]
    rows = [look for look in looks if look is not None]
    assert not any(row.is_fully_scanned for row in rows)
    return [(row, None) for row in rows]


@pytest.fixture
async def reader(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FullScanRunner]:
    monkeypatch.setattr(full_scan, "MIN_PROCESS_BYTES", 0)
    reader = FullScanRunner()
    yield reader
    await reader.stop_process()


async def test_the_process_counts_what_a_thread_would(reader: FullScanRunner) -> None:
    batch = uncounted(3)
    counts = await reader.scan(batch, total_bytes=1)
    assert reader._process is not None
    assert counts == scan_rows(batch)
    assert [after.summary.messages for after in counts[0] if after] == [2, 2, 2]


async def test_a_transcript_that_is_gone_is_told_as_gone(reader: FullScanRunner) -> None:
    batch = uncounted(1)
    Path(batch[0][0].file.path).unlink()
    assert await reader.scan(batch, total_bytes=1) == ([None], [None])


async def test_little_is_read_without_a_process() -> None:
    reader = FullScanRunner()
    counts = await reader.scan(uncounted(1), total_bytes=1)
    assert counts[0][0] is not None
    assert reader._process is None


async def test_a_killed_process_costs_nothing_but_itself(
    reader: FullScanRunner, caplog: pytest.LogCaptureFixture
) -> None:
    batch = uncounted(2)
    await reader.scan(batch, total_bytes=1)
    assert reader._process is not None
    os.kill(reader._process.pid, signal.SIGKILL)
    with caplog.at_level(logging.WARNING):
        assert await reader.scan(batch, total_bytes=1) == scan_rows(batch)
    assert "scanning goes on in a thread" in caplog.text
    assert reader._process is None


async def test_the_process_ends_with_the_work(reader: FullScanRunner) -> None:
    await reader.scan(uncounted(1), total_bytes=1)
    assert reader._process is not None
    pid = reader._process.pid
    await reader.stop_process()
    assert not Path(f"/proc/{pid}").exists()


async def test_everything_is_counted_and_no_process_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_scan, "MIN_PROCESS_BYTES", 0)
    uncounted(5)
    catalog = Catalog(projects_folder(), Cache(tmp_path / "cache.db"))
    async with AsyncExitStack() as stack:
        await catalog.start()
        stack.push_async_callback(catalog.close)
        await catalog.rows()
        await wait_until(lambda: catalog.progress.done == catalog.progress.total == 5)
        await wait_until(lambda: catalog._full_scan._process is None)


async def test_closing_in_the_middle_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_scan, "MIN_PROCESS_BYTES", 0)
    uncounted(5)
    catalog = Catalog(projects_folder(), Cache(tmp_path / "cache.db"))
    await catalog.start()
    await wait_until(lambda: catalog._full_scan._process is not None)
    process = catalog._full_scan._process
    assert process is not None
    await catalog.close()
    assert process.returncode is not None
