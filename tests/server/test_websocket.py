"""What the server sends over the WebSocket is what /openapi.json says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from aiohttp import ClientWebSocketResponse

from claudekeeper.server.app_keys import BUS
from tests.contract.contract_schema import check_frame
from tests.contract.golden_frames import ANSWERS, EVENTS, frames_of
from tests.server.conftest import Api, get_json


@pytest.fixture
async def websocket(keeper: Api) -> AsyncIterator[ClientWebSocketResponse]:
    """A connection after its hello."""
    async with keeper.ws_connect("/ws") as websocket:
        check_frame(await next_frame(websocket), "Hello")
        yield websocket


async def next_frame(websocket: ClientWebSocketResponse) -> Any:
    return msgspec.json.decode((await websocket.receive()).data)


async def test_the_description_names_the_frames(keeper: Api) -> None:
    document = await get_json(keeper, "/openapi.json")
    operation = document["paths"]["/ws"]["get"]
    assert operation["x-websocket"] == {
        "client": {"$ref": "#/components/schemas/ClientFrame"},
        "server": {"$ref": "#/components/schemas/ServerFrame"},
    }
    assert "content" not in operation["responses"]["101"]


@pytest.mark.parametrize(
    ("request_text", "schema"),
    [
        ('{"type":"ping"}', "Pong"),
        ('{"type":"subscribe","sessions":["*"]}', "Subscribed"),
        ('{"type":"subscribe","sessions":["*"],"since":"0:9"}', "ResyncAll"),
        ('{"type":"subscribe"}', "WsError"),
        ("nonsense", "WsError"),
    ],
)
async def test_answers_fit_their_schemas(
    websocket: ClientWebSocketResponse, request_text: str, schema: str
) -> None:
    await websocket.send_str(request_text)
    answer = await next_frame(websocket)
    check_frame(answer, schema)
    check_frame(answer)


async def test_every_event_that_is_published_fits_its_schema(
    keeper: Api, websocket: ClientWebSocketResponse
) -> None:
    await websocket.send_json({"type": "subscribe", "sessions": ["*"]})
    assert (await next_frame(websocket))["type"] == "subscribed"
    assert keeper.app is not None
    for event, example in zip(EVENTS, frames_of("server")[len(ANSWERS) :], strict=True):
        keeper.app[BUS].publish(event)
        frame = await next_frame(websocket)
        check_frame(frame)
        assert {**frame, "position": None} == {**example, "position": None}
