"""Every test runs in a home of its own; one that would escape fails loudly."""

from __future__ import annotations

import itertools
import logging
import os
import pwd
from collections.abc import Iterator
from pathlib import Path

import pytest

REAL_HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)
REMOVED_PREFIXES = ("ANTHROPIC_", "CLAUDE", "CLARVIS_")
# what the test run itself is told through the environment
ALLOWED_VARIABLES = {"CLARVIS_E2E", "CLAUDEKEEPER_CORPUS"}
HOME_NUMBERS = itertools.count()


# Folders whose files take long, the longest first. Workers get whole files, in this order, and so
# end together on short ones.
LONG_FOLDERS = [
    "e2e/program/session",
    "soak",
    "e2e/program",
    "integration",
    "e2e",
    "demo",
    "security",
    "cli",
    "fuzz",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: folder_rank(item.path))


def folder_rank(path: Path) -> int:
    folders = [folder.as_posix() for folder in path.relative_to(Path(__file__).parent).parents]
    ranks = (rank for rank, folder in enumerate(LONG_FOLDERS) if folder in folders)
    return next(ranks, len(LONG_FOLDERS))


def pytest_configure() -> None:
    for name in list(os.environ):
        if name.startswith(REMOVED_PREFIXES) and name not in ALLOWED_VARIABLES:
            del os.environ[name]


@pytest.fixture(autouse=True)
def own_log() -> Iterator[None]:
    """A command that runs in the test's own process sets up the log of that process."""
    names = (None, "claude_agent_sdk", "watchfiles")
    levels = [logging.getLogger(name).level for name in names]
    root = logging.getLogger()
    handlers = list(root.handlers)
    yield
    root.handlers[:] = handlers
    for name, level in zip(names, levels, strict=True):
        logging.getLogger(name).setLevel(level)


@pytest.fixture
def no_umask() -> Iterator[None]:
    """Files get every right that their writer does not withhold."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture(autouse=True)
def isolated(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """HOME and the state of Claude Code and of the keeper, all in a temporary folder."""
    # pytest's own numbers cost a look at every earlier folder
    home = tmp_path_factory.mktemp(f"home-{next(HOME_NUMBERS)}", numbered=False)
    (home / ".claude").mkdir()
    settings = {
        "HOME": home,
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_CONFIG_HOME": home / ".config",
        "CLAUDE_CONFIG_DIR": home / ".claude",
        "CLAUDEKEEPER_HOME": home / ".claudekeeper",
        # port 9 is "discard": nothing listens there, so a forgotten address fails at once
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
        "ANTHROPIC_API_KEY": "sk-test",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, str(value))
    yield home
    for name in ("HOME", "CLAUDE_CONFIG_DIR", "CLAUDEKEEPER_HOME"):
        value = os.environ.get(name)
        if not value or Path(value) == REAL_HOME or Path(value).parent == REAL_HOME:
            pytest.exit(f"a test left {name} pointing at {value!r}: it would touch a real home", 3)
    if not os.environ.get("ANTHROPIC_BASE_URL", "").startswith("http://127.0.0.1:"):
        pytest.exit("a test left ANTHROPIC_BASE_URL pointing away from loopback", 3)
