"""Looking through folders: what is new is opened, what is as it was is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from claudekeeper.catalog import discovery
from claudekeeper.catalog.cache import Cache, FolderTimes, RowsByFolder
from claudekeeper.catalog.folder_scan import scan_folders
from tests.support.transcript_writer import TranscriptWriter, projects_folder, uuid_of

LONG_AGO = 1_700_000_000_000_000_000


def write_sessions(*numbers: int) -> str:
    folder = projects_folder() / "-code-shop"
    for number in numbers:
        transcript = TranscriptWriter(uuid_of(number))
        transcript.prompt(f"number {number}")
        transcript.write(projects_folder())
    os.utime(folder, ns=(LONG_AGO, LONG_AGO))
    return str(folder)


def scan_once(
    folder: str, cache: Cache, shelves: RowsByFolder, times: FolderTimes
) -> tuple[RowsByFolder, FolderTimes]:
    scan = scan_folders([folder], shelves, cache, times)[folder]
    assert scan.mtime is not None
    return {folder: scan.rows}, {folder: scan.mtime}


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache.db")


def test_a_folder_that_is_as_it_was_is_not_listed_again(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_sessions(1, 2)
    shelves, times = scan_once(folder, cache, {}, {})
    monkeypatch.setattr(discovery.os, "scandir", lambda _: pytest.fail("it was listed"))
    again, _ = scan_once(folder, cache, shelves, times)
    assert again == shelves


def test_a_file_that_grew_is_seen_though_its_folder_did_not_change(cache: Cache) -> None:
    folder = write_sessions(1, 2)
    shelves, times = scan_once(folder, cache, {}, {})
    path = Path(folder) / f"{uuid_of(1)}.jsonl"
    path.write_bytes(path.read_bytes() * 2)
    again, _ = scan_once(folder, cache, shelves, times)
    assert again[folder][str(path)].file.size == path.stat().st_size


def test_a_file_that_went_is_gone(cache: Cache) -> None:
    folder = write_sessions(1, 2)
    shelves, times = scan_once(folder, cache, {}, {})
    (Path(folder) / f"{uuid_of(1)}.jsonl").unlink()
    os.utime(folder, ns=(LONG_AGO, LONG_AGO))
    again, _ = scan_once(folder, cache, shelves, times)
    assert [Path(path).stem for path in again[folder]] == [uuid_of(2)]


def test_the_time_of_a_folder_that_just_changed_is_not_believed(cache: Cache) -> None:
    folder = write_sessions(1)
    os.utime(folder)
    now = Path(folder).stat().st_mtime_ns
    shelves, times = scan_once(folder, cache, {}, {})
    # so soon after that the folder's clock has not ticked in between
    write_sessions(2)
    os.utime(folder, ns=(now, now))
    again, _ = scan_once(folder, cache, shelves, times)
    assert len(again[folder]) == 2


def test_what_is_saved_is_what_is_loaded(cache: Cache) -> None:
    folder = write_sessions(1, 2)
    shelves, times = scan_once(folder, cache, {}, {})
    cache.save(shelves, times, {})
    saved_rows, kept_times = cache.load()
    assert kept_times == times
    assert {path: row.summary for path, row in saved_rows[folder].items()} == {
        path: row.summary for path, row in shelves[folder].items()
    }
