"""The archive keeps transcripts that Claude Code deletes, and restores them."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import time
from pathlib import Path

import pytest

from claudekeeper.archive.archive import (
    DAY_SECONDS,
    Archive,
    TranscriptExists,
    TranscriptNotArchived,
    cleanup_days,
)
from claudekeeper.cli.main import main
from claudekeeper.core.paths import claude_home, keeper_home
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder


@pytest.fixture
def path() -> Path:
    transcript = TranscriptWriter()
    transcript.prompt("hello")
    transcript.reply("hi")
    path = transcript.write(projects_folder())
    nested = path.with_suffix("") / "subagents"
    nested.mkdir(parents=True)
    (nested / "agent-a.jsonl").write_text("{}\n")
    return path


@pytest.fixture
def archive() -> Archive:
    return Archive(projects_folder(), keeper_home())


def link_of(archive: Archive, path: Path) -> Path:
    return archive.live_folder / path.relative_to(projects_folder())


def test_a_link_costs_nothing_and_follows_what_is_appended(archive: Archive, path: Path) -> None:
    archive.link_all()
    with path.open("ab") as file:
        file.write(b"{}\n")
    archive.link_all()
    assert link_of(archive, path).read_bytes() == path.read_bytes()
    held = archive.size()
    assert (held.kept, held.gone, held.rewritten, held.cost) == (1, 0, 0, 0)


def test_what_is_deleted_is_set_apart_and_comes_back_whole(archive: Archive, path: Path) -> None:
    archive.link_all()
    content = path.read_bytes()
    path.unlink()
    (path.with_suffix("") / "subagents" / "agent-a.jsonl").unlink()
    archive.link_all()
    held = archive.size()
    assert (held.kept, held.gone) == (0, 1)
    assert held.cost > len(content)
    assert archive.restore(SESSION_ID.upper()) == path
    assert path.read_bytes() == content
    assert (path.with_suffix("") / "subagents" / "agent-a.jsonl").exists()
    with pytest.raises(TranscriptNotArchived):
        archive.restore(SESSION_ID)


def test_a_session_that_is_there_again_is_not_replaced(archive: Archive, path: Path) -> None:
    archive.link_all()
    first = path.read_bytes()
    path.unlink()
    archive.link_all()
    path.write_bytes(b'{"second": true}\n')
    with pytest.raises(TranscriptExists):
        archive.restore(SESSION_ID)
    assert path.read_bytes() == b'{"second": true}\n'
    archive.link_all()
    path.unlink()
    archive.link_all()
    # the newer one is what comes back, and the older one is still there
    assert archive.restore(SESSION_ID).read_bytes() == b'{"second": true}\n'
    (before,) = archive.deleted_folder.glob(f"*/{SESSION_ID}.jsonl.rewritten-*")
    assert before.read_bytes() == first
    assert archive.size().rewritten == 1


def test_a_rewritten_file_is_noticed_and_its_old_version_stays(
    archive: Archive, path: Path
) -> None:
    archive.link_all()
    old = path.read_bytes()
    other = path.with_suffix(".other")
    other.write_bytes(b'{"compacted": true}\n')
    other.replace(path)
    archive.link_all()
    archive.link_all()
    link = link_of(archive, path)
    assert link.read_bytes() == path.read_bytes()
    (before,) = link.parent.glob(f"{SESSION_ID}.jsonl.rewritten-*")
    assert before.read_bytes() == old
    assert archive.size().rewritten == 1


def test_where_links_cannot_be_made_it_copies(
    archive: Archive, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EXDEV, "another file system")

    monkeypatch.setattr(os, "link", refuse)
    archive.link_all()
    link = link_of(archive, path)
    assert link.stat().st_ino != path.stat().st_ino
    with path.open("ab") as file:
        file.write(b"{}\n")
    archive.link_all()
    assert link.read_bytes() == path.read_bytes()
    assert archive.size().rewritten == 0
    assert archive.size().cost > 0


def test_it_warns_before_a_deletion_is_due(
    archive: Archive, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = claude_home() / "settings.json"
    assert archive.due_deletions(settings) == {}
    old = time.time() - 10 * DAY_SECONDS
    os.utime(path, (old, old))
    assert archive.due_deletions(settings) == {}
    settings.write_text(json.dumps({"cleanupPeriodDays": 12}))
    assert archive.due_deletions(settings) == {path: pytest.approx(old + 12 * DAY_SECONDS)}
    assert main(["archive", "status"]) == 0
    assert "deletes after 12 days: 1 sessions go" in capsys.readouterr().out
    assert main(["archive", "on"]) == 0
    assert archive.due_deletions(settings) == {}


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ('{"cleanupPeriodDays": 12.5}', 12.5),
        ('\ufeff{"cleanupPeriodDays": 0}', 0),
        ('{"cleanupPeriodDays": "12"}', 30),
        ('{"cleanupPeriodDays": true}', 30),
        ('{"cleanupPeriodDays": -1}', 30),
        ('{"cleanupPeriodDays": ' + "9" * 5000 + "}", 1_000_000),
        ('{"cleanupPeriodDays": 1e400}', 1_000_000),
        ("{", 30),
    ],
)
def test_odd_periods_are_understood_or_the_usual(archive: Archive, text: str, days: float) -> None:
    settings = claude_home() / "settings.json"
    settings.write_text(text)
    assert cleanup_days(settings) == days
    archive.due_deletions(settings)


def test_settings_that_are_a_pipe_keep_nobody_waiting() -> None:
    settings = claude_home() / "settings.json"
    os.mkfifo(settings)
    assert cleanup_days(settings) == 30


def test_all_that_is_brought_back_counts_as_new(archive: Archive, path: Path) -> None:
    agent = path.with_suffix("") / "subagents" / "agent-a.jsonl"
    old = time.time() - 40 * DAY_SECONDS
    for each in (path, agent):
        os.utime(each, (old, old))
    archive.link_all()
    path.unlink()
    agent.unlink()
    archive.link_all()
    archive.restore(SESSION_ID)
    assert min(path.stat().st_mtime, agent.stat().st_mtime) > old + DAY_SECONDS


async def test_a_round_that_fails_is_not_the_last(
    archive: Archive, path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert main(["archive", "on"]) == 0
    scans = asyncio.Queue[None]()
    loop = asyncio.get_running_loop()

    def fail() -> set[str]:
        loop.call_soon_threadsafe(scans.put_nowait, None)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(archive, "link_all", fail)
    await archive.start()
    for _ in range(3):
        await scans.get()
        archive.wake()
    await archive.close()
    assert "No space left" in caplog.text


def test_the_command_switches_it(archive: Archive, path: Path) -> None:
    assert not archive.is_enabled
    assert main(["archive", "on"]) == 0
    assert archive.is_enabled
    assert link_of(archive, path).exists()
    assert main(["archive", "off"]) == 0
    assert not archive.is_enabled
    assert not archive.live_folder.exists()
    assert main(["archive", "restore", "nonsense"]) == 2
    assert main(["archive", "restore", SESSION_ID]) == 2
