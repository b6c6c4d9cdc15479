"""Terminals and the keeper in each other's way: races, kills, several writers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.config import load_config
from claudekeeper.demo.api import ScriptedApi
from claudekeeper.demo.home import DemoHome
from claudekeeper.features.hooks import Settings
from tests.elsewhere.conftest import OpenTerminal
from tests.elsewhere.people import Watcher, updated
from tests.elsewhere.terminal import Terminal, Tmux, presences, set_up, without_tmux
from tests.elsewhere.test_terminals import PROMPT, hooks  # noqa: F401
from tests.process import Keeper as Program
from tests.real_cli import scripted_api  # noqa: F401
from tests.talking.keeper import Ear, Keeper, text_of, uuids
from tests.visitor import visiting
from tests.waiting import until

pytestmark = [without_tmux, pytest.mark.timeout(400)]


@pytest.mark.usefixtures("hooks")
async def test_two_answers_in_a_race_have_one_effect_and_everybody_knows_which(
    keeper: Keeper, ear: Ear, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    for number in range(4):
        file = keeper.workdir / f"{number}.txt"
        await terminal.say(f"run: touch {file.name}")
        question = (await ear.event("attention/raised"))["attention"]
        await terminal.shows(PROMPT)
        # allowed there, denied here
        wish = {"attentionId": question["id"], "decision": "deny", "message": "not now"}
        _, answer = await asyncio.gather(
            terminal.confirm(PROMPT), keeper.client.post("/resolve", json=wish)
        )
        assert answer.status in (200, 409)
        first = await ear.event("attention/settled", attentionId=question["id"])
        told = await ear.until(
            lambda e: e["type"] == "message/added" and e["message"]["kind"] == "toolResult"
        )
        ran = "not now" not in json.dumps(told["message"]["content"])
        assert file.exists() == ran
        if not ran:
            assert (answer.status, first["decision"]) == (200, "deny")
        elif first["by"] != "terminal":
            # our answer came too late and nobody could know: it is put right, maybe already
            settled = ear.of("attention/settled", question["sessionId"])[-1]
            if settled is first:
                settled = await ear.event("attention/settled", attentionId=question["id"])
            assert (settled["decision"], settled["by"]) == ("allow", "terminal")
        else:
            assert answer.status == 409
        await updated(ear, question["sessionId"], state="idle")
        assert (await keeper.get("/attention"))["attention"] == []


async def test_two_terminals_and_the_keeper_on_one_session(
    keeper: Keeper, ear: Ear, terminals: OpenTerminal
) -> None:
    session = (await keeper.send("say: here"))["sessionId"]
    await ear.finished(session)
    watcher = await Watcher.of(keeper, session)
    one = await terminals("--resume", session)
    await updated(ear, session, origin="terminal")
    two = await terminals("--resume", session)
    await until(lambda: len(presences()) == 2)
    await one.say("say: from one")
    await one.shows("from one")
    await two.say("say: from two")
    # both append, so the transcript forks; whoever watches has what a fresh reading gives
    for words in ("from one", "from two"):
        await watcher.sees(lambda words=words: words in [text_of(m) for m in watcher.messages])
    assert watcher.uuids == uuids(await keeper.history(session))
    await keeper.post("/send", {"sessionId": session, "text": "say: no"}, 409)
    await one.say("/exit")
    await until(lambda: len(presences()) == 1)
    # one of them is still there
    await keeper.post("/send", {"sessionId": session, "text": "say: no"}, 409)
    await two.say("/exit")
    await updated(ear, session, origin=None)
    await keeper.send("say: alone again", session)
    await ear.finished(session, outcome="done")
    said = [text_of(message) for message in await keeper.history(session)]
    assert {"say: here", "say: from one", "say: from two", "say: alone again"} <= set(said)
    assert len(uuids(await keeper.history(session))) == len(
        set(uuids(await keeper.history(session)))
    )


async def test_a_terminal_that_picks_a_session_of_the_keeper_is_shown_there(
    keeper: Keeper, ear: Ear, terminals: OpenTerminal
) -> None:
    """By the list that `/resume` shows, which has what terminals began."""
    first = await terminals()
    await first.say("say: the old one")
    session = str((await ear.event("message/added"))["sessionId"])
    await updated(ear, session, origin="terminal", state="idle")
    await first.say("/exit")
    await updated(ear, session, origin=None)
    await keeper.send("say: from here", session)
    await ear.finished(session, outcome="done")
    assert (await keeper.get("/health"))["live"] == 1
    terminal = await terminals()
    await terminal.say("say: the new one")
    other = str((await ear.event("message/added"))["sessionId"])
    await updated(ear, other, origin="terminal", state="idle")
    await terminal.say("/resume")
    await terminal.shows("say: the old one")
    await terminal.confirm("Resume session")
    # the keeper's own CLI makes way, and nobody else is taken for it
    await updated(ear, session, origin="terminal")
    await updated(ear, other, origin=None)
    while (await keeper.get("/health"))["live"]:
        pass
    await keeper.post("/send", {"sessionId": session, "text": "say: no"}, 409)
    await terminal.say("say: goes on")
    watcher = await Watcher.of(keeper, session)
    await watcher.sees(lambda: "goes on" in [text_of(m) for m in watcher.messages])
    assert watcher.uuids == uuids(await keeper.history(session))


@pytest.fixture
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        yield home


@pytest.fixture
def tmux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tmux]:
    tmux = Tmux(tmp_path_factory.mktemp("tmux"))
    yield tmux
    tmux.end()


async def test_a_keeper_killed_while_a_terminal_asks_approves_nothing(
    home: DemoHome,
    tmux: Tmux,
    scripted_api: ScriptedApi,  # noqa: F811
) -> None:
    work = home.project("scratch")
    load_config(home.keeper)
    Settings(home.config, home.keeper).install()
    environment = set_up(work, home.environment(scripted_api.url))
    with Program(home, api_url=scripted_api.url) as killed:
        terminal = await Terminal(tmux, work, environment).start()
        async with visiting(killed) as visitor:
            ear = await visitor.listen()
            await terminal.say("run: touch a.txt")
            asked = (await ear.event("attention/raised"))["attention"]
            await terminal.shows(PROMPT)
            killed.process.kill()
            killed.process.wait()
    assert not (work / "a.txt").exists()
    await terminal.shows(PROMPT)

    # the next keeper asks the same question, and its answer counts
    with Program(home, api_url=scripted_api.url) as keeper:
        async with visiting(keeper) as visitor:
            ear = await visitor.listen()
            again: Any = (await ear.event("attention/raised"))["attention"]
            assert (again["input"], again["tool"]) == (asked["input"], asked["tool"])
            assert not (work / "a.txt").exists()
            await visitor.post("/resolve", {"attentionId": again["id"], "decision": "allow"})
            await terminal.shows_no(PROMPT)
            await until(lambda: (work / "a.txt").exists())
            # killed once more: this time the person at the terminal answers
            await updated(ear, again["sessionId"], state="idle")
            await terminal.say("run: touch b.txt")
            await ear.event("attention/raised")
            await terminal.shows(PROMPT)
            keeper.process.kill()
            keeper.process.wait()
    assert not Path(work / "b.txt").exists()
    await terminal.confirm(PROMPT)
    await until(lambda: (work / "b.txt").exists())
