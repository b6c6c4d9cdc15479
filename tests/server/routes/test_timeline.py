"""GET /timeline and /sessions/{id}/timeline: what was done when, and where to read on."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from tests.analysis.test_session_facts import use
from tests.server.conftest import Api, StartKeeper, error_code, get_json
from tests.server.routes.test_usage import complete, write_many
from tests.support.transcript_writer import TranscriptWriter, projects_folder, uuid_of

MONTH = "2026-03-{:02}T12:{:02}:00.000Z"


def write(number: int, workdir: str = "/code/a", *, days: int = 1) -> TranscriptWriter:
    """Noon of some days: a prompt, an edit, a command, a compaction."""
    transcript = TranscriptWriter(uuid_of(number), workdir)
    for day in range(1, days + 1):
        transcript.prompt(f"ask {number} on {day}", timestamp=MONTH.format(day, 0))
        transcript.reply(message_id=f"m{number}-{day}", timestamp=MONTH.format(day, 1))
        use(transcript, "Edit", {"file_path": "/code/a/x.py"})
        transcript.entry("system", subtype="compact_boundary", timestamp=MONTH.format(day, 9))
    transcript.write(projects_folder(), workdir.replace("/", "-"))
    return transcript


def buckets_of(answer: Any) -> list[tuple[Any, ...]]:
    names = ("start", "prompts", "compactions")
    return [tuple(bucket[name] for name in names) for bucket in answer["buckets"]]


def prompts_of(answer: Any) -> list[str]:
    return [prompt["text"] for prompt in answer["prompts"]]


async def test_a_session_of_weeks_is_told_by_days(start_keeper: StartKeeper) -> None:
    transcript = write(1, days=5)
    keeper = await start_keeper()
    answer = await get_json(keeper, f"/sessions/{transcript.session_id}/timeline")
    assert (answer["by"], answer["complete"]) == ("day", True)
    assert buckets_of(answer) == [(f"2026-03-0{day}", 1, 1) for day in range(1, 6)]
    total = answer["total"]
    assert (total["prompts"], total["tools"], total["edits"], total["compactions"]) == (5, 5, 5, 5)
    assert total["replies"] == 10
    assert total["costUsd"] > 0
    # a day of it is told by hours, with what was asked then and where that stands
    day = f"/sessions/{transcript.session_id}/timeline?after=2026-03-02&before=2026-03-03"
    answer = await get_json(keeper, day)
    assert answer["by"] == "hour"
    assert buckets_of(answer) == [(answer["buckets"][0]["start"], 1, 1)]
    (prompt,) = answer["prompts"]
    assert (prompt["text"], prompt["sessionId"]) == ("ask 1 on 2", transcript.session_id)
    page = await get_json(keeper, f"/sessions/{transcript.session_id}?limit=all")
    assert prompt["uuid"] in [message["uuid"] for message in page["messages"]]
    assert prompts_of(
        await get_json(keeper, f"/sessions/{transcript.session_id}/timeline?limit=2")
    ) == [
        "ask 1 on 1",
        "ask 1 on 2",
    ]


async def test_what_grows_and_is_written_anew_is_told_as_it_is(start_keeper: StartKeeper) -> None:
    transcript = write(1, days=4)
    address = f"/sessions/{transcript.session_id}/timeline"
    keeper = await start_keeper()
    assert len(buckets_of(await get_json(keeper, address))) == 4
    assert (await complete(keeper, "/timeline"))["total"]["prompts"] == 4
    transcript.prompt("much later", timestamp=MONTH.format(20, 0))
    transcript.write(projects_folder(), "-code-a")
    assert prompts_of(await get_json(keeper, address))[-1] == "much later"
    assert prompts_of(await complete(keeper, "/timeline"))[-1] == "much later"
    # as another file, with other days
    path = transcript.write(projects_folder(), "-code-a")
    path.unlink()
    transcript.lines = []
    transcript.prompt("anew", timestamp=MONTH.format(25, 0))
    transcript.write(projects_folder(), "-code-a")
    for where in (address, "/timeline"):
        ((start, *counts),) = buckets_of(await complete(keeper, where))
        assert (start[:10], counts) == ("2026-03-25", [1, 0])
    # and a restart knows all of it
    assert prompts_of(await complete(await start_keeper(), "/timeline")) == ["anew"]


async def test_a_fork_has_its_whole_history_and_the_project_has_it_once(
    start_keeper: StartKeeper,
) -> None:
    transcript = write(1, days=3)
    fork = TranscriptWriter(uuid_of(2), "/code/a")
    # a fork gets new uuids; times, words and replies are the same
    fork.lines = [line.replace(b"-4000-8000-", b"-4000-9000-") for line in transcript.lines]
    fork.prompt("another way", timestamp=MONTH.format(3, 30))
    fork.reply(message_id="of the fork", timestamp=MONTH.format(3, 31))
    fork.write(projects_folder(), "-code-a")
    keeper = await start_keeper()
    alone = await get_json(keeper, f"/sessions/{transcript.session_id}/timeline")
    copied = await get_json(keeper, f"/sessions/{fork.session_id}/timeline")
    assert copied["total"]["prompts"] == alone["total"]["prompts"] + 1 == 4
    project = await complete(keeper, "/timeline?workdir=/code/a")
    for name in ("prompts", "tools", "edits", "compactions", "replies", "costUsd"):
        assert project["total"][name] == copied["total"][name], name
    assert len(prompts_of(project)) == 4
    used = await complete(keeper, "/usage?by=project")
    assert project["total"]["costUsd"] == used["total"]["costUsd"]
    # when the original goes, nothing of the fork's history goes with it
    (projects_folder() / "-code-a" / f"{transcript.session_id}.jsonl").unlink()
    answer = await complete(keeper, "/timeline?workdir=/code/a")
    assert answer["total"] == project["total"]


@pytest.mark.parametrize("gone", [1, 2])
async def test_what_small_files_share_stays_when_either_goes(
    start_keeper: StartKeeper, gone: int
) -> None:
    for number in (1, 2):
        transcript = TranscriptWriter(uuid_of(number))
        transcript.prompt("the same")
        transcript.reply(message_id="m1")
        transcript.write(projects_folder())
    keeper = await start_keeper()
    before = await complete(keeper, "/timeline")
    assert (before["total"]["prompts"], before["total"]["replies"]) == (1, 1)
    (projects_folder() / "-code-shop" / f"{uuid_of(gone)}.jsonl").unlink()
    assert (await complete(keeper, "/timeline"))["total"] == before["total"]


async def test_a_project_has_its_sessions_and_no_others(start_keeper: StartKeeper) -> None:
    write(1, "/code/a")
    write(2, "/code/a")
    write(3, "/code/b")
    keeper = await start_keeper()
    project = await complete(keeper, "/timeline?workdir=/code/a")
    assert sorted(prompts_of(project)) == ["ask 1 on 1", "ask 2 on 1"]
    assert {prompt["workdir"] for prompt in project["prompts"]} == {"/code/a"}
    assert (await complete(keeper, "/timeline"))["total"]["prompts"] == 3
    inside = await complete(keeper, "/timeline?within=/code/b")
    assert prompts_of(inside) == ["ask 3 on 1"]
    outside = await complete(keeper, "/timeline?workdir=/code/a&within=/code/b")
    assert (outside["buckets"], outside["prompts"]) == ([], [])


async def test_costs_agree_with_usage_and_those_of_subagents_are_the_sessions(
    start_keeper: StartKeeper,
) -> None:
    write_many(1)
    keeper = await start_keeper()
    used = await complete(keeper, "/usage?by=day")
    timeline = await complete(keeper, "/timeline?limit=0")
    for name in used["total"]:
        assert timeline["total"][name] == used["total"][name], name
    shutil.rmtree(projects_folder())
    transcript = write(1)
    await complete(keeper)
    alone = f"/sessions/{transcript.session_id}/timeline"
    of_one = (await get_json(keeper, alone))["total"]
    folder = projects_folder() / "-code-a" / transcript.session_id / "subagents"
    folder.mkdir(parents=True)
    agent = TranscriptWriter(transcript.session_id)
    agent.reply(message_id="nested", isSidechain=True, timestamp=MONTH.format(1, 5))
    for call, name in (("c1", "Bash"), ("c2", "Edit"), ("c3", "Edit")):
        block = {"type": "tool_use", "id": call, "name": name, "input": {"file_path": "/code/a"}}
        agent.block(block, "nested", isSidechain=True, timestamp=MONTH.format(1, 5))
        result = {"type": "tool_result", "tool_use_id": call, "is_error": call == "c3"}
        agent.prompt([result | {"content": "done"}], isSidechain=True)
    (folder / "agent-a1.jsonl").write_bytes(b"\n".join(agent.lines))
    keeper = await start_keeper()
    await complete(keeper)
    session = await get_json(keeper, f"/sessions/{transcript.session_id}/timeline")
    assert session["total"]["replies"] == 3
    # what subagents do is done, too; what they are told is nobody's prompt
    for name, more in (("tools", 3), ("edits", 1), ("prompts", 0)):
        assert session["total"][name] == of_one[name] + more, name
    project = await complete(keeper, "/timeline?workdir=/code/a&limit=0")
    assert project["total"]["tools"] == session["total"]["tools"]


async def test_a_transcript_that_cannot_be_read_is_not_waited_for(
    start_keeper: StartKeeper,
) -> None:
    transcript = TranscriptWriter(uuid_of(1))
    transcript.write(projects_folder())
    answer = await get_json(await start_keeper(), f"/sessions/{transcript.session_id}/timeline")
    assert (answer["buckets"], answer["complete"]) == ([], True)


async def test_strange_questions_are_refused(keeper: Api) -> None:
    for query in ("by=week", "after=yesterday", "after=2026-03-01T10:30", "x=1", "limit=-1"):
        assert await error_code(keeper, "GET", f"/timeline?{query}", 400) == "invalid_request"
    nobody = f"/sessions/{uuid_of(99)}/timeline"
    assert await error_code(keeper, "GET", nobody, 404) == "session_not_found"
