"""Foreign hosts, foreign pages and foreign forms are refused; every answer has its headers."""

from __future__ import annotations

import asyncio

import pytest

from clarvis_ui.security import SECURITY_HEADERS
from claudekeeper.net.host_guard import HostGuard
from tests.clarvis_ui.conftest import Browser, MakeBrowser, empty_body, error_code

ROUTES = [
    ("GET", "/"),
    ("GET", "/favicon.svg"),
    ("GET", "/assets/index-abc123.js"),
    ("GET", "/nothing-here"),
    ("POST", "/login"),
    ("POST", "/login/code"),
    ("POST", "/logout"),
    ("GET", "/api/health"),
    ("GET", "/api/sessions"),
    ("PATCH", "/api/sessions/00000000-0000-4000-8000-000000000001"),
    ("DELETE", "/api/sessions"),
    ("GET", "/api/nothing-here"),
    ("POST", "/api/send"),
    ("POST", "/api/resolve"),
    ("GET", "/api/ws"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    "host",
    [
        "evil.test",
        "localhost.evil.test",
        "localhost.",
        "0.0.0.0",
        "127.0.0.1.evil.test:7434",
        "127.0.0.1:7434:1",
        "user@localhost",
        "[::1",
        "localhost:port",
        " ",
        "",
    ],
)
async def test_a_foreign_host_is_refused(
    browser: Browser, method: str, path: str, host: str
) -> None:
    headers = {"Host": host, "Origin": f"http://{host}", "X-Forwarded-Host": "localhost"}
    answer = await browser.request(method, path, headers=headers)
    assert answer.status == 403
    assert await error_code(answer) == "foreign_host"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:7434", "127.0.0.1:1", "[::1]:7434"])
async def test_the_names_of_this_machine_are_answered(browser: Browser, host: str) -> None:
    assert (await browser.get("/", headers={"Host": host})).status == 200


async def test_a_configured_name_is_answered(browser_of: MakeBrowser) -> None:
    browser = await browser_of(host_guard=HostGuard(allowed_hosts=["desk.lan"]))
    headers = {"Host": "desk.lan:7434", "Origin": "http://desk.lan:7434"}
    assert (await browser.get("/", headers=headers)).status == 200


async def raw_answer(browser: Browser, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", browser.server.port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET / HTTP/1.0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.test\r\nConnection: close\r\n\r\n",
        b"GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\nConnection: close\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: \xff\r\nConnection: close\r\n\r\n",
        b"NONSENSE\r\n\r\n",
    ],
)
async def test_malformed_requests_are_refused_and_the_next_one_works(
    browser: Browser, request_bytes: bytes
) -> None:
    answer = await raw_answer(browser, request_bytes)
    assert answer.split(b" ")[1].startswith(b"4")
    assert (await browser.get("/")).status == 200


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.test",
        "null",
        "http://localhost.evil.test",
        "http://127.0.0.1:1",
        "https://{}",
        "",
    ],
)
async def test_a_foreign_origin_is_refused(
    browser: Browser, method: str, path: str, origin: str
) -> None:
    own = f"127.0.0.1:{browser.server.port}"
    answer = await browser.request(method, path, headers={"Origin": origin.format(own)})
    assert answer.status == 403
    assert await error_code(answer) == "foreign_origin"


async def test_our_own_origin_is_welcome(browser: Browser) -> None:
    own = {"Origin": f"http://127.0.0.1:{browser.server.port}"}
    assert (await browser.get("/api/health", headers=own)).status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_another_site_cannot_embed_the_api(browser: Browser, site: str) -> None:
    answer = await browser.get("/api/health", headers={"Sec-Fetch-Site": site})
    assert answer.status == 403


async def test_a_link_elsewhere_may_lead_here(browser: Browser) -> None:
    assert (await browser.get("/", headers={"Sec-Fetch-Site": "cross-site"})).status == 200


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_every_answer_has_the_security_headers(
    browser: Browser, method: str, path: str
) -> None:
    answer = await browser.request(method, path, json=empty_body(method))
    for name, value in SECURITY_HEADERS.items():
        assert answer.headers[name] == value
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert "Server" not in answer.headers
    assert not [name for name in answer.headers if name.startswith("Access-Control-")]


@pytest.mark.parametrize(("method", "path"), [route for route in ROUTES if route[0] != "GET"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "multipart/form-data; boundary=b"},
        {},
    ],
)
async def test_a_form_changes_nothing(
    browser: Browser, method: str, path: str, headers: dict[str, str]
) -> None:
    answer = await browser.request(
        method, path, data=b"{}", headers=headers, skip_auto_headers=["Content-Type"]
    )
    assert answer.status == 415
    assert await error_code(answer) == "unsupported_media_type"


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "PUT", "DELETE", "OPTIONS", "HEAD"])
@pytest.mark.parametrize(
    "path", ["", "/", "/health", "/sessions", "/nothing-here", "/../api/health"]
)
async def test_without_a_cookie_the_api_is_closed(
    stranger: Browser, method: str, path: str
) -> None:
    answer = await stranger.request(method, f"/api{path}", json=empty_body(method))
    assert answer.status == 401
