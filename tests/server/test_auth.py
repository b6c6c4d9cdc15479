"""Who is let in, and how every refusal looks."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from claudekeeper.net.attempt_limit import MAX_ATTEMPTS
from claudekeeper.server.app import endpoints
from tests.server.conftest import HOOK_TOKEN, TOKEN, Api, error_code, get_json
from tests.support.transcript_writer import SESSION_ID

PATHS = [
    (endpoint.method, endpoint.path.replace("{id}", SESSION_ID).replace("{agent_id}", "a1"))
    for endpoint in endpoints()
    if not endpoint.is_public
]
FOR_HOOKS = [
    (endpoint.method, endpoint.path) for endpoint in endpoints() if endpoint.allows_hook_token
]
PROGRAM = re.compile("cli|program|binary|executable|command|shell|env|hook|mcp", re.IGNORECASE)
NO_TOKEN: dict[str, Any] = {"headers": {"Authorization": ""}}


@pytest.mark.parametrize(("method", "path"), [*PATHS, ("POST", "/nowhere"), ("PUT", "/sessions")])
async def test_without_the_token_nothing_is_answered(keeper: Api, method: str, path: str) -> None:
    for header in ("", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", TOKEN):
        code = await error_code(keeper, method, path, 401, headers={"Authorization": header})
        assert code == "unauthorized", header


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


async def test_an_unknown_address_and_method_answer_in_json(keeper: Api) -> None:
    assert await error_code(keeper, "GET", "/nowhere", 404) == "not_found"
    assert await error_code(keeper, "DELETE", "/sessions", 405) == "method_not_allowed"


async def test_the_token_for_hooks_opens_nothing_else(keeper: Api) -> None:
    headers = {"Authorization": f"Bearer {HOOK_TOKEN}"}
    others = [each for each in PATHS if each not in FOR_HOOKS]
    assert len(others) > len(FOR_HOOKS)
    for method, path in [*others, ("GET", "/nowhere")]:
        code = await error_code(keeper, method, path, 403, headers=headers)
        assert code == "scope_too_narrow", path


@pytest.mark.parametrize(("method", "path"), FOR_HOOKS)
async def test_it_opens_what_is_made_for_hooks(keeper: Api, method: str, path: str) -> None:
    headers = {"Authorization": f"Bearer {HOOK_TOKEN}"}
    # let in, and then told that this is no question
    assert await error_code(keeper, method, path, 400, headers=headers, json=7) == "invalid_request"


async def test_wrong_tokens_use_up_one_budget_and_disturb_nobody(keeper: Api) -> None:
    wrong = {"Authorization": "Bearer wrong"}
    statuses = [(await keeper.get("/sessions", headers=wrong)).status for _ in range(MAX_ATTEMPTS)]
    assert set(statuses) == {401}
    for method, path in [("GET", "/sessions"), ("POST", "/nowhere")]:
        async with keeper.request(method, path, headers=wrong) as response:
            assert response.status == 429
            assert int(response.headers["Retry-After"]) >= 1
            assert (await response.json())["error"]["code"] == "too_many_attempts"
    assert (await keeper.get("/sessions")).status == 200
    assert (await keeper.get("/sessions", headers={"Authorization": ""})).status == 401
    assert (await keeper.get("/health", headers=wrong)).status == 200


def names_in(schema: Any) -> set[str]:
    """Every property that a schema has, at any depth."""
    if isinstance(schema, list):
        return set().union(*(names_in(each) for each in schema))
    if not isinstance(schema, dict):
        return set()
    names = set(schema.get("properties", {}))
    return names.union(*(names_in(each) for each in schema.values()))


async def test_no_address_takes_the_name_of_a_program(keeper: Api) -> None:
    document = await get_json(keeper, "/openapi.json")
    taken = {
        reference.rsplit("/", 1)[1]
        for operations in document["paths"].values()
        for operation in operations.values()
        if "requestBody" in operation
        for reference in re.findall(
            r"#/components/schemas/\w+", json.dumps(operation["requestBody"])
        )
    }
    assert taken
    for name in taken:
        schema = document["components"]["schemas"][name]
        assert schema["additionalProperties"] is False
        assert not {field for field in names_in(schema) if PROGRAM.search(field)}
