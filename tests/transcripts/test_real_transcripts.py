"""Real transcripts, where the machine has some: CLAUDEKEEPER_CORPUS names their config folder."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import msgspec
import pytest
from claude_agent_sdk import get_session_messages

from claudekeeper.transcripts.history import History
from tests.support.transcript_writer import SESSION_ID, projects_folder
from tests.support.whole_history import read_all_messages, read_stream

CORPUS = os.environ.get("CLAUDEKEEPER_CORPUS")
FILES = sorted(Path(CORPUS, "projects").glob("*/*-*-*-*-*.jsonl")) if CORPUS else []

pytestmark = pytest.mark.skipif(not FILES, reason="CLAUDEKEEPER_CORPUS names no transcripts")


def visible(path: Path) -> set[str]:
    uuids = set()
    for line in path.read_bytes().split(b"\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        is_shown = isinstance(entry, dict) and entry.get("type") in ("user", "assistant")
        if (
            is_shown
            and not entry.get("isMeta")
            and not entry.get("isSidechain")
            and "uuid" in entry
        ):
            uuids.add(entry["uuid"])
    return uuids


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[:8])
def test_nothing_is_lost_and_nothing_is_shown_twice(path: Path) -> None:
    uuids = [message.uuid for message in read_all_messages(path, path.stem)]
    assert len(uuids) == len(set(uuids))
    assert visible(path) <= set(uuids)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[:8])
def test_the_context_is_what_the_sdk_reads(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert CORPUS is not None
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", CORPUS)
    ours = [message.uuid for message in read_all_messages(path, path.stem, "context")]
    assert ours == [message.uuid for message in get_session_messages(path.stem)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[:8])
def test_pages_add_up_to_the_whole(path: Path) -> None:
    whole = [bytes(message) for message in read_stream(path, path.stem)[0]]
    assert pages_of(path, path.stem, 50) == whole


def pages_of(path: Path, session_id: str, limit: int) -> list[bytes]:
    history = History()
    pages: list[bytes] = []
    before = None
    while True:
        page = history.page(path, session_id, limit=limit, before=before)
        pages = [msgspec.json.encode(message) for message in page.messages] + pages
        before = page.before
        if before is None:
            return pages


def damaged(lines: list[bytes], dice: random.Random) -> list[bytes]:
    """A piece of a transcript with lines lost, repeated, in another order, or hung elsewhere."""
    start = dice.randrange(len(lines))
    lines = lines[start : start + dice.choice([5, 20, 60, 200])]
    for _ in range(dice.randint(1, 6)):
        one, other = dice.randrange(len(lines)), dice.randrange(len(lines))
        match dice.randrange(5):
            case 0 if len(lines) > 4:
                del lines[one : one + dice.randint(1, 3)]
            case 1:
                lines[one:one] = lines[other : other + dice.randint(1, 6)]
            case 2:
                lines[one], lines[other] = lines[other], lines[one]
            case 3:
                lines[one] = rehung(lines[one], lines[other], "parentUuid")
            case 4:
                lines[one] = rehung(lines[one], lines[other], "uuid")
    return lines


def rehung(line: bytes, other: bytes, key: str) -> bytes:
    try:
        entry, named = json.loads(line), json.loads(other)
        return json.dumps({**entry, key: named["uuid"]}).encode() if "uuid" in entry else line
    except (ValueError, KeyError, TypeError):
        return line


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[:8])
def test_damage_loses_nothing_and_adds_nothing(path: Path) -> None:
    dice = random.Random(path.stem)
    lines = [line for line in path.read_bytes().split(b"\n") if line]
    copy = projects_folder() / "-w" / f"{SESSION_ID}.jsonl"
    copy.parent.mkdir(parents=True)
    for _ in range(int(os.environ.get("PROPERTY_EXAMPLES", "5"))):
        copy.write_bytes(b"\n".join(damaged(lines, dice)))
        sent, _ = read_stream(copy, SESSION_ID)
        uuids = [msgspec.json.decode(message)["uuid"] for message in sent]
        assert len(uuids) == len(set(uuids))
        assert visible(copy) <= set(uuids)
        assert [m.uuid for m in read_all_messages(copy, SESSION_ID, "context")] == [
            message.uuid for message in get_session_messages(SESSION_ID)
        ]
        assert pages_of(copy, SESSION_ID, dice.randint(1, 40)) == [bytes(each) for each in sent]
