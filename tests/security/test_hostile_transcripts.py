"""Transcripts are hostile (threat 12): what they say of their directory breaks nothing here.

What they say in a browser: `tests/e2e/page/test_hostile_transcripts.py`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest

from claudekeeper.demo.home import DemoHome
from tests.security.conftest import log_in
from tests.security.raw_requests import send_request
from tests.support.keeper_process import KeeperProcess
from tests.support.transcript_writer import TranscriptWriter, uuid_of

JSON = {"Content-Type": "application/json"}
INSIDE = uuid_of(12_000)


@pytest.fixture(scope="module")
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        (home.code / "pipes" / ".git").mkdir(parents=True)
        for name in ("coverage-checklist.yml", ".git/HEAD"):
            os.mkfifo(home.code / "pipes" / name)
        (home.code / "loop").symlink_to(home.code / "loop")
        yield home


@pytest.fixture(scope="module")
def hostile(home: DemoHome) -> dict[str, str]:
    """Sessions whose transcripts lie about where they ran, by what they say."""
    odd = ["/x\0y", "", "code", "/" + "a" * 300, "/a" * 3000, "/a\nb", "$(touch c)", "/dev/zero"]
    odd += [str(home.code / name) for name in ("pipes", "loop")]
    sessions = dict(zip(odd, (uuid_of(12_001 + number) for number in range(len(odd))), strict=True))
    for workdir, session in [*sessions.items(), (str(home.code), INSIDE)]:
        transcript = TranscriptWriter(session, workdir)
        transcript.prompt("needle")
        transcript.reply("found")
        transcript.write(home.config / "projects", f"-{session}")
    return sessions


@pytest.fixture(scope="module")
def keeper(home: DemoHome, hostile: dict[str, str]) -> Iterator[KeeperProcess]:
    roots = {"CLARVIS_ALLOWED_ROOTS": str(home.code)}
    with KeeperProcess(home, environment=roots) as keeper:
        yield keeper


def test_12_every_address_answers_for_a_session_with_an_odd_directory(
    keeper: KeeperProcess, hostile: dict[str, str]
) -> None:
    for workdir, session in hostile.items():
        for path in ("", "/subagents", "/resume"):
            answer = send_request(
                keeper.url, "GET", f"/sessions/{session}{path}", keeper.auth_headers
            )
            assert answer.status == 200, (workdir, path, answer)
    missing = [workdir for workdir in hostile if not workdir.endswith("pipes")]
    for workdir in missing:
        path = f"/sessions/{hostile[workdir]}/commands"
        answer = send_request(keeper.url, "GET", path, keeper.auth_headers)
        assert (answer.status, answer.error) == (400, "workdir_missing"), (workdir, answer)


def test_12_no_odd_directory_hides_the_others_or_is_shown_within_roots(
    keeper: KeeperProcess, hostile: dict[str, str], home: DemoHome
) -> None:
    page, entry = str(keeper.page_url), {"Cookie": log_in(keeper)}
    expected = {INSIDE, hostile[str(home.code / "pipes")]}
    listed = send_request(page, "GET", "/api/sessions", entry).json["sessions"]
    assert {row["id"] for row in listed} == expected
    used = send_request(page, "GET", "/api/usage?by=session", entry).json["rows"]
    assert {row["key"] for row in used} <= expected
    hits = send_request(page, "GET", "/api/search?q=needle", entry).json["hits"]
    assert {hit["sessionId"] for hit in hits} <= expected
    body = json.dumps({"text": "needle", "workdir": str(home.code)}).encode()
    routed = send_request(page, "POST", "/api/route", {**entry, **JSON}, body).json
    assert {each["sessionId"] for each in routed["candidates"]} <= expected
