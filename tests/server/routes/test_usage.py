"""GET /usage: every reply of the machine once, as a plain count finds them."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Api, StartKeeper, error_code, get_json
from tests.support.transcript_writer import TranscriptWriter, projects_folder, uuid_of

CORPUS = os.environ.get("CLAUDEKEEPER_CORPUS")
FIELDS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cacheRead": "cache_read_input_tokens",
    "cacheWrite": "cache_creation_input_tokens",
}


def plain_count(projects: Path) -> Counter[str]:
    """What stands in the files, by nobody's code but this: the last usage of every message id."""
    last: dict[str, dict[str, Any]] = {}
    for path in sorted(projects.rglob("*.jsonl")):
        # within a file the last line of a reply counts; a copy elsewhere says the same
        mine: dict[str, dict[str, Any]] = {}
        for line in path.read_bytes().split(b"\n"):
            try:
                entry = json.loads(line.decode("utf-8", "replace").strip("\x00\ufeff \r"))
            except ValueError:
                continue
            message = entry.get("message") if isinstance(entry, dict) else None
            if not isinstance(message, dict) or entry.get("type") != "assistant":
                continue
            usage = message.get("usage")
            # an error that Claude Code writes in Claude's place is no reply
            if isinstance(usage, dict) and message.get("model") != "<synthetic>":
                mine[message.get("id") or entry["uuid"]] = usage
        for reply, usage in mine.items():
            last.setdefault(reply, usage)
    total: Counter[str] = Counter({"replies": len(last)})
    for usage in last.values():
        for name, key in FIELDS.items():
            total[name] += usage.get(key) or 0
    return total


def of(answer: Any) -> Counter[str]:
    return Counter({name: answer["total"][name] for name in ("replies", *FIELDS)})


def write_many(seed: int) -> None:
    """Sessions with subagents, forks, copies, parallel lines and replayed history."""
    chance = random.Random(seed)
    lines: list[str] = []
    for number in range(12):
        transcript = TranscriptWriter(uuid_of(number + 1), f"/code/p{number % 3}")
        if lines and chance.random() < 0.4:
            # a fork: what was said before stands in it too, up to a prompt
            prompts = [at for at, line in enumerate(lines) if '"type":"user"' in line]
            for line in lines[: chance.choice(prompts)]:
                transcript.raw_bytes(line.encode())
        for turn in range(chance.randrange(1, 30)):
            transcript.prompt(f"ask {turn}")
            for piece in range(chance.randrange(1, 4)):
                usage = {
                    "input_tokens": turn,
                    "output_tokens": 10 * (piece + 1),
                    "cache_read_input_tokens": 100,
                    "cache_creation_input_tokens": number,
                }
                model = chance.choice(["claude-opus-4-8", "claude-haiku-4-5"])
                transcript.reply(message_id=f"m{number}-{turn}", usage=usage, model=model)
        if chance.random() < 0.3:
            transcript.lines += transcript.lines
        path = transcript.write(projects_folder(), f"-code-p{number % 3}")
        lines = [line.decode() for line in transcript.lines]
        if chance.random() < 0.5:
            folder = path.with_suffix("") / "subagents" / "workflows" / "w1"
            folder.mkdir(parents=True)
            agent = TranscriptWriter(transcript.session_id)
            agent.reply(message_id=f"a{number}", isSidechain=True)
            (folder / f"agent-a{number}.jsonl").write_bytes(b"\n".join(agent.lines))
    old = TranscriptWriter(uuid_of(1))
    old.reply(message_id="beside", isSidechain=True)
    beside = projects_folder() / "-code-p0" / "agent-b1.jsonl"
    beside.write_bytes(b"\n".join(old.lines))
    # the same session in another folder
    shutil.copytree(projects_folder() / "-code-p0", projects_folder() / "-moved-p0")


async def complete(keeper: Api, path: str = "/usage") -> Any:
    """Once every line is read."""
    while not (answer := await get_json(keeper, path))["complete"]:
        pass
    return answer


@pytest.mark.parametrize("seed", range(4))
async def test_totals_agree_with_a_plain_count(start_keeper: StartKeeper, seed: int) -> None:
    write_many(seed)
    expected = plain_count(projects_folder())
    keeper = await start_keeper()
    for by in ("day", "project", "model", "session"):
        assert of(await complete(keeper, f"/usage?by={by}")) == expected


@pytest.mark.skipif(not CORPUS, reason="CLAUDEKEEPER_CORPUS names no transcripts")
async def test_totals_agree_on_real_transcripts(start_keeper: StartKeeper) -> None:
    assert CORPUS is not None
    shutil.copytree(Path(CORPUS, "projects"), projects_folder())
    assert of(await complete(await start_keeper())) == plain_count(projects_folder())


async def test_what_grows_is_forked_and_goes_is_counted_as_it_is(
    start_keeper: StartKeeper,
) -> None:
    transcript = TranscriptWriter(uuid_of(1))
    for number in range(30):
        transcript.reply(message_id=f"m{number}")
    path = transcript.write(projects_folder())
    keeper = await start_keeper()
    assert (await complete(keeper))["total"]["replies"] == 30
    fork = TranscriptWriter(uuid_of(2))
    fork.lines = [*transcript.lines]
    fork.reply(message_id="of the fork")
    fork.write(projects_folder())
    transcript.reply(message_id="later")
    transcript.write(projects_folder())
    assert (await complete(keeper))["total"]["replies"] == 32
    # what the fork repeats is the fork's now
    path.unlink()
    assert (await complete(keeper, "/usage?by=session"))["total"]["replies"] == 31
    # and a restart knows all of it
    assert (await complete(await start_keeper()))["total"]["replies"] == 31


def write_with_subagent() -> Path:
    """A session with one reply, and its subagent in a worktree with another."""
    transcript = TranscriptWriter(uuid_of(1), workdir="/code/shop")
    transcript.reply(message_id="main")
    path = transcript.write(projects_folder())
    agent = TranscriptWriter(uuid_of(1), workdir="/code/shop/worktree")
    agent.reply(message_id="beside", isSidechain=True, agentId="a1")
    below = path.with_suffix("") / "subagents" / "agent-a1.jsonl"
    below.parent.mkdir(parents=True)
    below.write_bytes(b"\n".join(agent.lines) + b"\n")
    return path


async def test_subagents_are_counted_in_the_project_of_their_session(
    start_keeper: StartKeeper,
) -> None:
    write_with_subagent()
    keeper = await start_keeper()
    rows = (await complete(keeper, "/usage?by=project"))["rows"]
    assert [(row["key"], row["replies"]) for row in rows] == [("/code/shop", 2)]
    inside = await complete(keeper, "/usage?within=/code/shop")
    assert inside["total"]["replies"] == 2


async def test_subagents_are_counted_in_their_own_project_when_their_session_is_gone(
    start_keeper: StartKeeper,
) -> None:
    write_with_subagent().unlink()
    keeper = await start_keeper()
    rows = (await complete(keeper, "/usage?by=project"))["rows"]
    assert [(row["key"], row["replies"]) for row in rows] == [("/code/shop/worktree", 1)]
    inside = await complete(keeper, "/usage?within=/code/shop/worktree")
    assert inside["total"]["replies"] == 1


async def test_by_day_project_model_and_session(start_keeper: StartKeeper) -> None:
    models = ("claude-haiku-4-5", "claude-opus-4-8")
    for number, (workdir, model) in enumerate(zip(("/code/a", "/code/b"), models, strict=True)):
        transcript = TranscriptWriter(uuid_of(number + 1), workdir)
        transcript.prompt(f"session {number}")
        transcript.reply(model=model)
        transcript.write(projects_folder(), workdir.replace("/", "-"))
    keeper = await start_keeper()
    (day,) = (await complete(keeper))["rows"]
    assert day["key"] in ("2026-02-28", "2026-03-01", "2026-03-02")
    assert (day["replies"], day["input"], day["output"]) == (2, 20, 10)
    projects = (await complete(keeper, "/usage?by=project"))["rows"]
    assert [(row["key"], row["label"]) for row in projects] == [("/code/b", "b"), ("/code/a", "a")]
    rows = (await complete(keeper, "/usage?by=model"))["rows"]
    assert [row["key"] for row in rows] == ["claude-opus-4-8", "claude-haiku-4-5"]
    sessions = (await complete(keeper, "/usage?by=session"))["rows"]
    assert [row["label"] for row in sessions] == ["session 1", "session 0"]
    assert (await complete(keeper, "/usage?after=2026-03-03"))["rows"] == []
    assert (await complete(keeper, "/usage?before=2026-02-28"))["rows"] == []
    inside = await complete(keeper, "/usage?within=/code/b")
    assert inside["total"]["replies"] == 1


async def test_projects_of_one_name_are_told_apart_and_errors_are_no_replies(
    start_keeper: StartKeeper,
) -> None:
    for number, workdir in enumerate(["/home/me/shop", "/srv/shop", "/srv/till"], start=1):
        transcript = TranscriptWriter(uuid_of(number), workdir)
        transcript.prompt("hello")
        transcript.reply("Hello.")
        transcript.reply("You've hit your limit", isApiErrorMessage=True, model="<synthetic>")
        transcript.write(projects_folder(), f"-p{number}")
    keeper = await start_keeper()
    answer = await complete(keeper, "/usage?by=project")
    assert {row["label"] for row in answer["rows"]} == {"me/shop", "srv/shop", "till"}
    assert answer["total"]["replies"] == 3
    models = await complete(keeper, "/usage?by=model")
    assert [row["key"] for row in models["rows"]] == ["claude-opus-4-8"]


async def test_strange_questions_are_refused(keeper: Api) -> None:
    for query in ("by=hour", "after=yesterday", "after=2026-03-01T10", "x=1"):
        assert await error_code(keeper, "GET", f"/usage?{query}", 400) == "invalid_request"
