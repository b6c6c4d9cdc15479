"""Where Claude Code and the keeper keep their files."""

from __future__ import annotations

import os
import re
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


def leads_out(path: Path | str, root: Path | str) -> bool:
    """Whether a path, with all links followed, is a place that is not below the root."""
    return not os.path.realpath(path).startswith(os.path.realpath(root) + os.sep)
