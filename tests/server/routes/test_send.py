"""POST /route over what stands on disk: candidates, scores, reasons."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claudekeeper.contract.routing import RoutingSettings
from tests.server.conftest import Api, StartKeeper, error_code
from tests.support.transcript_writer import TranscriptWriter, projects_folder

AUTH = "5e551011-0000-4000-8000-0000000000a1"
CSV = "5e551011-0000-4000-8000-0000000000a2"
NEW = {"action": "new", "sessionId": None, "confidence": 1.0, "candidates": []}


def write_session(
    session: str, *words: str, minutes: float = 0.0, workdir: str = "/code/shop"
) -> Path:
    transcript = TranscriptWriter(session, workdir)
    for each in words:
        transcript.prompt(each)
        transcript.reply("Done.")
    return dated(transcript.write(projects_folder(), workdir.replace("/", "-")), minutes)


def dated(path: Path, minutes: float) -> Path:
    then = time.time() - minutes * 60
    os.utime(path, (then, then))
    return path


async def route(keeper: Api, text: str, **more: Any) -> Any:
    async with keeper.post("/route", json={"text": text, **more}) as response:
        assert response.status == 200, await response.text()
        return await response.json()


@pytest.mark.parametrize("scorer", ["plain", "improved"])
async def test_the_worked_examples(start_keeper: StartKeeper, scorer: str) -> None:
    keeper = await start_keeper()
    answer = await route(keeper, "also add a test for that", scorer=scorer)
    assert {**answer, **NEW} == answer

    path = write_session(AUTH, "fix the auth bug")
    answer = await route(keeper, "also add a test for that", scorer=scorer)
    assert (answer["action"], answer["sessionId"], answer["confidence"]) == ("resume", AUTH, 0.85)
    assert "also" in answer["reason"]

    dated(path, 5)
    answer = await route(keeper, "refactor the database", scorer=scorer)
    assert answer["action"] == "new"
    assert answer["candidates"][0]["score"] == pytest.approx(0.26, abs=0.005)

    dated(path, 40)
    answer = await route(keeper, "also add a test for that", scorer=scorer)
    assert {**answer, **NEW} == answer


async def test_a_strong_match_two_minutes_later(start_keeper: StartKeeper) -> None:
    write_session(AUTH, "fix login validation errors", minutes=2)
    keeper = await start_keeper()
    answer = await route(keeper, "login validation messages", scorer="plain")
    assert (answer["action"], answer["confidence"]) == ("resume", 0.46)
    assert (await route(keeper, "login validation messages"))["sessionId"] == AUTH


async def test_only_the_given_directory_is_looked_at(start_keeper: StartKeeper) -> None:
    write_session(AUTH, "fix the auth bug", workdir="/code/shop")
    write_session(CSV, "write a csv exporter", workdir="/code/tools", minutes=1)
    keeper = await start_keeper()
    both = await route(keeper, "also add a test for that")
    assert [each["sessionId"] for each in both["candidates"]] == [AUTH, CSV]
    candidates = await route(keeper, "also add a test for that", workdir="/code/tools/")
    assert [each["sessionId"] for each in candidates["candidates"]] == [CSV]
    nowhere = await route(keeper, "also add a test for that", workdir="/code")
    assert nowhere["candidates"] == []


async def test_conversations_elsewhere_are_left_out_wherever_links_lead(
    start_keeper: StartKeeper, tmp_path: Path
) -> None:
    inside, outside = tmp_path / "a" / "b", tmp_path / "a" / "bc"
    (inside / "inner").mkdir(parents=True)
    outside.mkdir()
    (inside / "way-out").symlink_to(outside)
    write_session(AUTH, "fix the auth bug", workdir=str(inside / "inner"))
    write_session(CSV, "fix the auth bug", workdir=str(inside / "way-out"))
    keeper = await start_keeper()

    async def candidate_ids(**more: Any) -> list[str]:
        answer = await route(keeper, "also add a test for that", **more)
        return [each["sessionId"] for each in answer["candidates"]]

    assert set(await candidate_ids()) == {AUTH, CSV}
    assert await candidate_ids(within=[str(inside)]) == [AUTH]
    assert await candidate_ids(within=[str(outside)]) == [CSV]
    assert await candidate_ids(within=[]) == []
    assert await candidate_ids(within=[str(inside)], workdir=str(inside / "way-out")) == []


async def test_what_grows_on_disk_is_known_at_once(start_keeper: StartKeeper) -> None:
    path = write_session(AUTH, "fix the auth bug")
    keeper = await start_keeper()
    before = await route(keeper, "beta", scorer="plain")
    assert before["candidates"][0]["overlap"] == 0
    more = TranscriptWriter(AUTH)
    more.prompt("beta")
    with path.open("ab") as file:
        file.write(more.lines[0] + b"\n")
    dated(path, 0)
    after = await route(keeper, "beta", scorer="plain")
    # fix, auth, bug, beta
    assert after["candidates"][0]["overlap"] == 0.25
    # and what is rewritten is read anew
    write_session(AUTH, "gamma")
    rewritten = await route(keeper, "gamma", scorer="plain")
    assert rewritten["candidates"][0]["overlap"] == 1.0


async def test_a_session_that_ended_in_an_error_is_left_out(start_keeper: StartKeeper) -> None:
    transcript = TranscriptWriter(AUTH)
    transcript.prompt("fix the auth bug")
    transcript.reply("API Error: 529", isApiErrorMessage=True)
    transcript.write(projects_folder())
    keeper = await start_keeper()
    assert (await route(keeper, "also add a test for that"))["candidates"] == []


async def test_at_most_twenty_are_compared(start_keeper: StartKeeper) -> None:
    for number in range(25):
        write_session(
            f"5e551011-0000-4000-8000-{number:012d}", "fix the auth bug", minutes=number / 10
        )
    keeper = await start_keeper()
    candidates = (await route(keeper, "also add a test for that"))["candidates"]
    assert len(candidates) == 20
    assert all(each["secondsAgo"] < 120 for each in candidates)


async def test_what_failed_takes_nobody_s_place(start_keeper: StartKeeper) -> None:
    for number in range(22):
        transcript = TranscriptWriter(f"5e551011-0000-4000-8000-{number:012d}")
        transcript.prompt("fix the auth bug")
        transcript.reply("API Error: 529", isApiErrorMessage=True)
        dated(transcript.write(projects_folder()), number / 100)
    write_session(AUTH, "fix the auth bug", minutes=2)
    keeper = await start_keeper()
    answer = await route(keeper, "also add a test for that")
    assert [each["sessionId"] for each in answer["candidates"]] == [AUTH]


@pytest.mark.parametrize("text", ["", "ok", " ? "])
async def test_very_short_text_is_new(start_keeper: StartKeeper, text: str) -> None:
    write_session(AUTH, "fix the auth bug")
    keeper = await start_keeper()
    answer = await route(keeper, text)
    assert (answer["action"], answer["confidence"]) == ("new", 1.0)


async def test_config_json_says_whether_how_surely_and_how_long(start_keeper: StartKeeper) -> None:
    write_session(AUTH, "fix the auth bug", minutes=40)
    write_session(CSV, "write a csv exporter")

    async def candidates(**settings: Any) -> tuple[str, list[str]]:
        keeper = await start_keeper(routing=msgspec.convert(settings, RoutingSettings))
        answer = await route(keeper, "also add a test for that")
        return answer["action"], [each["sessionId"] for each in answer["candidates"]]

    assert await candidates() == ("resume", [CSV])
    assert await candidates(enabled=False) == ("new", [])
    assert await candidates(confidenceThreshold=0.86) == ("new", [CSV])
    assert await candidates(expiryMinutes=60) == ("resume", [CSV, AUTH])


async def test_a_wrong_question_is_refused(keeper: Api) -> None:
    for body in ({}, {"text": 3}, {"text": "x", "workdir": "relative"}, {"text": "x", "new": 1}):
        assert await error_code(keeper, "POST", "/route", 400, json=body) == "invalid_request"
    both = {"text": "x", "sessionId": AUTH, "route": True}
    assert await error_code(keeper, "POST", "/send", 400, json=both) == "invalid_request"
    homeless = {"text": "something without a place", "route": True}
    assert await error_code(keeper, "POST", "/send", 400, json=homeless) == "workdir_missing"
