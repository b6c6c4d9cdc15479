"""Commands of Claude Code's own that are prompts, told by what the real CLI writes."""

from __future__ import annotations

import pytest

from tests.integration.terminals.conftest import OpenTerminal
from tests.support.keeper_in_process import InProcessKeeper, SocketListener
from tests.support.terminal import needs_tmux
from tests.support.transcript_people import wait_for_session_update

pytestmark = [needs_tmux, pytest.mark.timeout(120)]


async def test_a_plan_with_words_names_the_session_and_a_model_does_not(
    keeper: InProcessKeeper, ear: SocketListener, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    await terminal.type_line("/model sonnet")
    await terminal.wait_for_text("Set model to Sonnet")
    await terminal.type_line("/plan build the shed")
    asked = "/plan build the shed"
    session = str((await ear.wait_for_event("message/added"))["sessionId"])
    told = await wait_for_session_update(ear, session, title=asked, state="idle", firstPrompt=asked)
    assert told["lastPrompt"] == asked
    standing = await keeper.get(f"/sessions/{session}/resume")
    assert asked in standing["recap"]["detailed"]
    listed = (await keeper.get("/sessions"))["sessions"]
    assert [(each["title"], each["lastPrompt"]) for each in listed] == [(asked, asked)]


async def test_a_goal_given_here_is_the_last_prompt(
    keeper: InProcessKeeper, ear: SocketListener
) -> None:
    session = await keeper.start_session("say: hello", ear)
    await keeper.send("/model sonnet", session)
    await ear.wait_for_turn_end(session)
    await keeper.send("/goal the shed has a roof", session)
    await ear.wait_for_turn_end(session)
    told = await wait_for_session_update(ear, session, lastPrompt="/goal the shed has a roof")
    assert told["title"] == "say: hello"
