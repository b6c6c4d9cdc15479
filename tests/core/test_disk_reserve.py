"""Room that is set aside for words: given up on a full disk, and held again afterwards."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from claudekeeper.core.disk_reserve import DiskReserve

SIZE = 64 * 1024


def refuse_room(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def holds(folder: Path) -> bool:
    return (folder / "reserve").exists()


@pytest.fixture
def full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A disk that takes no more: `but for the reserve`, or `for ever`; it is empty at first."""
    full: list[str] = []
    fchmod = os.fchmod

    def write(descriptor: int, mode: int) -> None:
        if full == ["for ever"] or (full and holds(tmp_path)):
            refuse_room()
        fchmod(descriptor, mode)

    monkeypatch.setattr("claudekeeper.core.atomic_files.os.fchmod", write)
    return full


@pytest.fixture
def reserve(tmp_path: Path) -> DiskReserve:
    reserve = DiskReserve(tmp_path, SIZE)
    reserve.hold()
    return reserve


def test_room_is_really_taken_and_only_ours(tmp_path: Path, reserve: DiskReserve) -> None:
    status = (tmp_path / "reserve").stat()
    assert (status.st_size, status.st_mode & 0o777) == (SIZE, 0o600)
    assert status.st_blocks * 512 >= SIZE


def test_words_are_written_in_it_when_the_disk_is_full(
    tmp_path: Path, reserve: DiskReserve, full_disk: list[str]
) -> None:
    full_disk.append("but for the reserve")
    reserve.write(tmp_path / "words", b"said")
    assert (tmp_path / "words").read_bytes() == b"said"
    assert not holds(tmp_path)


def test_it_is_held_again_when_there_is_room(
    tmp_path: Path, reserve: DiskReserve, full_disk: list[str]
) -> None:
    full_disk.append("but for the reserve")
    reserve.write(tmp_path / "words", b"said")
    full_disk.clear()
    reserve.write(tmp_path / "words", b"said again")
    assert holds(tmp_path)


def test_it_grows_with_what_is_written(tmp_path: Path, reserve: DiskReserve) -> None:
    reserve.write(tmp_path / "words", bytes(SIZE))
    assert (tmp_path / "reserve").stat().st_size == 2 * SIZE


def test_where_that_is_not_enough_the_error_is_told_and_the_old_words_stay(
    tmp_path: Path, reserve: DiskReserve, full_disk: list[str]
) -> None:
    reserve.write(tmp_path / "words", b"said")
    full_disk.append("for ever")
    with pytest.raises(OSError, match="No space left"):
        reserve.write(tmp_path / "words", b"said again")
    assert (tmp_path / "words").read_bytes() == b"said"


def test_another_error_gives_nothing_up(tmp_path: Path, reserve: DiskReserve) -> None:
    (tmp_path / "words").mkdir()
    with pytest.raises(IsADirectoryError):
        reserve.write(tmp_path / "words", b"said")
    assert holds(tmp_path)


def test_no_room_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("claudekeeper.core.disk_reserve.os.posix_fallocate", refuse_room)
    DiskReserve(tmp_path, SIZE).hold()
    assert not holds(tmp_path)
