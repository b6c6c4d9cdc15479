"""Terminals and the keeper in each other's way: races, kills, several writers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.attention.hook_settings import ClaudeSettingsFile
from claudekeeper.core.config import load_config
from claudekeeper.demo.home import DemoHome
from claudekeeper.demo.messages_api import ScriptedApi
from tests.integration.terminals.conftest import OpenTerminal
from tests.integration.terminals.test_terminals import PROMPT, hooks  # noqa: F401
from tests.support.api_visitor import connect_api
from tests.support.keeper_in_process import Event, InProcessKeeper, SocketListener, text_of, uuids
from tests.support.keeper_process import KeeperProcess as Program
from tests.support.terminal import Terminal, Tmux, needs_tmux, prepare_claude_home, presence_files
from tests.support.transcript_people import SessionWatcher, wait_for_session_update
from tests.support.waiting import wait_for, wait_until

pytestmark = [needs_tmux, pytest.mark.timeout(400)]


async def denied_here(listener: SocketListener, first: Event, status: int) -> None:
    assert (status, first["decision"]) == (200, "deny")


async def allowed_there(listener: SocketListener, first: Event, status: int) -> None:
    assert status == 409


async def put_right(listener: SocketListener, first: Event, status: int) -> None:
    """Our answer came too late and nobody could know: it is put right, maybe already."""
    assert status in (200, 409)
    await listener.wait_until(lambda: settled(listener, first)[-1] is not first)
    last = settled(listener, first)[-1]
    assert (last["decision"], last["by"]) == ("allow", "terminal")


def settled(listener: SocketListener, first: Event) -> list[Event]:
    return [
        event
        for event in listener.events_of("attention/settled", first["sessionId"])
        if event["attentionId"] == first["attentionId"]
    ]


# whether the command ran, and whether the first answer that was published is the terminal's
CHECKS = {
    (False, False): denied_here,
    (False, True): denied_here,
    (True, False): put_right,
    (True, True): allowed_there,
}


@pytest.mark.usefixtures("hooks")
async def test_two_answers_in_a_race_have_one_effect_and_everybody_knows_which(
    keeper: InProcessKeeper, listener: SocketListener, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    for number in range(4):
        file = keeper.workdir / f"{number}.txt"
        await terminal.type_line(f"run: touch {file.name}")
        question = (await listener.wait_for_event("attention/raised"))["attention"]
        await terminal.wait_for_text(PROMPT)
        # allowed there, denied here
        body = {"attentionId": question["id"], "decision": "deny", "message": "not now"}
        _, answer = await asyncio.gather(
            terminal.confirm(PROMPT), keeper.client.post("/resolve", json=body)
        )
        first = await listener.wait_for_event("attention/settled", attentionId=question["id"])
        event = await listener.wait_for(
            lambda e: e["type"] == "message/added" and e["message"]["kind"] == "toolResult"
        )
        ran = "not now" not in json.dumps(event["message"]["content"])
        assert file.exists() == ran
        await CHECKS[ran, first["by"] == "terminal"](listener, first, answer.status)
        await wait_for_session_update(listener, question["sessionId"], state="idle")
        assert (await keeper.get("/attention"))["attention"] == []


async def test_two_terminals_and_the_keeper_on_one_session(
    keeper: InProcessKeeper, listener: SocketListener, terminals: OpenTerminal
) -> None:
    session = (await keeper.send("say: here"))["sessionId"]
    await listener.wait_for_turn_end(session)
    watcher = await SessionWatcher.open(keeper, session)
    one = await terminals("--resume", session)
    await wait_for_session_update(listener, session, origin="terminal")
    two = await terminals("--resume", session)
    await wait_until(lambda: len(presence_files()) == 2)
    await one.type_line("say: from one")
    await one.wait_for_text("from one")
    await two.type_line("say: from two")
    # both append, so the transcript forks; whoever watches has what a fresh reading gives
    for words in ("from one", "from two"):
        await watcher.wait_until(
            lambda words=words: words in [text_of(m) for m in watcher.messages]
        )
    assert watcher.uuids == uuids(await keeper.history(session))
    await keeper.post("/send", {"sessionId": session, "text": "say: no"}, 409)
    await one.type_line("/exit")
    await wait_until(lambda: len(presence_files()) == 1)
    # one of them is still there
    await keeper.post("/send", {"sessionId": session, "text": "say: no"}, 409)
    await two.type_line("/exit")
    await wait_for_session_update(listener, session, origin=None)
    await keeper.send("say: alone again", session)
    await listener.wait_for_turn_end(session, outcome="done")
    texts = [text_of(message) for message in await keeper.history(session)]
    assert {"say: here", "say: from one", "say: from two", "say: alone again"} <= set(texts)
    assert len(uuids(await keeper.history(session))) == len(
        set(uuids(await keeper.history(session)))
    )


async def test_a_terminal_that_picks_a_session_of_the_keeper_is_shown_there(
    keeper: InProcessKeeper, listener: SocketListener, terminals: OpenTerminal
) -> None:
    """By the list that `/resume` shows, which has what terminals began."""
    first = await terminals()
    await first.type_line("say: the old one")
    session = str((await listener.wait_for_event("message/added"))["sessionId"])
    await wait_for_session_update(listener, session, origin="terminal", state="idle")
    await first.type_line("/exit")
    await wait_for_session_update(listener, session, origin=None)
    await keeper.send("say: from here", session)
    await listener.wait_for_turn_end(session, outcome="done")
    assert (await keeper.get("/health"))["live"] == 1
    terminal = await terminals()
    await terminal.type_line("say: the new one")
    other = str((await listener.wait_for_event("message/added"))["sessionId"])
    await wait_for_session_update(listener, other, origin="terminal", state="idle")
    await terminal.type_line("/resume")
    await terminal.wait_for_text("say: the old one")
    await terminal.confirm("Resume session")
    # the keeper's own CLI makes way, and nobody else is taken for it
    await wait_for_session_update(listener, session, origin="terminal")
    await wait_for_session_update(listener, other, origin=None)
    await wait_for(lambda: keeper.get("/health"), lambda health: not health["live"])
    await keeper.post("/send", {"sessionId": session, "text": "say: no"}, 409)
    await terminal.type_line("say: goes on")
    watcher = await SessionWatcher.open(keeper, session)
    await watcher.wait_until(lambda: "goes on" in [text_of(m) for m in watcher.messages])
    assert watcher.uuids == uuids(await keeper.history(session))


@pytest.fixture
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        yield home


@pytest.fixture
def tmux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tmux]:
    tmux = Tmux(tmp_path_factory.mktemp("tmux"))
    yield tmux
    tmux.stop()


async def test_a_keeper_killed_while_a_terminal_asks_approves_nothing(
    home: DemoHome,
    tmux: Tmux,
    scripted_api: ScriptedApi,
) -> None:
    work = home.project("scratch")
    load_config(home.keeper)
    ClaudeSettingsFile(home.config, home.keeper).install()
    environment = prepare_claude_home(work, home.environment(scripted_api.url))
    with Program(home, api_url=scripted_api.url) as killed:
        terminal = await Terminal(tmux, work, environment).start()
        async with connect_api(killed) as visitor:
            listener = await visitor.listen()
            await terminal.type_line("run: touch a.txt")
            question = (await listener.wait_for_event("attention/raised"))["attention"]
            await terminal.wait_for_text(PROMPT)
            killed.process.kill()
            killed.process.wait()
    assert not (work / "a.txt").exists()
    await terminal.wait_for_text(PROMPT)

    # the next keeper asks the same question, and its answer counts
    with Program(home, api_url=scripted_api.url) as keeper:
        async with connect_api(keeper) as visitor:
            listener = await visitor.listen()
            again: Any = (await listener.wait_for_event("attention/raised"))["attention"]
            assert (again["input"], again["tool"]) == (question["input"], question["tool"])
            assert not (work / "a.txt").exists()
            await visitor.post("/resolve", {"attentionId": again["id"], "decision": "allow"})
            await terminal.wait_until_gone(PROMPT)
            await wait_until(lambda: (work / "a.txt").exists())
            # killed once more: this time the person at the terminal answers
            await wait_for_session_update(listener, again["sessionId"], state="idle")
            await terminal.type_line("run: touch b.txt")
            await listener.wait_for_event("attention/raised")
            await terminal.wait_for_text(PROMPT)
            keeper.process.kill()
            keeper.process.wait()
    assert not Path(work / "b.txt").exists()
    await terminal.confirm(PROMPT)
    await wait_until(lambda: (work / "b.txt").exists())
