"""What a person appends to the system prompt of a session: from its next process on, and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from claudekeeper.contract.requests import MAX_PROMPT_LENGTH
from claudekeeper.demo.messages_api import ScriptedApi
from claudekeeper.server.app_keys import MANAGER
from tests.integration.conftest import StartKeeper
from tests.support.keeper_in_process import InProcessKeeper, SocketListener

ADA = "You are Ada, a reviewer: —\u00a0„genau“ \U0001f9ff."


def last_system_prompt(api: ScriptedApi) -> str:
    """The system prompt of the last turn; what the CLI asks beside the turns has one of its own."""
    every = (each.model_request for each in reversed(api.requests))
    return next(each.system_text for each in every if each.prompt and each.output_schema is None)


async def say(keeper: InProcessKeeper, listener: SocketListener, session: str, **more: Any) -> Any:
    sent = await keeper.send("say: word", session, **more)
    await listener.wait_for_turn_end(session, outcome="done", uuid=sent["uuid"])
    return sent


async def stored_system_prompt(keeper: InProcessKeeper, session: str) -> Any:
    page = await keeper.get(f"/sessions/{session}")
    (row,) = [each for each in (await keeper.get("/sessions"))["sessions"] if each["id"] == session]
    assert row["systemPrompt"] == page["session"]["systemPrompt"]
    return row["systemPrompt"]


async def test_a_new_session_has_it_behind_claude_codes_own(
    keeper: InProcessKeeper, listener: SocketListener, scripted_api: ScriptedApi
) -> None:
    session = await keeper.start_session("say: one", listener)
    own = last_system_prompt(scripted_api)
    sent = await keeper.send("say: one", systemPrompt=ADA)
    assert sent["systemPrompt"] == {"characters": len(ADA), "pending": False}
    await listener.wait_for_turn_end(sent["sessionId"], outcome="done")
    assert ADA in last_system_prompt(scripted_api)
    assert len(last_system_prompt(scripted_api)) > len(own)
    settings = await keeper.get(f"/sessions/{sent['sessionId']}/settings")
    assert (settings["systemPrompt"], settings["pending"]) == (ADA, False)
    # nobody else has it
    assert await stored_system_prompt(keeper, session) is None
    await say(keeper, listener, session)
    assert ADA not in last_system_prompt(scripted_api)


async def test_a_session_has_it_from_its_next_process_on_and_ever_after(
    start_keeper: StartKeeper, scripted_api: ScriptedApi
) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = await keeper.start_session("say: one", listener)
    sent = await say(keeper, listener, session, systemPrompt=ADA)
    # the process that runs is what it was
    assert sent["systemPrompt"] == {"characters": len(ADA), "pending": True}
    assert await stored_system_prompt(keeper, session) == sent["systemPrompt"]
    assert (await keeper.get(f"/sessions/{session}/settings"))["pending"]
    await say(keeper, listener, session)
    assert ADA not in last_system_prompt(scripted_api)
    for _ in range(2):
        await keeper.close_session(session)
        assert await stored_system_prompt(keeper, session) == {
            "characters": len(ADA),
            "pending": False,
        }
        await say(keeper, listener, session)
        assert ADA in last_system_prompt(scripted_api)
    await keeper.stop()
    keeper = await start_keeper()
    listener = await keeper.listen()
    assert await stored_system_prompt(keeper, session) == {"characters": len(ADA), "pending": False}
    await say(keeper, listener, session)
    assert ADA in last_system_prompt(scripted_api)


async def test_another_one_replaces_it_and_null_clears_it(
    keeper: InProcessKeeper, listener: SocketListener, scripted_api: ScriptedApi
) -> None:
    session = await keeper.start_session("say: one", listener, systemPrompt=ADA)
    await say(keeper, listener, session, systemPrompt="You are Bob.")
    assert ADA in last_system_prompt(scripted_api)
    await keeper.close_session(session)
    await say(keeper, listener, session)
    assert "You are Bob." in last_system_prompt(scripted_api)
    assert ADA not in last_system_prompt(scripted_api)
    sent = await say(keeper, listener, session, systemPrompt=None)
    # it is cleared, and the process that runs has it still
    assert sent["systemPrompt"] == {"characters": 0, "pending": True}
    assert "You are Bob." in last_system_prompt(scripted_api)
    await keeper.close_session(session)
    assert await stored_system_prompt(keeper, session) is None
    sent = await say(keeper, listener, session, systemPrompt=None)
    assert sent["systemPrompt"] is None
    assert "You are Bob." not in last_system_prompt(scripted_api)


async def test_it_is_changed_without_a_message_too(
    start_keeper: StartKeeper, scripted_api: ScriptedApi
) -> None:
    keeper = await start_keeper()
    listener = await keeper.listen()
    session = await keeper.start_session("say: one", listener, model="claude-sonnet-4-5")
    changed = await keeper.post(f"/sessions/{session}/mode", {"systemPrompt": ADA})
    assert changed["systemPrompt"] == {"characters": len(ADA), "pending": True}
    await listener.wait_for(
        lambda event: (
            event["type"] == "session/updated"
            and event["session"]["systemPrompt"] == changed["systemPrompt"]
        )
    )
    await keeper.stop()
    keeper = await start_keeper()
    listener = await keeper.listen()
    assert await keeper.get(f"/sessions/{session}/settings") == {
        "model": "claude-sonnet-4-5",
        "permissionMode": None,
        "systemPrompt": ADA,
        "pending": False,
    }
    await say(keeper, listener, session)
    assert ADA in last_system_prompt(scripted_api)
    # another model does not change it
    await keeper.post(f"/sessions/{session}/mode", {"model": None})
    assert (await keeper.get(f"/sessions/{session}/settings"))["systemPrompt"] == ADA
    await keeper.post(f"/sessions/{session}/mode", {"systemPrompt": None})
    assert (await keeper.get(f"/sessions/{session}/settings"))["systemPrompt"] is None


async def test_a_copy_has_it_too(
    keeper: InProcessKeeper, listener: SocketListener, scripted_api: ScriptedApi
) -> None:
    session = await keeper.start_session("say: one", listener, systemPrompt=ADA)
    copy = (await keeper.send("say: two", session, fork=True))["sessionId"]
    await listener.wait_for_turn_end(copy, outcome="done")
    assert ADA in last_system_prompt(scripted_api)
    other = await keeper.send("say: three", session, fork=True, systemPrompt="You are Bob.")
    await listener.wait_for_turn_end(other["sessionId"], outcome="done")
    assert "You are Bob." in last_system_prompt(scripted_api)
    assert (await keeper.get(f"/sessions/{session}/settings"))["systemPrompt"] == ADA


async def test_it_stands_beside_what_a_dispatch_says(
    keeper: InProcessKeeper, listener: SocketListener, scripted_api: ScriptedApi
) -> None:
    work = {"text": "say: one", "workdir": str(keeper.workdir), "systemPrompt": "You are Bob."}
    address = "/conversations/item/dispatch"
    session = (await keeper.post(address, {**work, "wait": True}))["sessionId"]
    await keeper.post(f"/sessions/{session}/mode", {"systemPrompt": ADA})
    await keeper.close_session(session)
    await keeper.post(address, {**work, "text": "say: two", "wait": True})
    assert ADA in last_system_prompt(scripted_api)
    assert "You are Bob." in last_system_prompt(scripted_api)


async def test_the_longest_one_is_taken_in_any_script(
    keeper: InProcessKeeper, listener: SocketListener, scripted_api: ScriptedApi
) -> None:
    longest = "語" * (MAX_PROMPT_LENGTH - 1) + "末"
    sent = await keeper.send("say: one", systemPrompt=longest)
    await listener.wait_for_turn_end(sent["sessionId"], outcome="done")
    assert longest in last_system_prompt(scripted_api)


@pytest.mark.parametrize("odd", ["--model=evil", '"}\n{"type":"x', "@/etc/passwd", "$(touch c)"])
async def test_odd_words_are_words(
    keeper: InProcessKeeper, listener: SocketListener, scripted_api: ScriptedApi, odd: str
) -> None:
    await keeper.start_session("say: one", listener, systemPrompt=odd)
    assert odd in last_system_prompt(scripted_api)


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        ("", "is empty; null clears it"),
        (" \n", "is empty; null clears it"),
        ("x" * (MAX_PROMPT_LENGTH + 1), "has 60,001 characters; at most 60,000 are allowed"),
        ("a\0b", "has a NUL character"),
        (7, "Expected `str | null`, got `int`"),
    ],
)
async def test_what_cannot_be_one_is_refused_in_words(
    keeper: InProcessKeeper, listener: SocketListener, prompt: Any, why: str
) -> None:
    session = await keeper.start_session("say: one", listener)
    where = {"sessionId": session, "text": "say: two", "systemPrompt": prompt}
    refused = await keeper.post("/send", where, 400)
    assert why in refused["error"]["message"]
    assert refused["error"]["code"] == "invalid_request"
    refused = await keeper.post(f"/sessions/{session}/mode", {"systemPrompt": prompt}, 400)
    assert why in refused["error"]["message"]
    assert len(await keeper.history(session)) == 2


async def test_no_process_shows_it_to_others(
    keeper: InProcessKeeper, listener: SocketListener
) -> None:
    """Every user of the machine may read the arguments of a process."""
    session = await keeper.start_session("say: one", listener, systemPrompt="Ada's secret")
    live = keeper.app[MANAGER].get(session)
    assert live is not None
    assert b"secret" not in Path(f"/proc/{live.pid}/cmdline").read_bytes()
