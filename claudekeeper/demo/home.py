"""A temporary home for Claude Code and the keeper; the real user's is neither read nor written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from claudekeeper.demo.projects import PROJECTS, lay_out

# what these say about the machine's own Claude Code must not reach a demo
INHERITED = ("ANTHROPIC_", "CLAUDE")
OURS = "CLAUDEKEEPER_"
RETRIES = "2"


class DemoHome:
    """A folder with everything in it; gone when the context ends, or at the latest at exit."""

    def __init__(self, parent: Path | None = None) -> None:
        # the CLI keeps sockets in here, and a socket's path has to be short
        self._folder = tempfile.TemporaryDirectory(
            prefix="clarvis-demo-", dir=parent, ignore_cleanup_errors=True
        )
        self.root = Path(self._folder.name).resolve()
        self.config = self.root / ".claude"
        self.keeper = self.root / ".claudekeeper"
        self.code = self.root / "code"
        self.temporary = self.root / "tmp"
        for folder in (self.config, self.keeper, self.code, self.temporary):
            folder.mkdir(mode=0o700)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()

    def remove(self) -> None:
        self._folder.cleanup()

    def project(self, name: str) -> Path:
        """A project folder, made when it is first asked for."""
        folder = self.code / name
        if not folder.exists():
            folder.mkdir()
            lay_out(folder, PROJECTS.get(name, {}), self._places())
        return folder

    def environment(
        self, api_url: str, *, inherited: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """What a CLI (or a keeper) needs to live here and to talk to nobody but `api_url`.

        The SDK merges this over the process's own variables and cannot remove one, so those
        that speak of another Claude are made empty, which the CLI takes for unset.
        """
        inherited = os.environ if inherited is None else inherited
        silenced = {
            name: ""
            for name in inherited
            if name.startswith(INHERITED) and not name.startswith(OURS)
        }
        if "CLARVIS_ALLOWED_ROOTS" in inherited:
            # the user's folders would hide everything that the demo has
            silenced["CLARVIS_ALLOWED_ROOTS"] = str(self.root)
        return {
            **silenced,
            **self._places(),
            "ANTHROPIC_BASE_URL": api_url,
            "ANTHROPIC_API_KEY": "sk-demo",
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": RETRIES,
            # the newest models do without a task list unless told
            "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1",
        }

    def _places(self) -> dict[str, str]:
        return {
            "HOME": str(self.root),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "CLAUDEKEEPER_HOME": str(self.keeper),
            "CLAUDE_CODE_TMPDIR": str(self.temporary),
            "XDG_CACHE_HOME": str(self.root / ".cache"),
            "XDG_CONFIG_HOME": str(self.root / ".config"),
            "XDG_DATA_HOME": str(self.root / ".local" / "share"),
            "XDG_STATE_HOME": str(self.root / ".local" / "state"),
        }
