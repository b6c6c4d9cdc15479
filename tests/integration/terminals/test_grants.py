"""What is allowed for good here, of what a terminal asks, holds there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.terminals.conftest import OpenTerminal
from tests.integration.terminals.test_terminals import hooks  # noqa: F401
from tests.support.keeper_in_process import InProcessKeeper, SocketListener
from tests.support.mcp_server import install
from tests.support.terminal import Terminal, needs_tmux
from tests.support.transcript_people import wait_for_session_update
from tests.support.waiting import wait_until

pytestmark = [needs_tmux, pytest.mark.timeout(240)]
TOOL = 'call: mcp__notes__note {"word": "x"}'


async def done(terminal: Terminal, listener: SocketListener, what: str) -> None:
    """Says it; returns when it is done."""
    await terminal.type_line(what)
    await listener.wait_for(
        lambda e: e["type"] == "message/added" and e["message"]["kind"] == "toolResult"
    )
    await listener.wait_for_event("session/updated")


async def allowed(
    terminal: Terminal, keeper: InProcessKeeper, listener: SocketListener, what: str
) -> Any:
    """Says it, and allows it for good, with the only grant that is offered."""
    await terminal.type_line(what)
    question = (await listener.wait_for_event("attention/raised"))["attention"]
    (grant,) = question["grants"]
    await keeper.resolve(question, updatedPermissions=grant)
    await listener.wait_for(
        lambda e: e["type"] == "message/added" and e["message"]["kind"] == "toolResult"
    )
    await wait_for_session_update(listener, question["sessionId"], state="idle", attention=0)
    return question


@pytest.mark.usefixtures("hooks")
async def test_a_whole_tool_is_not_asked_about_again_there_or_in_the_next_terminal(
    keeper: InProcessKeeper, listener: SocketListener, terminals: OpenTerminal
) -> None:
    install(keeper.workdir)
    terminal = await terminals()
    await allowed(terminal, keeper, listener, TOOL)
    local = keeper.workdir / ".claude" / "settings.local.json"
    await wait_until(local.exists)
    assert json.loads(local.read_text()) == {"permissions": {"allow": ["mcp__notes__note"]}}
    await done(terminal, listener, TOOL.replace('"x"', '"y"'))
    await terminal.type_line("/exit")
    await done(await terminals(), listener, TOOL.replace('"x"', '"z"'))
    assert len(listener.events_of("attention/raised")) == 1


@pytest.mark.usefixtures("hooks")
async def test_edits_outside_are_allowed_with_their_directory(
    keeper: InProcessKeeper, listener: SocketListener, terminals: OpenTerminal
) -> None:
    outside = keeper.home / "outside"
    outside.mkdir()
    terminal = await terminals()
    await allowed(terminal, keeper, listener, f"write: {outside}/a.txt: 1")
    await done(terminal, listener, f"write: {outside}/b.txt: 1")
    assert (outside / "b.txt").exists()
    # what it asks about every time is not offered
    await terminal.type_line("write: .mcp.json: {}")
    question = (await listener.wait_for_event("attention/raised"))["attention"]
    assert question["grants"] == []
    await keeper.resolve(question, decision="deny")
    assert len(listener.events_of("attention/raised")) == 2
