"""Failed turns are on disk as soon as somebody waits for them, and none is lost by another."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from claudekeeper.core.disk_reserve import DiskReserve
from claudekeeper.sessions.message_queue import QueuedMessage
from claudekeeper.sessions.recovery.failed_turn import FailedTurn
from claudekeeper.sessions.recovery.failed_turn_store import FailedTurnStore
from tests.support.waiting import wait_until


def failed_turn(uuid: str) -> FailedTurn:
    return FailedTurn(uuid, "2026-01-01", "2026-01-02", prompt=QueuedMessage(uuid, "Hello"))


def store_in(home: Path) -> FailedTurnStore:
    return FailedTurnStore(home / "failed-turns.json", DiskReserve(home))


async def test_a_failed_turn_is_on_disk_when_somebody_has_waited_for_it(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.add("s", failed_turn("u"))
    await store.wait_until_saved()
    assert list(json.loads((tmp_path / "failed-turns.json").read_text())) == ["s"]
    await store.close()


async def test_where_nothing_failed_nobody_waits_for_what_runs(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.schedule_write("s", lambda: None)
    waiting = asyncio.create_task(store.wait_until_saved())
    await asyncio.sleep(0)
    assert waiting.done()
    await store.close()


async def test_a_snapshot_that_fails_takes_no_failed_turn_with_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> FailedTurn | None:
        raise UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")

    store = store_in(tmp_path)
    store.add("s", failed_turn("u"))
    store.schedule_write("t", broken)
    await store.wait_until_saved()
    await wait_until(lambda: (tmp_path / "failed-turns.json").exists())
    assert "could not be written" in caplog.text
    await store.close()


async def test_what_could_not_be_written_is_written_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserve = DiskReserve(tmp_path)
    store = FailedTurnStore(tmp_path / "failed-turns.json", reserve)
    write = reserve.write

    def full(_path: Path, _content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(reserve, "write", full)
    store.add("s", failed_turn("u"))
    await store.wait_until_saved()
    assert not (tmp_path / "failed-turns.json").exists()
    monkeypatch.setattr(reserve, "write", write)
    await store.close()
    assert list(json.loads((tmp_path / "failed-turns.json").read_text())) == ["s"]
