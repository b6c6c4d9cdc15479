"""Commands of Claude Code's own that are prompts, told by what the real CLI writes."""

from __future__ import annotations

import pytest

from tests.integration.terminals.conftest import OpenTerminal
from tests.support.keeper_in_process import InProcessKeeper, SocketListener
from tests.support.terminal import needs_tmux
from tests.support.transcript_people import wait_for_session_update

pytestmark = [needs_tmux, pytest.mark.timeout(120)]


async def test_a_plan_with_words_names_the_session_and_a_model_does_not(
    keeper: InProcessKeeper, listener: SocketListener, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    await terminal.type_line("/model sonnet")
    await terminal.wait_for_text("Set model to Sonnet")
    await terminal.type_line("/plan build the shed")
    text = "/plan build the shed"
    session = str((await listener.wait_for_event("message/added"))["sessionId"])
    session_row = await wait_for_session_update(
        listener, session, title=text, state="idle", firstPrompt=text
    )
    assert session_row["lastPrompt"] == text
    standing = await keeper.get(f"/sessions/{session}/resume")
    assert text in standing["recap"]["detailed"]
    listed = (await keeper.get("/sessions"))["sessions"]
    assert [(each["title"], each["lastPrompt"]) for each in listed] == [(text, text)]


async def test_a_goal_given_here_is_the_last_prompt(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    session = await keeper.start_session("say: hello", listener)
    await keeper.send("/model sonnet", session)
    await listener.wait_for_turn_end(session)
    await keeper.send("/goal the shed has a roof", session)
    await listener.wait_for_turn_end(session)
    session_row = await wait_for_session_update(
        listener, session, lastPrompt="/goal the shed has a roof"
    )
    assert session_row["title"] == "say: hello"
