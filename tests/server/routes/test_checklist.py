"""A project's checklist in what the keeper tells: rows, where a session stands, timelines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from claudekeeper.coverage import coverage_service
from tests.server.conftest import Api, StartKeeper, error_code, get_json
from tests.server.routes.test_usage import complete
from tests.support.transcript_writer import TranscriptWriter, projects_folder, uuid_of
from tests.support.waiting import wait_for

CHECKLIST = """
coverage:
  access:
    required_questions: ["Who may log in?"]
    subtopics: [auditing]
  operations: {subtopics: [backups]}
"""
DAY = "2026-03-{:02}T12:00:00.000Z"


def begun(number: int, workdir: Path, *prompts: str) -> TranscriptWriter:
    """A prompt a day."""
    transcript = TranscriptWriter(uuid_of(number), str(workdir))
    for day, words in enumerate(prompts, start=1):
        transcript.prompt(words, timestamp=DAY.format(day))
        transcript.reply("Noted.", message_id=f"m{number}-{day}", timestamp=DAY.format(day))
    return transcript


def shop_of(tmp_path: Path) -> Path:
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "coverage-checklist.yml").write_text(CHECKLIST)
    return shop


async def session_of(keeper: Api, session_id: str) -> Any:
    return (await get_json(keeper, f"/sessions/{session_id}?limit=1"))["session"]


async def progress(keeper: Api, session_id: str, percent: int | None) -> Any:
    """Of the row, once it is that."""
    session = await wait_for(
        lambda: session_of(keeper, session_id),
        lambda session: (session["progress"] and session["progress"]["percent"]) == percent,
    )
    return session["progress"]


async def test_a_row_says_how_far_the_checklist_is(
    start_keeper: StartKeeper, tmp_path: Path
) -> None:
    shop = shop_of(tmp_path)
    transcript = begun(1, shop, "Only admins may log in.", "Backups run nightly.")
    path = transcript.write(projects_folder())
    begun(2, tmp_path, "Only admins may log in.").write(projects_folder(), "-other")
    keeper = await start_keeper()
    progress_of_row = await progress(keeper, transcript.session_id, 66)
    assert progress_of_row == {
        "of": "checklist",
        "items": 3,
        "done": 2,
        "percent": 66,
        "complete": False,
    }
    # another directory has no checklist
    assert (await session_of(keeper, uuid_of(2)))["progress"] is None
    # what is said next counts without anybody asking
    more = len(transcript.lines)
    transcript.prompt("We don't need auditing.", timestamp=DAY.format(9))
    with path.open("ab") as file:
        file.write(b"\n".join(transcript.lines[more:]) + b"\n")
    assert (await progress(keeper, transcript.session_id, 100))["complete"] is True
    listed = await get_json(keeper, "/sessions")
    assert [row["progress"] and row["progress"]["percent"] for row in listed["sessions"]].count(
        100
    ) == 1


async def test_a_checklist_that_comes_changes_or_goes_is_noticed(
    start_keeper: StartKeeper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coverage_service, "RESCAN_INTERVAL", 0.05)
    transcript = begun(1, tmp_path, "Only admins may log in. Backups run nightly.")
    transcript.write(projects_folder())
    keeper = await start_keeper()
    await get_json(keeper, f"/sessions/{transcript.session_id}/resume")
    assert (await session_of(keeper, transcript.session_id))["progress"] is None
    checklist = tmp_path / "coverage-checklist.yml"
    for content, percent in (
        ("ops: [backups, logging]", 50),
        ("ops: [backups]", 100),
        ("ops: [", None),
        ("ops: [backups, logging, tokens]", 33),
    ):
        checklist.write_text(content)
        await progress(keeper, transcript.session_id, percent)
    checklist.unlink()
    await progress(keeper, transcript.session_id, None)


async def test_a_session_that_is_deleted_and_comes_back_is_covered_again(
    start_keeper: StartKeeper, tmp_path: Path
) -> None:
    transcript = begun(1, shop_of(tmp_path), "Backups run nightly.")
    path = transcript.write(projects_folder())
    keeper = await start_keeper()
    await progress(keeper, transcript.session_id, 33)
    path.unlink()
    await wait_for(lambda: get_json(keeper, "/sessions"), lambda page: not page["sessions"])
    transcript.write(projects_folder())
    await wait_for(lambda: get_json(keeper, "/sessions"), lambda page: page["sessions"])
    await progress(keeper, transcript.session_id, 33)


async def test_the_timeline_shows_how_it_became_more(
    start_keeper: StartKeeper, tmp_path: Path
) -> None:
    shop = shop_of(tmp_path)
    first = begun(1, shop, "Only admins may log in.", "Hello.", "Backups run nightly.")
    first.write(projects_folder(), "-shop")
    begun(2, shop, "Fine.", "We don't need auditing.").write(projects_folder(), "-shop")
    keeper = await start_keeper()
    await complete(keeper, "/usage?by=day")
    await progress(keeper, first.session_id, 66)
    await progress(keeper, uuid_of(2), 33)
    answer = await get_json(keeper, f"/sessions/{first.session_id}/timeline?by=day")
    assert answer["completion"] == [
        {"start": "2026-03-01", "items": 3, "done": 1, "percent": 33},
        {"start": "2026-03-03", "items": 3, "done": 2, "percent": 66},
    ]
    # what came before the time that is asked for counts in its beginning
    part = f"/sessions/{first.session_id}/timeline?by=day&after=2026-03-02"
    assert [each["percent"] for each in (await get_json(keeper, part))["completion"]] == [33, 66]
    # a project's sessions cover it together
    whole = await get_json(keeper, f"/timeline?by=day&workdir={shop}")
    assert [each["percent"] for each in whole["completion"]] == [33, 66, 100]
    assert (await get_json(keeper, "/timeline"))["completion"] is None
    # and outside of what may be seen there is none
    outside = await get_json(keeper, f"/timeline?by=day&workdir={shop}&within={tmp_path / 'other'}")
    assert outside["completion"] is None


async def test_the_specification_is_shown_once_it_is_written(
    start_keeper: StartKeeper, tmp_path: Path
) -> None:
    shop = shop_of(tmp_path)
    words = "Only admins may log in. Backups run nightly. We don't need auditing."
    transcript = begun(1, shop, words)
    transcript.write(projects_folder())
    keeper = await start_keeper()
    address = f"/sessions/{transcript.session_id}"
    await get_json(keeper, f"{address}/resume")
    report = await get_json(keeper, f"{address}/resume")
    assert (report["outcome"], report["specification"]) == (None, None)
    assert report["next"]["prompt"].endswith("into SPECIFICATION.md.")
    assert (
        await error_code(keeper, "GET", f"{address}/specification", 404)
        == "specification_not_found"
    )
    (shop / "SPECIFICATION.md").write_text("# Shop")
    report = await get_json(keeper, f"{address}/resume")
    assert (report["outcome"], report["specification"]) == ("complete", "SPECIFICATION.md")
    specification = await get_json(keeper, f"{address}/specification")
    assert (specification["path"], specification["text"]) == ("SPECIFICATION.md", "# Shop")


async def test_a_session_is_given_up_until_something_is_said_again(
    start_keeper: StartKeeper, tmp_path: Path
) -> None:
    transcript = begun(1, tmp_path, "paint it")
    path = transcript.write(projects_folder())
    keeper = await start_keeper()
    address = f"/sessions/{transcript.session_id}"

    async def mark(given_up: bool) -> Any:
        async with keeper.patch(address, json={"givenUp": given_up}) as answer:
            assert answer.status == 200
            return (await answer.json())["givenUp"]

    at = await mark(True)
    assert at is not None
    # marked again, it keeps its time; named, it stays so; and a restart changes nothing
    assert await mark(True) == at
    async with keeper.patch(address, json={"name": "Walls"}) as answer:
        assert (await answer.json())["givenUp"] == at
    assert (await session_of(await start_keeper(), transcript.session_id))["givenUp"] == at
    report = await get_json(keeper, f"{address}/resume")
    assert report["outcome"] == "givenUp"
    assert "You gave this session up." in report["recap"]["quick"]
    assert "You gave this session up." in report["recap"]["detailed"]
    assert await mark(False) is None
    assert await mark(True) is not None
    more = len(transcript.lines)
    transcript.prompt("no, go on", timestamp=DAY.format(9))
    with path.open("ab") as file:
        file.write(b"\n".join(transcript.lines[more:]) + b"\n")
    await wait_for(
        lambda: session_of(keeper, transcript.session_id),
        lambda session: session["givenUp"] is None,
    )
    assert await error_code(keeper, "PATCH", address, 400, json={}) == "invalid_request"
