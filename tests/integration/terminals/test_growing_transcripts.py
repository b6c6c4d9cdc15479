"""A transcript that grows piece by piece ends in exactly the history that a fresh reading gives.

Generated ones; and real ones, where CLAUDEKEEPER_CORPUS names a config folder that has some.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import StartKeeper
from tests.support.keeper_in_process import InProcessKeeper
from tests.support.transcript_people import SessionWatcher
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder, uuid_of

CORPUS = os.environ.get("CLAUDEKEEPER_CORPUS")
FILES = sorted(Path(CORPUS, "projects").glob("*/*-*-*-*-*.jsonl")) if CORPUS else []
# how often a real one is compared while it grows
STOPS = 8


def strange_lines(seed: int) -> list[bytes]:
    """A conversation with rewinds, repeats, early children, queued prompts and torn lines."""
    chance = random.Random(seed)
    transcript = TranscriptWriter()
    spoken: list[str] = [transcript.prompt("begin")]
    for number in range(40):
        match chance.randrange(12):
            case 0:
                spoken.append(transcript.prompt(f"back {number}", parent=chance.choice(spoken)))
            case 1:
                transcript.lines.append(chance.choice(transcript.lines))
            case 2:
                parent = uuid_of(900_000 + seed * 100 + number)
                transcript.entry("progress", parent=parent)
                transcript.prompt("early", uuid=parent, parent=spoken[-1])
            case 3:
                words = f"later {number}"
                transcript.raw_entry(
                    type="queue-operation",
                    operation="enqueue",
                    content=words,
                    sessionId=SESSION_ID,
                    timestamp=f"2026-03-01T11:00:{number:02}.000Z",
                )
            case 4:
                transcript.raw_bytes(b'{"half": ')
            case 5:
                transcript.entry(
                    "system", subtype="compact_boundary", parent=None, content="Compacted"
                )
            case 6:
                transcript.call(f"t{number}")
                spoken.append(transcript.result(f"t{number}"))
            case 7:
                spoken.append(transcript.prompt(f"say {number}"))
            case _:
                spoken.append(transcript.reply(f"reply {number}"))
    return transcript.lines


@pytest.mark.parametrize("seed", range(4))
async def test_a_strange_one(start_keeper: StartKeeper, seed: int) -> None:
    lines = strange_lines(seed)
    content = b"\n".join(lines)
    path = projects_folder() / "-code-shop" / f"{SESSION_ID}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(lines[0] + b"\n")
    keeper = await start_keeper()
    watcher = await SessionWatcher.open(keeper)
    await grown(keeper, path, content, random.Random(seed))
    await sees_what_stands_there(watcher)
    assert path.stat().st_size == len(content)


@pytest.mark.skipif(not FILES, reason="CLAUDEKEEPER_CORPUS names no transcripts")
@pytest.mark.parametrize("real", FILES, ids=lambda path: path.stem[:8])
async def test_a_real_one(start_keeper: StartKeeper, real: Path) -> None:
    content = real.read_bytes()
    chance = random.Random(7)
    path = projects_folder() / real.parent.name / real.name
    path.parent.mkdir(parents=True)
    path.write_bytes(content[: content.find(b"\n") + 1])
    keeper = await start_keeper()
    watcher = await SessionWatcher.open(keeper, real.stem.lower())
    ends = sorted(chance.randrange(len(content)) for _ in range(STOPS))
    for end in [*ends, len(content)]:
        await grown(keeper, path, content[:end], chance)
        await sees_what_stands_there(watcher)
    assert path.read_bytes() == content


async def grown(keeper: InProcessKeeper, path: Path, content: bytes, chance: random.Random) -> None:
    """Written on in pieces of any size, with time to hear of each."""
    at = path.stat().st_size
    typical = max(400, (len(content) - at) // 30)
    while at < len(content):
        step = chance.choice((1, 40, typical // 4, typical, typical * 3))
        with path.open("ab", buffering=0) as file:
            file.write(content[at : at + step])
        at += step
        await keeper.get("/health")


async def sees_what_stands_there(watcher: SessionWatcher) -> None:
    page = await watcher.keeper.get(f"/sessions/{watcher.session}?limit=1000")
    expected = shape(page["messages"])
    await watcher.wait_until(lambda: shape(watcher.messages)[-1000:] == expected)


def shape(messages: list[Any]) -> list[tuple[str, Any]]:
    return [(message["uuid"], message["branch"]) for message in messages]
