"""Stopping, holding and the line, from a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial

import pytest

from claudekeeper.demo.home import DemoHome
from claudekeeper.demo.messages_api import ScriptedApi
from tests.support.api_visitor import connect_api
from tests.support.keeper_in_process import new_uuid
from tests.support.keeper_process import KeeperProcess as Program


@pytest.fixture
def home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        yield home


async def printed(program: Program, *words: str) -> str:
    """What a command prints; it runs beside the scripted API, which lives in this loop."""
    done = await asyncio.to_thread(program.run_command, *words)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


async def refused(program: Program, *words: str) -> str:
    """Why a command was refused."""
    done = await asyncio.to_thread(program.run_command, *words)
    assert done.returncode == 2, done.stdout
    return str(done.stderr)


async def test_a_turn_is_stopped_and_what_waits_is_shown_sent_and_discarded(
    home: DemoHome, scripted_api: ScriptedApi
) -> None:
    work = home.project("scratch")
    with Program(home, "--no-ui", api_url=scripted_api.url) as program:
        command, refusal = partial(printed, program), partial(refused, program)
        async with connect_api(program) as visitor:
            listener = await visitor.listen()
            session = await visitor.start_session(work, "run: touch never.txt")
            await listener.wait_for_event("attention/raised", session)
            sent = [new_uuid() for _ in range(4)]
            for n, uuid in enumerate(sent):
                body = {"sessionId": session, "text": f"say: {n}\\n\x1b[31mred", "uuid": uuid}
                await visitor.post("/send", body, 202)
            stopped = await command("interrupt", session, "--hold")
            assert stopped.startswith("Stopped.\n4 messages held.")
            await listener.wait_for_event("turn/finished", session)
            assert (
                await command("interrupt", session)
                == "No turn is under way there.\n4 messages held. "
                f"To send them: claudekeeper queue {session} send\n"
            )
            listing = await command("queue", session)
            assert f"{sent[0]}  held\n    say: 0" in listing
            assert "\x1b" not in listing
            discarded = await command("queue", session, "discard", sent[3].upper())
            assert f"{sent[3]}  discarded\n    say: 3" in discarded
            again = await refusal("queue", session, "discard", sent[3])
            assert "It was taken back already." in again
            assert await command("queue", session, "send", sent[1]) == "1 message sent.\n"
            await listener.wait_for_event("turn/finished", session, uuid=sent[1], outcome="done")
            discarded = await command("queue", session, "discard")
            assert [uuid for uuid in sent if uuid in discarded] == [sent[0], sent[2]]
            assert await command("queue", session) == ""
            assert await command("queue", session, "send") == "0 messages sent.\n"
            assert "404" in await refusal("queue", new_uuid())
    assert not (work / "never.txt").exists()


async def test_a_refusal_stops_the_turn_and_holds_what_waits(
    home: DemoHome, scripted_api: ScriptedApi
) -> None:
    with Program(home, "--no-ui", api_url=scripted_api.url) as program:
        async with connect_api(program) as visitor:
            listener = await visitor.listen()
            session = await visitor.start_session(home.project("scratch"), "run: touch never.txt")
            question = (await listener.wait_for_event("attention/raised", session))["attention"][
                "id"
            ]
            await visitor.post("/send", {"sessionId": session, "text": "say: one"}, 202)
            done = await asyncio.to_thread(
                program.run_command, "resolve", question, "deny", "--hold"
            )
            assert done.returncode == 0, done.stderr
            await listener.wait_for_event("turn/finished", session, outcome="interrupted")
            queue = (await visitor.get(f"/sessions/{session}"))["queue"]
            assert [(each["text"], each["state"]) for each in queue] == [("say: one", "held")]
