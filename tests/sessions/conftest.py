"""A session manager with a CLI in name only."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.sessions.fake_cli import ManagedSessions, managed_sessions
from tests.support.transcript_writer import projects_folder


@pytest.fixture
async def sessions(tmp_path: Path) -> AsyncIterator[ManagedSessions]:
    async with managed_sessions(tmp_path, projects_folder()) as managed:
        yield managed
