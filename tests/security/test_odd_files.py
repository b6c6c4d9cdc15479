"""Pipes, folders and devices where Claude Code keeps files (threats 9 and 16): nobody waits."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from claudekeeper.demo.home import DemoHome
from tests.security.raw_requests import send_request
from tests.support.keeper_process import KeeperProcess
from tests.support.transcript_writer import TranscriptWriter, uuid_of
from tests.support.waiting import block_until

PLAIN, PIPE, FOLDER = uuid_of(15_001), uuid_of(15_002), uuid_of(15_003)
PATHS = ("", "?limit=all", "/resume", "/subagents", "/subagents/a1", "/timeline", "/branches")


@pytest.fixture(scope="module")
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        transcript = TranscriptWriter(PLAIN, str(home.code))
        transcript.prompt("needle")
        transcript.reply("found")
        path = transcript.write(home.config / "projects")
        os.mkfifo(path.with_name(f"{PIPE}.jsonl"))
        path.with_name(f"{FOLDER}.jsonl").mkdir()
        os.mkfifo(path.with_name("agent-b1.jsonl"))
        below = path.with_suffix("") / "subagents"
        below.mkdir(parents=True)
        for name in ("agent-a1.jsonl", "agent-a1.meta.json"):
            os.mkfifo(below / name)
        (below / "agent-a2.jsonl").mkdir()
        presences = home.config / "sessions"
        presences.mkdir()
        os.mkfifo(presences / f"{os.getpid()}.json")
        (presences / "2.json").mkdir()
        (presences / "3.json").symlink_to("/dev/zero")
        (presences / "4.json").write_text("[" * 100_000)
        os.mkfifo(home.config / "settings.json")
        yield home


def test_16_every_address_answers(keeper: KeeperProcess) -> None:
    listed = send_request(keeper.url, "GET", "/sessions", keeper.auth_headers).json["sessions"]
    states = {row["id"]: row["state"] for row in listed}
    assert (states[PLAIN], states[PIPE]) == ("idle", "error")
    for session in (PLAIN, PIPE, FOLDER):
        for path in PATHS:
            answer = send_request(
                keeper.url, "GET", f"/sessions/{session}{path}", keeper.auth_headers
            )
            assert answer.status in (200, 404, 422), (session, path)
    for path in ("/usage?by=session", "/timeline", "/archive", "/attention", "/workdirs"):
        assert send_request(keeper.url, "GET", path, keeper.auth_headers).status == 200
    block_until(
        lambda: send_request(keeper.url, "GET", "/search?q=needle", keeper.auth_headers).json[
            "hits"
        ]
    )
    assert "Traceback" not in keeper.log
