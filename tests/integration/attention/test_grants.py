"""What is allowed for good, through the real CLI: granted, not asked again by this process or the
next one, and written where it was said."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.attention.permission_files import find_grant_obstacle
from claudekeeper.core.paths import claude_home
from tests.integration.conftest import StartKeeper
from tests.support.keeper_in_process import InProcessKeeper, SocketListener
from tests.support.mcp_server import install

TOOL = 'call: mcp__notes__note {"word": "x"}'
ALLOWED = {"allow": ["mcp__notes__note"]}
LOCAL, PROJECT, USER = "settings.local.json", "settings.json", "the user's"
Written = dict[str, Any]


def allowing(destination: str, **rule: str) -> dict[str, Any]:
    rules = [{"toolName": "mcp__notes__note", **rule}]
    return {
        "type": "addRules",
        "rules": rules,
        "behavior": "allow",
        "destination": destination,
    }


def folder(destination: str) -> dict[str, Any]:
    return {"type": "addDirectories", "directories": ["{out}"], "destination": destination}


def mode(mode: str, destination: str = "session") -> dict[str, Any]:
    return {"type": "setMode", "mode": mode, "destination": destination}


class Stage:
    """A project with an MCP server, and a directory beside it."""

    def __init__(self, home: Path) -> None:
        self.inside, self.out = home / "inside", home / "out"
        for each in (self.inside, self.out):
            each.mkdir(parents=True)
            (each / "in.txt").write_text("x")
        (self.inside / "link").symlink_to(self.out)
        install(self.inside)

    def named(self, text: str) -> str:
        return text.replace("{out}", str(self.out))

    def trust(self) -> None:
        fields = {"projects": {str(self.inside): {"hasTrustDialogAccepted": True}}}
        (claude_home() / ".claude.json").write_text(json.dumps(fields))

    @property
    def written(self) -> Written:
        """The permissions in all files of settings."""
        paths = {
            LOCAL: self.inside / ".claude" / LOCAL,
            PROJECT: self.inside / ".claude" / PROJECT,
            USER: claude_home() / "settings.json",
        }
        permissions_of = {
            name: json.loads(path.read_text().replace(str(self.out), "{out}")).get("permissions")
            for name, path in paths.items()
            if path.exists()
        }
        return {name: permissions for name, permissions in permissions_of.items() if permissions}


@pytest.fixture
def stage(isolated: Path) -> Stage:
    return Stage(isolated)


async def asks_no_more(
    start_keeper: StartKeeper, stage: Stage, step: str, again: str, choose: Any
) -> Written:
    """One answer of a person, and then nobody is asked: here, in the next process, after a restart.

    `choose` says what of a question is allowed for good.
    """
    keeper = await start_keeper()
    listener = await keeper.listen()
    options = {"workdir": str(stage.inside)}
    session = (await keeper.send(stage.named(step), **options))["sessionId"]
    question = await listener.wait_for_question(session)
    chosen = json.loads(stage.named(json.dumps(choose(question))))
    await keeper.resolve(question, updatedPermissions=chosen)
    await listener.wait_for_turn_end(session, outcome="done")
    await keeper.send(stage.named(again), session)
    await listener.wait_for_turn_end(session, outcome="done")
    if not stage.written:
        # the keeper alone remembers it
        await keeper.close_session(session)
        await keeper.send(stage.named(again), session)
        await listener.wait_for_turn_end(session, outcome="done")
    assert len(listener.events_of("attention/raised", session)) == 1
    await keeper.stop()
    keeper = await start_keeper()
    listener = await keeper.listen()
    await keeper.send(stage.named(again), session)
    await listener.wait_for_turn_end(session, outcome="done")
    assert listener.events_of("attention/raised", session) == []
    await keeper.stop()
    return stage.written


def rule(content: str) -> Written:
    return {LOCAL: {"allow": [content]}}


# what is asked, the same again, and where each of the grants that are offered is written
OFFERED: list[tuple[str, str, list[Written]]] = [
    (TOOL, TOOL.replace("x", "y"), [{LOCAL: ALLOWED}]),
    (
        'call: WebSearch {"query": "a word"}',
        'call: WebSearch {"query": "another"}',
        [rule("WebSearch")],
    ),
    (
        'call: WebFetch {"url": "http://127.0.0.1:1/a", "prompt": "p"}',
        'call: WebFetch {"url": "http://127.0.0.1:1/b", "prompt": "p"}',
        [rule("WebFetch(domain:127.0.0.1)")],
    ),
    ("run: python3 -c 1", "run: python3 -c 1", [rule("Bash(python3 -c 1)")]),
    ("run: npm run build", "run: npm run lint", [rule("Bash(npm run *)")]),
    ("run: touch a.txt", "run: touch a.txt", [rule("Bash(touch a.txt)"), {}]),
    (
        "run: touch {out}/a.txt",
        "run: touch {out}/a.txt",
        # the directory is let in with either
        [rule("Bash(touch {out}/a.txt)"), {}],
    ),
    # two commands of one line, and a file that one of them reads
    (
        "run: false | sh",
        "run: false | sh",
        [{LOCAL: {"allow": ["Bash(sh)"]}}],
    ),
    (
        "run: head -1 {out}/in.txt | python3 -c 1",
        "run: head -2 {out}/in.txt | python3 -c 1",
        [rule("Bash(python3 -c 1)")],
    ),
    ("write: a.txt: 1", "write: b.txt: 1", [{}]),
    ("write: {out}/a.txt: 1", "write: {out}/b.txt: 1", [{}]),
    ("read: {out}/in.txt", "run: cat {out}/in.txt", [{}]),
    ("read: link/in.txt", "read: link/in.txt", [{}]),
    ("agent: run: python3 -c 1", "agent: run: python3 -c 1", [rule("Bash(python3 -c 1)")]),
]


@pytest.mark.parametrize(
    ("step", "again", "which", "written"),
    [
        pytest.param(step, again, which, written, id=f"{step}-{which}")
        for step, again, each in OFFERED
        for which, written in enumerate(each)
    ],
)
async def test_every_grant_that_is_offered_holds(
    start_keeper: StartKeeper, stage: Stage, step: str, again: str, which: int, written: Written
) -> None:
    (number,) = [len(each) for prompt, _, each in OFFERED if prompt == step]

    def choose(question: Any) -> Any:
        assert len(question["grants"]) == number
        return question["grants"][which]

    assert await asks_no_more(start_keeper, stage, step, again, choose) == written


# a change of what a tool may do, and where it is written
RULES: list[tuple[dict[str, Any], Written]] = [
    (allowing("session"), {}),
    (allowing("cliArg"), {}),
    (allowing("localSettings"), {LOCAL: ALLOWED}),
    (allowing("projectSettings"), {PROJECT: ALLOWED}),
    (allowing("userSettings"), {USER: ALLOWED}),
]


@pytest.mark.parametrize(
    ("grant", "written"), RULES, ids=[each["destination"] for each, _ in RULES]
)
async def test_a_rule_is_kept_where_it_is_to_be(
    start_keeper: StartKeeper, stage: Stage, grant: dict[str, Any], written: Written
) -> None:
    stage.trust()
    assert await asks_no_more(start_keeper, stage, TOOL, TOOL, lambda _: [grant]) == written


# a mode and a directory, and where they are written
MODES: list[tuple[list[dict[str, Any]], Written]] = [
    ([mode("acceptEdits"), folder("session")], {}),
    ([mode("acceptEdits"), folder("localSettings")], {LOCAL: {"additionalDirectories": ["{out}"]}}),
    (
        [mode("acceptEdits"), folder("projectSettings")],
        {PROJECT: {"additionalDirectories": ["{out}"]}},
    ),
    ([mode("acceptEdits"), folder("userSettings")], {USER: {"additionalDirectories": ["{out}"]}}),
    (
        [mode("acceptEdits", "localSettings"), folder("session")],
        {LOCAL: {"defaultMode": "acceptEdits"}},
    ),
    (
        [mode("acceptEdits", "projectSettings"), folder("session")],
        {PROJECT: {"defaultMode": "acceptEdits"}},
    ),
    (
        [mode("acceptEdits", "userSettings"), folder("session")],
        {USER: {"defaultMode": "acceptEdits"}},
    ),
]


@pytest.mark.parametrize(
    ("grant", "written"),
    MODES,
    ids=[f"{mode['destination']}-{folder['destination']}" for (mode, folder), _ in MODES],
)
async def test_a_mode_is_kept_where_it_is_to_be(
    start_keeper: StartKeeper, stage: Stage, grant: list[dict[str, Any]], written: Written
) -> None:
    stage.trust()
    step, again = "write: {out}/a.txt: 1", "write: {out}/b.txt: 1"
    assert await asks_no_more(start_keeper, stage, step, again, lambda _: grant) == written


async def test_a_rule_whose_content_is_null_allows_the_whole_tool(
    start_keeper: StartKeeper, stage: Stage
) -> None:
    grant = allowing("localSettings") | {
        "rules": [{"toolName": "mcp__notes__note", "ruleContent": None}]
    }
    assert await asks_no_more(start_keeper, stage, TOOL, TOOL, lambda _: [grant]) == {
        LOCAL: ALLOWED
    }


ASKED_EVERY_TIME = [
    # Claude Code asks about these files every time
    "write: .git/config: x",
    "write: .mcp.json: {}",
    "run: touch .git/x",
    # and about files that a command writes what it prints into
    "run: ls > out.txt",
    "run: git log > out.txt",
    "run: ls | tee out.txt",
    "run: echo $(whoami)",
    # about patterns and flags of commands that change files, and what it knows no rule for
    "run: rm -f *.tmp",
    "run: cp -r in out",
    "run: cd in && touch a.txt",
    "run: touch a.txt # note",
]


async def test_what_would_be_asked_again_is_not_offered(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    (keeper.workdir / ".git").mkdir()
    session = await keeper.start_session("say: hello", listener)
    offered = {}
    for step in ASKED_EVERY_TIME:
        await keeper.send(step, session)
        question = await listener.wait_for_question(session)
        offered[step] = question["grants"]
        await keeper.resolve(question, decision="deny")
        await listener.wait_for_turn_end(session)
    assert offered == {step: [] for step in ASKED_EVERY_TIME}


async def refused(
    keeper: InProcessKeeper, question: Any, *grant: dict[str, Any], status: int = 409
) -> str:
    failure = await keeper.resolve(question, status, updatedPermissions=list(grant))
    assert (await keeper.get("/attention"))["attention"] == [question]
    return str(failure["error"]["code"])


async def test_what_claude_code_would_forget_is_refused_and_the_question_stays(
    keeper: InProcessKeeper, listener: SocketListener, stage: Stage
) -> None:
    session = (await keeper.send(TOOL, workdir=str(stage.inside)))["sessionId"]
    question = await listener.wait_for_question(session)
    local = stage.inside / ".claude" / LOCAL
    odd = (
        '{"permissions": []}',
        '{"permissions": {"allow": "x"}}',
        '{"permissions": {"ask": null}}',
    )
    for content in ('{"permissions": ', "[]", '{"a": 1} // a comment', *odd):
        local.write_text(content)
        assert await refused(keeper, question, allowing("localSettings")) == "grant_forgotten"
        assert local.read_text() == content
    local.unlink()
    # Claude Code writes through no link of a project
    elsewhere = stage.out / "settings.json"
    local.symlink_to(elsewhere)
    assert await refused(keeper, question, allowing("localSettings")) == "grant_forgotten"
    elsewhere.write_text("{}")
    assert await refused(keeper, question, allowing("localSettings")) == "grant_forgotten"
    local.unlink()
    local.mkdir()
    assert await refused(keeper, question, allowing("localSettings")) == "grant_forgotten"
    # nobody said in a terminal that this project is to be trusted
    assert await refused(keeper, question, allowing("projectSettings")) == "grant_forgotten"
    # Claude Code takes this when it starts, and from root not at all
    assert await refused(keeper, question, mode("bypassPermissions")) == "mode_refused"
    nothing = [
        allowing("session", ruleContent=""),
        allowing("session") | {"rules": []},
        allowing("session") | {"rules": [{"toolName": ""}]},
        allowing("session") | {"rules": [{"toolName": "Read"}] * 5_000},
        folder("session") | {"directories": []},
    ]
    for change in nothing:
        assert await refused(keeper, question, change, status=400) == "invalid_request"
    # once is always possible
    await keeper.resolve(question)
    await listener.wait_for_turn_end(session, outcome="done")


async def test_below_a_repository_s_root_and_in_a_worktree_the_file_is_the_repository_s(
    start_keeper: StartKeeper, isolated: Path
) -> None:
    repository = isolated / "repository"
    git = repository / ".git"
    for name in ("objects", "refs", "worktrees/other"):
        (git / name).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    stage = Stage(repository)
    assert await asks_no_more(start_keeper, stage, TOOL, TOOL, lambda each: each["grants"][0]) == {}
    local = repository / ".claude" / LOCAL
    assert json.loads(local.read_text())["permissions"] == ALLOWED
    local.write_text("{")
    fault = find_grant_obstacle("localSettings", str(stage.inside)) or ""
    assert fault == f"{local} is not valid JSON."
    worktree = isolated / "worktree"
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {git}/worktrees/other\n")
    assert find_grant_obstacle("localSettings", str(worktree)) == fault
    # one's home is no project, whatever lies in it
    (isolated / ".git").mkdir()
    assert find_grant_obstacle("localSettings", str(isolated / "work")) is None


async def test_of_answers_at_once_in_one_project_none_is_forgotten(
    keeper: InProcessKeeper, listener: SocketListener, stage: Stage
) -> None:
    steps = [TOOL, "run: python3 -c 1", 'call: WebSearch {"query": "a word"}']
    sessions = [(await keeper.send(each, workdir=str(stage.inside)))["sessionId"] for each in steps]
    questions = [(await listener.wait_for_event("attention/raised"))["attention"] for _ in steps]
    await asyncio.gather(
        *(keeper.resolve(each, updatedPermissions=each["grants"][0]) for each in questions)
    )
    # what was answered stands there, and nothing has to be waited for
    (allowed,) = [each["allow"] for each in stage.written.values()]
    assert sorted(allowed) == ["Bash(python3 -c 1)", "WebSearch", "mcp__notes__note"]
    # of two answers to one question the first counts, as ever
    session = (await keeper.send("run: npm run x", workdir=str(stage.inside)))["sessionId"]
    question = await listener.wait_for_question(session)
    answer = {"attentionId": question["id"], "decision": "allow"}
    answer["updatedPermissions"] = question["grants"][0]
    assert sorted(await asyncio.gather(*(status_of(keeper, answer) for _ in range(2)))) == [
        200,
        409,
    ]
    assert len(set(sessions)) == len(steps)


async def status_of(keeper: InProcessKeeper, answer: Any) -> int:
    async with keeper.client.post("/resolve", json=answer) as response:
        return response.status
