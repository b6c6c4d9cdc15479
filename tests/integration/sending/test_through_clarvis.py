"""Talking through Clarvis: the whole way, and only within the allowed roots."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import CookieJar
from aiohttp.test_utils import TestClient
from pytest_aiohttp import AiohttpClient

from clarvis_ui.roots import Roots
from clarvis_ui.server import LOGIN, create_app
from clarvis_ui.settings import ClarvisSettings
from tests.support.keeper_in_process import (
    TOKEN,
    InProcessKeeper,
    SocketListener,
    new_uuid,
    text_of,
)
from tests.support.waiting import read_until

Browser = TestClient[Any, Any]


@pytest.fixture
async def browser(keeper: InProcessKeeper, aiohttp_client: AiohttpClient) -> Browser:
    settings = ClarvisSettings(
        keeper=str(keeper.client.make_url("")).rstrip("/"),
        token=lambda: TOKEN,
        roots=Roots.parse(str(keeper.workdir)),
    )
    app = create_app(settings)
    browser = await aiohttp_client(app, cookie_jar=CookieJar(unsafe=True))
    code = app[LOGIN].codes.mint().text
    assert (await browser.post("/login", json={"code": code})).status == 200
    return browser


async def request_json(
    browser: Browser, method: str, path: str, body: Any = None
) -> tuple[int, Any]:
    answer = await browser.request(method, f"/api{path}", json=body)
    return answer.status, await answer.json()


async def test_a_question_inside_is_answered_and_one_outside_is_not_there(
    keeper: InProcessKeeper, browser: Browser
) -> None:
    elsewhere = keeper.home / "elsewhere"
    elsewhere.mkdir()
    listener = SocketListener(await browser.ws_connect("/api/ws", max_msg_size=0))
    await listener.wait_for_event("hello")
    await listener.send({"type": "subscribe", "sessions": ["*"]})
    everything = await keeper.listen()

    begin = {"workdir": str(elsewhere), "text": "run: touch b.txt", "uuid": new_uuid()}
    status, refused = await request_json(browser, "POST", "/send", begin)
    assert (status, refused["error"]["code"]) == (403, "outside_roots")
    outside = (await keeper.post("/send", begin, 202))["sessionId"]
    hidden = (await everything.wait_for_event("attention/raised", outside))["attention"]

    begin = {"workdir": str(keeper.workdir), "text": "run: touch a.txt", "uuid": new_uuid()}
    status, accepted = await request_json(browser, "POST", "/send", begin)
    assert status == 202
    inside = accepted["sessionId"]
    question = (await listener.wait_for_event("attention/raised", inside))["attention"]
    _, listed = await request_json(browser, "GET", "/attention")
    assert [each["id"] for each in listed["attention"]] == [question["id"]]
    _, page = await request_json(browser, "GET", "/sessions")
    assert [each["id"] for each in page["sessions"]] == [inside]

    status, _ = await request_json(
        browser, "POST", "/resolve", {"attentionId": hidden["id"], "decision": "allow"}
    )
    assert status == 404
    for path in ("", "/commands"):
        assert (await request_json(browser, "GET", f"/sessions/{outside}{path}"))[0] == 404
    for deed in ("interrupt", "close", "fork", "mode"):
        assert (await request_json(browser, "POST", f"/sessions/{outside}/{deed}", {}))[0] == 404

    answer = {"attentionId": question["id"], "decision": "allow", "by": "a browser"}
    assert (await request_json(browser, "POST", "/resolve", answer))[0] == 200
    assert (await request_json(browser, "POST", "/resolve", answer))[0] == 409
    settled = await listener.wait_for_event("attention/settled", inside)
    assert (settled["decision"], settled["by"]) == ("allow", "a browser")
    await listener.wait_for_turn_end(inside, outcome="done")
    assert (keeper.workdir / "a.txt").exists()
    assert not (elsewhere / "b.txt").exists()

    _, history = await request_json(browser, "GET", f"/sessions/{inside}")
    assert text_of(history["messages"][0]) == "run: touch a.txt"
    assert {event.get("sessionId", inside) for event in listener.events} == {inside}


async def test_what_a_new_session_offers_and_where_it_can_begin(
    keeper: InProcessKeeper, browser: Browser
) -> None:
    (keeper.workdir / "inner").mkdir()
    (keeper.workdir / "way-out").symlink_to(keeper.home)
    _, roots = await request_json(browser, "GET", "/directories")
    root = roots["directories"][0]["path"]
    _, listed = await request_json(browser, "GET", f"/directories?path={root}")
    assert [each["name"] for each in listed["directories"]] == ["inner"]
    assert listed["parent"] is None
    status, offer = await request_json(browser, "GET", f"/commands?workdir={root}")
    assert status == 200
    assert "default" in offer["modes"]
    assert offer["models"]
    assert offer["commands"]


async def test_a_transcript_that_cannot_be_read_is_listed_in_an_allowed_project(
    keeper: InProcessKeeper, browser: Browser
) -> None:
    listener = await keeper.listen()
    session = await keeper.start_session("say: hello", listener)
    folder = keeper.transcript_path(session).parent
    broken, outside = new_uuid(), new_uuid()
    (folder / f"{broken}.jsonl").write_bytes(b"\x00" * 100)
    (folder.parent / "-elsewhere").mkdir()
    (folder.parent / "-elsewhere" / f"{outside}.jsonl").write_bytes(b"\x00" * 100)

    async def listed() -> set[str]:
        _, page = await request_json(browser, "GET", "/sessions")
        return {each["id"] for each in page["sessions"]}

    answers = await read_until(listed, lambda ids: ids == {session, broken})
    assert outside not in set.union(*answers)
    status, broken_page = await request_json(browser, "GET", f"/sessions/{broken}")
    assert (status, broken_page["session"]["error"]["code"]) == (200, "transcript_unreadable")
    assert (await request_json(browser, "GET", f"/sessions/{outside}"))[0] == 404
