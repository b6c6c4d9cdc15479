"""The sessions that are measured are whole, and the same at every making."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest
from claude_agent_sdk import get_session_messages

from benchmarks.corpus.corpus import Corpus, CorpusUnusable, Shape, corpus
from claudekeeper.transcripts.layout import list_transcripts, project_folders
from tests.support.whole_history import read_all_messages

SMALL = Shape(sessions=20, size=2_000_000)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return corpus(tmp_path_factory.mktemp("corpus"), SMALL)


def lines_of(corpus: Corpus) -> list[bytes]:
    files = sorted(corpus.projects.rglob("*.jsonl"))
    return [line for file in files for line in file.read_bytes().splitlines()]


def fingerprint(corpus: Corpus) -> dict[str, str]:
    return {
        str(file.relative_to(corpus.home)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in corpus.projects.rglob("*.jsonl")
    }


def test_the_same_numbers_give_the_same_bytes(small: Corpus, tmp_path: Path) -> None:
    assert fingerprint(corpus(tmp_path, SMALL)) == fingerprint(small)


def test_a_corpus_that_is_there_is_used_again(small: Corpus) -> None:
    before = {file: file.stat().st_ino for file in small.transcripts()}
    again = corpus(small.home, SMALL)
    assert again == small
    assert {file: file.stat().st_ino for file in again.transcripts()} == before


def test_other_numbers_replace_it(tmp_path: Path) -> None:
    corpus(tmp_path, Shape(sessions=3, size=100_000))
    assert len(corpus(tmp_path, Shape(sessions=5, size=100_000)).transcripts()) == 5


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(CorpusUnusable):
        corpus(tmp_path, SMALL)
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_every_session_is_found(small: Corpus) -> None:
    uuids_found = [
        each for folder in project_folders(small.projects) for each in list_transcripts(folder)
    ]
    assert {each.id for each in uuids_found} == {file.stem for file in small.transcripts()}
    assert len(uuids_found) == small.sessions == 20


def test_every_line_is_json(small: Corpus) -> None:
    assert all(isinstance(json.loads(line), dict) for line in lines_of(small))


def test_lines_begin_as_claude_code_writes_them(small: Corpus) -> None:
    chained = [line for line in lines_of(small) if b'"uuid":"' in line[:4096]]
    assert all(line.startswith((b'{"parentUuid":', b'{"type":"')) for line in lines_of(small))
    assert all(line.startswith(b'{"parentUuid":') for line in chained if b'"isSidechain"' in line)


def test_no_uuid_is_given_twice(small: Corpus) -> None:
    uuids = Counter(json.loads(line).get("uuid") for line in lines_of(small))
    del uuids[None]
    assert max(uuids.values()) == 1


def test_all_kinds_of_lines_are_there(tmp_path: Path) -> None:
    larger = corpus(tmp_path, Shape(sessions=60, size=30_000_000))
    kinds = {(line["type"], line.get("subtype")) for line in map(json.loads, lines_of(larger))}
    types = {kind for kind, _ in kinds}
    assert types >= {
        *("user", "assistant", "attachment", "progress", "queue-operation", "atis-latch"),
        *("api-request", "api-request-shape", "api-request-blob", "last-prompt", "cost-state"),
        *("ai-title", "custom-title", "file-history-snapshot"),
    }
    assert ("system", "compact_boundary") in kinds


def test_the_context_view_equals_the_sdk(small: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(small.home))
    for file in small.transcripts():
        messages = read_all_messages(file, file.stem, "context")
        expected = [message.uuid for message in get_session_messages(file.stem)]
        assert [message.uuid for message in messages] == expected


def test_the_full_view_shows_every_message_once(small: Corpus) -> None:
    for file in small.transcripts():
        messages = read_all_messages(file, file.stem)
        counts = Counter(message.uuid for message in messages)
        spoken = {
            line["uuid"]
            for line in map(json.loads, file.read_bytes().splitlines())
            if line["type"] in ("user", "assistant") and not line.get("isMeta")
        }
        assert max(counts.values()) == 1
        assert spoken <= counts.keys()
