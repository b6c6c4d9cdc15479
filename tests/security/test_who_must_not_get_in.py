"""Who must not get in: threats 1 to 11, 13 and 15, from outside, on both servers.

12 and 14 need a browser: `tests/e2e/page/test_hostile_transcripts.py`.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from claudekeeper.demo.home import DemoHome
from tests.security.conftest import ALLOWED_HOST
from tests.security.raw_requests import (
    UPGRADE,
    connect,
    exchange,
    parse_answer,
    receive,
    send_request,
    upgrade_status,
)
from tests.support.keeper_process import COMMAND, DEAD_URL, KeeperProcess
from tests.support.transcript_writer import SESSION_ID

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"]
JSON = {"Content-Type": "application/json"}


def addresses(keeper: KeeperProcess) -> list[tuple[str, str]]:
    """Every method and address of /openapi.json, with ids filled in."""
    document = send_request(keeper.url, "GET", "/openapi.json", keeper.auth_headers).json
    return [
        (method.upper(), re.sub(r"{\w+}", SESSION_ID, path))
        for path, operations in document["paths"].items()
        for method in operations
    ]


# ---- 1 ----


def listening(pid: int) -> set[str]:
    """The local addresses that a process listens on, as the system has them."""
    inodes = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = str(link.readlink())
        except OSError:
            continue
        if match := re.fullmatch(r"socket:\[(\d+)\]", target):
            inodes.add(match[1])
    found_addresses = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                found_addresses.add(fields[1].split(":")[0])
    return found_addresses


def test_1_it_listens_on_loopback_only(keeper: KeeperProcess) -> None:
    assert listening(keeper.pid) == {"0100007F"}


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0", "::ffff:0.0.0.0"])
def test_1_a_wildcard_in_any_spelling_needs_a_flag(host: str) -> None:
    with DemoHome() as home:
        refused = subprocess.run(
            [*COMMAND, "serve", "--host", host, "--port", "0", "--ui-port", "0"],
            env={**os.environ, **home.environment(DEAD_URL)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert refused.returncode == 2
    assert "--allow-remote" in refused.stderr


# ---- 2 ----


def test_2_without_the_token_nothing_is_done(keeper: KeeperProcess, home: DemoHome) -> None:
    before = {path: path.read_bytes() for path in home.keeper.iterdir()}
    described = [(method, path) for method, path in addresses(keeper) if path != "/health"]
    for method, path in [*described, *((method, "/sessions") for method in METHODS)]:
        answer = send_request(keeper.url, method, path, JSON, b'{"name": "stolen"}')
        assert answer.status == 401, (method, path)
    assert upgrade_status(keeper.url, "/ws", {}) == 401
    assert before == {path: path.read_bytes() for path in home.keeper.iterdir()}


def test_2_without_a_cookie_neither_does_clarvis(keeper: KeeperProcess) -> None:
    page = str(keeper.page_url)
    for method, path in addresses(keeper):
        assert send_request(page, method, f"/api{path}", JSON, b"{}").status == 401, (method, path)
    assert upgrade_status(page, "/api/ws", {}) == 401
    # the token of the keeper is no cookie
    assert send_request(page, "GET", "/api/sessions", keeper.auth_headers).status == 401


# ---- 3 ----


def foreign(url: str) -> list[str]:
    where = urlsplit(url)
    return [
        "http://evil.test",
        "null",
        "http://localhost.evil.test",
        f"http://{where.hostname}:{(where.port or 0) + 1}",
        f"https://{where.netloc}",
        f"http://{where.netloc}.evil.test",
        f"http://user@{where.netloc}",
        "file://",
        "",
    ]


@pytest.mark.parametrize("method", METHODS)
def test_3_a_foreign_origin_is_refused_with_the_token(keeper: KeeperProcess, method: str) -> None:
    for origin in foreign(keeper.url):
        answer = send_request(
            keeper.url, method, "/sessions", {**keeper.auth_headers, "Origin": origin}
        )
        assert answer.status == 403, origin
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_3_and_on_the_upgrade(keeper: KeeperProcess, cookie: str) -> None:
    entry = {"Cookie": cookie}
    page = str(keeper.page_url)
    for origin in foreign(keeper.url):
        assert (
            upgrade_status(keeper.url, "/ws", {**keeper.auth_headers, "Origin": origin}) == 403
        ), origin
    for origin in foreign(page):
        assert upgrade_status(page, "/api/ws", {**entry, "Origin": origin}) == 403, origin
    assert upgrade_status(keeper.url, "/ws", {**keeper.auth_headers, "Origin": keeper.url}) == 101
    assert upgrade_status(page, "/api/ws", {**entry, "Origin": page}) == 101


def test_3_and_by_clarvis(keeper: KeeperProcess, cookie: str) -> None:
    entry = {"Cookie": cookie}
    for origin in foreign(str(keeper.page_url)):
        for path in ("/", "/login", "/api/sessions"):
            answer = send_request(str(keeper.page_url), "GET", path, {**entry, "Origin": origin})
            assert answer.status == 403, (origin, path)


# ---- 4 ----


@pytest.mark.parametrize(
    "host",
    ["evil.test", "localhost.evil.test", "0.0.0.0", "evil.test:80", "localhost@evil.test", "[::]"],
)
def test_4_a_foreign_host_is_refused(keeper: KeeperProcess, cookie: str, host: str) -> None:
    for url, path, entry in [
        (keeper.url, "/sessions", keeper.auth_headers),
        (keeper.url, "/health", {}),
        (str(keeper.page_url), "/api/sessions", {"Cookie": cookie}),
        (str(keeper.page_url), "/", {}),
    ]:
        for more in [{}, {"Origin": f"http://{host}"}, {"X-Forwarded-Host": "localhost"}]:
            assert send_request(url, "GET", path, {**entry, **more, "Host": host}).status == 403
    assert upgrade_status(keeper.url, "/ws", {**keeper.auth_headers, "Host": host}) == 403


@pytest.mark.parametrize(
    "target",
    ["http://evil.test{}", "https://evil.test:1{}", "http://user@localhost{}", "http://[::]{}"],
)
def test_4_a_foreign_name_in_the_first_line_is_refused_too(
    keeper: KeeperProcess, cookie: str, target: str
) -> None:
    """What such a line names goes before Host."""
    page = str(keeper.page_url)
    assert send_request(keeper.url, "GET", target.format("/health")).status == 403
    assert (
        send_request(keeper.url, "GET", target.format("/sessions"), keeper.auth_headers).status
        == 403
    )
    assert (
        send_request(page, "GET", target.format("/api/sessions"), {"Cookie": cookie}).status == 403
    )
    own = f"http://{urlsplit(keeper.url).netloc}/sessions"
    assert send_request(keeper.url, "GET", own, keeper.auth_headers).status == 200


@pytest.mark.parametrize(
    "host", ["localhost.", "127.1", "2130706433", "localhost,evil.test", "user@localhost", "::1"]
)
def test_4_odd_spellings_are_no_names_of_ours(keeper: KeeperProcess, host: str) -> None:
    for url in (keeper.url, str(keeper.page_url)):
        assert (
            send_request(url, "GET", "/health", {**keeper.auth_headers, "Host": host}).status == 403
        )


def test_4_a_configured_name_is_served(keeper: KeeperProcess) -> None:
    named = {**keeper.auth_headers, "Host": ALLOWED_HOST, "Origin": f"https://{ALLOWED_HOST}"}
    assert send_request(keeper.url, "GET", "/sessions", named).status == 200
    assert (
        send_request(str(keeper.page_url), "GET", "/", {"Host": f"{ALLOWED_HOST}:443"}).status
        == 200
    )


# ---- 5 ----


@pytest.mark.parametrize(
    "type_header",
    [
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "multipart/form-data; boundary=b"},
        {},
    ],
)
def test_5_a_form_of_another_site_changes_nothing(
    keeper: KeeperProcess, cookie: str, type_header: dict[str, str]
) -> None:
    headers = {"Cookie": cookie, **type_header}
    body = json.dumps({"name": "stolen"}).encode()
    for method, path in [("PATCH", f"/api/sessions/{SESSION_ID}"), ("POST", "/api/send")]:
        answer = send_request(str(keeper.page_url), method, path, headers, body)
        assert answer.status in {403, 415}
    session = send_request(keeper.url, "GET", f"/sessions/{SESSION_ID}", keeper.auth_headers).json[
        "session"
    ]
    assert session["name"] is None


def test_5_get_never_changes_anything(keeper: KeeperProcess, home: DemoHome) -> None:
    def state() -> dict[str, Any]:
        own = home.keeper.glob("*.json")
        transcripts = home.config.glob("projects/*/*")
        return {str(path): path.read_bytes() for path in [*own, *transcripts]}

    before = state()
    # /commands asks a CLI, which keeps files of its own
    reading = [path for method, path in addresses(keeper) if method == "GET"]
    for path in [path for path in reading if "commands" not in path]:
        send_request(keeper.url, "GET", path, keeper.auth_headers)
    assert state() == before


# ---- 6 and 8: in test_secrets.py, with keepers of their own ----


# ---- 7 ----


def test_7_files_are_for_us_alone_whatever_the_umask(keeper: KeeperProcess, home: DemoHome) -> None:
    send_request(
        keeper.url,
        "PATCH",
        f"/sessions/{SESSION_ID}",
        {**keeper.auth_headers, **JSON},
        b'{"name": "n"}',
    )
    send_request(
        keeper.url,
        "PATCH",
        f"/sessions/{SESSION_ID}",
        {**keeper.auth_headers, **JSON},
        b'{"name": null}',
    )
    send_request(keeper.url, "POST", "/archive", {**keeper.auth_headers, **JSON}, b'{"on": true}')
    folders = (home.keeper, home.root / ".cache")
    files = [path for folder in folders for path in [folder, *folder.rglob("*")]]
    send_request(keeper.url, "POST", "/archive", {**keeper.auth_headers, **JSON}, b'{"on": false}')
    assert {"config.json", "state.json", "keeper.lock", "kept"} <= {path.name for path in files}
    assert any(path.suffix == ".db" for path in files)
    # an archived transcript is the very file that Claude Code wrote, with the mode it has
    for path in [path for path in files if path.exists() and path.suffix != ".jsonl"]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_7_the_token_is_in_no_log_url_argv_or_page(keeper: KeeperProcess) -> None:
    send_request(keeper.url, "GET", "/sessions", keeper.auth_headers)
    send_request(keeper.url, "GET", f"/nowhere?token={keeper.token}", keeper.auth_headers)
    send_request(keeper.url, "GET", "/sessions", {"Authorization": f"Bearer {keeper.token}x"})
    assert keeper.token not in keeper.log
    assert keeper.token not in "".join(keeper.output)
    assert keeper.token.encode() not in Path(f"/proc/{keeper.pid}/cmdline").read_bytes()
    page = send_request(str(keeper.page_url), "GET", "/")
    assert keeper.token.encode() not in page.body
    # it is not taken from there either
    assert send_request(keeper.url, "GET", f"/sessions?token={keeper.token}").status == 401


@pytest.mark.parametrize("spelled", ["Bearer {}\0", "Bearer {}\x7f\x01", "Bearer {}\r\n bare"])
def test_7_a_misspelled_request_is_not_quoted_in_the_log(
    keeper: KeeperProcess, spelled: str
) -> None:
    headers = {"Authorization": spelled.format(keeper.token)}
    for url in (keeper.url, str(keeper.page_url)):
        assert send_request(url, "GET", "/sessions", headers).status == 400
    assert "refused what is no HTTP" in keeper.log
    assert keeper.token not in keeper.log
    assert "Traceback" not in keeper.log


def test_7_nor_where_a_caller_puts_it_elsewhere(keeper: KeeperProcess, cookie: str) -> None:
    token = keeper.token
    for path in (f"/sessions;token={token}", f"/sessions/{token}", f"/{token}/health"):
        send_request(keeper.url, "GET", path)
        send_request(keeper.url, "GET", path, keeper.auth_headers)
    named = {"X-Request-Id": token, "Sec-WebSocket-Protocol": f"bearer.{token}"}
    assert upgrade_status(keeper.url, "/ws", {**keeper.auth_headers, **named}) == 101
    assert upgrade_status(str(keeper.page_url), "/api/ws", {"Cookie": cookie, **named}) == 101
    assert (
        send_request(keeper.url, "GET", "/nowhere", {**keeper.auth_headers, **named}).status == 404
    )
    assert "GET /sessions/… 404" in keeper.log
    assert token not in keeper.log


# ---- 9 ----


@pytest.mark.parametrize("file", ["passwd", "nothing"])
@pytest.mark.parametrize(
    "path",
    [
        "/sessions/../config.json",
        "/sessions/%2e%2e%2f{}",
        "/sessions/%252e%252e%252f{}",
        "/sessions/..%2f..%2f{}",
        "/sessions/%00{}",
        "/sessions/{}%00",
        "/sessions/%2fetc%2f{}",
        "/sessions//etc/{}",
        "/sessions/{}.jsonl",
        "/sessions/" + SESSION_ID + "/subagents/..%2f{}",
        "/sessions/" + SESSION_ID + "/subagents/%2e%2e",
        "/{}",
        "/%2e%2e/{}",
    ],
)
def test_9_no_path_leads_out(keeper: KeeperProcess, cookie: str, path: str, file: str) -> None:
    path = path.format(file)
    answer = send_request(keeper.url, "GET", path, keeper.auth_headers)
    assert answer.status == 404
    # the same words for what is there and what is not
    assert answer.error in {"not_found", "session_not_found", "subagent_not_found"}
    entry = {"Cookie": cookie}
    assert send_request(str(keeper.page_url), "GET", f"/api{path}", entry).status == 404
    assert send_request(str(keeper.page_url), "GET", f"/assets{path}").status == 404


@contextmanager
def symlink(path: Path, target: Path) -> Iterator[None]:
    path.symlink_to(target)
    try:
        yield
    finally:
        path.unlink()


def test_9_links_out_of_the_projects_folder_are_not_followed(
    keeper: KeeperProcess, home: DemoHome
) -> None:
    linked = "5e551011-0000-4000-8000-0000000000aa"
    secret = home.root / "secret.jsonl"
    secret.write_text('{"type": "user", "message": {"content": "secret words"}}\n')
    projects = home.config / "projects"
    with (
        symlink(projects / "-linked", home.root),
        symlink(projects / "-code-shop" / f"{linked}.jsonl", secret),
    ):
        answer = send_request(keeper.url, "GET", f"/sessions/{linked}", keeper.auth_headers)
        missing = send_request(keeper.url, "GET", f"/sessions/{linked[:-1]}b", keeper.auth_headers)
        listed = send_request(keeper.url, "GET", "/sessions", keeper.auth_headers)
    assert (answer.status, answer.body) == (404, missing.body)
    assert linked.encode() not in listed.body


# ---- 10 ----


@pytest.mark.parametrize("trick", ["$(touch c)", "-x", "--help", "a\nb", "`touch c`", "; touch c"])
def test_10_what_looks_like_a_command_is_refused(
    keeper: KeeperProcess, home: DemoHome, trick: str
) -> None:
    headers = {**keeper.auth_headers, **JSON}
    work = str(home.project("scratch"))
    for body in [
        {"sessionId": trick, "text": "hi"},
        {"workdir": trick, "text": "hi"},
        {"workdir": work, "text": "hi", "model": trick},
        {"workdir": work, "text": "hi", "permissionMode": trick},
        {"workdir": work, "text": "hi", "uuid": trick},
    ]:
        answer = send_request(keeper.url, "POST", "/send", headers, json.dumps(body).encode())
        assert answer.status == 400, body
    assert not list(home.root.rglob("c"))
    assert keeper.descendants() == []


def test_10_names_have_no_control_characters(keeper: KeeperProcess) -> None:
    for name in ["a\nb", "\x1b[31m", "\x00", "", "x" * 201]:
        body = json.dumps({"name": name}).encode()
        answer = send_request(
            keeper.url, "PATCH", f"/sessions/{SESSION_ID}", {**keeper.auth_headers, **JSON}, body
        )
        assert answer.status == 400


# ---- 11: tests/server/test_auth.py looks at every body there is ----


@pytest.mark.parametrize(
    "field", ["cliPath", "command", "env", "mcpServers", "hooks", "settings", "extraArgs", "cwd"]
)
def test_11_no_setting_that_names_a_program_is_taken(
    keeper: KeeperProcess, home: DemoHome, field: str
) -> None:
    headers = {**keeper.auth_headers, **JSON}
    for method, path, body in [
        ("POST", "/send", {"workdir": str(home.root), "text": "hi", field: "/bin/evil"}),
        ("POST", f"/sessions/{SESSION_ID}/mode", {field: "/bin/evil"}),
        ("PATCH", f"/sessions/{SESSION_ID}", {"name": "n", field: "/bin/evil"}),
        ("POST", f"/sessions/{SESSION_ID}/fork", {field: "/bin/evil"}),
    ]:
        answer = send_request(keeper.url, method, path, headers, json.dumps(body).encode())
        assert answer.status == 400, path


# ---- 13 ----


def test_13_every_page_has_its_headers(keeper: KeeperProcess) -> None:
    for path in ["/", "/favicon.svg", "/nothing", "/api/sessions", "/login"]:
        headers = send_request(str(keeper.page_url), "GET", path).headers
        policy = headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
    # and the keeper itself gives nothing that a browser would show
    assert (
        send_request(keeper.url, "GET", "/sessions")
        .headers["content-type"]
        .startswith("application/json")
    )


# ---- 15 ----

HOST = "Host: localhost\r\n"
MALFORMED = [
    b"\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost:99999999999999999999\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + HOST.encode() + b"Origin: \xff\r\nConnection: close\r\n\r\n",
    b"GET /%zz%ff%00 HTTP/1.1\r\n" + HOST.encode() + b"Connection: close\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + HOST.encode() + b"X: " + b"a" * 100_000 + b"\r\n\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n" + HOST.encode() + b"\r\n",
    b"GET / HTTP/1.1\r\n" + HOST.encode() + b"X: y\r\n" * 5000 + b"\r\n",
    b"POST /send HTTP/1.1\r\n" + HOST.encode() + b"Content-Length: -1\r\n\r\n",
    b"POST /send HTTP/1.1\r\n" + HOST.encode() + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx",
    b"POST /send HTTP/1.1\r\n"
    + HOST.encode()
    + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nzz\r\n",
    b"\x00" * 10_000 + b"\r\n\r\n",
]


@pytest.mark.parametrize("number", range(len(MALFORMED)))
def test_15_malformed_requests_are_refused(keeper: KeeperProcess, number: int) -> None:
    for url in (keeper.url, str(keeper.page_url)):
        with connect(url) as connection:
            connection.sendall(MALFORMED[number])
            connection.shutdown(socket.SHUT_WR)
            reply = next(receive(connection), b"")
        assert reply == b"" or parse_answer(reply).status in range(400, 500)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"name": "\xed\xa0\x80"}',
        b'{"name": "\\ud800"}',
        b'{"name": 1e999}',
        b'{"name": "a", "name": "b"} trailing',
    ],
)
def test_15_malformed_json_is_refused(keeper: KeeperProcess, body: bytes) -> None:
    for method, path in [
        ("PATCH", f"/sessions/{SESSION_ID}"),
        ("POST", "/send"),
        ("POST", "/resolve"),
        ("POST", f"/sessions/{SESSION_ID}/fork"),
    ]:
        answer = send_request(keeper.url, method, path, {**keeper.auth_headers, **JSON}, body)
        assert answer.status == 400, (path, answer)


@pytest.mark.parametrize("packing", ["gzip", "deflate"])
def test_15_a_body_that_is_not_packed_as_it_says_is_refused(
    keeper: KeeperProcess, cookie: str, packing: str
) -> None:
    headers = {**JSON, "Content-Encoding": packing}
    page, entry = str(keeper.page_url), {"Cookie": cookie}
    for url, method, path, way_in in [
        (keeper.url, "PATCH", f"/sessions/{SESSION_ID}", keeper.auth_headers),
        (keeper.url, "POST", "/send", keeper.auth_headers),
        (page, "PATCH", f"/api/sessions/{SESSION_ID}", entry),
        (page, "POST", "/api/send", entry),
        (page, "POST", "/login", {}),
    ]:
        answer = send_request(url, method, path, {**headers, **way_in}, b'{"name": null}')
        assert answer.status == 400, path


def test_15_a_small_body_that_unpacks_to_a_large_one_is_refused(keeper: KeeperProcess) -> None:
    bomb = zlib.compress(b"a" * 100_000_000, 9)
    headers = {**JSON, "Content-Encoding": "deflate"}
    assert send_request(str(keeper.page_url), "POST", "/login", headers, bomb).status == 413


@pytest.mark.parametrize(
    "frame",
    [
        b"\x81\x05hello",  # not masked
        b"\x8f\x80\x00\x00\x00\x00",  # a kind that does not exist
        b"\xf1\x80\x00\x00\x00\x00",  # reserved bits
        b"\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00",  # longer than anything
        b"\x89\xfe\x01\x00" + b"\x00" * 260,  # a ping that is too long
        b"\x81\x82\x00\x00\x00\x00\xff\xfe",  # text that is none
        b"\x88\x81\x00\x00\x00\x00\x03",  # half a closing code
        b"\x81",
        os.urandom(512),
    ],
)
def test_15_malformed_frames_close_one_socket_only(keeper: KeeperProcess, frame: bytes) -> None:
    head = {"Host": urlsplit(keeper.url).netloc, **UPGRADE, **keeper.auth_headers}
    request = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    with connect(keeper.url) as connection:
        connection.sendall(f"GET /ws HTTP/1.1\r\n{request}\r\n".encode())
        assert b"101" in connection.recv(200)
        connection.sendall(frame)
        connection.shutdown(socket.SHUT_WR)
        list(receive(connection))


def test_15_what_is_too_large_is_refused(keeper: KeeperProcess) -> None:
    huge = str(10**12)
    headers = {**keeper.auth_headers, **JSON, "Content-Length": huge}
    answer = parse_answer(
        exchange(
            keeper.url,
            (
                f"PATCH /sessions/{SESSION_ID} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
                + "\r\n"
            ).encode()
            + b"x" * 100,
        )
    )
    assert answer.status == 413
