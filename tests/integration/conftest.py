"""One scripted API for a module; a keeper in a home of its own for each test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_aiohttp import AiohttpClient

from claudekeeper.core.limits import Limits
from claudekeeper.demo.messages_api import ScriptedApi
from tests.support.keeper_in_process import InProcessKeeper, SocketListener
from tests.support.real_cli import scripted_api  # noqa: F401

StartKeeper = Callable[..., Awaitable[InProcessKeeper]]
Meanwhile = Callable[..., Awaitable[InProcessKeeper]]


async def nothing_happens(
    keeper: InProcessKeeper, start_keeper: StartKeeper, **more: Any
) -> InProcessKeeper:
    return keeper


async def restart(
    keeper: InProcessKeeper, start_keeper: StartKeeper, **more: Any
) -> InProcessKeeper:
    await keeper.stop()
    return await start_keeper(**more)


@pytest.fixture
def start_keeper(
    isolated: Path,
    scripted_api: ScriptedApi,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    aiohttp_client: AiohttpClient,
) -> StartKeeper:
    """Starts a keeper on the test's home; after `stop` another one is a restart."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", scripted_api.url)
    monkeypatch.setenv("CLAUDE_CODE_MAX_RETRIES", "1")
    monkeypatch.setenv("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1")

    async def start(limits: Limits | None = None, **more: Any) -> InProcessKeeper:
        return await InProcessKeeper(isolated, limits, **more).start(aiohttp_client)

    return start


@pytest.fixture
async def keeper(start_keeper: StartKeeper) -> InProcessKeeper:
    return await start_keeper()


@pytest.fixture
async def listener(keeper: InProcessKeeper) -> SocketListener:
    return await keeper.listen()
