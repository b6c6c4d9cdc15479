"""What is allowed for good here, of what a terminal asks, holds there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.elsewhere.conftest import OpenTerminal
from tests.elsewhere.people import updated
from tests.elsewhere.terminal import Terminal, without_tmux
from tests.elsewhere.test_terminals import hooks  # noqa: F401
from tests.talking.keeper import Ear, Keeper
from tests.talking.mcp_server import install
from tests.waiting import until

pytestmark = [without_tmux, pytest.mark.timeout(240)]
TOOL = 'call: mcp__notes__note {"word": "x"}'


async def done(terminal: Terminal, ear: Ear, what: str) -> None:
    """Says it; returns when it is done."""
    await terminal.say(what)
    await ear.until(lambda e: e["type"] == "message/added" and e["message"]["kind"] == "toolResult")
    await ear.event("session/updated")


async def allowed(terminal: Terminal, keeper: Keeper, ear: Ear, what: str) -> Any:
    """Says it, and allows it for good, with the only grant that is offered."""
    await terminal.say(what)
    question = (await ear.event("attention/raised"))["attention"]
    (grant,) = question["grants"]
    await keeper.resolve(question, updatedPermissions=grant)
    await ear.until(lambda e: e["type"] == "message/added" and e["message"]["kind"] == "toolResult")
    await updated(ear, question["sessionId"], state="idle", attention=0)
    return question


@pytest.mark.usefixtures("hooks")
async def test_a_whole_tool_is_not_asked_about_again_there_or_in_the_next_terminal(
    keeper: Keeper, ear: Ear, terminals: OpenTerminal
) -> None:
    install(keeper.workdir)
    terminal = await terminals()
    await allowed(terminal, keeper, ear, TOOL)
    local = keeper.workdir / ".claude" / "settings.local.json"
    await until(local.exists)
    assert json.loads(local.read_text()) == {"permissions": {"allow": ["mcp__notes__note"]}}
    await done(terminal, ear, TOOL.replace('"x"', '"y"'))
    await terminal.say("/exit")
    await done(await terminals(), ear, TOOL.replace('"x"', '"z"'))
    assert len(ear.of("attention/raised")) == 1


@pytest.mark.usefixtures("hooks")
async def test_edits_outside_are_allowed_with_their_directory(
    keeper: Keeper, ear: Ear, terminals: OpenTerminal
) -> None:
    outside = keeper.home / "outside"
    outside.mkdir()
    terminal = await terminals()
    await allowed(terminal, keeper, ear, f"write: {outside}/a.txt: 1")
    await done(terminal, ear, f"write: {outside}/b.txt: 1")
    assert (outside / "b.txt").exists()
    # what it asks about every time is not offered
    await terminal.say("write: .mcp.json: {}")
    question = (await ear.event("attention/raised"))["attention"]
    assert question["grants"] == []
    await keeper.resolve(question, decision="deny")
    assert len(ear.of("attention/raised")) == 2
