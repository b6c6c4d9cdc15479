"""Where Claude Code and the keeper keep their files."""

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
    """Claude Code's own folder."""
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")


def keeper_home() -> Path:
    """The keeper's folder: configuration and state."""
    return Path(os.environ.get("CLAUDEKEEPER_HOME") or Path.home() / ".claudekeeper")


def cache_folder() -> Path:
    """What can be deleted at any time."""
    return platformdirs.user_cache_path("claudekeeper")


def cache_file(projects: Path) -> Path:
    """The cache for one projects folder: two Claude homes never mix."""
    name = blake2b(os.fsencode(os.path.realpath(projects)), digest_size=8).hexdigest()
    return cache_folder() / f"sessions-{name}.db"


def is_session_id(text: str) -> bool:
    return SESSION_ID.fullmatch(text) is not None


def is_outside(path: Path | str, root: Path | str) -> bool:
    """Whether a path, with all links followed, is a place that is not below the root."""
    return not os.path.realpath(path).startswith(os.path.realpath(root) + os.sep)


def workdirs_in_roots(workdirs: Iterable[str | None], roots: Iterable[str]) -> frozenset[str]:
    """Those that lie below one of the roots, compared as they are and by component."""
    real = [place for root in roots if (place := _resolve(root)) is not None]

    def lies_inside(workdir: str) -> bool:
        path = _resolve(workdir)
        return path is not None and any(path.is_relative_to(root) for root in real)

    return frozenset(each for each in workdirs if each is not None and lies_inside(each))


def _resolve(place: str) -> Path | None:
    """Where a path leads; None where it is none: a transcript can say anything of its directory."""
    if "\0" in place or not Path(place).is_absolute():
        return None
    try:
        return Path(place).resolve()
    except (OSError, RuntimeError):  # a loop of links, a component that is too long
        return None
