"""Links out of the projects folder (threat 9): nobody reads there, by whatever way one asks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from claudekeeper.core.timestamps import now_iso
from claudekeeper.demo.home import DemoHome
from tests.security.raw_requests import send_request
from tests.support.api_visitor import KeeperApi, connect_api
from tests.support.keeper_in_process import SocketListener
from tests.support.keeper_process import KeeperProcess
from tests.support.transcript_writer import TranscriptWriter, uuid_of
from tests.support.waiting import block_for, block_until, wait_until

SECRET = "shibboleth"
LINKED, FOLDER, LATER = uuid_of(14_001), uuid_of(14_002), uuid_of(14_003)


def nested(session: str, words: str) -> bytes:
    transcript = TranscriptWriter(session)
    transcript.prompt(words, isSidechain=True, timestamp=now_iso())
    transcript.reply(words, isSidechain=True, timestamp=now_iso())
    return b"\n".join(transcript.lines) + b"\n"


@pytest.fixture(scope="module")
def outside() -> Iterator[Path]:
    """What a link can lead to: a folder of subagents that is nobody's here."""
    with DemoHome() as other:
        folder = other.root / "subagents"
        folder.mkdir()
        for name in ("agent-a1", "agent-a2"):
            (folder / f"{name}.jsonl").write_bytes(nested(FOLDER, SECRET))
            (folder / f"{name}.meta.json").write_text(json.dumps({"toolUseId": "toolu_1"}))
        yield folder


@pytest.fixture(scope="module")
def home(outside: Path) -> Iterator[DemoHome]:
    with DemoHome() as home:
        for session in (LINKED, FOLDER, LATER):
            transcript = TranscriptWriter(session)
            transcript.prompt("needle")
            transcript.call("toolu_1")
            path = transcript.write(home.config / "projects")
            own = path.with_suffix("")
            if session == LINKED:
                own.symlink_to(outside.parent)
            else:
                own.mkdir()
            if session == FOLDER:
                (own / "subagents").symlink_to(outside)
            if session == LATER:
                (own / "subagents").mkdir()
                (own / "subagents" / "agent-a3.jsonl").write_bytes(nested(LATER, "needle"))
                (own / "subagents" / "agent-a4.jsonl").symlink_to(outside / "agent-a1.jsonl")
        yield home


def search(keeper: KeeperProcess, words: str) -> list[str]:
    hits = send_request(keeper.url, "GET", f"/search?q={words}", keeper.auth_headers).json["hits"]
    return [hit["sessionId"] for hit in hits]


def test_9_what_links_lead_to_is_neither_found_nor_added_up(keeper: KeeperProcess) -> None:
    # those of the sessions themselves, and the nested one that is theirs
    block_until(lambda: len(search(keeper, "needle")) >= 5)
    assert search(keeper, SECRET) == []
    used = block_for(
        lambda: send_request(keeper.url, "GET", "/usage?by=session", keeper.auth_headers).json,
        lambda used: used["complete"],
    )
    assert used["total"]["replies"] == 4
    for session in (LINKED, FOLDER, LATER):
        for path in ("", "?limit=all", "/subagents", "/subagents/a1", "/resume", "/timeline"):
            answer = send_request(
                keeper.url, "GET", f"/sessions/{session}{path}", keeper.auth_headers
            )
            assert SECRET.encode() not in answer.body, path


async def test_9_nor_is_it_told_when_the_link_comes_later(
    keeper: KeeperProcess, home: DemoHome, outside: Path
) -> None:
    (path,) = home.config.glob(f"projects/*/{LATER}.jsonl")
    below = path.with_suffix("") / "subagents"
    async with connect_api(keeper) as visitor:
        listener = await awake(visitor, path)
        for name in ("a5", "a6"):
            (below / f"agent-{name}.meta.json").write_text(json.dumps({"toolUseId": "toolu_1"}))
        (below / "agent-a5.jsonl").symlink_to(outside / "agent-a2.jsonl")
        (path.parent / f"{uuid_of(14_004)}.jsonl").symlink_to(outside / "agent-a2.jsonl")
        with (outside / "agent-a2.jsonl").open("ab") as file:
            file.write(nested(LATER, SECRET))
        (below / "agent-a6.jsonl").write_bytes(nested(LATER, "the last word"))
        await listener.wait_for(lambda event: "the last word" in json.dumps(event))
        assert SECRET not in json.dumps(listener.events)
    await wait_until(lambda: search(keeper, "last"))
    assert search(keeper, SECRET) == []


async def awake(visitor: KeeperApi, path: Path) -> SocketListener:
    """Somebody who hears of the session, which has something to say: it is followed from then."""
    listener = await visitor.listen()
    transcript = TranscriptWriter(LATER)
    uuid = transcript.prompt("it begins")
    with path.open("ab") as file:
        file.write(transcript.lines[-1] + b"\n")
    await listener.wait_for(lambda event: uuid in json.dumps(event))
    return listener
