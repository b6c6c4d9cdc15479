"""A keeper in the test's own home, and a client that has its token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient
from pytest_aiohttp import AiohttpClient
from yarl import URL

from claudekeeper.core.config import Config
from claudekeeper.server.app import create_app
from claudekeeper.server.data_paths import DataPaths
from tests.support.transcript_writer import projects_folder

TOKEN = "a-token-that-is-long-enough"
HOOK_TOKEN = "a-token-for-hooks-and-nothing-else"

Api = TestClient[Any, Any]
StartKeeper = Callable[[], Awaitable[Api]]


@pytest.fixture
def start_keeper(isolated: Path, aiohttp_client: AiohttpClient) -> StartKeeper:
    """Starts a keeper on the home of the test; a second call is a restart beside it."""

    async def start(**settings: Any) -> Api:
        paths = DataPaths(projects_folder(), isolated / "state.json", isolated / "cache.db")
        config = Config(
            token=TOKEN, hook_token=HOOK_TOKEN, allowed_hosts=("box.tail.net",), **settings
        )
        app = create_app(config, paths, "2.1.0")
        return await aiohttp_client(app, headers={"Authorization": f"Bearer {TOKEN}"})

    return start


@pytest.fixture
async def keeper(start_keeper: StartKeeper) -> Api:
    return await start_keeper()


async def get_json(client: Api, path: str, status: int = 200) -> Any:
    async with client.get(path) as response:
        assert response.status == status, await response.text()
        assert response.content_type == "application/json"
        return await response.json()


async def error_code(client: Api, method: str, path: str | URL, status: int, **request: Any) -> str:
    async with client.request(method, path, **request) as response:
        body = await response.text()
        assert response.status == status, body
        return str((await response.json())["error"]["code"])
