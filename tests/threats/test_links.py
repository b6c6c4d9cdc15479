"""Links out of the projects folder (threat 9): nobody reads there, by whatever way one asks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from claudekeeper.demo.home import DemoHome
from claudekeeper.model.sessions import now
from tests.process import Keeper
from tests.talking.keeper import Ear
from tests.threats.outside import asked
from tests.visitor import Visitor, visiting
from tests.writing import Transcript, uuid_of

SECRET = "shibboleth"
LINKED, FOLDER, LATER = uuid_of(14_001), uuid_of(14_002), uuid_of(14_003)


def nested(session: str, words: str) -> bytes:
    transcript = Transcript(session)
    transcript.prompt(words, isSidechain=True, timestamp=now())
    transcript.reply(words, isSidechain=True, timestamp=now())
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
            transcript = Transcript(session)
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


def search(keeper: Keeper, words: str) -> list[str]:
    hits = asked(keeper.url, "GET", f"/search?q={words}", keeper.bearer).json["hits"]
    return [hit["sessionId"] for hit in hits]


def test_9_what_links_lead_to_is_neither_found_nor_added_up(keeper: Keeper) -> None:
    # those of the sessions themselves, and the nested one that is theirs
    while len(search(keeper, "needle")) < 5:
        pass
    assert search(keeper, SECRET) == []
    used = {"complete": False}
    while not used["complete"]:
        used = asked(keeper.url, "GET", "/usage?by=session", keeper.bearer).json
    assert used["total"]["replies"] == 4
    for session in (LINKED, FOLDER, LATER):
        for path in ("", "?limit=all", "/subagents", "/subagents/a1", "/resume", "/timeline"):
            answer = asked(keeper.url, "GET", f"/sessions/{session}{path}", keeper.bearer)
            assert SECRET.encode() not in answer.body, path


async def test_9_nor_is_it_told_when_the_link_comes_later(
    keeper: Keeper, home: DemoHome, outside: Path
) -> None:
    (path,) = home.config.glob(f"projects/*/{LATER}.jsonl")
    below = path.with_suffix("") / "subagents"
    async with visiting(keeper) as visitor:
        ear = await awake(visitor, path)
        for name in ("a5", "a6"):
            (below / f"agent-{name}.meta.json").write_text(json.dumps({"toolUseId": "toolu_1"}))
        (below / "agent-a5.jsonl").symlink_to(outside / "agent-a2.jsonl")
        (path.parent / f"{uuid_of(14_004)}.jsonl").symlink_to(outside / "agent-a2.jsonl")
        with (outside / "agent-a2.jsonl").open("ab") as file:
            file.write(nested(LATER, SECRET))
        (below / "agent-a6.jsonl").write_bytes(nested(LATER, "the last word"))
        await ear.until(lambda event: "the last word" in json.dumps(event))
        assert SECRET not in json.dumps(ear.heard)
    while not search(keeper, "last"):
        pass
    assert search(keeper, SECRET) == []


async def awake(visitor: Visitor, path: Path) -> Ear:
    """Somebody who hears of the session, which has something to say: it is followed from then."""
    ear = await visitor.listen()
    transcript = Transcript(LATER)
    said = transcript.prompt("it begins")
    with path.open("ab") as file:
        file.write(transcript.lines[-1] + b"\n")
    await ear.until(lambda event: said in json.dumps(event))
    return ear
