"""GET /sessions and PATCH /sessions/{id}."""

from __future__ import annotations

import json
import os
from functools import partial
from io import BytesIO
from pathlib import Path
from uuid import uuid4

import pytest

from tests.server.conftest import Api, StartKeeper, error_code, get_json
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder
from tests.support.waiting import wait_for
from tests.support.whole_history import read_pages


def write_session(text: str, *, age: int = 0, workdir: str = "/code/shop") -> str:
    transcript = TranscriptWriter(str(uuid4()), workdir)
    transcript.prompt(text)
    transcript.reply()
    path = transcript.write(projects_folder(), workdir.replace("/", "-"))
    moment = path.stat().st_mtime - age
    os.utime(path, (moment, moment))
    return transcript.session_id


async def test_sessions_are_listed_newest_first(start_keeper: StartKeeper) -> None:
    ids = [write_session(f"number {age}", age=age) for age in range(5)]
    answer = await get_json(await start_keeper(), "/sessions")
    assert [session["id"] for session in answer["sessions"]] == ids
    assert answer["cursor"] is None
    assert ":" in answer["position"]


async def test_a_session_says_what_it_is(start_keeper: StartKeeper) -> None:
    session_id = write_session("sell hats")
    (session,) = (await get_json(await start_keeper(), "/sessions"))["sessions"]
    assert session["id"] == session_id
    assert (session["workdir"], session["project"]) == ("/code/shop", "shop")
    assert (session["title"], session["name"]) == ("sell hats", None)
    assert (session["state"], session["origin"], session["error"]) == ("idle", None, None)
    assert session["messageCount"] == 2
    assert session["tokens"] == {"input": 10, "output": 5, "cacheRead": 0, "cacheWrite": 0}
    assert session["costUsd"] > 0


async def test_pages_follow_each_other_without_gap(start_keeper: StartKeeper) -> None:
    ids = [write_session(f"{age}", age=age % 3) for age in range(20)]
    keeper = await start_keeper()
    pages = await read_pages(partial(get_json, keeper), "/sessions?limit=3")
    listed = [session["id"] for page in pages for session in page["sessions"]]
    assert sorted(listed) == sorted(ids)
    assert len(listed) == 20


async def test_the_list_can_be_narrowed(start_keeper: StartKeeper) -> None:
    write_session("shop")
    other = write_session("garden", workdir="/code/garden")
    (projects_folder() / "-code-shop" / f"{SESSION_ID}.jsonl").write_bytes(b"")
    keeper = await start_keeper()
    by_place = await get_json(keeper, "/sessions?workdir=/code/garden")
    assert [session["id"] for session in by_place["sessions"]] == [other]
    broken = await get_json(keeper, "/sessions?state=error")
    assert [session["id"] for session in broken["sessions"]] == [SESSION_ID]
    assert (await get_json(keeper, "/sessions?state=running"))["sessions"] == []


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=10001", "limit=all", "limit=x", "state=odd", "cursor=x", "unknown=1"],
)
async def test_a_wrong_parameter_is_an_error(keeper: Api, query: str) -> None:
    assert await error_code(keeper, "GET", f"/sessions?{query}", 400) == "invalid_request"


async def test_a_parameter_given_twice_is_an_error(keeper: Api) -> None:
    assert await error_code(keeper, "GET", "/sessions?limit=1&limit=2", 400) == "invalid_request"


async def test_a_new_session_is_in_the_next_listing(start_keeper: StartKeeper) -> None:
    write_session("first")
    keeper = await start_keeper()
    assert len((await get_json(keeper, "/sessions"))["sessions"]) == 1
    write_session("second")
    write_session("elsewhere", workdir="/code/new")
    assert len((await get_json(keeper, "/sessions"))["sessions"]) == 3


async def test_growth_shows_in_the_next_listing(start_keeper: StartKeeper) -> None:
    session_id = write_session("first")
    keeper = await start_keeper()
    await get_json(keeper, "/sessions")
    more = TranscriptWriter(session_id)
    more.prompt("second")
    path = projects_folder() / "-code-shop" / f"{session_id}.jsonl"
    with path.open("ab") as file:
        file.write(more.lines[0] + b"\n")
    (session,) = (await get_json(keeper, "/sessions"))["sessions"]
    assert (session["messageCount"], session["lastPrompt"]) == (3, "second")


async def test_a_deleted_session_is_gone(start_keeper: StartKeeper) -> None:
    session_id = write_session("first")
    keeper = await start_keeper()
    await get_json(keeper, "/sessions")
    (projects_folder() / "-code-shop" / f"{session_id}.jsonl").unlink()
    assert (await get_json(keeper, "/sessions"))["sessions"] == []
    assert await error_code(keeper, "GET", f"/sessions/{session_id}", 404) == "session_not_found"


async def test_broken_files_are_rows_and_hide_no_neighbour(start_keeper: StartKeeper) -> None:
    good = write_session("good")
    folder = projects_folder() / "-code-shop"
    broken = {}
    for content in (b"", b"\xff\x00\x01", b"{" * 500):
        broken[str(uuid4())] = content
    for name, content in broken.items():
        (folder / f"{name}.jsonl").write_bytes(content)
    (folder / f"{uuid4()}.jsonl").mkdir()
    os.mkfifo(folder / f"{uuid4()}.jsonl")
    sessions = {s["id"]: s for s in (await get_json(await start_keeper(), "/sessions"))["sessions"]}
    assert sessions[good]["state"] == "idle"
    for name in broken:
        assert sessions[name]["state"] == "error"
        assert sessions[name]["error"]["message"]
    assert len(sessions) == 6


async def test_what_was_counted_is_known_after_a_restart(
    start_keeper: StartKeeper, isolated: Path
) -> None:
    session_id = write_session("first")
    keeper = await start_keeper()
    await get_json(keeper, f"/sessions/{session_id}")
    await keeper.close()
    again = await start_keeper()
    (session,) = (await get_json(again, "/sessions"))["sessions"]
    assert session["messageCount"] == 2


async def test_a_cache_that_is_broken_or_deleted_costs_nothing_but_time(
    start_keeper: StartKeeper, isolated: Path
) -> None:
    write_session("first")
    (isolated / "cache.db").write_bytes(b"this is no database" * 100)
    (session,) = (await get_json(await start_keeper(), "/sessions"))["sessions"]
    assert session["title"] == "first"


async def test_counting_goes_on_in_the_background(start_keeper: StartKeeper) -> None:
    transcript = TranscriptWriter()
    for number in range(300):
        transcript.prompt(f"{number} " + "x" * 200)
    transcript.write(projects_folder())
    keeper = await start_keeper()
    await get_json(keeper, "/sessions")
    await wait_for(lambda: get_json(keeper, "/health"), lambda health: health["scan"]["done"] >= 1)
    (session,) = (await get_json(keeper, "/sessions"))["sessions"]
    assert session["messageCount"] == 300


async def test_a_name_is_kept_over_a_restart_and_can_be_cleared(
    start_keeper: StartKeeper, isolated: Path
) -> None:
    session_id = write_session("first")
    keeper = await start_keeper()
    async with keeper.patch(f"/sessions/{session_id}", json={"name": "Hats"}) as response:
        assert (await response.json())["name"] == "Hats"
    assert (isolated / "state.json").stat().st_mode & 0o777 == 0o600
    await keeper.close()
    again = await start_keeper()
    assert (await get_json(again, "/sessions"))["sessions"][0]["name"] == "Hats"
    async with again.patch(f"/sessions/{session_id}", json={"name": None}) as response:
        assert (await response.json())["name"] is None
    assert json.loads((isolated / "state.json").read_text())["names"] == {}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "invalid_request"),
        ({"name": ""}, "invalid_request"),
        ({"name": "two\nlines"}, "invalid_request"),
        ({"name": "x" * 201}, "invalid_request"),
        ({"name": 3}, "invalid_request"),
        ({"name": "ok", "other": 1}, "invalid_request"),
        ([], "invalid_request"),
    ],
)
async def test_a_wrong_name_changes_nothing(
    start_keeper: StartKeeper, isolated: Path, body: object, code: str
) -> None:
    session_id = write_session("first")
    keeper = await start_keeper()
    assert await error_code(keeper, "PATCH", f"/sessions/{session_id}", 400, json=body) == code
    assert not (isolated / "state.json").exists()


async def test_a_body_that_is_not_json_is_refused(start_keeper: StartKeeper) -> None:
    path = f"/sessions/{write_session('first')}"
    keeper = await start_keeper()
    assert await error_code(keeper, "PATCH", path, 415, data="name=x") == "unsupported_media_type"
    headers = {"Content-Type": "application/json"}
    code = await error_code(keeper, "PATCH", path, 400, data=b"{\xff", headers=headers)
    assert code == "invalid_request"
    huge = BytesIO(b'"' + b"x" * 2_000_000 + b'"')
    code = await error_code(keeper, "PATCH", path, 413, data=huge, headers=headers)
    assert code == "body_too_large"


async def test_directories_are_known_with_their_sessions(start_keeper: StartKeeper) -> None:
    write_session("one", age=9)
    write_session("two", workdir="/code/garden", age=5)
    write_session("three")
    workdirs = (await get_json(await start_keeper(), "/workdirs"))["workdirs"]
    assert [(row["workdir"], row["project"], row["sessions"]) for row in workdirs] == [
        ("/code/shop", "shop", 2),
        ("/code/garden", "garden", 1),
    ]
