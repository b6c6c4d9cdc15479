"""Commands of Claude Code's own that are prompts, told by what the real CLI writes."""

from __future__ import annotations

import pytest

from tests.elsewhere.conftest import OpenTerminal
from tests.elsewhere.people import updated
from tests.elsewhere.terminal import without_tmux
from tests.talking.keeper import Ear, Keeper

pytestmark = [without_tmux, pytest.mark.timeout(120)]


async def test_a_plan_with_words_names_the_session_and_a_model_does_not(
    keeper: Keeper, ear: Ear, terminals: OpenTerminal
) -> None:
    terminal = await terminals()
    await terminal.say("/model sonnet")
    await terminal.shows("Set model to Sonnet")
    await terminal.say("/plan build the shed")
    asked = "/plan build the shed"
    session = str((await ear.event("message/added"))["sessionId"])
    told = await updated(ear, session, title=asked, state="idle", firstPrompt=asked)
    assert told["lastPrompt"] == asked
    standing = await keeper.get(f"/sessions/{session}/resume")
    assert asked in standing["recap"]["detailed"]
    listed = (await keeper.get("/sessions"))["sessions"]
    assert [(each["title"], each["lastPrompt"]) for each in listed] == [(asked, asked)]


async def test_a_goal_given_here_is_the_last_prompt(keeper: Keeper, ear: Ear) -> None:
    session = await keeper.begin("say: hello", ear)
    await keeper.send("/model sonnet", session)
    await ear.finished(session)
    await keeper.send("/goal the shed has a roof", session)
    await ear.finished(session)
    told = await updated(ear, session, lastPrompt="/goal the shed has a roof")
    assert told["title"] == "say: hello"
