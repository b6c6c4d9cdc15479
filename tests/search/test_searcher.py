"""Search finds every message that a plain scan finds, whatever happened to the index or files."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from claudekeeper.search import indexer
from claudekeeper.search.index_worker import update_index
from claudekeeper.search.query import parse
from claudekeeper.search.searcher import Searcher, SearchFilters, SearchRow
from claudekeeper.search.store import open_index, open_read_only
from claudekeeper.transcripts.history import History
from claudekeeper.transcripts.layout import TranscriptPath
from tests.support.grep_scan import MessageIds, grep, read_messages
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder, uuid_of

CORPUS = os.environ.get("CLAUDEKEEPER_CORPUS")
_VERBS = ("parse", "drop", "merge", "rename", "index", "flush", "render", "resize")
_NOUNS = ("ledger", "token", "Größe", "session_key", "src/auth_test.py", "配列の要素", "naïve")


@pytest.fixture
def index(isolated: Path) -> Path:
    return isolated / "words.db"


def find_hits(
    index: Path, text: str, filters: SearchFilters | None = None, limit: int = 50
) -> list[SearchRow]:
    """Every hit, page by page."""
    hits: list[SearchRow] = []
    cursor = None
    with contextlib.closing(open_read_only(index)) as database:
        while True:
            finder = Searcher(database, parse(text), filters or SearchFilters(), History())
            page = finder.find_newest(limit, cursor)
            hits += page.hits
            cursor = page.cursor
            if cursor is None:
                return hits


def names(hits: list[SearchRow]) -> MessageIds:
    assert len({(hit.session_id, hit.uuid) for hit in hits}) == len(hits)
    return {(hit.session_id, hit.uuid) for hit in hits}


def write_sessions(random: Random, number: int, lines: int) -> None:
    for session in range(number):
        transcript = TranscriptWriter(uuid_of(session + 1), f"/code/{session % 3}")
        for turn in range(lines):
            words = f"{random.choice(_VERBS)} {random.choice(_NOUNS)} {random.randrange(50)}"
            match random.randrange(4):
                case 0:
                    transcript.prompt(f"Please {words}, thanks")
                case 1:
                    transcript.reply(f"I will {words}.", message_id=f"m{session}-{turn}")
                case 2:
                    call = {"command": f"make {words}", "more": [{"note": words}]}
                    block = {"type": "tool_use", "id": f"c{turn}", "name": "Bash", "input": call}
                    transcript.block(block, None)
                case _:
                    transcript.result(f"c{turn}", [{"type": "text", "text": f"ran {words}\nok"}])
        transcript.write(projects_folder(), f"-code-{session % 3}")


def all_found(index: Path) -> None:
    projects = projects_folder()
    for needle in (*_VERBS, "make parse ledger", "src/auth_test.py", "session_key 7", "Größe 3"):
        assert names(find_hits(index, f'"{needle}"')) == grep(projects, needle), needle
    for word in _VERBS:
        assert names(find_hits(index, word)) == grep(projects, word), word
    assert names(find_hits(index, "配列")) == grep(projects, "配列")
    assert names(find_hits(index, "naive")) == grep(projects, "naïve")


@pytest.mark.parametrize("seed", range(3))
def test_everything_that_a_plain_scan_finds_is_found(index: Path, seed: int) -> None:
    write_sessions(Random(seed), 6, 60)
    update_index(index, [projects_folder()])
    all_found(index)
    assert index.stat().st_mode & 0o777 == 0o600


def test_a_build_that_was_killed_goes_on(index: Path) -> None:
    write_sessions(Random(5), 12, 200)
    program = (
        "from claudekeeper.search import index_worker, indexer\n"
        "indexer.BATCH_CHARACTERS = 4_000\n"
        "index_worker.main()"
    )
    command = [sys.executable, "-c", program, str(index), str(projects_folder())]
    for batches in (1, 3):
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(batches):
                assert process.stdout.readline()
            process.kill()
    assert names(find_hits(index, "make")) < grep(projects_folder(), "make")
    update_index(index, [projects_folder()])
    all_found(index)


def test_the_building_process_ends_with_its_stdin(index: Path) -> None:
    write_sessions(Random(5), 12, 200)
    program = (
        "from claudekeeper.search import index_worker\n"
        "import threading\n"
        # a build that never ends
        "index_worker.update_index = lambda index, roots: threading.Event().wait()\n"
        "index_worker.main()"
    )
    command = [sys.executable, "-c", program, str(index), str(projects_folder())]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0


def test_files_that_grow_while_they_are_read(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexer, "BATCH_CHARACTERS", 2_000)
    transcript = TranscriptWriter()
    for number in range(100):
        transcript.prompt(f"heron number{number} of the pond")
    path = transcript.write(projects_folder())
    with contextlib.closing(open_index(index)) as database:
        work = indexer.index_transcripts(database, [TranscriptPath(str(path), SESSION_ID)])
        next(work)
        # a whole line, and the first half of another
        transcript.lines.clear()
        transcript.prompt("heron number100 of the pond")
        transcript.prompt("heron number101 of the pond")
        first, second = transcript.lines
        with path.open("ab") as file:
            file.write(first + b"\n" + second[:40])
        list(work)
        assert len(find_hits(index, "heron")) == 101
        with path.open("ab") as file:
            file.write(second[40:])
        list(indexer.index_transcripts(database, [TranscriptPath(str(path), SESSION_ID)]))
    assert names(find_hits(index, "heron")) == grep(projects_folder(), "heron")


def test_a_last_line_without_a_newline_is_there_once(index: Path) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("the first heron")
    path = transcript.write(projects_folder(), final_newline=False)
    update_index(index, [projects_folder()])
    assert len(find_hits(index, "heron")) == 1
    transcript.prompt("the second heron")
    path.write_bytes(b"\n".join(transcript.lines))
    update_index(index, [projects_folder()])
    assert len(find_hits(index, "heron")) == 2


def test_a_file_that_was_rewritten(index: Path) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("an old heron")
    transcript.prompt("a lasting heron")
    path = transcript.write(projects_folder())
    update_index(index, [projects_folder()])
    del transcript.lines[0]
    transcript.prompt("a new egret, longer than what was there before")
    transcript.write(projects_folder())
    update_index(index, [projects_folder()])
    assert [hit.snippet[0].text for hit in find_hits(index, "heron")] == ["a lasting "]
    assert len(find_hits(index, "egret")) == 1
    path.unlink()
    update_index(index, [projects_folder()])
    assert find_hits(index, "heron") == []


def test_of_two_writers_one_counts(index: Path) -> None:
    write_sessions(Random(9), 4, 40)
    command = [
        *(sys.executable, "-m", "claudekeeper.search.index_worker"),
        *(str(index), str(projects_folder())),
    ]
    both = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(2)]
    for process in both:
        assert process.wait(120) == 0
        assert process.stdin is not None
        process.stdin.close()
    all_found(index)


def test_two_homes_have_two_indexes(isolated: Path) -> None:
    TranscriptWriter().prompt("nobody")
    one, other = isolated / "one", isolated / "other"
    for root, word in ((one, "heron"), (other, "egret")):
        transcript = TranscriptWriter()
        transcript.prompt(word)
        transcript.write(root)
        update_index(isolated / f"{word}.db", [root])
    assert len(find_hits(isolated / "heron.db", "heron")) == 1
    assert find_hits(isolated / "heron.db", "egret") == []


def test_messages_of_one_moment_all_have_a_place(index: Path) -> None:
    for session in range(3):
        transcript = TranscriptWriter(uuid_of(session + 1))
        for number in range(90):
            transcript.prompt(f"heron {number}", timestamp="2026-03-01T10:00:00.000Z")
        transcript.write(projects_folder())
        update_index(index, [projects_folder()])
    assert names(find_hits(index, "heron", limit=7)) == grep(projects_folder(), "heron")


def test_the_newest_come_first_to_the_millisecond_and_page_by_page(index: Path) -> None:
    times: list[str] = []
    for session in range(4):
        transcript = TranscriptWriter(uuid_of(session + 1))
        for number in range(30):
            times.append(
                f"2026-03-01T10:00:0{number % 3}.{(number * 37 + session * 11) % 1000:03}Z"
            )
            transcript.prompt(f"heron {number}", timestamp=times[-1])
        transcript.write(projects_folder())
        update_index(index, [projects_folder()])
    assert [hit.timestamp for hit in find_hits(index, "heron", limit=7)] == sorted(
        times, reverse=True
    )


def test_subagents_are_found_wherever_their_words_are(index: Path) -> None:
    projects = projects_folder()
    transcript = TranscriptWriter()
    transcript.prompt("look at the pond")
    inline = transcript.prompt("a heron inline", isSidechain=True, parent=None)
    transcript.reply("the heron answers", isSidechain=True)
    path = transcript.write(projects)
    for name, folder in (
        ("agent-a1", path.with_suffix("") / "subagents"),
        ("agent-b2", path.parent),
    ):
        nested = TranscriptWriter()
        nested.prompt(f"a heron of {name}", isSidechain=True)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(nested.lines) + b"\n")
    update_index(index, [projects])
    hits = find_hits(index, "heron")
    assert sorted(hit.agent_id or "" for hit in hits) == sorted(["a1", "b2", inline, inline])
    assert {hit.session_id for hit in hits} == {SESSION_ID}


def test_filters(index: Path) -> None:
    transcript = TranscriptWriter(workdir="/code/shop")
    prompt_uuid = transcript.prompt("heron?", timestamp="2026-03-01T10:00:00.500Z")
    uuid = transcript.reply("heron!", timestamp="2026-03-01T10:00:01.500Z")
    ran = transcript.result("c1", "heron…", timestamp="2026-03-01T10:00:02.500Z")
    transcript.write(projects_folder())
    update_index(index, [projects_folder()])

    def uuids(filters: SearchFilters) -> list[str]:
        return [hit.uuid for hit in find_hits(index, "heron", filters)]

    assert uuids(SearchFilters(role="user")) == [ran, prompt_uuid]
    assert uuids(SearchFilters(kind="reply")) == [uuid]
    assert uuids(SearchFilters(workdirs=frozenset({"/code/shop"}))) == [ran, uuid, prompt_uuid]
    assert uuids(SearchFilters(workdirs=frozenset({"/code"}))) == []
    first, last = 1772359200500, 1772359202500
    assert uuids(SearchFilters(after=first + 1)) == [ran, uuid]
    assert uuids(SearchFilters(after=first, before=last)) == [uuid, prompt_uuid]


def test_a_phrase_is_found_whatever_its_words_are(index: Path) -> None:
    transcript = TranscriptWriter()
    uuid = transcript.prompt("the heron of the pond sees the reeds, the rest and the road")
    transcript.prompt("the heron of the lake sees " + " ".join(f"re{n}" for n in range(30)))
    transcript.write(projects_folder())
    update_index(index, [projects_folder()])
    for phrase in (
        "the heron of the pond",
        "heron of the pond sees the re",
        "the pond sees the r",
        "the p",
        "the rest and the roa",
        "pond sees the reeds, the",
    ):
        assert [hit.uuid for hit in find_hits(index, f'"{phrase}"')] == [uuid], phrase
    assert find_hits(index, '"the heron of the reeds"') == []


def test_a_question_about_decisions_finds_those_first(index: Path) -> None:
    transcript = TranscriptWriter()
    decided = transcript.result(
        "c1", 'User has answered your questions: "Which authentication?"="Sessions in cookies".'
    )
    plan = {
        "type": "tool_use",
        "id": "p",
        "name": "ExitPlanMode",
        "input": {"plan": "authentication"},
    }
    planned = transcript.block(plan, None)
    refused = transcript.result(
        "c2",
        "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell"
        " you how to proceed, the user said:\nno authentication in the client",
    )
    transcript.result("c3", "The user doesn't want to proceed with this tool use: authentication")
    talk = transcript.reply("authentication is a long word")
    transcript.write(projects_folder())
    update_index(index, [projects_folder()])
    hits = find_hits(index, "What did we decide about authentication?", limit=2)
    assert [hit.uuid for hit in hits[:3]] == [refused, planned, decided]
    assert [hit.decision for hit in hits] == [True, True, True, False, False]
    assert hits[3].uuid == talk
    assert find_hits(index, "authentication")[0].uuid == talk


def test_the_most_telling_come_first_if_that_is_asked_for(index: Path) -> None:
    transcript = TranscriptWriter()
    prompt_uuid = transcript.prompt("How does the heron cross the pond?")
    transcript.result("c1", "heron " + "x " * 2000 + " pond")
    transcript.write(projects_folder())
    update_index(index, [projects_folder()])
    with contextlib.closing(open_read_only(index)) as database:
        page = Searcher(database, parse("heron pond"), SearchFilters(), History()).find_best(
            1, None
        )
        assert [hit.uuid for hit in page.hits] == [prompt_uuid]
        rest = Searcher(database, parse("heron pond"), SearchFilters(), History()).find_best(
            1, page.cursor
        )
        assert len(rest.hits) == 1
        assert rest.cursor is None


def test_what_waited_in_a_queue_and_was_written_again_is_found_once(index: Path) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("begin")
    for text in ("a heron that became a prompt", "a heron that was absorbed"):
        transcript.raw_entry(
            type="queue-operation",
            operation="enqueue",
            content=text,
            sessionId=SESSION_ID,
            timestamp="2026-03-01T10:00:01.000Z",
        )
    # as Claude Code notes that the first of them is taken from the queue
    transcript.raw_entry(type="queue-operation", operation="dequeue", sessionId=SESSION_ID)
    uuid = transcript.prompt("a heron that became a prompt")
    transcript.write(projects_folder())
    update_index(index, [projects_folder()])
    hits = find_hits(index, "heron")
    assert len(hits) == 2
    assert hits[0].uuid == uuid
    assert hits[1].snippet[-1].text == " that was absorbed"


def test_an_index_of_another_version_is_begun_anew(index: Path) -> None:
    database = sqlite3.connect(index)
    database.execute("CREATE TABLE file (other TEXT)")
    database.close()
    write_sessions(Random(1), 2, 20)
    update_index(index, [projects_folder()])
    all_found(index)


def test_images_are_no_words_and_odd_lines_do_no_harm(index: Path) -> None:
    transcript = TranscriptWriter()
    picture = {"type": "base64", "media_type": "image/png", "data": "aGVyb24heron"}
    transcript.prompt([{"type": "image", "source": picture}, {"type": "text", "text": "heron"}])
    transcript.raw_bytes(
        b'{"type":"user","uuid":"x","message":{"content":[{"type":7,"text":"heron"}]}}'
    )
    transcript.raw_bytes(b'{"type":"user","uuid":"y","message":{"content":"heron \\ud83d half"}}')
    transcript.raw_bytes(b'{"type":"assistant","uuid":"z","message":{"content":[[["heron"]]]}}')
    transcript.raw_bytes(b"\x00\x00 heron")
    transcript.write(projects_folder())
    update_index(index, [projects_folder()])
    assert len(find_hits(index, "heron")) == 3
    assert find_hits(index, "aGVyb24heron") == []


@pytest.mark.skipif(not CORPUS, reason="CLAUDEKEEPER_CORPUS names no transcripts")
def test_real_transcripts_are_found_as_a_plain_scan_finds_them(index: Path) -> None:
    assert CORPUS is not None
    projects = Path(CORPUS, "projects")
    update_index(index, [projects])
    random = Random(3)
    messages = list(read_messages(projects))
    for _ in range(40):
        words = re.findall(r"[^\W_][^\s\"]*", random.choice(messages)[2]) or ["nothing"]
        start = random.randrange(len(words))
        some = " ".join(words[start : start + 3])
        needles = (words[start], some, some[1:], some[2:-1])
        # a shorter one is meant as a whole word
        for needle in [needle for needle in needles if len(needle.strip()) >= 3]:
            scanned = {(session, uuid) for session, uuid, text in messages if needle in text}
            hits = find_hits(index, f'"{needle}"', limit=200)
            assert scanned <= {(hit.session_id, hit.uuid) for hit in hits}, needle
