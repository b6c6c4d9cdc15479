"""Every message that grep finds is found, in its session, after kills and while files grow."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from claudekeeper.search import indexer, store, trigrams
from claudekeeper.search.index_worker import update_index
from claudekeeper.search.store import open_index
from tests.search.test_searcher import find_hits, names
from tests.support.grep_scan import grep
from tests.support.transcript_writer import TranscriptWriter, projects_folder, uuid_of

NAMES = (
    *("refreshTokenCache", "HTTPServerError", "XMLHttpRequest", "utf8Decoder", "MAX_RETRY_COUNT"),
    *("foo_bar_baz", "a.b()", "--dry-run", "src/auth/test_login.py", r"C:\shops\anna\till.ts"),
    *("größerAls", "naïve", "配列の要素数", "데이터베이스", "Проверка", "İstanbul", "v2.1.325"),
    *("Настройка", "Ёлка"),
    *("mara@example.org", "#4711", "$HOME", "useEffect(() => {})", "std::vec::Vec", "<Shop/>"),
)
# as they stand there, parts of them, and what a person would type for them
NEEDLES = (
    *NAMES,
    *("Token", "tokencache", "TokenCache", "Cache", "cach", "Server", "ServerError", "HttpRequest"),
    *("Request", "Decoder", "RETRY", "retry_count", "bar", "bar_baz", "baz", "b()", "dry-run"),
    *("test_login", "auth/test_login.py", "login.py", r"anna\till", "till.ts", "größer", "要素"),
    *("데이터", "провер", "2.1", "example.org", "4711", "Effect(()", "vec::Vec", "Shop"),
    *("TokenCache then", "Request then", "bar_baz then", "them_all"),
    # from the middle of one word to the middle of another
    *("oken", "kenCac", "rverErr", "eqUEST", "oo_bar_b", "uth/test_log", "ogin.py then"),
    *("nna\\till", "ößer", "оверк", "ройка", "이터베", "stanbul", "xample.or", "ffect(() ="),
    *("ec::Ve", "ache then", "ройка then"),
)


def write_all_kinds(random: Random, session: int) -> Path:
    """A session in which every name may stand in every kind of message."""
    transcript = TranscriptWriter(uuid_of(session + 1), f"/code/{session % 3}")
    for turn in range(40):
        words = f"{random.choice(NAMES)} then {random.choice(NAMES)} and them_all {turn}"
        say_somehow(transcript, random.randrange(12), turn, words)
    path = transcript.write(projects_folder(), f"-code-{session % 3}")
    for agent, folder in enumerate(
        (path.with_suffix("") / "subagents", path.with_suffix("") / "subagents/workflows/w1")
    ):
        nested = TranscriptWriter(transcript.session_id)
        nested.prompt(f"{random.choice(NAMES)} of {random.choice(NAMES)}", isSidechain=True)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"agent-a{agent}.jsonl").write_bytes(nested.lines[0] + b"\n")
    beside = TranscriptWriter(transcript.session_id)
    beside.reply(f"beside {random.choice(NAMES)}", isSidechain=True)
    (path.parent / f"agent-b{session}.jsonl").write_bytes(beside.lines[0] + b"\n")
    return path


def say_somehow(transcript: TranscriptWriter, kind: int, turn: int, words: str) -> None:
    text = {"type": "text", "text": words}
    match kind:
        case 0:
            transcript.prompt(f"Please {words}, thanks")
        case 1:
            transcript.prompt([{"type": "text", "text": "twice"}, text])
        case 2:
            transcript.reply(f"I will {words}.")
        case 3:
            transcript.block({"type": "thinking", "thinking": words, "signature": "x"}, None)
        case 4 | 5:
            tool_input = {"command": f"make {words}", "deep": [{"note": [words, 7, None]}]}
            block = {"type": "tool_use", "id": f"c{turn}", "name": "Bash", "input": tool_input}
            transcript.block(block, None)
        case 6:
            transcript.result(f"c{turn}", f"printed {words}\nok")
        case 7:
            transcript.result(f"c{turn}", [text, {"type": "text", "text": "more"}])
        case 8:
            transcript.prompt(f"Summary: {words}", isCompactSummary=True)
        case 9:
            transcript.reply(f"API Error: {words}", isApiErrorMessage=True, model="<synthetic>")
        case 10:
            transcript.entry("system", subtype="away_summary", content=f"Meanwhile {words}")
        case _:
            queued = {"type": "queued_command", "prompt": f"also {words}"}
            transcript.entry("attachment", attachment=queued)


def appended(paths: list[Path], random: Random) -> Iterator[None]:
    """Each step a file grows: by a line, by half of one, or by its other half and one more."""
    torn: dict[Path, bytes] = {}
    number = 0
    while True:
        number += 1
        path = random.choice(paths)
        line = TranscriptWriter(path.stem)
        line.prompt(f"grown {number} {random.choice(NAMES)}", parent=None)
        more = torn.pop(path, b"") + line.lines[0] + b"\n"
        if number % 3 == 0:
            more, torn[path] = more[:-40], more[-40:]
        with path.open("ab") as file:
            file.write(more)
        yield


def as_grep_finds(index: Path) -> None:
    for needle in NEEDLES:
        expected = grep(projects_folder(), needle)
        assert expected, needle
        assert names(find_hits(index, f'"{needle}"', limit=200)) == expected, needle
        # as words: in any order, and signs before and after them do not count
        assert names(find_hits(index, needle, limit=200)) >= expected, needle


def kill_after(batches: int, index: Path, growing: Iterator[None]) -> None:
    """Begin a build and end it where so many of its batches are written."""
    program = f"""
from itertools import islice
from threading import Event
from claudekeeper.search import index_worker, indexer

def some(*all):
    yield from islice(indexer.index_transcripts(*all), {batches})
    Event().wait()

indexer.BATCH_CHARACTERS = 600
index_worker.index_transcripts = some
index_worker.main()
"""
    command = [sys.executable, "-c", program, str(index), str(projects_folder())]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(batches):
            assert process.stdout.readline()
            next(growing)
        process.kill()


@pytest.mark.parametrize("seed", range(2))
def test_all_that_grep_finds_after_kills_while_files_grow(isolated: Path, seed: int) -> None:
    random = Random(seed)
    index = isolated / "words.db"
    paths = [write_all_kinds(random, session) for session in range(8)]
    growing = appended(paths, random)
    for batches in (1, 2, 5):
        kill_after(batches, index, growing)
        next(growing)
    for _ in range(len(paths) * 3):
        next(growing)
    update_index(index, [projects_folder()])
    as_grep_finds(index)


def test_all_that_grep_finds_where_the_words_are_gathered_at_the_end(
    isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(7)
    index = isolated / "words.db"
    paths = [write_all_kinds(random, session) for session in range(8)]
    growing = appended(paths, random)
    with monkeypatch.context() as much:
        much.setattr(store, "MAX_INLINE_CHARACTERS", 0)
        update_index(index, [projects_folder()])
    as_grep_finds(index)
    for _ in range(len(paths) * 3):
        next(growing)
    update_index(index, [projects_folder()])
    as_grep_finds(index)


def test_words_that_a_killed_build_had_not_gathered_are_gathered_by_the_next(
    isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = isolated / "words.db"
    write_all_kinds(Random(1), 1)
    with closing(open_index(index)) as database:
        todo = indexer.find_backlog(database, [projects_folder()])
        with monkeypatch.context() as much:
            much.setattr(store, "MAX_INLINE_CHARACTERS", 0)
            list(indexer.index_transcripts(database, [each.transcript for each in todo.stale]))
        assert trigrams.is_stale(database)
    update_index(index, [projects_folder()])
    assert names(find_hits(index, "oken")) == grep(projects_folder(), "oken") != set()
