"""What reaches the keeper, what comes back, and what happens when it does not answer."""

from __future__ import annotations

import asyncio
import io
import json
import re

import aiohttp
import pytest
from yarl import URL

from clarvis_ui.api_proxy import Proxy
from clarvis_ui.request_bodies import LARGE_BODY, SMALL_BODY
from clarvis_ui.roots import Roots
from clarvis_ui.server import run_clarvis
from clarvis_ui.settings import ClarvisSettings
from claudekeeper.net.host_guard import HostGuard
from claudekeeper.server.app import endpoints
from tests.clarvis_ui.conftest import Browser, MakeBrowser, empty_body, error_code
from tests.support.fake_keeper import TOKEN, FakeKeeper, question, session
from tests.support.waiting import wait_until

FIRST = session(1)["id"]
JSON = {"Content-Type": "application/json"}


async def test_the_list_is_passed_on(browser: Browser, keeper: FakeKeeper) -> None:
    answer = await browser.get("/api/sessions?limit=1&state=idle")
    assert answer.status == 200
    page = await answer.json()
    assert [row["title"] for row in page["sessions"]] == ["Session number 2"]
    assert page["cursor"] == "1"
    assert dict(keeper.requests[-1].query) == {"limit": "1", "state": "idle"}


async def test_the_keeper_gets_the_token_and_nothing_of_the_browser(
    browser: Browser, keeper: FakeKeeper
) -> None:
    own = f"http://127.0.0.1:{browser.server.port}"
    await browser.get(
        "/api/health",
        headers={"Origin": own, "Authorization": "Bearer mine", "X-Forwarded-For": "1.2.3.4"},
    )
    headers = keeper.requests[-1].headers
    assert headers["Authorization"] == f"Bearer {TOKEN}"
    assert not {"Cookie", "Origin", "X-Forwarded-For"} & set(headers)


async def test_the_browser_gets_only_known_headers(browser: Browser) -> None:
    answer = await browser.get("/api/health")
    assert answer.headers["ETag"] == '"one"'
    assert answer.headers["Cache-Control"] == "no-store"
    assert not {"X-Internal", "Server", "Set-Cookie"} & set(answer.headers)
    assert TOKEN not in str(answer.headers) + await answer.text()


@pytest.mark.parametrize("roots", [Roots(), Roots.parse("/code")])
@pytest.mark.parametrize(("host", "packed"), [("desk.lan", "gzip"), ("localhost", None)])
async def test_answers_are_packed_for_a_long_way(
    browser_of: MakeBrowser, host: str, packed: str | None, roots: Roots
) -> None:
    browser = await browser_of(host_guard=HostGuard(allowed_hosts=["desk.lan"]), roots=roots)
    cookie = "; ".join(f"{each.key}={each.value}" for each in browser.session.cookie_jar)
    headers = {"Host": host, "Accept-Encoding": "gzip", "Cookie": cookie}
    answer = await browser.get("/api/sessions", headers=headers)
    assert answer.headers.get("Content-Encoding") == packed
    assert len((await answer.json())["sessions"]) == 2
    plain = await browser.get("/api/sessions", headers={**headers, "Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers


async def test_a_refusal_of_the_keeper_is_passed_on(browser: Browser) -> None:
    answer = await browser.get("/api/sessions?limit=many")
    assert answer.status == 400
    assert await error_code(answer) == "invalid_request"


async def test_a_rename_reaches_the_keeper(browser: Browser, keeper: FakeKeeper) -> None:
    answer = await browser.patch(f"/api/sessions/{FIRST}", json={"name": "Better"})
    assert (await answer.json())["name"] == "Better"
    assert json.loads(keeper.bodies[-1]) == {"name": "Better"}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/secret"),
        ("GET", "/openapi.json"),
        ("GET", "/sessions/../secret"),
        ("GET", "/sessions/..%2fsecret"),
        ("GET", "/sessions/%2e%2e/secret"),
        ("GET", "/sessions/%252e%252e"),
        ("GET", "/sessions/a%00b"),
        ("GET", "/sessions/-x"),
        ("GET", "/sessions/$(touch c)"),
        ("GET", f"/sessions/{FIRST}/secrets"),
        ("GET", f"/sessions/{FIRST}/subagents/../../../secret"),
        ("POST", "/conversations/item/dispatch"),
        ("POST", "/shutdown"),
        ("POST", f"/sessions/{FIRST}/delete"),
        ("DELETE", f"/sessions/{FIRST}/queue/"),
        ("GET", f"/sessions/{FIRST}/interrupt"),
        ("GET", "/send"),
    ],
)
async def test_unknown_routes_never_reach_the_keeper(
    browser: Browser, keeper: FakeKeeper, method: str, path: str
) -> None:
    url = URL(f"/api{path}", encoded=True)
    answer = await browser.request(method, url, json=empty_body(method))
    assert answer.status in {400, 404, 405}
    assert not keeper.requests


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
async def test_a_list_cannot_be_written(browser: Browser, keeper: FakeKeeper, method: str) -> None:
    answer = await browser.request(method, "/api/sessions", json={})
    assert answer.status == 405
    assert answer.headers["Allow"] == "GET,HEAD"
    assert await error_code(answer) == "method_not_allowed"
    assert not keeper.requests


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/workdirs"),
        ("GET", "/attention"),
        ("GET", "/directories?path=/code"),
        ("GET", "/commands?workdir=/code"),
        ("GET", f"/sessions/{FIRST}/commands"),
        ("GET", f"/sessions/{FIRST}/family"),
        ("GET", f"/sessions/{FIRST}/branches"),
        ("GET", f"/sessions/{FIRST}/branch?with={FIRST}&tip=t"),
        ("GET", f"/sessions/{FIRST}/branch/work?with={FIRST}"),
        ("POST", f"/sessions/{FIRST}/interrupt"),
        ("POST", f"/sessions/{FIRST}/mode"),
        ("POST", f"/sessions/{FIRST}/fork"),
        ("POST", f"/sessions/{FIRST}/close"),
        ("GET", f"/sessions/{FIRST}/settings"),
        ("GET", f"/sessions/{FIRST}/queue?state=held"),
        ("DELETE", f"/sessions/{FIRST}/queue?state=held"),
        ("DELETE", f"/sessions/{FIRST}/queue/some-uuid"),
        ("POST", f"/sessions/{FIRST}/queue/send"),
    ],
)
async def test_every_address_of_the_contract_reaches_the_keeper(
    browser: Browser, keeper: FakeKeeper, method: str, path: str
) -> None:
    keeper.folders = {"/code": ["a"]}
    answer = await browser.request(method, f"/api{path}", json=empty_body(method))
    assert answer.status == 200
    assert keeper.requests[-1].method == method
    assert keeper.requests[-1].path_qs == path


async def test_a_message_with_pictures_is_passed_on_whole(
    browser: Browser, keeper: FakeKeeper
) -> None:
    message = {"sessionId": FIRST, "uuid": "u", "content": [{"data": "x" * (LARGE_BODY - 1000)}]}
    body = io.BytesIO(json.dumps(message).encode())
    answer = await browser.post("/api/send", data=body, headers=JSON)
    assert answer.status == 202
    assert (await answer.json())["sessionId"] == FIRST
    assert json.loads(keeper.bodies[-1]) == message


async def test_a_message_too_large_is_refused(browser: Browser, keeper: FakeKeeper) -> None:
    answer = await browser.post("/api/send", data=io.BytesIO(b"x" * (LARGE_BODY + 1)), headers=JSON)
    assert answer.status == 413
    assert not keeper.bodies


async def test_an_answer_to_a_question_is_passed_on(browser: Browser, keeper: FakeKeeper) -> None:
    keeper.attention = [question(1, session(1))]
    resolve = {"attentionId": "question-1", "decision": "allow"}
    assert (await browser.post("/api/resolve", json=resolve)).status == 200
    again = await browser.post("/api/resolve", json=resolve)
    assert again.status == 409
    assert await error_code(again) == "attention_gone"


async def test_a_parameter_given_twice_is_refused(browser: Browser, keeper: FakeKeeper) -> None:
    answer = await browser.get("/api/directories?path=/code&path=/etc")
    assert answer.status == 400
    assert not keeper.requests


async def test_an_answer_streams_and_a_broken_one_is_no_whole_one(
    browser: Browser, keeper: FakeKeeper
) -> None:
    answer = await browser.get(f"/api/sessions/{FIRST}/subagents")
    assert await answer.content.readexactly(15) == b'{"subagents": ['
    keeper.abort_stream.set()
    with pytest.raises(aiohttp.ClientPayloadError):
        await answer.read()


async def test_a_tab_that_closes_before_its_answer_came_is_nothing_to_complain_of(
    keeper: FakeKeeper, caplog: pytest.LogCaptureFixture
) -> None:
    # as it is served: the server of other tests ends what nobody waits for
    settings = ClarvisSettings(keeper=keeper.url, token=lambda: keeper.token)
    jar = aiohttp.CookieJar(unsafe=True)
    async with (
        run_clarvis(settings, port=0) as clarvis,
        aiohttp.ClientSession(cookie_jar=jar) as tab,
    ):
        code = clarvis.login.codes.mint().text
        await (await tab.post(f"{clarvis.url}/login", json={"code": code})).read()
        keeper.lists_ready.clear()
        asking = asyncio.create_task(tab.get(f"{clarvis.url}/api/sessions"))
        await wait_until(lambda: any(each.path == "/sessions" for each in keeper.requests))
        asking.cancel()
        await asyncio.wait([asking])
        # its line is seen to be closed before the keeper says a word
        await (await tab.get(f"{clarvis.url}/api/health")).read()
        keeper.lists_ready.set()
        answer = await tab.get(f"{clarvis.url}/api/sessions")
        assert len((await answer.json())["sessions"]) == 2
    assert [record.getMessage() for record in caplog.records] == []


async def test_a_body_of_known_size_is_bounded(browser: Browser, keeper: FakeKeeper) -> None:
    body = io.BytesIO(b"x" * (SMALL_BODY + 1))
    answer = await browser.patch(f"/api/sessions/{FIRST}", data=body, headers=JSON)
    assert answer.status == 413
    assert not keeper.bodies


async def test_a_body_of_unknown_size_is_bounded(browser: Browser, keeper: FakeKeeper) -> None:
    async def endless() -> object:
        for _ in range(1 + SMALL_BODY // 65536):
            yield b"x" * 65536

    answer = await browser.patch(f"/api/sessions/{FIRST}", data=endless(), headers=JSON)
    assert answer.status == 413
    assert await error_code(answer) == "body_too_large"
    assert not keeper.bodies
    assert (await browser.get("/api/health")).status == 200


async def test_a_keeper_that_is_away_is_said_to_be(browser: Browser, keeper: FakeKeeper) -> None:
    await keeper.stop()
    answer = await browser.get("/api/sessions")
    assert answer.status == 502
    assert await error_code(answer) == "keeper_unreachable"
    await keeper.start()
    assert (await browser.get("/api/sessions")).status == 200


async def test_a_keeper_with_another_token_is_said_to_refuse(
    browser_of: MakeBrowser, keeper: FakeKeeper
) -> None:
    async with FakeKeeper().serve() as other:
        other.token = "of another keeper"
        browser = await browser_of(url=other.url)
        answer = await browser.get("/api/sessions")
    assert answer.status == 502
    assert await error_code(answer) == "keeper_refused"


# addresses of the keeper that the page does not call: they stay closed
CLOSED = {
    "DELETE /conversations/{}",
    "GET /conversations",
    "GET /conversations/{}",
    "GET /dispatches",
    "GET /metrics",
    "GET /openapi.json",
    "GET /ws",
    "POST /conversations/{}/dispatch",
    "POST /conversations/{}/reset",
    "POST /hooks/event",
    "POST /hooks/permission",
}


def shape_of(method: str, path: str) -> str:
    """An address without the names and the patterns of its parameters."""
    return f"{method} {re.sub(r'{.+?}(?=/|$)', '{}', path)}"


def test_every_address_of_the_keeper_is_open_or_closed_on_purpose() -> None:
    keeper = {shape_of(each.method, each.path) for each in endpoints()}
    proxy = {shape_of(route.method, route.path) for route in Proxy(None, None).routes()}
    assert keeper - proxy == CLOSED
    assert proxy <= keeper
