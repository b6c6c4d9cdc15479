"""GET /sessions/{id}/resume."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.resume import report
from tests.analysis.test_session_facts import REASON, use
from tests.server.conftest import Api, StartKeeper, error_code, get_json
from tests.server.routes.test_timeline import complete
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder

NEW_UUID = "5e551011-0000-4000-8000-0000000000aa"


def checked_out(folder: Path, branch: str) -> None:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text(f"ref: refs/heads/{branch}\n")


def lively(workdir: Path) -> TranscriptWriter:
    transcript = TranscriptWriter(workdir=str(workdir))
    transcript.prompt("build the shop")
    todos = [
        {"content": "draw it", "status": "completed"},
        {"content": "build it", "status": "in_progress"},
    ]
    use(transcript, "TodoWrite", {"todos": todos})
    use(transcript, "Edit", {"file_path": str(workdir / "shop.py")})
    use(transcript, "Bash", {"command": "rm -r /"}, REASON, error=True)
    usage = {"input_tokens": 1000, "cache_read_input_tokens": 99_000, "output_tokens": 0}
    transcript.reply("The first half stands.", usage=usage)
    return transcript


async def resume(keeper: Api, session_id: str = SESSION_ID) -> Any:
    return await get_json(keeper, f"/sessions/{session_id}/resume")


async def test_it_says_where_a_session_stands(start_keeper: StartKeeper, tmp_path: Path) -> None:
    checked_out(tmp_path / "shop", "main")
    (tmp_path / "shop" / "coverage-checklist.yml").write_text("shop: [build, payment]")
    lively(tmp_path / "shop").write(projects_folder())
    report = await resume(await start_keeper())
    assert report["complete"] is True
    assert [turn["prompt"] for turn in report["turns"]] == ["build the shop"]
    assert report["turns"][0]["reply"] == "The first half stands."
    assert report["next"] == {
        "kind": "continue",
        "text": "build it",
        "prompt": "Continue with: build it",
        "uuid": None,
    }
    assert (report["progress"]["items"], report["progress"]["percent"]) == (2, 50)
    assert [each["reason"] for each in report["decisions"]] == ["use the other file"]
    assert (report["work"]["filesChanged"], report["work"]["commands"]) == (1, 0)
    assert report["coverage"]["categories"][0]["missing"] == ["payment"]
    assert report["cost"]["resumeTokens"] == 100_000
    # all of it is written to the cache anew: 5 dollars a million, and a quarter more
    assert report["cost"]["resumeUsd"] == 0.625
    assert "build it" in report["recap"]["quick"]
    assert "use the other file" in report["recap"]["detailed"]


async def test_what_costs_next_to_nothing_is_not_said_to_cost_nothing(
    start_keeper: StartKeeper, tmp_path: Path
) -> None:
    transcript = TranscriptWriter(workdir=str(tmp_path))
    transcript.prompt("hello")
    transcript.reply("Hello.", usage={"input_tokens": 10, "output_tokens": 5})
    transcript.write(projects_folder())
    keeper = await start_keeper()
    await complete(keeper, "/usage?by=day")
    recap = (await resume(keeper))["recap"]["detailed"]
    assert "about less than $0.01" not in recap
    assert "sends 15 tokens, less than $0.01." in recap


async def test_what_subagents_did_is_done_too(start_keeper: StartKeeper, tmp_path: Path) -> None:
    path = lively(tmp_path).write(projects_folder())
    nested = TranscriptWriter()
    for call, name, tool_input in (
        ("c1", "Edit", {"file_path": str(tmp_path / "shop.py")}),
        ("c2", "Write", {"file_path": str(tmp_path / "till.py")}),
        ("c3", "Bash", {"command": "make till"}),
    ):
        block = {"type": "tool_use", "id": call, "name": name, "input": tool_input}
        nested.block(block, f"m{call}", isSidechain=True)
        nested.result(call, "done", isSidechain=True)
    below = path.with_suffix("") / "subagents"
    below.mkdir(parents=True)
    (below / "agent-a1.jsonl").write_bytes(b"\n".join(nested.lines) + b"\n")
    keeper = await start_keeper()
    await complete(keeper, "/usage?by=day")
    work = (await resume(keeper))["work"]
    assert {each["path"]: each["edits"] for each in work["files"]} == {
        str(tmp_path / "shop.py"): 2,
        str(tmp_path / "till.py"): 1,
    }
    assert (work["filesChanged"], work["commands"]) == (2, 1)


async def test_every_subagent_counts_however_many_there_are_and_none_that_is_gone(
    start_keeper: StartKeeper, tmp_path: Path
) -> None:
    path = lively(tmp_path).write(projects_folder())
    below = path.with_suffix("") / "subagents"
    below.mkdir(parents=True)
    for number in range(250):
        nested = TranscriptWriter()
        nested.call(f"c{number}", isSidechain=True)
        nested.result(f"c{number}", "done", isSidechain=True)
        (below / f"agent-a{number}.jsonl").write_bytes(b"\n".join(nested.lines) + b"\n")
    keeper = await start_keeper()
    await complete(keeper, "/usage?by=day")
    assert (await resume(keeper))["work"]["commands"] == 250
    for number in range(50):
        (below / f"agent-a{number}.jsonl").unlink()
    restarted = await start_keeper()
    await complete(restarted, "/usage?by=day")
    assert (await resume(restarted))["work"]["commands"] == 200


async def test_what_is_new_in_the_file_is_told(start_keeper: StartKeeper, tmp_path: Path) -> None:
    transcript = lively(tmp_path)
    path = transcript.write(projects_folder())
    keeper = await start_keeper()
    await resume(keeper)
    transcript.prompt("and the roof")
    transcript.reply("Shall it be red?")
    with path.open("ab") as file:
        file.write(b"\n".join(transcript.lines[-2:]) + b"\n")
    report = await resume(keeper)
    assert report["question"]["text"] == report["next"]["text"] == "Shall it be red?"
    assert report["work"]["prompts"] == 2


async def test_the_last_three_turns_are_told_however_long_the_last_one_is(
    start_keeper: StartKeeper, tmp_path: Path
) -> None:
    transcript = TranscriptWriter(workdir=str(tmp_path))
    for words in ("draw it", "build it", "paint it"):
        transcript.prompt(words)
        transcript.reply("Good.")
    for number in range(1_500):
        transcript.call(f"c{number}")
        transcript.result(f"c{number}")
    transcript.write(projects_folder())
    report = await resume(await start_keeper())
    assert [turn["prompt"] for turn in report["turns"]] == ["draw it", "build it", "paint it"]
    assert [turn["tools"] for turn in report["turns"]] == [0, 0, 1_500]
    assert [turn["reply"] for turn in report["turns"]] == ["Good."] * 3
    assert all(turn["whole"] for turn in report["turns"])
    assert report["recap"]["detailed"].count("Claude: Good.") == 3
    assert "(1500 tool calls)" in report["recap"]["detailed"]


async def test_of_a_turn_that_is_not_read_whole_nothing_is_made_up(
    start_keeper: StartKeeper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "MAX_PAGES", 1)
    monkeypatch.setattr(report, "PAGE_MESSAGES", 50)
    transcript = TranscriptWriter(workdir=str(tmp_path))
    transcript.prompt("draw it")
    transcript.reply("Drawn, and that is far back.")
    transcript.prompt("build it")
    for number in range(300):
        transcript.call(f"c{number}")
        transcript.result(f"c{number}")
    transcript.write(projects_folder())
    fresh = await resume(await start_keeper())
    (turn,) = fresh["turns"]
    assert (turn["prompt"], turn["reply"], turn["whole"]) == ("build it", None, False)
    assert 200 < turn["tools"] < 300
    assert f"- You: build it (at least {turn['tools']} tool calls)" in fresh["recap"]["detailed"]
    assert "no words" not in fresh["recap"]["detailed"]


PEERS: list[tuple[str, dict[str, Any]]] = [
    ('<teammate-message teammate_id="lead" color="red">\ngo on\n</teammate-message>', {}),
    ('<cross-session-message from="a/b">\ngo on\n</cross-session-message>', {}),
    ("Another Claude session sent a message:\n<cross-session-message>\ngo on", {}),
    ("A peer session sent a message while you were working:\ngo on", {}),
    ('<agent-message from="researcher">\ngo on\n</agent-message>', {}),
    ("please go on with the till", {"origin": {"kind": "peer", "from": "a/b", "body": "x"}}),
    ("<system-reminder>\nx\n</system-reminder>\n<teammate-message>go</teammate-message>", {}),
]


@pytest.mark.parametrize(("words", "more"), PEERS)
async def test_what_others_say_was_not_asked_by_the_person(
    words: str, more: dict[str, Any], start_keeper: StartKeeper, tmp_path: Path
) -> None:
    transcript = TranscriptWriter(workdir=str(tmp_path))
    transcript.prompt("build the shop")
    transcript.reply("Built.")
    transcript.raw_entry(
        type="user", **more, uuid=NEW_UUID, message={"role": "user", "content": words}
    )
    transcript.reply("The till stands.")
    transcript.write(projects_folder())
    keeper = await start_keeper()
    report = await resume(keeper)
    assert [turn["prompt"] for turn in report["turns"]] == ["build the shop"]
    assert report["work"]["prompts"] == 1
    assert "you last asked" not in report["recap"]["quick"]
    history = await get_json(keeper, f"/sessions/{SESSION_ID}")
    assert [each["kind"] for each in history["messages"]] == ["prompt", "reply", "notice", "reply"]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (
            "Done. Want me to open a pull request?",
            "Claude offered: Want me to open a pull request?",
        ),
        ("Two ways. Which of them?", "Claude asked: Which of them?"),
        ("I'll hold off until you confirm.", "Claude waits for you: I'll hold off until you"),
    ],
)
async def test_an_offer_is_told_as_an_offer(
    reply: str, expected: str, start_keeper: StartKeeper, tmp_path: Path
) -> None:
    transcript = TranscriptWriter(workdir=str(tmp_path))
    transcript.prompt("build the shop")
    transcript.reply(reply)
    transcript.write(projects_folder())
    assert expected in (await resume(await start_keeper()))["recap"]["quick"]


async def test_a_recap_has_words_and_no_tables_output_or_tags(
    start_keeper: StartKeeper, tmp_path: Path
) -> None:
    transcript = TranscriptWriter(workdir=str(tmp_path))
    transcript.prompt(
        "why does it fail?\n\n$ npm test\nFAIL a.test.ts\n    at x (a.ts:3:4)\n\nmend it"
    )
    transcript.reply(
        "<result>Mended</result> in [a.ts](src/a.ts).\n\n| file | tests |\n|---|---|\n| a | 3 |\n\n"
        "All **three** tests pass."
    )
    transcript.write(projects_folder())
    recap = (await resume(await start_keeper()))["recap"]
    assert "“why does it fail? [pasted output] mend it”" in recap["quick"]
    assert "Claude's last words: “Mended in a.ts. All three tests pass.”" in recap["quick"]
    for words in (recap["quick"], recap["detailed"]):
        assert not {"|", "<", "**", "npm"} & {
            sign for sign in ("|", "<", "**", "npm") if sign in words
        }


async def test_a_recap_says_what_it_is_about_and_what_came_of_it(
    start_keeper: StartKeeper, tmp_path: Path
) -> None:
    transcript = TranscriptWriter(workdir=str(tmp_path))
    transcript.prompt("build the shop")
    transcript.reply("Built.")
    transcript.prompt("push")
    path = transcript.write(projects_folder())
    transcript.raw_entry(type="last-prompt", lastPrompt="push", sessionId=SESSION_ID)
    transcript.reply("**Pushed** as `3f2a`.")
    path.write_bytes(b"\n".join(transcript.lines) + b"\n")
    keeper = await start_keeper()
    quick = (await resume(keeper))["recap"]["quick"]
    assert quick.startswith("“build the shop”, last touched ")
    assert "you last asked “push”" in quick
    assert "Claude's last words: “Pushed as 3f2a.”" in quick
    with path.open("ab") as file:
        transcript.reply("Which next?\n\n1. the till\n2. the mails")
        file.write(transcript.lines[-1] + b"\n")
    quick = (await resume(keeper))["recap"]["quick"]
    assert "Claude asked: Which next?\n1. the till\n2. the mails\n" in quick


async def test_it_warns_of_what_changed_and_offers_to_begin_anew(
    start_keeper: StartKeeper, tmp_path: Path
) -> None:
    checked_out(tmp_path / "moved", "feature")
    moved = lively(tmp_path / "moved")
    moved.write(projects_folder())
    gone = TranscriptWriter("5e551011-0000-4000-8000-00000000000f", str(tmp_path / "gone"))
    gone.prompt("hello")
    path = gone.write(projects_folder())
    old = datetime(2024, 1, 1, tzinfo=UTC).timestamp()
    os.utime(path, (old, old))
    keeper = await start_keeper()
    report = await resume(keeper)
    # what a test writes is dated in spring
    assert {"idle_long", "branch_moved"} >= {each["code"] for each in report["warnings"]}
    assert "branch_moved" in [each["code"] for each in report["warnings"]]
    assert report["choices"] == ["resume", "fresh"]
    report = await resume(keeper, gone.session_id)
    assert [each["code"] for each in report["warnings"]] == ["idle_long", "directory_gone"]


async def test_a_transcript_that_tells_nothing_stands_nowhere(start_keeper: StartKeeper) -> None:
    path = TranscriptWriter().write(projects_folder())
    path.write_bytes(b"")
    report = await resume(await start_keeper())
    assert (report["next"]["kind"], report["turns"]) == ("done", [])


async def test_an_unknown_session_stands_nowhere(keeper: Api) -> None:
    path = f"/sessions/{SESSION_ID}/resume"
    assert await error_code(keeper, "GET", path, 404) == "session_not_found"
    assert await error_code(keeper, "GET", path + "?x=1", 400) == "invalid_request"


async def test_how_much_one_is_told_is_the_same_in_every_browser(start_keeper: StartKeeper) -> None:
    keeper = await start_keeper()
    assert await get_json(keeper, "/preferences") == {"recap": None}
    async with keeper.patch("/preferences", json={"recap": "dive"}) as answer:
        assert answer.status == 200
    assert await get_json(await start_keeper(), "/preferences") == {"recap": "dive"}
    for body in ({"recap": "sung"}, {"theme": "dark"}, {}):
        assert (
            await error_code(keeper, "PATCH", "/preferences", 400, json=body) == "invalid_request"
        )


async def test_last_words_are_words_not_code(start_keeper: StartKeeper, tmp_path: Path) -> None:
    transcript = TranscriptWriter(workdir=str(tmp_path))
    transcript.prompt("push")
    transcript.reply("Pushed with:\n\n```sh\ngit push\n```\n\n- to main\n- to next")
    transcript.write(projects_folder())
    quick = (await resume(await start_keeper()))["recap"]["quick"]
    assert "Claude's last words: “Pushed with: to main; to next”" in quick
