"""The folders of Claude Code and of the keeper."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

import platformdirs

SESSION_ID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
AGENT_ID = re.compile(r"[0-9A-Za-z_-]{1,128}")


def claude_home() -> Path:
    """The folder of Claude Code: transcripts and settings."""
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")


def keeper_home() -> Path:
    """The folder of the keeper: configuration and state."""
    return Path(os.environ.get("CLAUDEKEEPER_HOME") or Path.home() / ".claudekeeper")


def cache_folder() -> Path:
    """The folder of the caches, which can be deleted at any time."""
    return platformdirs.user_cache_path("claudekeeper")


def cache_file(projects: Path) -> Path:
    """The cache of one projects folder, so that two Claude homes never mix."""
    name = blake2b(os.fsencode(os.path.realpath(projects)), digest_size=8).hexdigest()
    return cache_folder() / f"sessions-{name}.db"


def is_session_id(text: str) -> bool:
    return SESSION_ID.fullmatch(text) is not None


def is_outside(path: Path | str, root: Path | str) -> bool:
    """Whether a path, with all links resolved, is not below the root."""
    return not os.path.realpath(path).startswith(os.path.realpath(root) + os.sep)


def workdirs_in_roots(workdirs: Iterable[str | None], roots: Iterable[str]) -> frozenset[str]:
    """The workdirs below one of the roots, compared resolved and by component."""
    real = [path for root in roots if (path := _resolve(root)) is not None]

    def lies_inside(workdir: str) -> bool:
        path = _resolve(workdir)
        return path is not None and any(path.is_relative_to(root) for root in real)

    return frozenset(each for each in workdirs if each is not None and lies_inside(each))


def _resolve(path: str) -> Path | None:
    """The resolved path; None for what is not one, as a transcript may claim any workdir."""
    if "\0" in path or not Path(path).is_absolute():
        return None
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError):  # a loop of links, too long a component
        return None
