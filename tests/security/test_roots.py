"""Clarvis with allowed roots: a session outside is absent, whoever is asked for what."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from claudekeeper.demo.home import DemoHome
from tests.security.conftest import log_in
from tests.security.raw_requests import send_request
from tests.support.keeper_process import KeeperProcess
from tests.support.transcript_writer import TranscriptWriter, uuid_of

JSON = {"Content-Type": "application/json"}
# the word that stands in all that must not be seen: prompts, titles, files, directories
SECRET = "zanzibar"
INSIDE, CHILD, DOUBLE = uuid_of(13_001), uuid_of(13_002), uuid_of(13_003)
FORK, BESIDE, LINKED, ABOVE = (uuid_of(13_011 + number) for number in range(4))
OUTSIDE = (FORK, BESIDE, LINKED, ABOVE)


def begun(session: str, workdir: str, *words: str) -> TranscriptWriter:
    """A conversation, of which forks repeat the first lines under the same uuids."""
    transcript = TranscriptWriter(session, workdir)
    for number, text in enumerate(words):
        transcript.prompt(text, uuid=uuid_of(13_100 + 2 * number))
        transcript.reply(
            f"about {text}", uuid=uuid_of(13_101 + 2 * number), message_id=f"m{number}"
        )
    return transcript


@pytest.fixture(scope="module")
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        roots = home.code
        elsewhere = home.root / f"{SECRET}-project"
        elsewhere.mkdir()
        (roots / "link").symlink_to(elsewhere)
        projects = home.config / "projects"
        begun(INSIDE, str(roots), "needle one").write(projects, "-inside")
        fork = begun(FORK, str(elsewhere), "needle one", f"needle {SECRET}")
        fork.raw_entry(type="custom-title", customTitle=f"needle {SECRET} title", sessionId=FORK)
        fork.write(projects, "-outside")
        # goes on from what was said outside: these lines are its own by now
        child = begun(CHILD, str(roots), "needle one", "needle two")
        child.write(projects, "-inside")
        for session, workdir in (
            (BESIDE, f"{roots}-{SECRET}"),
            (LINKED, str(roots / "link")),
            (ABOVE, f"{roots}/../{SECRET}-project"),
        ):
            other = begun(session, workdir)
            other.prompt(f"needle {SECRET}")
            other.reply(f"needle {SECRET}", usage={"input_tokens": 99_999, "output_tokens": 5})
            other.write(projects, f"-{session}")
        yield home


@pytest.fixture(scope="module")
def keeper(home: DemoHome) -> Iterator[KeeperProcess]:
    with KeeperProcess(home, environment={"CLARVIS_ALLOWED_ROOTS": str(home.code)}) as keeper:
        # read to their ends, and in the index of words
        while (
            len(
                send_request(keeper.url, "GET", f"/search?q={SECRET}", keeper.auth_headers).json[
                    "hits"
                ]
            )
            < 7
        ):
            pass
        yield keeper


@pytest.fixture(scope="module")
def entry(keeper: KeeperProcess) -> dict[str, str]:
    return {"Cookie": log_in(keeper)}


def addresses(home: DemoHome) -> list[str]:
    """Everything that can be read, also with questions about what lies outside."""
    outside = quote(str(home.root / f"{SECRET}-project"), safe="")
    lists = ["/sessions", "/sessions?limit=1", f"/sessions?workdir={outside}", "/workdirs"]
    lists += ["/attention", "/archive", "/preferences", "/health", "/directories"]
    lists += ["/search?q=needle", f"/search?q={SECRET}", f"/search?q=needle&workdir={outside}"]
    lists += [
        "/search?q=needle&within=/",
        "/search?q=needle&limit=1",
        "/search?q=needle&order=best",
    ]
    lists += [f"/directories?path={outside}", f"/commands?workdir={outside}"]
    for by in ("day", "hour", "session", "project", "model"):
        lists += [f"/usage?by={by}", f"/usage?by={by}&within=/", f"/timeline?by={by}"]
    lists += ["/timeline", "/timeline?within=/", f"/timeline?workdir={outside}"]
    for session in (INSIDE, CHILD):
        lists += [
            f"/sessions/{session}{rest}"
            for rest in (
                "",
                "?view=full",
                "/family",
                "/branches",
                "/resume",
                "/timeline",
                "/subagents",
                f"/subagents/{FORK}",
                f"/subagents/..%2f..%2f-outside%2f{FORK}",
                *(f"/branches?of={other}" for other in OUTSIDE),
                *(f"/branch?with={other}" for other in OUTSIDE),
                *(f"/branch?with={other.upper()}" for other in OUTSIDE),
                *(f"/branch/work?with={other}" for other in OUTSIDE),
                f"/branch?tip={uuid_of(13_102)}",
                f"/branch?withTip={uuid_of(13_102)}&with={session}",
            )
        ]
    return lists


def named(answer: Any) -> list[str]:
    text = answer.body.decode()
    return [word for word in (SECRET, *OUTSIDE) if word in text.lower()]


def test_9_nothing_that_can_be_read_names_what_lies_outside(
    keeper: KeeperProcess, home: DemoHome, entry: dict[str, str]
) -> None:
    answers = {
        path: send_request(str(keeper.page_url), "GET", f"/api{path}", entry)
        for path in addresses(home)
    }
    assert {path: named(answer) for path, answer in answers.items() if named(answer)} == {}
    assert {path: answer for path, answer in answers.items() if answer.status >= 500} == {}
    # it is not for want of an answer
    assert answers[f"/sessions/{INSIDE}/family"].status == 200
    assert [hit["sessionId"] for hit in answers["/search?q=needle"].json["hits"]]


def test_9_what_is_used_and_done_outside_is_not_added_up(
    keeper: KeeperProcess, entry: dict[str, str]
) -> None:
    for path in ("/api/usage?by=session", "/api/usage?by=day", "/api/timeline"):
        assert "99999" not in send_request(str(keeper.page_url), "GET", path, entry).body.decode()


def test_9_how_many_there_are_outside_is_not_told(
    keeper: KeeperProcess, entry: dict[str, str]
) -> None:
    health = send_request(str(keeper.page_url), "GET", "/api/health", entry).json
    assert (health["status"], health["sessions"]) == ("ok", 2)
    assert health["scan"] == {"done": 2, "total": 2}
    assert health.keys() == {"status", "version", "cli", "uptime", "sessions", "watching", "scan"}
    archive = send_request(str(keeper.page_url), "GET", "/api/archive", entry).json
    assert archive.keys() == {"on", "days", "due"}


@pytest.mark.parametrize("session", [*OUTSIDE, FORK.upper(), f"{FORK}.jsonl"])
def test_9_a_session_outside_is_as_one_that_never_was(
    keeper: KeeperProcess, entry: dict[str, str], session: str
) -> None:
    never = uuid_of(13_999)
    for method, rest, body in (
        ("GET", "", None),
        ("GET", "/family", None),
        ("GET", "/branches", None),
        ("GET", "/branch", None),
        ("GET", f"/branch?with={INSIDE}", None),
        ("GET", "/branch/work", None),
        ("GET", "/resume", None),
        ("GET", "/timeline", None),
        ("GET", "/subagents", None),
        ("GET", "/commands", None),
        ("POST", "/recap", b"{}"),
        ("POST", "/fork", b"{}"),
        ("POST", "/restore", b"{}"),
        ("POST", "/continue", b"{}"),
        ("POST", "/interrupt", b"{}"),
        ("POST", "/close", b"{}"),
        ("POST", "/mode", b'{"permissionMode":"plan"}'),
        ("PATCH", "", b'{"name":"mine"}'),
        ("DELETE", f"/queue/{never}", None),
    ):
        headers = {**entry, **JSON}
        answers = [
            send_request(
                str(keeper.page_url), method, f"/api/sessions/{which}{rest}", headers, body
            )
            for which in (session, never)
        ]
        results = [(answer.status, answer.body) for answer in answers]
        assert results[0] == results[1], (method, rest)
        assert results[0][0] == 404


def test_9_nothing_is_sent_or_routed_there(
    keeper: KeeperProcess, home: DemoHome, entry: dict[str, str]
) -> None:
    outside = str(home.root / f"{SECRET}-project")
    headers = {**entry, **JSON}
    for body in (
        {"sessionId": FORK, "text": "x"},
        {"sessionId": FORK.upper(), "text": "x", "workdir": str(home.code)},
        {"sessionId": FORK, "text": "x", "fork": True},
        {"sessionId": INSIDE, "text": "x", "workdir": outside},
        {"workdir": outside, "text": "x"},
        {"workdir": str(home.code / "link"), "text": "x"},
        {"text": f"needle {SECRET}", "route": True},
    ):
        answer = send_request(
            str(keeper.page_url), "POST", "/api/send", headers, json.dumps(body).encode()
        )
        assert answer.status in (400, 403, 404), (body, answer)
    for body in ({"text": f"needle {SECRET}"}, {"text": "needle", "workdir": outside}):
        answer = send_request(
            str(keeper.page_url), "POST", "/api/route", headers, json.dumps(body).encode()
        )
        assert named(answer) == [], answer
    for path in ("/api/conversations", "/api/metrics", "/api/openapi.json", "/api/hooks/event"):
        assert send_request(str(keeper.page_url), "GET", path, entry).status in (404, 405)


def later_pages(keeper: KeeperProcess, first: str) -> Iterator[str]:
    """The addresses of all pages after the first one."""
    path = first
    while cursor := send_request(keeper.url, "GET", path, keeper.auth_headers).json["cursor"]:
        path = f"{first}&cursor={quote(cursor, safe='')}"
        yield path


def test_9_a_place_to_go_on_from_leads_nowhere_else(
    keeper: KeeperProcess, entry: dict[str, str]
) -> None:
    """A cursor of somebody who may see everything."""
    for first in ("/search?q=needle&limit=1", "/sessions?limit=1"):
        for path in later_pages(keeper, first):
            answer = send_request(str(keeper.page_url), "GET", f"/api{path}", entry)
            assert named(answer) == [], (path, answer)
