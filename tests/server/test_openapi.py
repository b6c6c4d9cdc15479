"""/openapi.json is true: it names every address, and answers fit what it says."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from tests.server.conftest import Api, StartKeeper, get_json
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder


@pytest.fixture
async def busy_keeper(start_keeper: StartKeeper) -> Api:
    transcript = TranscriptWriter()
    fork = transcript.prompt("one")
    transcript.reply("two")
    transcript.prompt("three", parent=fork)
    path = transcript.write(projects_folder())
    folder = path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-a1.jsonl").write_bytes(transcript.lines[0])
    (path.parent / "5e551011-0000-4000-8000-0000000000ee.jsonl").write_bytes(b"")
    return await start_keeper()


async def test_every_route_is_described_and_every_description_is_a_route(keeper: Api) -> None:
    document = await get_json(keeper, "/openapi.json")
    described = {
        (method.upper(), path.replace("agentId", "agent_id"))
        for path, operations in document["paths"].items()
        for method in operations
    }
    assert keeper.app is not None
    served = {
        (route.method, route.resource.canonical)
        for route in keeper.app.router.routes()
        if route.resource is not None and route.method != "HEAD"
    }
    assert described == served


@pytest.mark.parametrize(
    ("path", "template"),
    [
        ("/health", "/health"),
        ("/sessions", "/sessions"),
        ("/workdirs", "/workdirs"),
        ("/archive", "/archive"),
        ("/usage?by=session", "/usage"),
        (f"/sessions/{SESSION_ID}/timeline", "/sessions/{id}/timeline"),
        ("/timeline", "/timeline"),
        (f"/sessions/{SESSION_ID}/resume", "/sessions/{id}/resume"),
        (f"/sessions/{SESSION_ID}/family", "/sessions/{id}/family"),
        (f"/sessions/{SESSION_ID}/branches", "/sessions/{id}/branches"),
        (f"/sessions/{SESSION_ID}/branch?with={SESSION_ID}", "/sessions/{id}/branch"),
        (f"/sessions/{SESSION_ID}/branch/work?with={SESSION_ID}", "/sessions/{id}/branch/work"),
        (f"/sessions/{SESSION_ID}", "/sessions/{id}"),
        (f"/sessions/{SESSION_ID}?limit=all", "/sessions/{id}"),
        (f"/sessions/{SESSION_ID}?view=context", "/sessions/{id}"),
        (f"/sessions/{SESSION_ID}/subagents", "/sessions/{id}/subagents"),
        (f"/sessions/{SESSION_ID}/subagents/a1", "/sessions/{id}/subagents/{agentId}"),
    ],
)
async def test_answers_are_what_it_says(busy_keeper: Api, path: str, template: str) -> None:
    document = await get_json(busy_keeper, "/openapi.json")
    operation = document["paths"][template]["get"]
    validate(await get_json(busy_keeper, path), operation["responses"]["200"], document)


async def test_errors_are_what_it_says(busy_keeper: Api) -> None:
    document = await get_json(busy_keeper, "/openapi.json")
    operation = document["paths"]["/sessions/{id}"]["get"]
    answer = await get_json(busy_keeper, "/sessions/nope", status=404)
    validate(answer, operation["responses"]["404"], document)
    answer = await get_json(busy_keeper, "/sessions?limit=x", status=400)
    validate(answer, operation["responses"]["400"], document)


async def test_parameters_are_named_as_they_are_sent(keeper: Api) -> None:
    document = await get_json(keeper, "/openapi.json")
    parameters = document["paths"]["/sessions/{id}"]["get"]["parameters"]
    assert [parameter["name"] for parameter in parameters] == ["id", "limit", "before", "view"]


def validate(answer: Any, response: dict[str, Any], document: dict[str, Any]) -> None:
    schema = response["content"]["application/json"]["schema"]
    whole = {**schema, "components": document["components"]}
    jsonschema.Draft202012Validator(whole).validate(answer)
