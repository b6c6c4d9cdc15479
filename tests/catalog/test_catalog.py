"""The list stays right while files come, grow, move and go."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.catalog.cache import Cache
from claudekeeper.catalog.catalog import Catalog, RowChange
from claudekeeper.catalog.discovery import SessionRow
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder, uuid_of
from tests.support.waiting import wait_until


@pytest.fixture
async def catalog(tmp_path: Path) -> AsyncIterator[Catalog]:
    catalog = Catalog(projects_folder(), Cache(tmp_path / "cache.db"))
    await catalog.start()
    yield catalog
    await catalog.close()


def conversation(count: int = 20) -> TranscriptWriter:
    transcript = TranscriptWriter()
    for number in range(count):
        transcript.prompt(f"number {number}")
    return transcript


async def seen(catalog: Catalog) -> SessionRow:
    row = await catalog.row(SESSION_ID)
    assert row is not None
    return await catalog.scan_if_small(row)


async def test_a_session_that_moved_to_another_folder_is_found_there(catalog: Catalog) -> None:
    path = conversation().write(projects_folder(), "-a")
    await seen(catalog)
    (projects_folder() / "-b").mkdir()
    path.rename(projects_folder() / "-b" / path.name)
    row = await seen(catalog)
    assert Path(row.file.path).parent.name == "-b"
    assert row.summary.messages == 20


async def test_a_truncated_session_is_counted_anew(catalog: Catalog) -> None:
    transcript = conversation()
    path = transcript.write(projects_folder())
    assert (await seen(catalog)).summary.messages == 20
    path.write_bytes(b"\n".join(transcript.lines[:3]) + b"\n")
    assert (await seen(catalog)).summary.messages == 3


async def test_a_session_deleted_and_made_again_is_the_new_one(catalog: Catalog) -> None:
    path = conversation().write(projects_folder())
    await seen(catalog)
    path.unlink()
    assert await catalog.row(SESSION_ID) is None
    conversation(5).write(projects_folder())
    assert (await seen(catalog)).summary.messages == 5


async def test_growth_in_pieces_ends_in_the_same_count(catalog: Catalog) -> None:
    content = b"\n".join(conversation(200).lines) + b"\n"
    path = projects_folder() / "-w" / f"{SESSION_ID}.jsonl"
    path.parent.mkdir(parents=True)
    cuts = sorted(random.Random(7).sample(range(1, len(content)), 30))
    for start, end in zip([0, *cuts], [*cuts, len(content)], strict=True):
        with path.open("ab") as file:
            file.write(content[start:end])
        await seen(catalog)
    assert (await seen(catalog)).summary.messages == 200


async def test_changes_are_noticed_without_being_asked_for(catalog: Catalog) -> None:
    transcript = conversation(1)
    path = transcript.write(projects_folder())
    await seen(catalog)
    await wait_until(lambda: catalog.watcher.state.mode == "watching")
    transcript.prompt("one more")
    path.write_bytes(b"\n".join(transcript.lines) + b"\n")
    # only what is in memory: no question asks the disk here
    await wait_until(
        lambda: (row := catalog.peek_row(SESSION_ID)) is not None and row.summary.messages == 2
    )


async def test_a_projects_folder_that_comes_later_is_found(catalog: Catalog) -> None:
    assert await catalog.rows() == []
    conversation().write(projects_folder())
    assert len(await catalog.rows()) == 1


async def test_who_waits_for_the_list_does_not_wait_for_the_disk(tmp_path: Path) -> None:
    class SlowCache(Cache):
        """Saves only when it is told to."""

        go_on = threading.Event()

        def save(self, *what: Any) -> None:
            self.go_on.wait()
            super().save(*what)

    conversation().write(projects_folder())
    cache = SlowCache(tmp_path / "cache.db")
    catalog = Catalog(projects_folder(), cache)
    async with AsyncExitStack() as stack:
        await catalog.start()
        stack.push_async_callback(catalog.close)
        stack.callback(cache.go_on.set)
        assert [row.file.id for row in await catalog.rows()] == [SESSION_ID]


async def test_progress_is_told(catalog: Catalog) -> None:
    conversation(400).write(projects_folder())
    await catalog.rows()
    assert catalog.progress.total == 1
    await wait_until(lambda: catalog.progress.done == 1)


async def test_progress_does_not_wait_for_what_cannot_be_read(catalog: Catalog) -> None:
    conversation().write(projects_folder())
    (projects_folder() / "-b" / f"{uuid_of(7)}.jsonl").mkdir(parents=True)
    await catalog.rows()
    await wait_until(lambda: catalog.progress.done == 2)
    assert catalog.progress.total == 2


async def test_counting_leaves_the_list_in_its_order_and_says_who_was_counted(
    catalog: Catalog,
) -> None:
    changes: list[RowChange] = []
    catalog.row_changed.subscribe(changes.append)
    ids = [uuid_of(number) for number in range(1, 5)]
    for age, session_id in enumerate(ids):
        transcript = TranscriptWriter(session_id)
        for number in range(100):
            transcript.prompt(f"number {number}")
        path = transcript.write(projects_folder())
        os.utime(path, (1_780_000_000 - age, 1_780_000_000 - age))
    assert [row.file.id for row in await catalog.rows()] == ids
    await wait_until(lambda: catalog.progress.done == 4)
    rows = await catalog.rows()
    assert [(row.file.id, row.summary.messages) for row in rows] == [(each, 100) for each in ids]
    assert {change.session_id for change in changes if change.only_counted} == set(ids)
