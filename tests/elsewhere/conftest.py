"""A keeper on the test's own home, as in `tests/talking`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from tests.elsewhere.people import a_stranger
from tests.elsewhere.terminal import Terminal, Tmux, set_up
from tests.real_cli import scripted_api  # noqa: F401
from tests.talking.conftest import ear, keeper, start_keeper  # noqa: F401
from tests.talking.keeper import Keeper

OpenTerminal = Callable[..., Awaitable[Terminal]]


@pytest.fixture
async def stranger() -> AsyncIterator[asyncio.subprocess.Process]:
    process = await a_stranger()
    yield process
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()


@pytest.fixture
async def terminals(
    keeper: Keeper,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[OpenTerminal]:
    """Opens terminals with Claude Code in the keeper's working directory."""
    tmux = Tmux(tmp_path_factory.mktemp("tmux"))
    environment = set_up(keeper.workdir)

    async def open_terminal(*arguments: str) -> Terminal:
        return await Terminal(tmux, keeper.workdir, environment).start(*arguments)

    yield open_terminal
    tmux.end()
