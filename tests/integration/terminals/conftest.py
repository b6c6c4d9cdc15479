"""A keeper on the test's own home, with terminals beside it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from tests.support.keeper_in_process import InProcessKeeper
from tests.support.terminal import Terminal, Tmux, prepare_claude_home
from tests.support.transcript_people import start_stranger

OpenTerminal = Callable[..., Awaitable[Terminal]]


@pytest.fixture
async def stranger() -> AsyncIterator[asyncio.subprocess.Process]:
    process = await start_stranger()
    yield process
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()


@pytest.fixture
async def terminals(
    keeper: InProcessKeeper,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[OpenTerminal]:
    """Opens terminals with Claude Code in the keeper's working directory."""
    tmux = Tmux(tmp_path_factory.mktemp("tmux"))
    environment = prepare_claude_home(keeper.workdir)

    async def open_terminal(*arguments: str) -> Terminal:
        return await Terminal(tmux, keeper.workdir, environment).start(*arguments)

    yield open_terminal
    tmux.stop()
