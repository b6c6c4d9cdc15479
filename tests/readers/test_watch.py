"""Changes are noticed whatever the system can tell, and it is said how."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from claudekeeper.readers.inotify import Inotify
from claudekeeper.readers.mounts import shared_with_others
from claudekeeper.readers.watch import Watcher
from tests.waiting import until


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "projects"
    (root / "-a").mkdir(parents=True)
    (root / "-b").mkdir()
    return root


class Seen:
    """What a watcher told, as it comes."""

    def __init__(self) -> None:
        self.batches: list[set[str]] = []

    def folders(self, after: int = 0) -> set[str]:
        return {Path(folder).name for batch in self.batches[after:] for folder in batch}

    async def tells(self, name: str, after: int) -> None:
        await until(lambda: name in self.folders(after))


@asynccontextmanager
async def watching(watcher: Watcher) -> AsyncIterator[Seen]:
    seen = Seen()

    async def follow() -> None:
        async for batch in watcher.changes():
            seen.batches.append(batch)

    task = asyncio.create_task(follow())
    yield seen
    task.cancel()
    await asyncio.wait({task})


async def settled(seen: Seen, watcher: Watcher, mode: str) -> int:
    """Until it watches this way and everything was looked at once; how much was told by then."""
    await until(lambda: watcher.state.mode == mode and "projects" in seen.folders())
    return len(seen.batches)


class Scarce(Inotify):
    """As on a machine on which others took the watches."""

    left = 0

    def watch(self, folder: str, *, follow: bool = False) -> int:
        if Scarce.left <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        Scarce.left -= 1
        return super().watch(folder, follow=follow)


async def test_writes_are_told_by_their_folder(root: Path) -> None:
    watcher = Watcher(root)
    async with watching(watcher) as seen:
        told = await settled(seen, watcher, "watching")
        (root / "-a" / "x.jsonl").write_text("1")
        await seen.tells("-a", told)
        assert "-b" not in seen.folders(told)


async def test_new_renamed_and_deleted_folders_are_followed(root: Path) -> None:
    watcher = Watcher(root)
    async with watching(watcher) as seen:
        told = await settled(seen, watcher, "watching")
        (root / "-new").mkdir()
        await seen.tells("-new", told)
        told = len(seen.batches)
        (root / "-new" / "x.jsonl").write_text("1")
        await seen.tells("-new", told)
        (root / "-new").rename(root / "-renamed")
        await seen.tells("-renamed", told)
        told = len(seen.batches)
        (root / "-renamed" / "x.jsonl").write_text("22")
        await seen.tells("-renamed", told)
        told = len(seen.batches)
        (root / "-b").rmdir()
        await seen.tells("-b", told)
        assert watcher.state.mode == "watching"


async def test_a_root_that_is_replaced_is_watched_anew(root: Path) -> None:
    watcher = Watcher(root, poll=0.01)
    async with watching(watcher) as seen:
        told = await settled(seen, watcher, "watching")
        root.rename(root.with_name("old"))
        (root / "-c").mkdir(parents=True)
        await seen.tells("projects", told)
        await until(lambda: watcher.state.mode == "watching")
        told = len(seen.batches)
        (root / "-c" / "x.jsonl").write_text("1")
        await until(lambda: bool({"-c", "projects"} & seen.folders(told)))


async def test_a_root_that_comes_later_is_waited_for(tmp_path: Path) -> None:
    watcher = Watcher(tmp_path / "projects", poll=0.01)
    async with watching(watcher) as seen:
        await until(lambda: watcher.state.mode == "waiting")
        (tmp_path / "projects").mkdir()
        await settled(seen, watcher, "watching")


async def test_without_watches_it_looks_says_so_and_recovers(root: Path) -> None:
    Scarce.left = 2
    watcher = Watcher(root, poll=0.01, retry=0.05, make_inotify=Scarce)
    async with watching(watcher) as seen:
        told = await settled(seen, watcher, "polling")
        assert "max_user_watches" in str(watcher.state.reason)
        # every look is at everything: what changed is found
        await seen.tells("projects", told)
        Scarce.left = 100
        await until(lambda: watcher.state.mode == "watching")
        assert watcher.state.reason is None
        told = len(seen.batches)
        (root / "-a" / "x.jsonl").write_text("1")
        await seen.tells("-a", told)


async def test_what_lies_deep_is_looked_at_too_and_watched_again_afterwards(root: Path) -> None:
    deep = root / "-a" / "session" / "subagents"
    deep.mkdir(parents=True)
    Scarce.left = 1
    watcher = Watcher(root, poll=0.01, retry=0.2, make_inotify=Scarce)
    touched: list[str] = []
    watcher.touched = touched.extend
    watcher.look_below(str(deep.parent))
    async with watching(watcher) as seen:
        await settled(seen, watcher, "polling")
        (deep / "agent-1.jsonl").write_text("1")
        await until(lambda: str(deep / "agent-1.jsonl") in touched)
        Scarce.left = 100
        await until(lambda: watcher.state.mode == "watching")
        (deep / "agent-2.jsonl").write_text("1")
        await until(lambda: str(deep / "agent-2.jsonl") in touched)


async def test_watches_that_run_out_later_are_noticed_too(root: Path) -> None:
    Scarce.left = 3
    watcher = Watcher(root, poll=0.01, retry=60, make_inotify=Scarce)
    async with watching(watcher) as seen:
        await settled(seen, watcher, "watching")
        (root / "-c").mkdir()
        await until(lambda: watcher.state.mode == "polling")
        await seen.tells("projects", len(seen.batches))


async def test_no_watcher_at_all(root: Path) -> None:
    def refuse() -> Inotify:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    watcher = Watcher(root, poll=0.01, retry=60, make_inotify=refuse)
    async with watching(watcher) as seen:
        await settled(seen, watcher, "polling")
        assert "max_user_instances" in str(watcher.state.reason)
        await seen.tells("projects", len(seen.batches))


async def test_an_overflow_is_said_and_everything_looked_at(root: Path) -> None:
    """A real one: more happens than the system keeps for somebody who does not listen."""
    keeps = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    watcher = Watcher(root, poll=0.01, retry=0.2)
    async with watching(watcher) as seen:
        told = await settled(seen, watcher, "watching")
        # the loop hears nothing while this runs; two names, since the same twice is told once
        for number in range(keeps + 10):
            os.close(os.open(root / "-a" / f"{number % 2}.jsonl", os.O_CREAT | os.O_WRONLY))
            os.truncate(root / "-a" / f"{number % 2}.jsonl", number)
        await until(lambda: watcher.state.mode == "polling")
        assert "so much" in str(watcher.state.reason)
        await seen.tells("projects", told)
        await until(lambda: watcher.state.mode == "watching")


MOUNTS = """\
1 0 8:1 / / rw - ext4 /dev/a rw
2 1 0:5 / /home rw shared:1 - nfs4 box:/home rw
3 2 8:2 / /home/me/local rw - btrfs /dev/b rw
4 1 0:6 / /mnt/my\\040disk rw - fuse.sshfs box: rw
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/", None),
        ("/homeless", None),
        ("/home", "nfs4"),
        ("/home/me/.claude/projects", "nfs4"),
        ("/home/me/local/projects", None),
        ("/mnt/my disk/x", "fuse.sshfs"),
    ],
)
def test_file_systems_that_others_write_to_are_known(
    tmp_path: Path, folder: str, kind: str | None
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    assert shared_with_others(folder, str(mounts)) == kind


async def test_a_file_system_that_tells_nothing_is_looked_at(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("claudekeeper.readers.watch.shared_with_others", lambda _: "nfs4")
    watcher = Watcher(root, poll=0.01)
    async with watching(watcher) as seen:
        await settled(seen, watcher, "polling")
        assert "nfs4" in str(watcher.state.reason)
        await seen.tells("projects", len(seen.batches))


async def test_depths_that_were_asked_for_too_early_are_told_of_later(root: Path) -> None:
    """While the first look at everything lasts, nothing is heard yet; nor while it polls."""
    deep = root / "-a" / "session" / "subagents"
    deep.mkdir(parents=True)
    (deep / "agent-1.jsonl").write_text("1")
    watcher = Watcher(root)
    touched: list[str] = []
    watcher.touched = touched.extend
    watcher.look_below(str(deep.parent))
    watcher.look_below(str(root / "-b" / "gone"))
    async with watching(watcher):
        await until(lambda: str(deep / "agent-1.jsonl") in touched)
        (deep / "agent-2.jsonl").write_text("1")
        await until(lambda: str(deep / "agent-2.jsonl") in touched)
