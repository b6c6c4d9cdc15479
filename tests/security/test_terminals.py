"""Threats 16, 17 and 26 for a session that somebody runs in a terminal.

The terminal is this test: its process, and a presence file as Claude Code writes it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.demo.home import DemoHome
from tests.support.api_visitor import KeeperApi, connect_api
from tests.support.keeper_in_process import SocketListener
from tests.support.keeper_process import KeeperProcess
from tests.support.transcript_writer import TranscriptWriter
from tests.support.waiting import wait_for

THEIRS = "5e551011-0000-4000-8000-000000000026"


@pytest.fixture(scope="module")
def transcript(home: DemoHome) -> TranscriptWriter:
    transcript = TranscriptWriter(THEIRS, str(home.project("scratch")))
    transcript.prompt("in a terminal")
    transcript.reply("yes")
    transcript.write(home.config / "projects")
    return transcript


@pytest.fixture(scope="module")
def path(home: DemoHome, transcript: TranscriptWriter) -> Iterator[Path]:
    """The transcript, while its session runs."""
    started = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    presence = home.config / "sessions" / f"{os.getpid()}.json"
    presence.parent.mkdir(exist_ok=True)
    presence.write_text(
        json.dumps(
            {
                "pid": os.getpid(),
                "sessionId": THEIRS,
                "procStart": started,
                "entrypoint": "cli",
                "kind": "interactive",
                "status": "busy",
            }
        )
    )
    (path,) = home.config.glob(f"projects/*/{THEIRS}.jsonl")
    yield path
    presence.unlink()


async def follows(visitor: KeeperApi) -> SocketListener:
    """Somebody who looks at the session, and knows that it runs in a terminal."""
    listener = await visitor.listen()
    await wait_for(
        lambda: visitor.get(f"/sessions/{THEIRS}"),
        lambda page: page["session"]["origin"] == "terminal",
    )
    return listener


async def test_26_two_writers_are_kept_apart(keeper: KeeperProcess, path: Path) -> None:
    before = path.read_bytes()
    async with connect_api(keeper) as visitor:
        await follows(visitor)
        refused = await visitor.post("/send", {"sessionId": THEIRS, "text": "say: mine"}, 409)
        assert refused["error"]["code"] == "session_elsewhere"
        assert "fork" in json.dumps(refused)
        assert keeper.descendants() == []
        assert path.read_bytes() == before
        copy = await visitor.post(f"/sessions/{THEIRS}/fork", {}, 201)
        assert copy["id"] != THEIRS
        assert path.read_bytes() == before


async def test_16_half_a_line_then_the_rest_and_bad_ones_between(
    keeper: KeeperProcess, path: Path, transcript: TranscriptWriter
) -> None:
    transcript.lines.clear()
    wanted = [transcript.prompt(text) for text in ["one", "two", "three", "four"]]
    one, two, three, four = transcript.lines
    async with connect_api(keeper) as visitor:
        listener = await follows(visitor)
        with path.open("ab", buffering=0) as file:
            file.write(one[:30])
            file.write(one[30:] + b"\n")
            file.write(b"\x00\x00\n\xff\xfe{\n}{\n" + b"y" * 3_000_000 + b"\n")
            file.write(two + three + b"\n")
            file.write(four + b"\n")
        await listener.wait_until(lambda: wanted[-1] in published_uuids(listener))
        # the file came a moment ago: what it had at first may be told after we began to listen
        assert [uuid for uuid in published_uuids(listener) if uuid in wanted] == wanted


async def test_17_a_rewritten_file_is_read_anew(
    keeper: KeeperProcess, path: Path, transcript: TranscriptWriter
) -> None:
    transcript.lines.clear()
    uuid = transcript.prompt("all that is left", parent=None)
    async with connect_api(keeper) as visitor:
        listener = await follows(visitor)
        other = path.with_suffix(".tmp")
        other.write_bytes(transcript.lines[0] + b"\n")
        other.rename(path)
        await listener.wait_for(
            lambda event: event["type"] == "resync" or uuid in published_uuids(listener)
        )
        page = await visitor.get(f"/sessions/{THEIRS}")
        assert [message["uuid"] for message in page["messages"]] == [uuid]


def published_uuids(listener: SocketListener) -> list[Any]:
    return [event["message"]["uuid"] for event in listener.events_of("message/added", THEIRS)]
