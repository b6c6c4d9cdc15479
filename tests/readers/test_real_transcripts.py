"""Real transcripts, where the machine has some: CLAUDEKEEPER_CORPUS names their config folder."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from claude_agent_sdk import get_session_messages

from claudekeeper.readers.history import History
from tests.reading import everything

CORPUS = os.environ.get("CLAUDEKEEPER_CORPUS")
FILES = sorted(Path(CORPUS, "projects").glob("*/*-*-*-*-*.jsonl")) if CORPUS else []

pytestmark = pytest.mark.skipif(not FILES, reason="CLAUDEKEEPER_CORPUS names no transcripts")


def visible(path: Path) -> set[str]:
    found = set()
    for line in path.read_bytes().split(b"\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        shown = isinstance(entry, dict) and entry.get("type") in ("user", "assistant")
        if shown and not entry.get("isMeta") and not entry.get("isSidechain") and "uuid" in entry:
            found.add(entry["uuid"])
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[:8])
def test_nothing_is_lost_and_nothing_is_shown_twice(path: Path) -> None:
    shown = [message.uuid for message in everything(path, path.stem)]
    assert len(shown) == len(set(shown))
    assert visible(path) <= set(shown)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[:8])
def test_the_context_is_what_the_sdk_reads(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert CORPUS is not None
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", CORPUS)
    ours = [message.uuid for message in everything(path, path.stem, "context")]
    assert ours == [message.uuid for message in get_session_messages(path.stem)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[:8])
def test_pages_add_up_to_the_whole(path: Path) -> None:
    whole = [message.uuid for message in everything(path, path.stem)]
    history = History()
    pages: list[str] = []
    before = None
    while True:
        page = history.page(path, path.stem, limit=50, before=before)
        pages = [message.uuid for message in page.messages] + pages
        before = page.before
        if before is None:
            break
    assert pages == whole
