"""GET /search: over the contract, while sessions go on."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from claudekeeper.core.worker_threads import WorkerThreads
from claudekeeper.search import index_service, store
from claudekeeper.search.indexer import find_backlog, index_transcripts
from claudekeeper.search.query import parse
from claudekeeper.search.searcher import SearchFilters
from claudekeeper.search.store import open_index
from claudekeeper.server.app_keys import SEARCH
from claudekeeper.transcripts.history import History
from tests.server.conftest import Api, StartKeeper, error_code, get_json
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder, uuid_of
from tests.support.waiting import wait_for, wait_until


async def wait_for_hits(
    keeper: Api, words: str, expected: int, more: str = ""
) -> list[dict[str, Any]]:
    """The hits, as soon as there are as many as expected."""
    answer = await wait_for(
        lambda: get_json(keeper, f"/search?q={quote(words)}{more}"),
        lambda answer: len(answer["hits"]) == expected,
    )
    return list(answer["hits"])


async def built(keeper: Api) -> dict[str, Any]:
    search = keeper.server.app[SEARCH]  # type: ignore[union-attr]
    await wait_until(lambda: search.progress.stage == "ready")
    progress: dict[str, Any] = (await get_json(keeper, "/health"))["search"]
    return progress


async def test_a_hit_says_where_it_is_and_what_it_says(start_keeper: StartKeeper) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("Where does the heron live?")
    uuid = transcript.block(
        {
            "type": "tool_use",
            "id": "c1",
            "name": "Bash",
            "input": {"command": "grep -rn 'grey heron' src/birds.py"},
        },
        None,
    )
    transcript.write(projects_folder())
    keeper = await start_keeper()
    (hit,) = await wait_for_hits(keeper, '"grey heron"', 1)
    assert hit == {
        "sessionId": SESSION_ID,
        "uuid": uuid,
        "agentId": None,
        "toolUseId": None,
        "role": "assistant",
        "kind": "reply",
        "timestamp": "2026-03-01T10:00:02.000Z",
        "decision": False,
        "inside": False,
        "where": "input",
        "tool": "Bash",
        "snippet": [
            {"text": "Bash command grep -rn '", "match": False},
            {"text": "grey heron", "match": True},
            {"text": "' src/birds.py", "match": False},
        ],
        "title": "Where does the heron live?",
        "workdir": "/code/shop",
        "project": "shop",
    }
    assert len(await wait_for_hits(keeper, "src/birds.py", 1)) == 1
    assert await wait_for_hits(keeper, "heron", 2, "&workdir=/code/shop&order=relevance&limit=2")
    progress = await built(keeper)
    assert progress["done"] == progress["total"] > 0


async def test_words_inside_of_others_come_last(start_keeper: StartKeeper) -> None:
    transcript = TranscriptWriter()
    whole = transcript.prompt("a heron, then a superheron")
    inside = transcript.prompt("the superheron alone")
    transcript.write(projects_folder())
    keeper = await start_keeper()
    hits = await wait_for_hits(keeper, "heron", 2)
    assert [(hit["uuid"], hit["inside"]) for hit in hits] == [(whole, False), (inside, True)]
    first = await get_json(keeper, "/search?q=heron&limit=1")
    (other,) = await wait_for_hits(keeper, "heron", 1, f"&limit=1&cursor={first['cursor']}")
    assert other["uuid"] == inside
    ranked = await wait_for_hits(keeper, "heron", 2, "&order=relevance")
    assert [hit["uuid"] for hit in ranked] == [whole, inside]


async def test_words_that_were_not_gathered_are_gathered_at_the_next_start(
    isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = isolated / "words.db"
    transcript = TranscriptWriter()
    transcript.prompt("a superheron")
    transcript.write(projects_folder())
    with closing(open_index(index)) as database:
        todo = find_backlog(database, [projects_folder()])
        with monkeypatch.context() as much:
            much.setattr(store, "MAX_INLINE_CHARACTERS", 0)
            list(index_transcripts(database, [each.transcript for each in todo.stale]))
    search = index_service.SearchService(
        index,
        [projects_folder()],
        wait_before_build=_at_once,
        workers=WorkerThreads(),
        history=History(),
    )
    await search.start()
    await wait_until(lambda: search.progress.stage == "ready")
    page = await search.find(parse("heron"), SearchFilters(), "newest", 10, None)
    await search.close()
    assert len(page.hits) == 1


async def test_what_is_said_while_it_runs_is_found(start_keeper: StartKeeper) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("first")
    path = transcript.write(projects_folder())
    keeper = await start_keeper()
    await built(keeper)
    transcript.reply("then a heron came")
    transcript.write(projects_folder())
    await wait_for_hits(keeper, "heron", 1)
    nested = TranscriptWriter()
    nested.prompt("and its egret", isSidechain=True)
    below = path.with_suffix("") / "subagents"
    below.mkdir(parents=True)
    (below / "agent-a1.meta.json").write_text('{"toolUseId": "toolu_7"}')
    (below / "agent-a1.jsonl").write_bytes(nested.lines[0] + b"\n")
    (hit,) = await wait_for_hits(keeper, "egret", 1)
    assert (hit["sessionId"], hit["agentId"], hit["toolUseId"]) == (SESSION_ID, "a1", "toolu_7")
    other = TranscriptWriter(uuid_of(77))
    other.prompt("a new session with a kingfisher")
    gone = other.write(projects_folder())
    await wait_for_hits(keeper, "kingfisher", 1)
    assert (await wait_for_hits(keeper, "gfish", 1))[0]["inside"]
    gone.unlink()
    await wait_for_hits(keeper, "kingfisher", 0)


async def test_much_is_read_by_a_process_of_its_own(
    start_keeper: StartKeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_service, "MAX_INLINE_BYTES", 100)
    transcript = TranscriptWriter()
    for number in range(50):
        transcript.prompt(f"heron {number}")
    transcript.write(projects_folder())
    keeper = await start_keeper()
    await wait_for_hits(keeper, "heron", 50)


async def _at_once() -> None:
    """Nothing is waited for."""


async def test_a_broken_index_is_made_anew(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_service, "RETRY_SECONDS", 0.01)
    transcript = TranscriptWriter()
    transcript.prompt("heron")
    transcript.write(projects_folder())
    index = isolated / "words.db"
    index.write_bytes(b"this is no database at all, and never was" * 100)
    search = index_service.SearchService(
        index,
        [projects_folder()],
        wait_before_build=_at_once,
        workers=WorkerThreads(),
        history=History(),
    )
    await search.start()
    await wait_until(lambda: search.progress.stage == "ready")
    page = await search.find(parse("heron"), SearchFilters(), "newest", 5, None)
    await search.close()
    assert len(page.hits) == 1


@pytest.mark.parametrize(
    "words",
    [
        '"',
        '""',
        "?!… — ✅",
        "",
        "a" * 1001,
        " ".join(str(number) for number in range(100)),
    ],
)
async def test_what_is_no_query_is_refused(keeper: Api, words: str) -> None:
    await error_code(keeper, "GET", f"/search?q={quote(words)}", 400)


@pytest.mark.parametrize(
    "words",
    [
        "said : heron",
        "heron AND NOT",
        "NEAR(heron pond, 2)",
        '"heron" OR "',
        "heron*^{}+-:()",
        "tags : decision",
        "heron\0heron",
        "'; DROP TABLE message; --",
        "a" * 1000,
        "(" * 500 + "heron",
        "he'r\"on",
        "\ud7ff\u0301heron",
        "İstanbul ßtraße ﬁ",
    ],
)
async def test_whatever_is_typed_is_answered(keeper: Api, words: str) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("the heron said nothing")
    transcript.write(projects_folder())
    for order in ("newest", "relevance"):
        await get_json(keeper, f"/search?q={quote(words)}&order={order}")


@pytest.mark.parametrize(
    "more", ["&after=yesterday", "&cursor=7", "&limit=0", "&kind=word", "&order=oldest", "&x=1"]
)
async def test_filters_that_are_none_are_refused(keeper: Api, more: str) -> None:
    assert await error_code(keeper, "GET", f"/search?q=heron{more}", 400) == "invalid_request"


async def test_only_below_the_given_directories(start_keeper: StartKeeper) -> None:
    for number, workdir in enumerate(("/code/shop", "/code/shop/api", "/code/shopping")):
        transcript = TranscriptWriter(uuid_of(number + 1), workdir)
        transcript.prompt("heron")
        transcript.write(projects_folder(), workdir.replace("/", "-"))
    keeper = await start_keeper()
    hits = await wait_for_hits(keeper, "heron", 2, "&within=/code/shop:/nowhere")
    assert {hit["workdir"] for hit in hits} == {"/code/shop", "/code/shop/api"}
    assert await wait_for_hits(keeper, "heron", 0, "&within=/code/sh") == []
    assert (
        await wait_for_hits(keeper, "heron", 0, "&within=/code/shop&workdir=/code/shopping") == []
    )


def address_of(hit: dict[str, Any]) -> str:
    agent = f"/subagents/{hit['agentId']}" if hit["agentId"] else ""
    return f"/sessions/{SESSION_ID}{agent}"


async def test_every_hit_opens_at_its_address(start_keeper: StartKeeper) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("a heron?")
    for words in ("a heron that waits", "<task-notification>a heron ended</task-notification>"):
        transcript.raw_entry(
            type="queue-operation",
            operation="enqueue",
            content=words,
            sessionId=SESSION_ID,
            timestamp="2026-03-01T10:00:01.000Z",
        )
    transcript.reply("the heron of the pond")
    transcript.prompt("<task-notification>a heron ended</task-notification>")
    transcript.result("c1", "heron.txt")
    transcript.prompt("a heron inline", isSidechain=True, parent=None)
    path = transcript.write(projects_folder())
    # a copy of the session that was not written to for long has another message
    other = TranscriptWriter()
    other.prompt("the heron of long ago")
    os.utime(other.write(projects_folder(), "-code-other"), (1, 1))
    below = path.with_suffix("") / "subagents"
    below.mkdir(parents=True)
    nested = TranscriptWriter()
    nested.prompt("a heron of a subagent", isSidechain=True)
    (below / "agent-a1.jsonl").write_bytes(nested.lines[0] + b"\n")
    keeper = await start_keeper()
    hits = await wait_for_hits(keeper, "heron", 7)
    for hit in hits:
        address = address_of(hit)
        earlier = await get_json(keeper, f"{address}?limit=500&before={hit['uuid']}")
        whole = await get_json(keeper, f"{address}?limit=500")
        assert hit["uuid"] not in {message["uuid"] for message in earlier["messages"]}
        assert hit["uuid"] in {message["uuid"] for message in whole["messages"]}
