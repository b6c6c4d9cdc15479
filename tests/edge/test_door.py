"""Who is let in, and how every refusal looks."""

from __future__ import annotations

from typing import Any

import pytest

from claudekeeper.edge.app import endpoints
from claudekeeper.edge.auth import hostname
from tests.edge.conftest import TOKEN, Api, error_code
from tests.writing import SESSION

PATHS = [
    (endpoint.method, endpoint.path.replace("{id}", SESSION).replace("{agent_id}", "a1"))
    for endpoint in endpoints()
    if not endpoint.open
]
NO_TOKEN: dict[str, Any] = {"headers": {"Authorization": ""}}


@pytest.mark.parametrize(("method", "path"), [*PATHS, ("POST", "/nowhere"), ("PUT", "/sessions")])
@pytest.mark.parametrize("given", ["", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", TOKEN])
async def test_without_the_token_nothing_is_answered(
    keeper: Api, method: str, path: str, given: str
) -> None:
    code = await error_code(keeper, method, path, 401, headers={"Authorization": given})
    assert code == "unauthorized"


async def test_health_needs_no_token(keeper: Api) -> None:
    async with keeper.get("/health", headers={"Authorization": ""}) as response:
        assert response.status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.test", "null", "http://localhost.evil.test", "http://127.0.0.1:1"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "OPTIONS"])
async def test_a_foreign_origin_is_refused_even_with_the_token(
    keeper: Api, origin: str, method: str
) -> None:
    code = await error_code(keeper, method, "/sessions", 403, headers={"Origin": origin})
    assert code == "foreign_origin"


@pytest.mark.parametrize(
    "host", ["evil.test", "localhost.evil.test", "0.0.0.0", "127.0.0.1.evil.test", "", "a b", "[::"]
)
async def test_a_foreign_host_is_refused_even_with_the_token(keeper: Api, host: str) -> None:
    headers = {"Host": host, "Origin": f"http://{host}", "X-Forwarded-Host": "localhost"}
    assert await error_code(keeper, "GET", "/sessions", 403, headers=headers) == "foreign_host"


async def test_a_configured_host_is_served(keeper: Api) -> None:
    headers = {"Host": "box.tail.net", "Origin": "https://box.tail.net"}
    async with keeper.get("/sessions", headers=headers) as response:
        assert response.status == 200
        assert "Access-Control-Allow-Origin" not in response.headers


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("localhost:7433", "localhost"),
        ("[::1]:7433", "::1"),
        ("LOCALHOST", "localhost"),
        ("localhost:x", None),
        ("localhost/evil", None),
        ("evil@localhost", None),
        ("localhost?x", None),
    ],
)
def test_the_name_in_a_host_header(host: str, name: str | None) -> None:
    assert hostname(host) == name


async def test_an_unknown_address_and_method_answer_in_json(keeper: Api) -> None:
    assert await error_code(keeper, "GET", "/nowhere", 404) == "not_found"
    assert await error_code(keeper, "DELETE", "/sessions", 405) == "method_not_allowed"
