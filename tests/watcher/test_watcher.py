"""Changes are noticed whatever the system can tell, and it is said how."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import watchfiles

from claudekeeper.watcher.filesystems import network_filesystem
from claudekeeper.watcher.inotify import Inotify
from claudekeeper.watcher.watcher import Watcher
from tests.support.waiting import wait_until


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
        await wait_until(lambda: name in self.folders(after))


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
    await wait_until(lambda: watcher.state.mode == mode and "projects" in seen.folders())
    return len(seen.batches)


class Scarce(Inotify):
    """As on a machine on which others took the watches."""

    remaining = 0

    def watch(self, folder: str, *, follow: bool = False) -> int:
        if Scarce.remaining <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        Scarce.remaining -= 1
        return super().watch(folder, follow=follow)


class Limited:
    """The library as on such a machine; `deaf` is one that tells nothing."""

    deaf = False

    def __init__(self) -> None:
        self._awatch = watchfiles.awatch

    async def awatch(self, *paths: str, **options: Any) -> AsyncGenerator[set[Any]]:
        if Scarce.remaining < 3:
            # the library's own words, without a number: it watches each folder
            raise OSError(f"OS file watch limit reached. about {list(paths)}")
        async with aclosing(self._awatch(*paths, **options)) as batches:
            async for batch in batches:
                yield set() if self.deaf else batch


MakeWatcher = Callable[..., Watcher]
NAMESPACE = ["unshare", "-U", "-r"]


@pytest.fixture(params=["inotify", "watchfiles"])
def make_watcher(request: pytest.FixtureRequest) -> MakeWatcher:
    """A watcher of each kind; what is promised holds for both."""
    use_watchfiles = request.param == "watchfiles"

    def make(root: Path, **options: Any) -> Watcher:
        return Watcher(
            root,
            use_watchfiles=use_watchfiles,
            rescan_interval=options.pop("rescan_interval", 0.1),
            **options,
        )

    return make


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Limited:
    library = Limited()
    monkeypatch.setattr(watchfiles, "awatch", library.awatch)
    return library


async def test_writes_are_told_by_their_folder(root: Path, make_watcher: MakeWatcher) -> None:
    watcher = make_watcher(root)
    async with watching(watcher) as seen:
        batches = await settled(seen, watcher, "watching")
        (root / "-a" / "x.jsonl").write_text("1")
        await seen.tells("-a", batches)
        assert "-b" not in seen.folders(batches)


async def test_new_renamed_and_deleted_folders_are_followed(
    root: Path, make_watcher: MakeWatcher
) -> None:
    watcher = make_watcher(root)
    async with watching(watcher) as seen:
        batches = await settled(seen, watcher, "watching")
        (root / "-new").mkdir()
        await seen.tells("-new", batches)
        batches = len(seen.batches)
        (root / "-new" / "x.jsonl").write_text("1")
        await seen.tells("-new", batches)
        (root / "-new").rename(root / "-renamed")
        await seen.tells("-renamed", batches)
        batches = len(seen.batches)
        (root / "-renamed" / "x.jsonl").write_text("22")
        await seen.tells("-renamed", batches)
        batches = len(seen.batches)
        (root / "-b").rmdir()
        await seen.tells("-b", batches)
        assert watcher.state.mode == "watching"


async def test_a_root_that_is_replaced_is_watched_anew(
    root: Path, make_watcher: MakeWatcher
) -> None:
    watcher = make_watcher(root, poll_interval=0.01)
    async with watching(watcher) as seen:
        batches = await settled(seen, watcher, "watching")
        root.rename(root.with_name("old"))
        (root / "-c").mkdir(parents=True)
        await seen.tells("projects", batches)
        await wait_until(lambda: watcher.state.mode == "watching")
        batches = len(seen.batches)
        (root / "-c" / "x.jsonl").write_text("1")
        await wait_until(lambda: bool({"-c", "projects"} & seen.folders(batches)))


async def test_a_root_that_comes_later_is_waited_for(
    tmp_path: Path, make_watcher: MakeWatcher
) -> None:
    watcher = make_watcher(tmp_path / "projects", poll_interval=0.01)
    async with watching(watcher) as seen:
        await wait_until(lambda: watcher.state.mode == "waiting")
        (tmp_path / "projects").mkdir()
        await settled(seen, watcher, "watching")


async def test_without_watches_it_looks_says_so_and_recovers(
    root: Path, make_watcher: MakeWatcher, limited: Limited
) -> None:
    Scarce.remaining = 2
    watcher = make_watcher(root, poll_interval=0.01, retry_interval=0.05, make_inotify=Scarce)
    async with watching(watcher) as seen:
        batches = await settled(seen, watcher, "polling")
        assert "max_user_watches" in str(watcher.state.reason)
        # every look is at everything: what changed is found
        await seen.tells("projects", batches)
        Scarce.remaining = 100
        await wait_until(lambda: watcher.state.mode == "watching")
        assert "max_user_watches" not in str(watcher.state.reason)
        batches = len(seen.batches)
        (root / "-a" / "x.jsonl").write_text("1")
        await seen.tells("-a", batches)


async def test_what_lies_deep_is_looked_at_too_and_watched_again_afterwards(
    root: Path, make_watcher: MakeWatcher, limited: Limited
) -> None:
    deep = root / "-a" / "session" / "subagents"
    deep.mkdir(parents=True)
    Scarce.remaining = 1
    watcher = make_watcher(root, poll_interval=0.01, retry_interval=0.2, make_inotify=Scarce)
    touched: list[str] = []
    watcher.files_changed.subscribe(touched.extend)
    watcher.watch_below(str(deep.parent))
    async with watching(watcher) as seen:
        await settled(seen, watcher, "polling")
        (deep / "agent-1.jsonl").write_text("1")
        await wait_until(lambda: str(deep / "agent-1.jsonl") in touched)
        Scarce.remaining = 100
        await wait_until(lambda: watcher.state.mode == "watching")
        (deep / "agent-2.jsonl").write_text("1")
        await wait_until(lambda: str(deep / "agent-2.jsonl") in touched)


async def test_what_a_folder_holds_that_appears_is_told(
    root: Path, make_watcher: MakeWatcher, tmp_path: Path
) -> None:
    """It was written before anybody listened there."""
    session = tmp_path / "session"
    (session / "subagents").mkdir(parents=True)
    (session / "subagents" / "agent-1.jsonl").write_text("1")
    watcher = make_watcher(root, rescan_interval=1000)
    touched: list[str] = []
    watcher.files_changed.subscribe(touched.extend)
    async with watching(watcher) as seen:
        batches = await settled(seen, watcher, "watching")
        session.rename(root / "-a" / "session")
        agent = root / "-a" / "session" / "subagents" / "agent-1.jsonl"
        await wait_until(lambda: str(agent) in touched)
        (tmp_path / "-c").mkdir()
        (tmp_path / "-c" / "x.jsonl").write_text("1")
        (tmp_path / "-c").rename(root / "-c")
        await seen.tells("-c", batches)
        await wait_until(lambda: str(root / "-c" / "x.jsonl") in touched)


async def test_watches_that_run_out_later_are_noticed_too(root: Path) -> None:
    Scarce.remaining = 3
    watcher = Watcher(root, poll_interval=0.01, retry_interval=60, make_inotify=Scarce)
    async with watching(watcher) as seen:
        await settled(seen, watcher, "watching")
        (root / "-c").mkdir()
        await wait_until(lambda: watcher.state.mode == "polling")
        await seen.tells("projects", len(seen.batches))


async def test_no_watcher_at_all(
    root: Path, make_watcher: MakeWatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> Inotify:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(watchfiles, "awatch", refuse)
    watcher = make_watcher(root, poll_interval=0.01, retry_interval=60, make_inotify=refuse)
    async with watching(watcher) as seen:
        await settled(seen, watcher, "polling")
        assert "max_user_instances" in str(watcher.state.reason)
        await seen.tells("projects", len(seen.batches))


async def test_an_overflow_is_said_and_everything_looked_at(root: Path) -> None:
    """A real one: more happens than the system keeps for somebody who does not listen."""
    keeps = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    watcher = Watcher(root, poll_interval=0.01, retry_interval=0.2)
    async with watching(watcher) as seen:
        batches = await settled(seen, watcher, "watching")
        # the loop hears nothing while this runs; two names, since the same twice is told once
        for number in range(keeps + 10):
            os.close(os.open(root / "-a" / f"{number % 2}.jsonl", os.O_CREAT | os.O_WRONLY))
            os.truncate(root / "-a" / f"{number % 2}.jsonl", number)
        await wait_until(lambda: watcher.state.mode == "polling")
        assert "so much" in str(watcher.state.reason)
        await seen.tells("projects", batches)
        await wait_until(lambda: watcher.state.mode == "watching")


async def test_what_the_library_drops_is_found_by_the_next_look(
    root: Path, limited: Limited
) -> None:
    Scarce.remaining = 100
    limited.deaf = True
    watcher = Watcher(root, use_watchfiles=True, rescan_interval=0.05)
    async with watching(watcher) as seen:
        batches = await settled(seen, watcher, "watching")
        await seen.tells("projects", batches)
        assert "-a" not in seen.folders()
        assert "watchfiles" in str(watcher.state.reason)


needs_namespaces = pytest.mark.skipif(
    not shutil.which("unshare") or subprocess.run([*NAMESPACE, "true"], check=False).returncode,
    reason="needs user namespaces",
)


def in_namespace(watches: int, script: str, root: Path) -> str:
    """What a program says in a user namespace of its own that may have so many watches."""
    limit = f'echo {watches} > /proc/sys/user/max_inotify_watches && exec "$@"'
    done = subprocess.run(
        [*NAMESPACE, "sh", "-c", limit, "sh", sys.executable, "-c", script, str(root)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@needs_namespaces
def test_the_library_says_when_watches_are_out(root: Path) -> None:
    """A real limit."""
    script = (
        "import asyncio, sys\n"
        "from claudekeeper.watcher.watchfiles_watch import changed_paths\n"
        "async def main():\n"
        "    async for _ in changed_paths(sys.argv[1]): pass\n"
        "try: asyncio.run(main())\n"
        "except OSError as error: print(error.errno)\n"
    )
    assert in_namespace(1, script, root) == str(errno.ENOSPC)


@needs_namespaces
def test_a_later_folder_that_the_library_cannot_watch_is_looked_at(root: Path) -> None:
    """The same limit, reached while it watches: it says nothing, and the next look finds it."""
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from claudekeeper.watcher.watcher import Watcher\n"
        "async def main():\n"
        "    root = Path(sys.argv[1])\n"
        "    watcher = Watcher(root, use_watchfiles=True, rescan_interval=0.2)\n"
        "    batches = watcher.changes()\n"
        "    await anext(batches)\n"
        "    (root / '-c').mkdir()\n"
        "    while str(root / '-c') not in await anext(batches): pass\n"
        "    (root / '-c' / 'x.jsonl').write_text('1')\n"
        "    while str(root) not in await anext(batches): pass\n"
        "    print(watcher.state.mode)\n"
        "    await batches.aclose()\n"
        "asyncio.run(main())\n"
    )
    # the folder and the two in it
    assert in_namespace(3, script, root) == "watching"


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
    assert network_filesystem(folder, str(mounts)) == kind


async def test_a_file_system_that_tells_nothing_is_looked_at(
    root: Path, make_watcher: MakeWatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("claudekeeper.watcher.watcher.network_filesystem", lambda _: "nfs4")
    watcher = make_watcher(root, poll_interval=0.01)
    async with watching(watcher) as seen:
        await settled(seen, watcher, "polling")
        assert "nfs4" in str(watcher.state.reason)
        await seen.tells("projects", len(seen.batches))


async def test_depths_that_were_asked_for_too_early_are_told_of_later(
    root: Path, make_watcher: MakeWatcher
) -> None:
    """While the first look at everything lasts, nothing is heard yet; nor while it polls."""
    deep = root / "-a" / "session" / "subagents"
    deep.mkdir(parents=True)
    (deep / "agent-1.jsonl").write_text("1")
    watcher = make_watcher(root)
    touched: list[str] = []
    watcher.files_changed.subscribe(touched.extend)
    watcher.watch_below(str(deep.parent))
    watcher.watch_below(str(root / "-b" / "gone"))
    async with watching(watcher):
        await wait_until(lambda: str(deep / "agent-1.jsonl") in touched)
        (deep / "agent-2.jsonl").write_text("1")
        await wait_until(lambda: str(deep / "agent-2.jsonl") in touched)
