"""A temporary home for Claude Code and the keeper, apart from the real user's."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Self

from claudekeeper.demo.sample_projects import PROJECTS, write_project
from claudekeeper.sessions.cli.orphans import end_processes_with

# variables about the machine's own Claude Code, which must not reach a demo
FOREIGN_PREFIXES = ("ANTHROPIC_", "CLAUDE")
OWN_PREFIX = "CLAUDEKEEPER_"
RETRIES = "2"
FOLDER_PREFIX = "clarvis-demo-"
# locked while the home is in use; the system releases it when the process ends, however it ends
LOCK_NAME = "demo.lock"


class DemoHome:
    """A folder with everything in it, deleted when the context ends, or at exit at the latest."""

    def __init__(self, parent: Path | None = None) -> None:
        # the CLI has sockets in here, whose paths have to be short
        self._folder = tempfile.TemporaryDirectory(
            prefix=FOLDER_PREFIX, dir=parent, ignore_cleanup_errors=True
        )
        self.root = Path(self._folder.name).resolve()
        self._lock = _create_lock(self.root)
        self.config = self.root / ".claude"
        self.keeper = self.root / ".claudekeeper"
        self.code = self.root / "code"
        self.temporary = self.root / "tmp"
        for folder in (self.config, self.keeper, self.code, self.temporary):
            folder.mkdir(mode=0o700)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Ends the processes that use the home, and deletes it. Blocks."""
        _end_processes_in(self.root)
        self._folder.cleanup()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def project(self, name: str) -> Path:
        """A project folder, made at its first use."""
        folder = self.code / name
        if not folder.exists():
            folder.mkdir()
            write_project(folder, PROJECTS.get(name, {}), self._folder_variables())
        return folder

    def environment(
        self, api_url: str, *, inherited: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """The variables with which a CLI or a keeper uses only this home and `api_url`.

        The SDK merges them over those of the process and cannot remove any, so those of another
        Claude are set empty, which the CLI takes for unset.
        """
        inherited = os.environ if inherited is None else inherited
        cleared = {
            name: ""
            for name in inherited
            if name.startswith(FOREIGN_PREFIXES) and not name.startswith(OWN_PREFIX)
        }
        if "CLARVIS_ALLOWED_ROOTS" in inherited:
            # the user's roots would hide the folders of the demo
            cleared["CLARVIS_ALLOWED_ROOTS"] = str(self.root)
        return {
            **cleared,
            **self._folder_variables(),
            "ANTHROPIC_BASE_URL": api_url,
            "ANTHROPIC_API_KEY": "sk-demo",
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": RETRIES,
            # without this the newest models have no task list
            "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1",
        }

    def _folder_variables(self) -> dict[str, str]:
        return {
            "HOME": str(self.root),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "CLAUDEKEEPER_HOME": str(self.keeper),
            "CLAUDE_CODE_TMPDIR": str(self.temporary),
            # the CLI does not use the variable above for all of its temporary files
            "TMPDIR": str(self.temporary),
            "XDG_CACHE_HOME": str(self.root / ".cache"),
            "XDG_CONFIG_HOME": str(self.root / ".config"),
            "XDG_DATA_HOME": str(self.root / ".local" / "share"),
            "XDG_STATE_HOME": str(self.root / ".local" / "state"),
        }


def remove_abandoned(parent: Path | None = None) -> int:
    """Deletes the homes of killed demos; returns how many. Blocks."""
    removed = 0
    for root in Path(parent or tempfile.gettempdir()).resolve().glob(f"{FOLDER_PREFIX}*"):
        with contextlib.suppress(OSError), _lock_abandoned(root):
            _end_processes_in(root)
            shutil.rmtree(root)
            removed += 1
    return removed


def _create_lock(root: Path) -> int:
    # locked before it has its name, so that nobody can take the home for abandoned
    unnamed = root / f"{LOCK_NAME}.new"
    lock = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    unnamed.rename(root / LOCK_NAME)
    return lock


@contextlib.contextmanager
def _lock_abandoned(root: Path) -> Iterator[None]:
    """Locks an abandoned home; OSError if it is in use or belongs to somebody else."""
    # in a shared folder anybody may make a link of this name
    if root.is_symlink() or root.stat().st_uid != os.getuid():
        raise PermissionError(root)
    lock = os.open(root / LOCK_NAME, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(lock)


def _end_processes_in(root: Path) -> None:
    """Ends the CLIs of a home, which may still write after their clients are gone."""
    end_processes_with(f"HOME={root}")
