"""A keeper on the test's own home, as in `tests/talking`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from tests.elsewhere.people import a_stranger
from tests.real_cli import scripted_api  # noqa: F401
from tests.talking.conftest import ear, keeper, start_keeper  # noqa: F401


@pytest.fixture
async def stranger() -> AsyncIterator[asyncio.subprocess.Process]:
    process = await a_stranger()
    yield process
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()
