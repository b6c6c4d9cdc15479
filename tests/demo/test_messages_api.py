"""The scripted API over HTTP, without a CLI."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import msgspec
import pytest

from claudekeeper.demo.messages_api import ScriptedApi
from tests.demo.model_requests import prompt, raw


@pytest.fixture
async def api() -> AsyncIterator[ScriptedApi]:
    async with ScriptedApi(max_requests=3) as running:
        yield running


@pytest.fixture
async def http(api: ScriptedApi) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(api.url) as session:
        yield session


async def test_it_listens_on_loopback_only(api: ScriptedApi) -> None:
    assert api.url.startswith("http://127.0.0.1:")


async def test_a_stream_is_server_sent_events(http: aiohttp.ClientSession) -> None:
    answer = await http.post("/v1/messages?beta=true", data=raw(prompt("say: hello there")))
    assert answer.content_type == "text/event-stream"
    body = await answer.text()
    assert body.startswith("event: message_start\n")
    assert body.endswith('data: {"type":"message_stop"}\n\n')
    assert body.count("text_delta") == 2


async def test_without_a_stream_it_is_one_message(http: aiohttp.ClientSession) -> None:
    answer = await http.post("/v1/messages", data=raw(prompt("say: hello"), stream=False))
    body = await answer.json()
    assert body["content"] == [{"type": "text", "text": "hello"}]
    assert body["model"] == "claude-opus-5-5"


async def test_tokens_are_counted(http: aiohttp.ClientSession) -> None:
    body = raw(prompt("x" * 4_000))
    answer = await http.post("/v1/messages/count_tokens", data=body)
    assert await answer.json() == {"input_tokens": len(body) // 4}


@pytest.mark.parametrize("path", ["/", "/v1/models", "/api/claude_code/metrics"])
async def test_other_paths_are_not_found(http: aiohttp.ClientSession, path: str) -> None:
    answer = await http.get(path)
    assert answer.status == 404
    assert (await answer.json())["error"]["type"] == "not_found_error"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"messages": 3}', b"\xff"])
async def test_nonsense_is_refused(http: aiohttp.ClientSession, body: bytes) -> None:
    answer = await http.post("/v1/messages", data=body)
    assert answer.status == 400
    assert (await answer.json())["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, "authentication_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ],
)
async def test_errors_have_their_status(
    http: aiohttp.ClientSession, status: int, kind: str
) -> None:
    answer = await http.post("/v1/messages", data=raw(prompt(f"error: {status}")))
    assert answer.status == status
    assert (await answer.json())["error"]["type"] == kind


async def test_a_dropped_connection_breaks_the_stream(http: aiohttp.ClientSession) -> None:
    answer = await http.post("/v1/messages", data=raw(prompt("error: drop")))
    with pytest.raises(aiohttp.ClientError):
        await answer.read()


async def test_a_failure_is_over_after_so_many_times(http: aiohttp.ClientSession) -> None:
    body = raw(prompt("error: 529 twice"))
    statuses = [(await http.post("/v1/messages", data=body)).status for _ in range(3)]
    assert statuses == [529, 529, 200]


async def test_it_remembers_what_the_model_saw(
    api: ScriptedApi, http: aiohttp.ClientSession
) -> None:
    for number in range(5):
        answer = await http.post("/v1/messages", data=raw(prompt(f"say: {number}")))
        await answer.read()
    assert [seen.model_request.prompt for seen in api.requests] == ["say: 2", "say: 3", "say: 4"]
    assert msgspec.json.encode(api.requests[0].body)


async def test_a_paced_flood_is_whole(http: aiohttp.ClientSession) -> None:
    async with ScriptedApi(pace=0.0001) as paced:
        answer = await http.post(f"{paced.url}/v1/messages", data=raw(prompt("count: 50000")))
        assert (await answer.text()).count("text_delta") == 50_000


async def test_it_stops_while_a_reply_is_on_its_way(http: aiohttp.ClientSession) -> None:
    slow = ScriptedApi()
    url = await slow.start()
    answer = await http.post(f"{url}/v1/messages", data=raw(prompt("slow: 600")))
    await answer.content.readline()
    await slow.stop()
    with pytest.raises(RuntimeError):
        _ = slow.url
