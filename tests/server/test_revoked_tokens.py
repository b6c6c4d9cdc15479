"""Who stays beyond the answer, as sockets do, leaves with the token they came with."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import WSServerHandshakeError, web
from pytest_aiohttp import AiohttpClient

from claudekeeper.core.config import load_config, rotate_token
from claudekeeper.core.credentials import Credentials, CredentialsFile
from claudekeeper.net.attempt_limit import MAX_ATTEMPTS
from claudekeeper.net.host_guard import HostGuard
from claudekeeper.net.responses import error_middleware
from claudekeeper.server.app_keys import AUTHENTICATOR
from claudekeeper.server.auth import TOKEN_ENDED, Authenticator
from tests.server.conftest import Api
from tests.support.waiting import wait_until


async def stay(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)

    async def leave() -> None:
        await socket.close(code=TOKEN_ENDED)

    with request.app[AUTHENTICATOR].hold_until_revoked(request, leave):
        async for message in socket:
            await socket.send_str(message.data)
    return socket


@pytest.fixture
def home(tmp_path: Path) -> Path:
    load_config(tmp_path)
    return tmp_path


@pytest.fixture
async def server(home: Path, aiohttp_client: AiohttpClient) -> Api:
    door = Authenticator(HostGuard(), CredentialsFile(home))
    app = web.Application(middlewares=[error_middleware("the keeper"), door.middleware])
    app[AUTHENTICATOR] = door
    app.cleanup_ctx.append(door.watch_rotation)
    app.router.add_get("/ws", stay)
    return await aiohttp_client(app)


def bearer(home: Path) -> dict[str, str]:
    return {"Authorization": f"Bearer {load_config(home).token}"}


async def test_a_rotated_token_closes_the_sockets_it_opened(server: Api, home: Path) -> None:
    old = bearer(home)
    first = await server.ws_connect("/ws", headers=old)
    await first.send_str("here")
    assert await first.receive_str() == "here"
    rotate_token(home)
    await first.receive()
    assert first.close_code == TOKEN_ENDED
    with pytest.raises(WSServerHandshakeError) as refused:
        await server.ws_connect("/ws", headers=old)
    assert refused.value.status == 401
    again = await server.ws_connect("/ws", headers=bearer(home))
    await again.send_str("back")
    assert await again.receive_str() == "back"
    await again.close()


async def test_the_token_of_hooks_is_rotated_without_closing_any(
    server: Api, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Credentials] = []
    now = CredentialsFile.__call__
    monkeypatch.setattr(
        CredentialsFile, "__call__", lambda file: looks.append(now(file)) or looks[-1]
    )
    first = await server.ws_connect("/ws", headers=bearer(home))
    before = Credentials.from_config(load_config(home))
    rotate_token(home, hooks=True)
    await wait_until(lambda: len([each for each in looks if each != before]) > 1)
    await first.send_str("still here")
    assert await first.receive_str() == "still here"
    await first.close()


async def test_sockets_and_requests_fail_on_one_budget(server: Api, home: Path) -> None:
    wrong = {"Authorization": "Bearer wrong"}
    mine = await server.ws_connect("/ws", headers=bearer(home))
    for _ in range(MAX_ATTEMPTS // 2):
        assert (await server.get("/ws", headers=wrong)).status == 401
        with pytest.raises(WSServerHandshakeError):
            await server.ws_connect("/ws", headers=wrong)
    with pytest.raises(WSServerHandshakeError) as refused:
        await server.ws_connect("/ws", headers=wrong)
    assert refused.value.status == 429
    assert refused.value.headers is not None
    assert "Retry-After" in refused.value.headers
    await mine.send_str("still here")
    assert await mine.receive_str() == "still here"
    await mine.close()


@pytest.mark.parametrize("origin", ["http://evil.test", "null", "https://127.0.0.1"])
async def test_no_foreign_page_opens_a_socket(server: Api, home: Path, origin: str) -> None:
    with pytest.raises(WSServerHandshakeError) as refused:
        await server.ws_connect("/ws", headers={**bearer(home), "Origin": origin})
    assert refused.value.status == 403
