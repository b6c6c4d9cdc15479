"""GET /sessions/{id}/family, /branches, /branch and /branch/work."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from tests.server.conftest import StartKeeper, error_code, get_json
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder, uuid_of
from tests.support.whole_history import read_pages

OTHER = uuid_of(0xF0F0)


def use(
    transcript: TranscriptWriter, tool: str, tool_input: dict[str, Any], result: Any = None
) -> str:
    """A call that was made, with what Claude Code keeps of its result."""
    call_id = f"toolu_{len(transcript.lines)}"
    block = {"type": "tool_use", "id": call_id, "name": tool, "input": tool_input}
    transcript.block(block, None)
    return transcript.result(call_id, toolUseResult=result or {})


def rewound() -> tuple[TranscriptWriter, dict[str, str]]:
    """One way was tried, left by going back, and another one taken."""
    transcript, at = TranscriptWriter(), {}
    at["begin"] = transcript.prompt("build a shop")
    at["fork"] = transcript.reply("Which colour?")
    at["red"] = transcript.prompt("red, please")
    use(transcript, "Write", {"file_path": "/code/shop/paint.py", "content": "RED\n"})
    at["red tip"] = transcript.reply("It is red.")
    at["blue"] = transcript.prompt("blue, please", parent=at["fork"])
    use(transcript, "Write", {"file_path": "/code/shop/paint.py", "content": "BLUE\n"})
    use(transcript, "Write", {"file_path": "/code/shop/sky.py", "content": "sky\n"})
    at["blue tip"] = transcript.reply("It is blue.")
    return transcript, at


def as_cli_fork(
    transcript: TranscriptWriter, session_id: str, lines: int | None = None
) -> TranscriptWriter:
    """As `claude --fork-session` copies: uuids stay, the session's id is the new one."""
    fork = TranscriptWriter(session_id, transcript.workdir)
    fork.raw_entry(
        type="queue-operation", operation="dequeue", timestamp="2026-03-02T10:00:00.000Z"
    )
    for line in transcript.lines[:lines]:
        written = json.loads(line)
        if "uuid" not in written:
            continue
        fork.raw_entry(**{**written, "sessionId": session_id})
        fork.tip = written["uuid"]
    return fork


async def whole_family(keeper: Any) -> Any:
    """As it is once every session is counted: only then it is known who has replies of whom."""
    while not (family := await get_json(keeper, f"/sessions/{SESSION_ID}/family"))["complete"]:
        await get_json(keeper, "/usage")
    return family


async def test_a_session_alone_has_one_branch_and_no_kin(start_keeper: StartKeeper) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("hello")
    transcript.reply("Hello.")
    transcript.write(projects_folder())
    keeper = await start_keeper()
    answer = await get_json(keeper, f"/sessions/{SESSION_ID}/branches")
    (branch,) = answer["branches"]
    assert (branch["tip"], branch["at"], branch["messages"]) == (None, None, 2)
    assert (branch["firstPrompt"], branch["lastWords"]) == ("hello", "Hello.")
    family = await whole_family(keeper)
    assert [(kin["sessionId"], kin["parent"]) for kin in family["sessions"]] == [(SESSION_ID, None)]


async def test_a_rewind_is_a_branch_that_leaves_where_one_went_back(
    start_keeper: StartKeeper,
) -> None:
    transcript, at = rewound()
    transcript.write(projects_folder())
    sessions = ",".join((at["red"], at["blue"], OTHER))
    answer = await get_json(await start_keeper(), f"/sessions/{SESSION_ID}/branches?of={sessions}")
    assert answer["holders"] == {at["red"]: at["red tip"], at["blue"]: None}
    now, branch = answer["branches"]
    assert (now["tip"], now["at"], now["messages"]) == (None, None, 8)
    assert (branch["tip"], branch["leaves"], branch["at"]) == (at["red tip"], None, at["fork"])
    assert (branch["firstPrompt"], branch["lastWords"]) == ("red, please", "It is red.")
    assert branch["messages"] == 4


async def test_two_branches_of_a_file_part_where_one_went_back(start_keeper: StartKeeper) -> None:
    transcript, at = rewound()
    transcript.write(projects_folder())
    keeper = await start_keeper()
    red, blue = (
        f"tip={at['red tip']}&with={SESSION_ID}",
        f"with={SESSION_ID}&withTip={at['red tip']}",
    )
    page = await get_json(keeper, f"/sessions/{SESSION_ID}/branch?{red}")
    assert (page["at"], page["shared"], page["total"]) == (at["fork"], 2, 4)
    assert page["messages"][0]["uuid"] == at["red"]
    assert {message["branch"] for message in page["messages"]} == {at["red tip"]}
    page = await get_json(keeper, f"/sessions/{SESSION_ID}/branch?{blue}")
    assert (page["at"], page["total"]) == (at["fork"], 6)
    past = await get_json(keeper, f"/sessions/{SESSION_ID}/branch?{blue}&part=past&limit=1")
    assert [message["uuid"] for message in past["messages"]] == [at["fork"]]
    past = await get_json(
        keeper, f"/sessions/{SESSION_ID}/branch?{blue}&part=past&before={past['before']}"
    )
    assert [message["uuid"] for message in past["messages"]] == [at["begin"]]
    assert past["before"] is None


async def test_pages_of_a_branch_add_up(start_keeper: StartKeeper) -> None:
    transcript, at = rewound()
    transcript.write(projects_folder())
    keeper = await start_keeper()
    address = f"/sessions/{SESSION_ID}/branch?with={SESSION_ID}&withTip={at['red tip']}"
    whole = [message["uuid"] for message in (await get_json(keeper, address))["messages"]]
    pages = await read_pages(partial(get_json, keeper), f"{address}&limit=4", "after")
    assert [message["uuid"] for page in pages for message in page["messages"]] == whole


async def test_what_each_branch_did_is_told(start_keeper: StartKeeper) -> None:
    transcript, at = rewound()
    transcript.write(projects_folder())
    keeper = await start_keeper()
    address = f"/sessions/{SESSION_ID}/branch/work?with={SESSION_ID}"
    red = await get_json(keeper, f"{address}&tip={at['red tip']}")
    assert (red["prompts"], red["lastReply"]) == (["red, please"], "It is red.")
    assert [(file["path"], file["after"]) for file in red["files"]] == [
        ("/code/shop/paint.py", "RED\n")
    ]
    blue = await get_json(keeper, f"{address}&withTip={at['red tip']}")
    assert [file["path"] for file in blue["files"]] == ["/code/shop/paint.py", "/code/shop/sky.py"]


async def test_what_subagents_did_on_a_branch_is_told_with_it(start_keeper: StartKeeper) -> None:
    transcript, at = rewound()
    tip = at["red tip"]
    spawn = {"description": "paint", "prompt": "paint it", "subagent_type": "painter"}
    brought = use(transcript, "Agent", spawn, {"agentId": "a1", "status": "completed"})
    transcript.reply("The painter is done.")
    agent = TranscriptWriter(transcript.session_id)
    written = {"file_path": "/code/shop/wall.txt", "content": "white"}
    created = {"type": "create", "filePath": "/code/shop/wall.txt"}
    use(agent, "Write", written, created)
    use(agent, "Bash", {"command": "ls wall.txt"})
    path = transcript.write(projects_folder())
    below = path.with_suffix("") / "subagents"
    below.mkdir(parents=True)
    (below / "agent-a1.jsonl").write_bytes(b"\n".join(agent.lines))
    keeper = await start_keeper()
    work = await get_json(
        keeper, f"/sessions/{SESSION_ID}/branch/work?with={SESSION_ID}&withTip={tip}"
    )
    (wall,) = [file for file in work["files"] if file["path"].endswith("wall.txt")]
    assert (wall["fate"], wall["after"], wall["uuid"]) == ("created", "white", brought)
    other = await get_json(
        keeper, f"/sessions/{SESSION_ID}/branch/work?tip={tip}&with={SESSION_ID}"
    )
    assert "wall.txt" not in str(other["files"])


async def test_a_fork_of_the_cli_is_found_from_both_sides(start_keeper: StartKeeper) -> None:
    transcript, at = rewound()
    transcript.write(projects_folder())
    fork = as_cli_fork(transcript, OTHER)
    own = fork.prompt("and a door")
    fork.reply("There is a door.")
    fork.write(projects_folder(), "-elsewhere")
    keeper = await start_keeper()
    for session in (SESSION_ID, OTHER):
        family = await get_json(keeper, f"/sessions/{session}/family")
        parent, child = family["sessions"]
        assert (parent["sessionId"], parent["parent"]) == (SESSION_ID, None)
        assert (child["sessionId"], child["parent"]) == (OTHER, SESSION_ID)
        assert child["at"] == child["here"] == at["blue tip"]
        assert (child["firstPrompt"], child["messages"]) == ("and a door", 2)
    page = await get_json(keeper, f"/sessions/{OTHER}/branch?with={SESSION_ID}")
    assert page["messages"][0]["uuid"] == own
    assert page["total"] == 2
    page = await get_json(keeper, f"/sessions/{SESSION_ID}/branch?with={OTHER}")
    assert (page["total"], page["shared"], page["at"]) == (0, 8, at["blue tip"])
    # a path that was left parts from the fork where it parts from the conversation
    page = await get_json(keeper, f"/sessions/{SESSION_ID}/branch?tip={at['red tip']}&with={OTHER}")
    assert (page["at"], page["total"]) == (at["fork"], 4)


async def test_copies_whole_and_in_part_are_kin(start_keeper: StartKeeper) -> None:
    transcript, at = rewound()
    transcript.write(projects_folder())
    whole, head, tail = (TranscriptWriter(uuid_of(0xF100 + number)) for number in range(3))
    whole.lines = list(transcript.lines)
    head.lines = transcript.lines[:2]
    tail.lines = transcript.lines[-3:]
    for copy in (whole, head, tail):
        copy.write(projects_folder(), "-elsewhere")
    keeper = await start_keeper()
    family = await whole_family(keeper)
    kin = {each["sessionId"]: each for each in family["sessions"]}
    assert {key: each["parent"] for key, each in kin.items()} == {
        SESSION_ID: None,
        whole.session_id: SESSION_ID,
        head.session_id: SESSION_ID,
        tail.session_id: SESSION_ID,
    }
    assert kin[head.session_id]["at"] == at["fork"]
    assert kin[whole.session_id]["at"] == kin[tail.session_id]["at"] == at["blue tip"]
    whole = await get_json(keeper, f"/sessions/{tail.session_id}/family")
    assert SESSION_ID in {each["sessionId"] for each in whole["sessions"]}


async def test_a_fork_that_was_just_made_is_found_before_it_is_counted(
    start_keeper: StartKeeper,
) -> None:
    transcript, _ = rewound()
    transcript.reply("x" * 10_000)
    transcript.write(projects_folder())
    keeper = await start_keeper()
    assert len((await get_json(keeper, f"/sessions/{SESSION_ID}/family"))["sessions"]) == 1
    fork = as_cli_fork(transcript, OTHER)
    fork.prompt("and a door")
    path = fork.write(projects_folder())
    family = await get_json(keeper, f"/sessions/{SESSION_ID}/family")
    assert [kin["sessionId"] for kin in family["sessions"]] == [SESSION_ID, OTHER]
    path.unlink()
    family = await get_json(keeper, f"/sessions/{SESSION_ID}/family")
    assert [kin["sessionId"] for kin in family["sessions"]] == [SESSION_ID]


async def test_what_is_not_there_is_said(start_keeper: StartKeeper) -> None:
    rewound()[0].write(projects_folder())
    keeper = await start_keeper()
    address = f"/sessions/{SESSION_ID}/branch"
    assert await error_code(keeper, "GET", f"{address}?with={OTHER}", 404) == "session_not_found"
    code = await error_code(keeper, "GET", f"{address}?with={SESSION_ID}&tip={OTHER}", 404)
    assert code == "branch_not_found"
    code = await error_code(keeper, "GET", f"{address}?with={SESSION_ID}&after={OTHER}", 404)
    assert code == "message_not_found"
    assert await error_code(keeper, "GET", address, 400) == "invalid_request"
